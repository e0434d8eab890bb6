"""Which layers slide: by the config's own list, or by what its class does without one."""

from __future__ import annotations

from collections.abc import Sequence

from kvplan.config import MAX_LAYERS, shown
from kvplan.readers.reading import Reading

WINDOW_KEYS = ("sliding_window", "sliding_window_size", "attention_chunk_size")
# Every p-th layer is full where the config gives no list (transformers, configuration_*.py; SGLang,
# srt/configs/*.py).
PATTERNS = {
    "afmoe": 4,
    "beam": 6,
    "cohere2": 4,
    "cohere2_moe": 4,
    "diffusion_gemma_text": 6,
    "embedding_gemma2_text": 6,
    "exaone4": 4,
    "exaone_moe": 4,
    "gemma2": 2,
    "gemma3_text": 6,
    "gemma3n_text": 5,
    "gemma4_text": 6,
    "gemma4_unified_text": 6,
    "gpt_oss": 2,
    "granite_swa": 4,
    "granitemoe_swa": 4,
    "llama4_text": 4,
    "olmo3": 4,
    "spark2_5": 4,
}
# Types whose first layer of each group is the full one, and types whose last layer is always full.
_FULL_FIRST = frozenset({"granite_swa", "granitemoe_swa"})
_GEMMA4 = frozenset({"diffusion_gemma_text", "gemma4_text", "gemma4_unified_text"})
_LAST_IS_FULL = _GEMMA4 | {"beam"}
# Classes that slide over every layer once a window is set.
_WINDOW_ON_ALL = frozenset({"mistral", "mixtral", "phi3", "phimoe", "starcoder2", "ministral", "phi3_v"})
# Classes that have no schedule of their own: without a list the engine stops.
_LIST_IS_NEEDED = {
    "mimo_v2": "hybrid_layer_pattern",
    "mimo_v2_flash": "hybrid_layer_pattern",
    "muse_glimmer": "layer_types",
    "muse_glimmer_text": "layer_types",
    "step3p5": "layer_types",
}
# Types whose list goes on with the layers of MTP; transformers wants all others as long as the model.
_LIST_WITH_DRAFTS = frozenset({"step3p5"})
_KINDS_OF_WINDOW = ("sliding_attention", "chunked_attention", "local_attention", "sliding")
_KINDS_OF_FULL = ("full_attention", "global_attention", "full", "attention")


def has_schedule(reading: Reading) -> bool:
    """Whether layers are told apart though the config may leave the window's length out."""
    if reading.model_type in PATTERNS or reading.model_type == "iquest_q1":
        return True
    names, flags = (reading.config.get(key) for key in ("layer_types", "hybrid_layer_pattern"))
    named = isinstance(names, list) and any(name in _KINDS_OF_WINDOW for name in names)
    return named or (isinstance(flags, list) and 1 in flags)


def slides(reading: Reading, count: int) -> list[bool]:
    """For each layer, whether it keeps a window alone."""
    needed = _LIST_IS_NEEDED.get(reading.model_type)
    if reading.model_type == "iquest_q1":
        return _iquest(reading, count)
    if needed is not None and reading.config.get(needed) is None:
        reading.config.problem(needed, "is missing, and the model class has no schedule of its own")
        return [False] * count
    return _by_list(reading, count, needed) or _without_list(reading, count)


def _by_list(reading: Reading, count: int, needed: str | None) -> list[bool] | None:
    config = reading.config
    exact = None if reading.model_type in _LIST_WITH_DRAFTS else count
    wanted = needed != "hybrid_layer_pattern"
    names = config.items("layer_types", str, length=exact, at_least=count) if wanted else None
    if names is not None:
        found = _by_names(reading, names[:count])
        return [*found[:-1], False] if reading.model_type in _GEMMA4 else found
    for key in ("hybrid_layer_pattern", "sliding_window_layout"):
        flags = config.items(key, int, at_least=count)
        if flags is not None:
            return [flag == 1 for flag in flags[:count]]
    return None


def _without_list(reading: Reading, count: int) -> list[bool]:
    if reading.model_type == "llama4_text":
        return _llama4(reading, count)
    pattern = _pattern(reading)
    return _by_class(reading, count) if pattern is None else _by_pattern(reading, count, pattern)


def _by_pattern(reading: Reading, count: int, pattern: int) -> list[bool]:
    full = 0 if reading.model_type in _FULL_FIRST else pattern - 1
    found = [index % pattern != full for index in range(count)]
    if reading.model_type in _LAST_IS_FULL:
        found[-1] = False
    return found


def _by_class(reading: Reading, count: int) -> list[bool]:
    """Where the config only sets a window: what the model class does with it."""
    config = reading.config
    if "use_sliding_window" in config or "max_window_layers" in config:
        if not config.flag("use_sliding_window"):
            return [False] * count
        first = config.integer("max_window_layers", least=0, default=0)
        return [index >= first for index in range(count)]
    if reading.model_type not in _WINDOW_ON_ALL:
        key = config.first(*WINDOW_KEYS)
        reading.notes.append(f"{key} is set, but nothing says which layers use it: all are taken as full")
    return [reading.model_type in _WINDOW_ON_ALL] * count


def _by_names(reading: Reading, names: Sequence[str]) -> list[bool]:
    unknown = sorted(set(names) - set(_KINDS_OF_FULL) - set(_KINDS_OF_WINDOW))
    if unknown:
        known = ", ".join((*_KINDS_OF_FULL, *_KINDS_OF_WINDOW))
        reading.config.problem("layer_types", f"unknown layer type {shown(unknown[0])}", f"known: {known}")
    return [name in _KINDS_OF_WINDOW for name in names]


def _llama4(reading: Reading, count: int) -> list[bool]:
    # NoPE layers see everything, RoPE layers a chunk (transformers, Llama4TextConfig).
    rope = reading.config.items("no_rope_layers", int)
    if rope and len(rope) == count:
        return [flag == 1 for flag in rope]
    return [(index + 1) % 4 != 0 for index in range(count)]


def _iquest(reading: Reading, count: int) -> list[bool]:
    """IQuest-Q1: first layers, repeated blocks, last layers; layer_types is not read.

    Source: SGLang 0.5.23, configs/iquest_q1.py.
    """
    config = reading.config
    if not config.flag("use_hybrid_layers", default=True):
        return [False] * count
    first = config.items("first_layers_types", str) or ["full_attention"]
    block = config.items("hybrid_layers_types_block", str) or ["full_attention", *["sliding_attention"] * 3]
    last = config.items("last_layers_types", str) or ["full_attention"] * 3
    blocks = config.integer("num_hybrid_layers_block", least=0, most=MAX_LAYERS, default=21)
    given = len(first) + len(block) * blocks + len(last)
    if given != count:
        config.problem("num_hybrid_layers_block", f"gives {given} layer types for {count} layers")
        return [False] * count
    return _by_names(reading, [*first, *list(block) * blocks, *last])


def _pattern(reading: Reading) -> int | None:
    config = reading.config
    key = config.first("sliding_window_pattern", "_sliding_window_pattern", "global_attn_every_n_layers")
    if key is None:
        return PATTERNS.get(reading.model_type)
    value = config.get(key)
    if isinstance(value, str) and value and set(value) <= {"L", "G"}:
        return value.index("G") + 1 if "G" in value else None
    return config.integer(key)
