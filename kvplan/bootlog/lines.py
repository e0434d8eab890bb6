"""One line of a log: who wrote it, and its message without colours."""

from __future__ import annotations

import re

from kvplan.frozen import dataclass

# Colours and cursor movements of a terminal (ECMA-48), and the titles that some shells set.
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
# configure_logger (utils/common.py): `[2026-05-01 12:00:00 DP1 TP0] `, with milliseconds where asked for.
_PREFIX = re.compile(
    r"\[[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?([^\]]{0,80})\] ?"
)
_RANK = re.compile(r"(?:DP|PP|ATTN_CP|MOE_DP|TP|EP)[0-9]{1,5}\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """`rank`: `DP1 TP0`, or an empty text where the line names none."""

    rank: str
    message: str


def read_line(text: str) -> Line:
    """The message behind SGLang's time stamp, whatever stands in front of that; else the whole line."""
    plain = _ANSI.sub("", text) if "\x1b" in text else text
    prefix = _PREFIX.search(plain)
    if prefix is None:
        return Line(rank="", message=plain.strip())
    return Line(rank=" ".join(_RANK.findall(prefix[1])), message=plain[prefix.end() :].strip())
