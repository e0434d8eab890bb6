"""The options of a deployment, declared once: one entry per field of `Deployment`, by its name.

Flags are the field names with dashes, as SGLang spells them. Typer sees every option as text or as a
switch; the text is parsed here, so that all bad values come out together, each in one line.
"""

from __future__ import annotations

import dataclasses
import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, TypeVar

import typer

from kvplan.cli.machine import on_gpus
from kvplan.cli.parsing import (
    chunk,
    count,
    gib,
    large_size,
    parse_number,
    parse_size,
    parse_tokens,
    weights,
    word,
)
from kvplan.deployment import Deployment
from kvplan.errors import InputError, Problem, option_flag
from kvplan.frozen import dataclass

Given = str | bool | None
Command = TypeVar("Command", bound=Callable[..., None])


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionSpec:
    """How one field is given on the command line; a switch has neither `parse` nor `metavar`."""

    help: str
    metavar: str = ""
    parse: Callable[[str], object] | None = None
    also: tuple[str, ...] = ()


def _count(text: str, *also: str) -> OptionSpec:
    return OptionSpec(help=text, metavar="N", parse=count, also=also)


def _tokens(text: str) -> OptionSpec:
    return OptionSpec(help=text, metavar="TOKENS", parse=parse_tokens)


def _ratio(text: str, metavar: str = "RATIO") -> OptionSpec:
    return OptionSpec(help=text, metavar=metavar, parse=parse_number)


def _size(text: str) -> OptionSpec:
    return OptionSpec(help=text, metavar="SIZE", parse=parse_size)


def _gib(text: str, *also: str) -> OptionSpec:
    return OptionSpec(help=text, metavar="GIB", parse=gib, also=also)


def _name(text: str, metavar: str = "NAME") -> OptionSpec:
    return OptionSpec(help=text, metavar=metavar, parse=word)


def _switch(text: str) -> OptionSpec:
    return OptionSpec(help=text)


# In the order in which help lists them: the question, the machine, the budget, then the engine.
OPTIONS: dict[str, OptionSpec] = {
    "ctx": _tokens("Tokens of one request: 4096, 100k, 128Ki; default 100k, or the model's maximum if less."),
    "concurrency": _count("Requests that have to fit at once; exit 3 if they do not."),
    "snapshot_every": _tokens("Tokens between states that a prefix cache keeps (accounting)."),
    "draft_tokens": _count("Draft positions whose states are held until verified (accounting)."),
    "gpu": _name(
        "GPU whose memory, rules and defaults apply, and how many: h200, h200x8, local (asks nvidia-smi); "
        "see `kvplan gpus`. Default: the rules of h200, named as assumed.",
        "NAME[xN]",
    ),
    "gpu_memory": _size("Memory of a GPU that is not in the catalogue, as nvidia-smi has it: 48GiB."),
    "tp": _count("Tensor parallel size.", "--tp-size"),
    "dp": _count("Data parallel size: replicas, or ranks with --enable-dp-attention.", "--dp-size"),
    "enable_dp_attention": _switch("Split requests, not heads, over --dp ranks."),
    "pp": _count("Pipeline parallel size.", "--pp-size"),
    "dcp": _count("Decode context parallel size.", "--dcp-size"),
    "ep": _count("Expert parallel size: experts are dealt whole, at the same bytes per GPU.", "--ep-size"),
    "moe_a2a_backend": _name(
        "How GPUs send tokens to experts: deepep, mooncake, flashinfer ... Experts are dealt over all of TP."
    ),
    "moe_dense_tp_size": _count("1: dense layers of a model with experts are whole on each GPU."),
    "ep_num_redundant_experts": _count("Copies of busy experts in each layer."),
    "enable_dp_lm_head": _switch("With attention DP: the output head is split as attention is."),
    "weights": OptionSpec(
        help="Weights of the whole checkpoint: 600GB, or where to take them from: metadata, estimate. "
        "Default with --gpu: what the model's files say, else an estimate.",
        metavar="SIZE",
        parse=weights,
    ),
    "weights_per_gpu": OptionSpec(
        help="Weights that one GPU loads, from a log.", metavar="SIZE", parse=large_size
    ),
    "available_bytes": _size("Budget per GPU for state and KV together: 60GiB, 80GB."),
    "pre_model_load_gib": _gib(
        "Free memory per GPU before the weights are loaded, in GiB as a log has it, or 137GiB.",
        "--free-before",
    ),
    "free_gib": _gib("The same after the weights are loaded.", "--free-after"),
    "mem_fraction_static": _ratio("Share of free memory for weights and pools; default as the engine's."),
    "engine_version": _name("SGLang version whose rules apply.", "VERSION"),
    "kv_cache_dtype": _name("auto, bf16, fp8_e4m3, fp8_e5m2 ...", "DTYPE"),
    "page_size": _count("Tokens of one page; some models and backends force theirs."),
    "attention_backend": _name("Attention backend; the default depends on GPU and model."),
    "dsa_prefill_backend": _name("Kernel of sparse MLA for prefill: trtllm, flashmla_kv ..."),
    "dsa_decode_backend": _name("The same for decode; FP8 rows depend on both."),
    "chunked_prefill_size": OptionSpec(
        help="Tokens of a prefill chunk, -1 for none; it sets the default memory fraction.",
        metavar="TOKENS",
        parse=chunk,
    ),
    "context_length": _tokens("The server's context limit instead of the model's."),
    "max_total_tokens": _tokens("Upper limit of the token pool."),
    "max_running_requests": _count("Upper limit of requests at once."),
    "disable_radix_cache": _switch("Keep no prefixes: fewer state slots for each request."),
    "swa_full_tokens_ratio": _ratio("Sliding-window tokens for each token of the full pool."),
    "disable_hybrid_swa_memory": _switch("Give sliding-window layers a cache of full length."),
    "mamba_full_memory_ratio": _ratio("Memory of recurrent states to memory of KV."),
    "max_mamba_cache_size": _count("Slots for recurrent states."),
    "mamba_ssm_dtype": _name("Dtype of recurrent states.", "DTYPE"),
    "speculative_algorithm": _name("EAGLE, EAGLE3, NEXTN ..."),
    "speculative_num_steps": _count("Draft steps."),
    "speculative_eagle_topk": _count("Branches of a draft step."),
    "speculative_num_draft_tokens": _count("Draft tokens that are verified at once."),
    "enable_hisparse": _switch("Keep most of a sparse model's KV in host memory."),
    "hisparse_ratio": _count("Host slots for each device slot under HiSparse; default 2."),
    "prefill_only_disable_kv_cache": _switch("No KV pool: a server that only embeds or scores."),
    "assume_supported": _switch("Plan a model class that the engine does not know."),
}


