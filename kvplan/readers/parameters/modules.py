"""Names of modules in quantisation configs: which kinds of weights a list of them means.

Lists name modules layer by layer. One module stands for its kind, and a few layers from the middle of
the model stand for all of them: the first and last ones are often kept unquantised.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import translate
from itertools import islice
from typing import Any

from kvplan.frozen import dataclass
from kvplan.readers.parameters.sizes import as_text

# What each kind of weight is called in checkpoints, most usual first.
NAMES = {
    "attention": (
        *("self_attn.q_proj", "self_attn.q_b_proj", "self_attn.qkv_proj", "linear_attn.in_proj_qkv"),
        *("linear_attn.in_proj_qkvz", "attn.wq_b", "mixer.q_proj", "mixer.in_proj"),
    ),
    "attention_kv": ("self_attn.k_proj", "self_attn.qkv_proj", "mixer.k_proj", "attn.wkv"),
    "attention_copied": ("self_attn.kv_a_proj_with_mqa", "attn.wq_a"),
    "mlp": ("mlp.gate_proj", "mlp.gate_up_proj", "feed_forward.w1", "feed_forward.gate_proj"),
    "experts": (
        *("mlp.experts.0.gate_proj", "mlp.experts", "block_sparse_moe.experts.0.w1", "ffn.experts"),
        *("mixer.experts.0.up_proj", "mixer.experts", "experts", "feed_forward.experts"),
    ),
    "shared_experts": (
        *("mlp.shared_experts.gate_proj", "mlp.shared_expert.gate_proj", "ffn.shared_experts.w1"),
        *("mixer.shared_experts.up_proj", "block_sparse_moe.shared_experts.gate_proj"),
        "feed_forward.shared_expert.gate_proj",
    ),
}
_PREFIXES = (
    *("layers", "model.layers", "model.language_model.layers", "language_model.model.layers"),
    "backbone.layers",
)
_SAMPLED_LAYERS = 8
_NUMBER = re.compile(r"\.(\d+)(?=\.|\*|\Z)")
_LAYER = re.compile(r"layers\.(\d{1,6})")
# An expression as published lists hold them: literals, `.` and `.*`, and one choice between words. Other
# expressions are left out, since a crafted one can keep the matcher busy for years.
_EXPRESSION = re.compile(r"\^?((?:\.\*|\\\.|[\w.-])*)(?:\(([\w|]+)\)((?:\.\*|\\\.|[\w.-])*))?(\$?)")
# More patterns than this describe no scheme.
_MAX_PATTERNS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleList:
    """Modules that a config lists, by whole names, name parts, globs and `re:` expressions."""

    parts: frozenset[str]
    patterns: tuple[re.Pattern[str], ...]

    def covers(self, name: str) -> bool:
        """Whether a module is listed itself or lies inside a listed one."""
        tokens = name.split(".")
        if any(
            ".".join(tokens[start:end]) in self.parts
            for start in range(len(tokens))
            for end in range(start + 1, len(tokens) + 1)
        ):
            return True
        return any(pattern.match(name) for pattern in self.patterns)


def names_of(kind: str) -> list[str]:
    """Names that modules of a kind may have, with N for the number of a layer or an expert."""
    return [f"{prefix}.N.{_numberless(name)}" for name in NAMES[kind] for prefix in _PREFIXES]


def module_list(entries: Iterable[object], layers: int) -> ModuleList:
    """The entries that concern the middle layers, with N for the numbers in them."""
    first = max(0, min(layers // 2, layers - _SAMPLED_LAYERS))
    sampled = range(first, first + _SAMPLED_LAYERS)
    parts: set[str] = set()
    globs: dict[str, None] = {}
    for entry in entries:
        text = as_text(entry)
        layer = _LAYER.search(text)
        if layer is not None and int(layer[1]) not in sampled:
            continue
        if text.startswith("re:"):
            globs |= dict.fromkeys(_globs(_numberless(text.removeprefix("re:"))))
        elif "*" in text or "?" in text:
            globs |= dict.fromkeys((_numberless(text), f"{_numberless(text)}.*"))
        else:
            parts.add(_numberless(text))
    return ModuleList(parts=frozenset(parts), patterns=tuple(_compiled(globs)))


def _numberless(name: str) -> str:
    return _NUMBER.sub(".N", f".{name}")[1:]


def _globs(expression: str) -> list[str]:
    """A regular expression as globs, which are matched without going back; empty where that can't be."""
    found = _EXPRESSION.fullmatch(expression)
    if found is None:
        return []  # a list that kvplan can't read costs accuracy, not the plan
    before, words, after, end = found.groups()
    texts = [f"{before}{word}{after or ''}" for word in (words or "").split("|")]
    return [_glob(text) + ("" if end else "*") for text in texts]


def _glob(text: str) -> str:
    return text.replace(".*", "*").replace("\\.", "\0").replace(".", "?").replace("\0", ".")


def _compiled(globs: Iterable[str]) -> Iterable[re.Pattern[str]]:
    return (re.compile(translate(glob)) for glob in islice(globs, _MAX_PATTERNS))


def algorithms(listed: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """For each kind, what `quantized_layers` says of its modules; kinds that are not listed are left out."""
    by_shape = {_numberless(name): value for name, value in listed.items()}
    found = {}
    for kind in NAMES:
        value = next((by_shape[name] for name in names_of(kind) if name in by_shape), None)
        if isinstance(value, Mapping):
            found[kind] = value
    return found
