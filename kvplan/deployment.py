"""What the user asks for: the engine's options by the engine's names, and the memory to plan with."""

from __future__ import annotations

from kvplan.errors import InputError, Problem, bad_option, option_flag
from kvplan.frozen import dataclass

DEFAULT_ENGINE_VERSION = "0.5.23"

# Where the size of the weights comes from, instead of a size itself: the first of the two that there is,
# the checkpoint's own metadata, or an estimate from the config.
WEIGHT_SOURCES = ("auto", "metadata", "estimate")

# --chunked-prefill-size of a server that prefills each prompt at once.
UNCHUNKED = -1
# More than any GPU has: a figure above it is in another unit.
_MOST_GIB = 4096
# --moe-a2a-backend of a server whose GPUs send no tokens to each other's experts.
NO_A2A = "none"

_AT_LEAST_ONE = (
    "tp",
    "dp",
    "pp",
    "dcp",
    "ep",
    "moe_dense_tp_size",
    "gpu_memory",
    "weights_per_gpu",
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
    "snapshot_every",
    "draft_tokens",
    "hisparse_ratio",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """One server start: fields are named as SGLang's flags, with underscores.

    Budget: `available_bytes` (per GPU, recurrent state and KV together), or free GPU memory in GiB
    before (`pre_model_load_gib`) and after (`free_gib`) the weights are loaded. With `weights` or
    `weights_per_gpu` what is missing of the two is worked out from the GPU's memory: `weights` is the
    checkpoint's bytes or one of WEIGHT_SOURCES, `weights_per_gpu` bytes that one GPU loads, `gpu_memory`
    bytes of a GPU that is not in the catalogue. None of these: the plan gives costs without a capacity.
    `ctx`, `concurrency`, `snapshot_every` (tokens between states that a prefix cache keeps) and
    `draft_tokens` are the workload that is asked about, not engine options.
    Raises InputError for impossible values.
    """

    tp: int = 1
    dp: int = 1
    pp: int = 1
    dcp: int = 1
    enable_dp_attention: bool = False
    kv_cache_dtype: str = "auto"
    page_size: int | None = None
    attention_backend: str | None = None
    dsa_prefill_backend: str | None = None
    dsa_decode_backend: str | None = None
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
    hisparse_ratio: int | None = None
    prefill_only_disable_kv_cache: bool = False
    gpu: str | None = None
    gpu_memory: int | None = None
    weights: str | int | None = None
    weights_per_gpu: int | None = None
    ep: int = 1
    moe_a2a_backend: str | None = None
    moe_dense_tp_size: int | None = None
    ep_num_redundant_experts: int = 0
    enable_dp_lm_head: bool = False
    engine_version: str = DEFAULT_ENGINE_VERSION
    assume_supported: bool = False
    available_bytes: int | None = None
    pre_model_load_gib: float | None = None
    free_gib: float | None = None
    ctx: int | None = None
    concurrency: int | None = None
    snapshot_every: int | None = None
    draft_tokens: int | None = None

    def __post_init__(self) -> None:
        """Check each value by itself and the budget as a whole; rules of the engine come later."""
        problems = [
            _too_small(name, value)
            for name in _AT_LEAST_ONE
            if (value := getattr(self, name)) is not None and not _is_count(value)
            if (name, value) != ("chunked_prefill_size", UNCHUNKED)
        ]
        problems += _budget_problems(self)
        problems += _ratio_problems(self)
        problems += _weights_problems(self)
        if self.enable_dp_attention and not problems and self.tp % self.dp:
            problems.append(
                bad_option("dp", f"{self.dp} attention-DP ranks do not divide --tp {self.tp}").problems[0]
            )
        copies = self.ep_num_redundant_experts
        if isinstance(copies, bool) or not isinstance(copies, int) or copies < 0:
            what = f"{copies!r} is not a whole number of 0 or more"
            problems += bad_option("ep_num_redundant_experts", what).problems
        if not problems and self.tp % self.ep:
            what = f"{self.ep} expert-parallel ranks do not divide --tp {self.tp}"
            problems += bad_option("ep", what).problems
        if not problems and self.moe_dense_tp_size not in (None, 1, self.tp):
            what = f"{self.moe_dense_tp_size} GPUs are neither 1 nor all of --tp {self.tp}"
            problems += bad_option("moe_dense_tp_size", what).problems
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
    def exchanges_experts(self) -> bool:
        """Whether GPUs send tokens to the experts of others: each then holds whole experts."""
        return self.moe_a2a_backend not in (None, NO_A2A)

    @property
    def expert_parallel(self) -> int:
        """GPUs that experts are dealt over whole: all of TP where tokens are exchanged."""
        return self.tp if self.exchanges_experts else self.ep

    @property
    def has_budget(self) -> bool:
        """Whether there is memory to size pools from."""
        profiled = self.pre_model_load_gib is not None and self.free_gib is not None
        return self.available_bytes is not None or profiled

    @property
    def wants_estimate(self) -> bool:
        """Whether the budget has to be worked out from a GPU and weights."""
        return not self.has_budget and (self.weights is not None or self.weights_per_gpu is not None)


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
    if (profiled[0] is None) != (profiled[1] is None) and not deployment.wants_estimate:
        missing = "--free-gib" if profiled[1] is None else "--pre-model-load-gib"
        return [Problem(file="", key=missing, what="is missing", hint="the two belong together")]
    if None not in profiled and (profiled[1] or 0) > (profiled[0] or 0) > 0:
        what = f"{profiled[1]!r} GiB are more than the {profiled[0]!r} GiB before loading"
        return [Problem(file="", key="--free-gib", what=what, hint="see --pre-model-load-gib")]
    return [
        Problem(file="", key=option_flag(name), what=f"{value!r} is no number of GiB that a GPU has")
        for name in ("pre_model_load_gib", "free_gib")
        if (value := getattr(deployment, name)) is not None and not 0 < value <= _MOST_GIB
    ]


def _weights_problems(deployment: Deployment) -> list[Problem]:
    given, key = deployment.weights, "--weights"
    if given is not None and deployment.weights_per_gpu is not None:
        hint = "--weights is the whole checkpoint, --weights-per-gpu what one GPU loads"
        return [Problem(file="", key=key, what="is given beside --weights-per-gpu", hint=hint)]
    if given is None or _is_count(given) or given in WEIGHT_SOURCES:
        return []
    known = ", ".join(WEIGHT_SOURCES)
    return [Problem(file="", key=key, what=f"{given!r} is not a size", hint=f"600GB, 560GiB, or {known}")]


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
