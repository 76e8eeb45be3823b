"""The certificate that goes with a charge: of what is charged, VERIFIED, and accepted now."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from ..accounting.scenario import Use
from ..common.regular_file import read_at_most
from ..exact import ParameterError
from ..verify.certificate import LARGEST_FILE, Certificate, CertificateError
from ..verify.checker.implied import Expected, difference
from ..verify.checker.statement import read
from ..verify.fields import NotCertifiedError, use_fields
from . import output


def digest_of(path: Path, uses: Sequence[Use], seconds: float) -> str:
    """The SHA-256 of its file. Raises ParameterError unless the checker accepts it within so many
    seconds, and it says VERIFIED of these uses, all of them and no others.
    """
    try:
        raw = read_at_most(path, LARGEST_FILE)  # once: what is checked is what is recorded
        digest = sha256(raw).hexdigest()
        certificate = Certificate.of_bytes(raw, path)
        expected = Expected([use_fields(use) for use in uses], verdict="VERIFIED")
        doubt = difference(read(certificate.content), expected)
        if doubt is None:
            with output.working(f"checking {path}"):
                outcome = certificate.check(seconds)
            doubt = None if outcome.valid else f"the checker does not accept it: {outcome.reason}"
    except OSError as error:
        raise ParameterError(f"--certificate: {path}: {error.strerror or error}") from error
    except (CertificateError, NotCertifiedError) as error:
        raise ParameterError(f"--certificate: {error}") from error
    if doubt is not None:
        raise ParameterError(f"--certificate: {path}: {doubt}")
    return digest
