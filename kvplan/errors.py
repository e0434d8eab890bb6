"""What can go wrong, and with which exit code: 2 for bad input, 3 for "valid, but not possible"."""

from __future__ import annotations

from collections.abc import Sequence

from kvplan.frozen import dataclass

# Characters of a key path in an error.
_LONGEST_PATH = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong: where (`file`, `key`), what, and what to do about it."""

    file: str
    key: str
    what: str
    hint: str = ""

    def __str__(self) -> str:
        place = "".join(f"{part}: " for part in (self.file, self.key) if part)
        return f"{place}{self.what}{f' ({self.hint})' if self.hint else ''}"


def short_path(path: str) -> str:
    """A key path as an error quotes it; one that is too long is cut in the middle."""
    half = _LONGEST_PATH // 2
    return path if len(path) <= _LONGEST_PATH else f"{path[:half]}...{path[-half:]}"


class KvplanError(Exception):
    """Base of all errors that kvplan raises on purpose; each line is one problem."""

    exit_code = 2

    def __init__(self, problems: Problem | Sequence[Problem]) -> None:
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class InputError(KvplanError):
    """A file, a reference or an option that can't be used; no number is given for it."""


class RefusedError(KvplanError):
    """The engine itself would stop at start-up with this deployment."""

    exit_code = 3


class DoesNotFitError(RefusedError):
    """The engine would find no memory for a single page; `shortfall_bytes` per GPU are missing."""

    def __init__(self, problem: Problem, *, shortfall_bytes: int) -> None:
        super().__init__(problem)
        self.shortfall_bytes = shortfall_bytes


def bad_option(name: str, what: str, hint: str = "") -> InputError:
    """An option of the deployment with an impossible value, named as on the command line."""
    return InputError(Problem(file="", key=option_flag(name), what=what, hint=hint))


def refused(what: str, hint: str = "") -> RefusedError:
    """The engine's reason, in kvplan's words, and the flag that helps."""
    return RefusedError(Problem(file="", key="", what=f"SGLang would stop: {what}", hint=hint))


def option_flag(name: str) -> str:
    """`page_size` -> `--page-size`."""
    return "--" + name.replace("_", "-")
