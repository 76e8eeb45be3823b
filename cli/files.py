"""What several commands write alike: certificates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..exact import ParameterError
from ..verify.certificate import Certificate, NotCertifiedError

__all__ = ["written"]


def written(make: Callable[[], Certificate], file: Path) -> Certificate:
    """Make a certificate and write it. Raises ParameterError where either cannot be done."""
    try:
        certificate = make()
        certificate.write(file)
    except NotCertifiedError as error:
        raise ParameterError(f"--certificate: {error}") from error
    except OSError as error:
        raise ParameterError(f"--certificate: {file}: {error.strerror or error}") from error
    return certificate
