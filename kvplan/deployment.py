"""What the user asks for: the engine's options by the engine's names, and the memory to plan with."""

from __future__ import annotations

from dataclasses import dataclass

from kvplan.errors import InputError, Problem, bad_option, option_flag

DEFAULT_ENGINE_VERSION = "0.5.23"

_AT_LEAST_ONE = (
    "tp",
    "dp",
    "pp",
    "dcp",
    "page_size",
    "context_length",
    "max_total_tokens",
    "max_running_requests",
    "max_mamba_cache_size",
    "chunked_prefill_size",
    "speculative_num_steps",
    "speculative_eagle_topk",
    "speculative_num_draft_tokens",
    "available_bytes",
    "ctx",
    "concurrency",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """One server start: fields are named as SGLang's flags, with underscores.

    Budget: `available_bytes` (per GPU, recurrent state and KV together), or free GPU memory in GiB
    before (`pre_model_load_gib`) and after (`free_gib`) the weights are loaded. Neither: the plan
    gives costs without a capacity. `ctx` and `concurrency` are the workload that is asked about, not
    engine options. Raises InputError for impossible values.
    """

    tp: int = 1
    dp: int = 1
    pp: int = 1
    dcp: int = 1
    enable_dp_attention: bool = False
    kv_cache_dtype: str = "auto"
    page_size: int | None = None
    attention_backend: str | None = None
    mem_fraction_static: float | None = None
    chunked_prefill_size: int | None = None
    context_length: int | None = None
    max_total_tokens: int | None = None
    max_running_requests: int | None = None
    disable_radix_cache: bool = False
    swa_full_tokens_ratio: float | None = None
    disable_hybrid_swa_memory: bool = False
    mamba_full_memory_ratio: float | None = None
    max_mamba_cache_size: int | None = None
    mamba_ssm_dtype: str | None = None
    speculative_algorithm: str | None = None
    speculative_num_steps: int | None = None
    speculative_eagle_topk: int | None = None
    speculative_num_draft_tokens: int | None = None
    enable_hisparse: bool = False
    prefill_only_disable_kv_cache: bool = False
    gpu: str | None = None
    engine_version: str = DEFAULT_ENGINE_VERSION
    assume_supported: bool = False
    available_bytes: int | None = None
    pre_model_load_gib: float | None = None
    free_gib: float | None = None
    ctx: int | None = None
    concurrency: int | None = None

    def __post_init__(self) -> None:
        """Check each value by itself and the budget as a whole; rules of the engine come later."""
        problems = [
            _too_small(name, value)
            for name in _AT_LEAST_ONE
            if (value := getattr(self, name)) is not None and not _is_count(value)
        ]
        problems += _budget_problems(self)
        problems += _ratio_problems(self)
        if self.enable_dp_attention and not problems and self.tp % self.dp:
            problems.append(
                bad_option("dp", f"{self.dp} attention-DP ranks do not divide --tp {self.tp}").problems[0]
            )
        if problems:
            raise InputError(problems)

    @property
    def attention_dp(self) -> int:
        """Ranks that hold different requests: dp under DP attention, else 1 (plain dp is replicas)."""
        return self.dp if self.enable_dp_attention else 1

    @property
    def attention_tp(self) -> int:
        """GPUs that share the attention heads of one request."""
        return max(1, self.tp // self.attention_dp)

    @property
    def has_budget(self) -> bool:
        """Whether there is memory to size pools from."""
        return self.available_bytes is not None or self.free_gib is not None


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _too_small(name: str, value: object) -> Problem:
    return Problem(file="", key=option_flag(name), what=f"{value!r} is not a whole number of at least 1")


def _budget_problems(deployment: Deployment) -> list[Problem]:
    profiled = (deployment.pre_model_load_gib, deployment.free_gib)
    if deployment.available_bytes is not None and profiled != (None, None):
        return [
            Problem(
                file="",
                key="--available-bytes",
                what="two budgets are given",
                hint="give either --available-bytes or --pre-model-load-gib with --free-gib",
            )
        ]
    if (profiled[0] is None) != (profiled[1] is None):
        missing = "--free-gib" if profiled[1] is None else "--pre-model-load-gib"
        return [Problem(file="", key=missing, what="is missing", hint="the two belong together")]
    return [
        Problem(file="", key=option_flag(name), what=f"{value!r} is not a positive number of GiB")
        for name in ("pre_model_load_gib", "free_gib")
        if (value := getattr(deployment, name)) is not None and not 0 < value < float("inf")
    ]


def _ratio_problems(deployment: Deployment) -> list[Problem]:
    problems = []
    for name, highest in (
        ("mem_fraction_static", 1.0),
        ("swa_full_tokens_ratio", 1.0),
        ("mamba_full_memory_ratio", float("inf")),
    ):
        value = getattr(deployment, name)
        if value is not None and not 0 < value <= highest:
            bound = f"above 0 and at most {highest:g}" if highest == 1.0 else "above 0"
            problems.append(Problem(file="", key=option_flag(name), what=f"{value!r} is not {bound}"))
    return problems
