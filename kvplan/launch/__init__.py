"""Launch lines: what a command that starts SGLang says about its pools."""

from __future__ import annotations

from kvplan.launch.parsing import Launch, NotModelled, parse

__all__ = ["Launch", "NotModelled", "parse"]
