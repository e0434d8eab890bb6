"""Progress on stderr while something is fetched; nothing where nobody watches."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from kvplan.render.text import visible


@contextmanager
def spinner(repo: str) -> Iterator[None]:
    """Turn while the config of `repo` is fetched from the Hub."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console  # noqa: PLC0415 - most runs fetch nothing
    from rich.text import Text  # noqa: PLC0415

    with Console(stderr=True).status(Text(f"fetching the config of {visible(repo)}")):
        yield
