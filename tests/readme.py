"""The files that the README shows: blocks of YAML that begin with their path as a comment."""

from __future__ import annotations

import re
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"
_BLOCK = re.compile(r"```yaml\n# (\S+\.ya?ml)\n(.*?)```", re.DOTALL)


def shown_files() -> dict[str, str]:
    """Texts by path."""
    return {match[1]: match[2] for match in _BLOCK.finditer(README.read_text(encoding="utf-8"))}


def write_shown(name: str, folder: Path, **placeholders: str) -> Path:
    """The file as it would stand in a folder, with `<a commit of it>` given as `a_commit_of_it`."""
    text = shown_files()[name]
    for key, value in placeholders.items():
        text = text.replace(f"<{key.replace('_', ' ')}>", value)
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
