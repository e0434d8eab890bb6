"""What gates take from the command line: its options, and how it loads, deploys and plans."""

from __future__ import annotations

from collections.abc import Mapping

from kvplan.architecture import Architecture
from kvplan.cli.fit_runs import sized
from kvplan.cli.launching import STDIN, read_launch
from kvplan.cli.machine import is_local
from kvplan.cli.options import OPTIONS, Given, deployment
from kvplan.cli.progress import spinner
from kvplan.cli.size_runs import unmet_request
from kvplan.deployment import Deployment
from kvplan.errors import InputError, Problem, bad_option
from kvplan.gates.entry import Vocabulary
from kvplan.gates.evaluating import Means
from kvplan.gates.models import load_any
from kvplan.launch import Launch
from kvplan.records import Plan


def vocabulary() -> Vocabulary:
    """The options of `size` as a gate file spells them: with dashes or underscores, aliases too."""
    spellings = [(name, word) for name, spec in OPTIONS.items() for word in (name, *spec.also)]
    return Vocabulary(
        names={word.removeprefix("--").replace("-", "_"): name for name, word in spellings},
        switches=frozenset(name for name, spec in OPTIONS.items() if spec.parse is None),
        launch=_launch,
    )


def means(*, locked: bool) -> Means:
    """How gates are planned: as `size` plans, and with `locked` only what the next run will plan alike."""
    return Means(
        load=lambda reference, source: load_any(reference, source, locked=locked, on_fetch=spinner),
        deploy=_reproducible if locked else deployment,
        plan=_planned,
    )


def _launch(given: str) -> Launch:
    if given == STDIN:
        raise InputError(Problem(file="", key="", what="- is stdin", hint="give the line, or a file with it"))
    return read_launch(given)


def _reproducible(given: Mapping[str, Given], under: Mapping[str, object]) -> Deployment:
    """The deployment; raises InputError where it depends on the machine that kvplan runs on."""
    if is_local(given.get("gpu")):
        raise bad_option(
            "gpu", "local is another GPU on another machine", "with --locked name the GPU, see `kvplan gpus`"
        )
    return deployment(given, under)


def _planned(model: Architecture, asked: Deployment) -> tuple[Plan, str]:
    """The plan of `kvplan size`, and why the answer to what was asked is no."""
    made, unfit = sized(model, asked)
    if unfit is not None:
        raise unfit
    return made, unmet_request(made)
