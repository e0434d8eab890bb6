"""Logs of a server's start: what it was told, what it found free, and which pools it made."""

from __future__ import annotations

from kvplan.bootlog.reading import read_log
from kvplan.bootlog.records import BootLog, Rank, States, Tokens, Weights

__all__ = ["BootLog", "Rank", "States", "Tokens", "Weights", "read_log"]
