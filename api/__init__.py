"""exactdp: how private is this mechanism, exactly? Certified differential-privacy accounting.

>>> import exactdp
>>> a = exactdp.mechanism("discrete-laplace:epsilon=0.1")
>>> exactdp.audit(a, "pure:0.1").verified
True
>>> b = exactdp.mechanism("discrete-gaussian:sigma2=100")
>>> epsilon = (100 * a + 50 * b).epsilon(delta="1e-6")
>>> epsilon <= 7, f"{epsilon:.4f}"
(True, '6.1000')

Everything is imported where it is first asked for: `import exactdp` itself costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .accounting import Composition, Profile, Tradeoff
    from .door import audit, calibrate, certify, check, compose, mechanism
    from .exact import Enclosure, OutOfTimeError, ParameterError, UndecidedError, time_limit
    from .ledger import Ledger
    from .report.make import report_html
    from .verify import ZCDP, ApproxDP, Audit, Calibration, GaussianDP, PureDP, RenyiDP, Verdict
    from .verify.certificate import Certificate, CertificateError, NotCertifiedError

    __version__: str

# In the order in which they are read about: what one calls, what it gives, what is raised.
__all__ = ["mechanism", "audit", "compose", "calibrate", "certify", "check"]
__all__ += ["report_html", "time_limit"]
__all__ += ["Composition", "Enclosure", "Profile", "Tradeoff"]
__all__ += ["PureDP", "ApproxDP", "RenyiDP", "ZCDP", "GaussianDP"]
__all__ += ["Audit", "Verdict", "Calibration", "Certificate", "Ledger"]
__all__ += ["ParameterError", "UndecidedError", "OutOfTimeError"]
__all__ += ["CertificateError", "NotCertifiedError"]

_HOMES = {  # where each name is from
    name: module
    for module, names in {
        ".accounting": ("Composition", "Profile", "Tradeoff"),
        ".door": ("audit", "calibrate", "certify", "check", "compose", "mechanism"),
        ".exact": ("Enclosure", "OutOfTimeError", "ParameterError", "UndecidedError", "time_limit"),
        ".ledger": ("Ledger",),
        ".report.make": ("report_html",),
        ".verify": (
            "ApproxDP",
            "Audit",
            "Calibration",
            "GaussianDP",
            "PureDP",
            "RenyiDP",
            "Verdict",
            "ZCDP",
        ),
        ".verify.certificate": ("Certificate", "CertificateError", "NotCertifiedError"),
    }.items()
    for name in names
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("exactdp")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_HOMES[name], __name__), name)
    globals()[name] = found  # so that it is asked for once
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
