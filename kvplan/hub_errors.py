"""What a failed request to the Hub means, in one line, and what helps."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from kvplan.errors import InputError, Problem


class OfflineModeError(Exception):
    """HF_HUB_OFFLINE is set."""


class NotAHubError(Exception):
    """Something answers, but without what every Hub sends along."""


NOT_FOUND = 404
_SECONDS = re.compile(r"[0-9]{1,6}")

_ACCESS = "check the id; a private or gated model needs HF_TOKEN, of an account that has access"
_NO_SUCH_MODEL = ("is not on the Hub, or is private and HF_TOKEN gives no access to it", "")
_UNREACHABLE = ("the Hub at {host} can't be reached", "")
_TIMED_OUT = ("the Hub at {host} did not answer in time", "")
_NOT_A_HUB = ("{host} does not answer as a Hugging Face Hub does", "check HF_ENDPOINT and the proxy settings")
_BROKEN_OFF = ("the Hub at {host} broke off its answer", "try again")
_OFFLINE = ("is not in the local Hugging Face cache, and HF_HUB_OFFLINE is set", "")

# By class name along the method resolution order: huggingface_hub 0.x raises requests' errors, 1.x
# httpx's, 2.x those of a successor, and kvplan imports none of them.
_BY_CLASS = {
    "GatedRepoError": (
        "is gated on the Hub",
        "accept its licence on the model page, then set HF_TOKEN to a token of that account",
    ),
    "RepositoryNotFoundError": _NO_SUCH_MODEL,
    "RevisionNotFoundError": (
        "has no revision {revision!r} on the Hub",
        "leave out @{revision}, or correct it",
    ),
    "EntryNotFoundError": ("has no config.json on the Hub", "name the model that it was made from"),
    "DisabledRepoError": ("was disabled on the Hub", ""),
    "FileMetadataError": _NOT_A_HUB,
    "NotAHubError": _NOT_A_HUB,
    "TooManyRedirects": _NOT_A_HUB,
    "OfflineModeError": _OFFLINE,
    "OfflineModeIsEnabled": _OFFLINE,
    "TimeoutException": _TIMED_OUT,
    "Timeout": _TIMED_OUT,
    "TimeoutError": _TIMED_OUT,
    "NetworkError": _UNREACHABLE,
    "RemoteProtocolError": _BROKEN_OFF,
    "ProxyError": _UNREACHABLE,
    "ConnectionError": _UNREACHABLE,
}
_BY_STATUS = {
    401: ("the Hub refused access (401)", _ACCESS),
    403: ("the Hub refused access (403)", _ACCESS),
    NOT_FOUND: _NO_SUCH_MODEL,
    429: ("the Hub has had too many requests from here (429)", "wait {wait}, or set HF_TOKEN"),
}


def explain(error: BaseException, *, endpoint: str, revision: str | None) -> tuple[str, str]:
    """What went wrong, and what to do about it ("" where only another source helps).

    No text of the exception itself is passed on: it may quote the request's headers, and so the token.
    """
    root = root_of(error)
    status = status_of(root)
    names = [cls.__name__ for cls in type(root).__mro__]
    known = next((_BY_CLASS[name] for name in names if name in _BY_CLASS), None)
    if known is None and status:
        known = _BY_STATUS.get(
            status, (f"the Hub at {{host}} answered with status {status}", "try again later")
        )
    if known is None and isinstance(root, OSError):
        known = _of_system(root)
    if known is None:
        known = (
            f"can't be fetched from {{host}} ({type(root).__name__})",
            "check HF_ENDPOINT, HF_TOKEN and the proxy settings",
        )
    values = {"host": host_of(endpoint), "revision": revision or "main", "wait": _wait(root)}
    return known[0].format(**values), known[1].format(**values)


def _of_system(error: OSError) -> tuple[str, str]:
    if not error.strerror:  # huggingface_hub's own, for a file of another size than announced
        return _BROKEN_OFF
    return f"can't be stored in the local cache: {error.strerror}", "set HF_HOME to a writable folder"


def root_of(error: BaseException) -> BaseException:
    """The reason behind "not in the local cache either", which huggingface_hub reports on top."""
    covered = type(error).__name__ == "LocalEntryNotFoundError"
    return error.__cause__ if covered and error.__cause__ else error


def status_of(error: BaseException) -> int:
    """The HTTP status of the answer, 0 where there was none."""
    status: int = getattr(getattr(error, "response", None), "status_code", 0)
    return status


def _wait(error: BaseException) -> str:
    """The seconds that the answer asks for; they may also be a date, which is not worth a clock."""
    headers = getattr(getattr(error, "response", None), "headers", {})
    asked = str(headers.get("Retry-After", ""))
    return f"{asked} seconds" if _SECONDS.fullmatch(asked) else "a while"


def check_endpoint(endpoint: str | None) -> None:
    """Raise InputError where HF_ENDPOINT is set to something other than a web address."""
    if not endpoint:
        return
    try:
        parts = urlsplit(endpoint)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:  # a port that is no number
        usable = False
    if not usable:
        what, hint = "is not a web address", "set it to https://HOST, or unset it"
        raise InputError(Problem(file="", key="HF_ENDPOINT", what=what, hint=hint))


def host_of(endpoint: str) -> str:
    """Name and port of the Hub, without the user name and password that a URL may hold."""
    parts = urlsplit(endpoint)
    return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
