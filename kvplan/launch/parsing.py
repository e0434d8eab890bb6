"""Launch lines of SGLang: the model and the deployment that they start, and what kvplan leaves out of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field

from kvplan.deployment import Deployment
from kvplan.errors import InputError, Problem
from kvplan.frozen import dataclass
from kvplan.launch.arguments import HELP_FLAGS, read_arguments
from kvplan.launch.lines import Command, commands
from kvplan.launch.modelled import (
    ATTENTION_DP_FLAG,
    DP_FLAG,
    MODEL_FLAG,
    MODELLED,
    MOE_RUNNER_FLAG,
    REVISION_FLAG,
    VARIABLES,
)
from kvplan.launch.unmodelled import UNMODELLED, UNMODELLED_VARIABLES, Touches, Under, Unmodelled
from kvplan.sglang.versions import nearest_version

_ENGINE_PREFIX = "SGLANG_"
_SHOWN_VALUE = 60
_MEGAMOE = "megamoe"
_DEEPEP = "deepep"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotModelled:
    """A flag or variable that changes the plan and is left out of it."""

    name: str
    value: str
    reason: str
    touches: Touches
    under: Under = "any"

    def __str__(self) -> str:
        shown = f"{self.name} {self.value}".strip()
        return f"not modelled: {shown[:_SHOWN_VALUE]}: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One server start.

    `model`: as --model-path has it, with @revision; None where the line names none. `settings`: the
    fields of Deployment that the line sets. `ignored`: flags that touch no pool. `env`: the SGLANG_*
    variables. `image_version`: SGLang's version by the tag of its container image. `notes`: what else was
    left out or taken as it is written.
    """

    model: str | None
    settings: Mapping[str, object] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    not_modelled: tuple[NotModelled, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    image_version: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def start(self) -> dict[str, object]:
        """The settings, with the one GPU of a line that names no --tp: GPUs beside it do not change that."""
        return {"tp": 1, **self.settings}

    @property
    def deployment(self) -> Deployment:
        """The deployment alone. Raises InputError where its values can't be."""
        return Deployment(**self.settings)  # type: ignore[arg-type]

    def warnings(self, asked: Deployment) -> tuple[str, ...]:
        """What the plan of a deployment leaves out of the line; not what its budget makes irrelevant."""
        return (
            *self._version_note(asked),
            *self.notes,
            *(str(one) for one in self.not_modelled if _matters(one, asked)),
        )

    def _version_note(self, asked: Deployment) -> Iterator[str]:
        named = self.image_version
        if named is not None and not named.removeprefix("v").startswith(asked.engine_version):
            rules = asked.engine_version
            yield f"the image holds SGLang {named[:_SHOWN_VALUE]}, the rules are those of {rules}"


def parse(text: str, shown: str = "--launch") -> Launch:
    """The one server that a line or a script starts; `shown` is what errors call the text.

    Commands that differ in nothing that changes a plan, as in the rank of their node alone, count as one.
    Raises InputError with every problem of the text.
    """
    launches = [_read(command, shown) for command in commands(text, shown)]
    first = launches[0]
    if any(not _same_server(first, one) for one in launches[1:]):
        raise InputError(
            Problem(file=shown, key="", what=f"starts {len(launches)} different servers", hint="give one")
        )
    return first


def _same_server(one: Launch, other: Launch) -> bool:
    return (one.model, one.settings, set(one.not_modelled)) == (
        other.model,
        other.settings,
        set(other.not_modelled),
    )


def _read(command: Command, shown: str) -> Launch:
    problems: list[Problem] = []
    if any(word in HELP_FLAGS for word in command.arguments):
        raise InputError(Problem(file=shown, key="", what="--help starts no server"))
    arguments = read_arguments(command.arguments, problems, shown)
    given = arguments.flags
    env = {name: value for name, value in command.variables.items() if name.startswith(_ENGINE_PREFIX)}
    for variable, flag in VARIABLES.items():
        if env.get(variable):
            given.setdefault(flag, [env[variable]])
    settings = _settings(given, problems, shown)
    version = nearest_version(command.version) if command.version else None
    if version is not None:
        settings["engine_version"] = version
    model = _model(given, problems, shown)
    if problems:
        raise InputError(problems)
    used = {MODEL_FLAG, REVISION_FLAG, ATTENTION_DP_FLAG, *MODELLED, *UNMODELLED}
    if _MEGAMOE in given.get(MOE_RUNNER_FLAG, ()):
        used.add(MOE_RUNNER_FLAG)
    return Launch(
        model=model,
        settings=settings,
        ignored=tuple(flag for flag in given if flag not in used),
        not_modelled=(*_unmodelled(given, UNMODELLED), *_unmodelled(_listed(env), UNMODELLED_VARIABLES)),
        env=env,
        image_version=command.version,
        notes=(
            *(
                f"{flag[:_SHOWN_VALUE]}: no flag of SGLang 0.5.12 to 0.5.23, left out"
                for flag in arguments.unknown
            ),
            *(f"{text[:_SHOWN_VALUE]}: its default in the text" for text in command.defaults),
        ),
    )


def _settings(given: Mapping[str, Sequence[str]], problems: list[Problem], shown: str) -> dict[str, object]:
    """Values of the modelled flags, by their fields; what can't be read is added to `problems`."""
    settings: dict[str, object] = {}
    for flag, values in given.items():
        entry = MODELLED.get(flag)
        if entry is not None and entry.read is None:
            settings[entry.field] = True
        elif entry is not None and entry.read is not None and values:
            settings[entry.field] = _value(entry.read, flag, values[0], problems, shown)
    if _MEGAMOE in given.get(MOE_RUNNER_FLAG, ()):
        settings["moe_a2a_backend"] = _MEGAMOE
    ranks = given.get(ATTENTION_DP_FLAG)
    if ranks:
        count = _value(MODELLED[DP_FLAG].read or str, ATTENTION_DP_FLAG, ranks[0], problems, shown)
        if count != 1:
            settings |= {"dp": count, "enable_dp_attention": True}
    return settings


def _value(
    read: Callable[[str], object], flag: str, text: str, problems: list[Problem], shown: str
) -> object:
    try:
        if "$" in text:
            raise ValueError(f"{text!r:.60} holds a variable that the text does not set")
        return read(text)
    except ValueError as error:
        problems.append(Problem(file=shown, key=flag, what=str(error)))
        return None


def _model(given: Mapping[str, Sequence[str]], problems: list[Problem], shown: str) -> str | None:
    named, revision = given.get(MODEL_FLAG), given.get(REVISION_FLAG)
    if not named:
        return None
    model = _value(str, MODEL_FLAG, named[0], problems, shown)
    return f"{model}@{revision[0]}" if revision and model else named[0]


def _unmodelled(given: Mapping[str, Sequence[str]], known: Mapping[str, Unmodelled]) -> Iterator[NotModelled]:
    for name, values in given.items():
        entry = known.get(name)
        text = " ".join(values)
        if entry is not None and (not values or text.lower() not in entry.neutral):
            yield NotModelled(
                name=name, value=text, reason=entry.reason, touches=entry.touches, under=entry.under
            )
    if DP_FLAG in given and given.get(ATTENTION_DP_FLAG, ["1"]) != ["1"] and known is UNMODELLED:
        reason = "replicas beside attention ranks are not counted"
        yield NotModelled(name=DP_FLAG, value=" ".join(given[DP_FLAG]), reason=reason, touches="pool")


def _listed(variables: Mapping[str, str]) -> dict[str, list[str]]:
    return {name: [value] for name, value in variables.items()}


def _matters(one: NotModelled, asked: Deployment) -> bool:
    """Whether the plan of a deployment still depends on it."""
    if not _applies(one.under, asked):
        return False
    match one.touches:
        case "fraction":
            return asked.available_bytes is None and asked.mem_fraction_static is None
        case "weights":
            return asked.available_bytes is None and asked.free_gib is None and asked.weights_per_gpu is None
        case _:
            return True


def _applies(under: Under, asked: Deployment) -> bool:
    match under:
        case "stages":
            return asked.pp > 1
        case "dealt experts":
            return asked.expert_parallel > 1
        case "deepep":
            return asked.moe_a2a_backend == _DEEPEP
        case "any":
            return True