def takes_deployment(command: Command) -> Command:
    """Put one parameter per entry of OPTIONS in the place of the command's `**options`.

    A command that declares a parameter of that name itself keeps its own.
    """
    signature = inspect.signature(command, eval_str=True)
    own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
    taken = {one.name for one in own}
    shared = [_parameter(name, spec) for name, spec in OPTIONS.items() if name not in taken]
    command.__signature__ = signature.replace(parameters=[*own, *shared])  # type: ignore[attr-defined]
    return command


def deployment(given: Mapping[str, Given], under: Mapping[str, object] | None = None) -> Deployment:
    """The one deployment that the options describe. Raises InputError with every bad option.

    `under`: fields that hold where no option sets them, from a launch line or a log.
    """
    return deployments({name: (text,) for name, text in given.items()}, under)[0]


def lists(given: Mapping[str, Given]) -> dict[str, Sequence[Given]]:
    """Options that may hold several values, split at their commas."""
    return {name: text.split(",") if isinstance(text, str) else (text,) for name, text in given.items()}


def deployments(
    given: Mapping[str, Sequence[Given]], under: Mapping[str, object] | None = None
) -> tuple[Deployment, ...]:
    """Every combination of the values, over the fields of `under`. Raises InputError with every bad value."""
    problems: list[Problem] = []
    values = {name: _parsed(name, texts, problems) for name, texts in given.items()}
    if problems:
        raise InputError(problems)
    asked = {name: options for name, options in values.items() if not _is_unset(options)}
    combinations = itertools.product(*asked.values())
    options = (on_gpus({**(under or {}), **dict(zip(asked, each, strict=True))}) for each in combinations)
    return tuple(dict.fromkeys(Deployment(**each) for each in options))


def _is_unset(options: Sequence[object]) -> bool:
    """Nothing given, or a switch that is not (0 is a value, and a wrong one)."""
    return len(options) == 1 and (options[0] is None or options[0] is False)


def _parsed(name: str, texts: Sequence[Given], problems: list[Problem]) -> list[Any]:
    parse = OPTIONS[name].parse
    values: list[object] = []
    for text in texts:
        if not isinstance(text, str) or parse is None:
            values.append(text)
            continue
        try:
            values.append(parse(text))
        except ValueError as error:
            problems.append(Problem(file="", key=option_flag(name), what=str(error)))
    return values


def _parameter(name: str, spec: OptionSpec) -> inspect.Parameter:
    flags = (option_flag(name), *spec.also)
    default = next(one.default for one in dataclasses.fields(Deployment) if one.name == name)
    if spec.parse is None:
        option = typer.Option(*flags, help=spec.help, show_default=False)
        kind, unset = Annotated[bool, option], False
    else:
        told = "" if default is None else f" Default {default}."
        option = typer.Option(*flags, help=spec.help + told, metavar=spec.metavar, show_default=False)
        kind, unset = Annotated[str | None, option], None
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=unset, annotation=kind)
