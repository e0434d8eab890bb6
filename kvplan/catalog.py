"""The bundled models: one YAML each, found by its file name alone, so that a look-up parses nothing.

`configs/org__name.yaml` holds the model `org/name`; its short name is `name`.
"""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from kvplan.errors import InputError, Problem
from kvplan.frozen import dataclass

PACKAGE = Path(__file__).parent
SUFFIX = ".yaml"
ORGANISATION_MARK = "__"  # stands for the slash, which a file name can't hold
LISTED = "`kvplan models` lists the bundled models"


@dataclass(frozen=True, slots=True, kw_only=True)
class BundledModel:
    """A bundled YAML: the Hugging Face id that its file name stands for, and the part behind the slash."""

    id: str
    name: str
    path: Path


def configs_directory() -> Path:
    """Where the bundled YAMLs lie: in the package of an installed wheel, else in the clone around it."""
    installed = PACKAGE / "configs"
    clone = PACKAGE.parent
    in_clone = not installed.is_dir() and (clone / "pyproject.toml").is_file()
    return clone / "configs" if in_clone else installed


def bundled(directory: Path | None = None) -> tuple[BundledModel, ...]:
    """All bundled models in the order of their ids, letter case aside."""
    paths = (directory or configs_directory()).glob(f"*{SUFFIX}")
    return tuple(sorted(map(_entry, paths), key=lambda model: (model.id.lower(), model.id)))


def find(reference: str, directory: Path | None = None) -> Path | None:
    """The YAML of the model with this id or short name in any letter case, None if there is none.

    Raises InputError where several models share the short name.
    """
    wanted = reference.lower()
    name = wanted.rpartition("/")[2]
    folder = directory or configs_directory()
    paths = (folder / file for file in os.listdir(folder) if file.endswith(SUFFIX) and name in file.lower())
    models = sorted(map(_entry, paths), key=lambda model: model.id)
    exact = [model for model in models if model.id.lower() == wanted]
    matches = exact or [model for model in models if model.name.lower() == wanted]
    if len(matches) > 1:
        ids = ", ".join(model.id for model in matches)
        raise InputError(
            Problem(
                file=reference,
                key="",
                what="is the short name of several bundled models",
                hint=f"give the whole id: {ids}",
            )
        )
    return matches[0].path if matches else None


def near_names(reference: str, directory: Path | None = None) -> tuple[str, ...]:
    """Ids of up to three bundled models that are spelled much like the reference, nearest first."""
    spellings: dict[str, str] = {}
    for model in bundled(directory):
        spellings.setdefault(model.name.lower(), model.id)
        spellings[model.id.lower()] = model.id
    near = difflib.get_close_matches(reference.lower(), spellings, n=6)
    return tuple(dict.fromkeys(spellings[spelling] for spelling in near))[:3]


def hint(reference: str, directory: Path | None = None) -> str:
    """What to try instead of a reference that leads nowhere."""
    names = near_names(reference, directory)
    return f"did you mean {' or '.join(names)}?" if names else LISTED


def id_of(stem: str) -> str:
    """The model id that a file name without its suffix stands for: `org__name` -> `org/name`."""
    return stem.replace(ORGANISATION_MARK, "/", 1)


def _entry(path: Path) -> BundledModel:
    model_id = id_of(path.name.removesuffix(SUFFIX))
    return BundledModel(id=model_id, name=model_id.rpartition("/")[2], path=path)
