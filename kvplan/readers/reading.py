"""What a Hugging Face reader works with: the text part of a config, the whole of it, and class defaults."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from pathlib import Path
from typing import Any

from kvplan.config import MAX_DIMENSION, MAX_LAYERS, Config, shown
from kvplan.frozen import dataclass
from kvplan.layers import FullAttention, Layer

_DEFAULTS_FILE = Path(__file__).with_name("class_defaults.json")

# The names that dialects give to the same thing, most specific first.
LAYER_KEYS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
HEAD_KEYS = ("num_attention_heads", "n_head", "n_heads", "num_heads")
HIDDEN_KEYS = ("hidden_size", "n_embd", "d_model", "n_embed")
# In the order in which SGLang looks for them (configs/model_config.py, get_total_num_kv_heads);
# num_multi_query_heads is CogVLM2's.
KV_HEAD_KEYS = (
    "n_head_kv",
    "num_kv_heads",
    "num_key_value_heads",
    "multi_query_group_num",
    "num_attention_groups",
    "num_multi_query_heads",
)


@lru_cache(maxsize=1)
def _class_defaults() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(_DEFAULTS_FILE.read_text(encoding="utf-8"))
    return loaded


def text_type_of(model_type: str) -> str:
    """The model_type of the text part that a multimodal config nests."""
    return str(_class_defaults()["text_types"].get(model_type, model_type))


def is_flat_llava(architecture: str) -> bool:
    """Whether it is one of LLaVA's own classes, which keep the language model's fields at the top level."""
    return architecture.startswith("Llava") and architecture.endswith("ForCausalLM")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A config being read: `config` is its text part, `outer` the whole file, `parts` from outer to inner.

    `assumed` and `notes` collect what the plan must show.
    """

    config: Config
    outer: Config
    parts: tuple[Config, ...]
    architecture: str
    model_type: str
    assumed: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def vision_defaults(self) -> Mapping[str, int] | None:
        """What the class of the vision part uses where a key is missing.

        None for a class without one, and where the config has no such part and its class builds none.
        """
        vision, outer = self.outer.mapping("vision_config"), self.outer.text("model_type")
        tables = _class_defaults()
        if vision is None and outer not in tables["vision_built"]:
            return None
        own = vision.text("model_type") if vision is not None else None
        found = tables["vision_parts"].get(own) or tables["vision"].get(outer)
        return dict(found) if found is not None else None

    @property
    def class_defaults(self) -> Mapping[str, int]:
        """What the config class of the text part uses where a key is missing.

        Some multimodal classes bring a class of their own for the text that they nest.
        """
        tables = _class_defaults()
        outer = self.outer.text("model_type") if self.config is not self.outer else None
        known = tables["defaults"]
        found: Mapping[str, int] | None = tables["nested"].get(outer, known.get(self.model_type))
        return found if found is not None else known.get(tables["text_types"].get(outer), {})

    def integer(self, *keys: str, least: int = 1, most: int = MAX_DIMENSION) -> int:
        """A whole number, or the config class's default where none of the keys is there."""
        value = self.optional(*keys, least=least, most=most)
        return self.config.integer(*keys, least=least, most=most) if value is None else value

    def optional(self, *keys: str, least: int = 1, most: int = MAX_DIMENSION) -> int | None:
        """A whole number; None where it is null, or missing without a class default."""
        if self.config.first(*keys) is not None:
            return self.config.integer(*keys, least=least, most=most)
        default = next((self.class_defaults[key] for key in keys if key in self.class_defaults), None)
        if default is None or any(key in self.config for key in keys):
            return None
        self.assume(f"{keys[0]} {default}: the config leaves it out, default of {self.model_type}")
        return default

    def assume(self, text: str) -> None:
        """List a default that was used."""
        if text not in self.assumed:
            self.assumed.append(text)

    @property
    def layers(self) -> int:
        """Number of decoder layers."""
        return self.integer(*LAYER_KEYS, most=MAX_LAYERS)

    @property
    def heads(self) -> int:
        """Query heads."""
        return self.integer(*HEAD_KEYS)

    @property
    def hidden(self) -> int:
        """Width of the residual stream."""
        return self.integer(*HIDDEN_KEYS)

    def head_dim(self) -> int:
        """The declared head size, else hidden size over heads, which must divide."""
        # HunYuanVLTextConfig alone maps one to the other (attribute_map).
        names = ("head_dim", "attention_head_dim") if self.model_type == "hunyuan_vl_text" else ("head_dim",)
        declared = self.optional(*names, least=0)
        if declared:
            return declared
        hidden, heads = self.hidden, self.heads
        if hidden % heads:
            self.config.problem(
                "head_dim", f"is missing, and {hidden} hidden dimensions don't divide by {heads} heads"
            )
        return hidden // heads

    def kv_heads(self) -> int:
        """KV heads by any of their names; as many as query heads where none is set."""
        if self._is_multi_query():
            return 1
        declared = self._declared_kv_heads()
        if declared is not None:
            return declared
        heads = self.heads
        self.assume(f"KV heads {heads}: the config names none, so one per attention head")
        return heads

    def _declared_kv_heads(self) -> int | None:
        attention = self.config.mapping("attn_config")
        if attention is not None:
            return attention.optional_integer("kv_n_heads")
        return self.optional(*KV_HEAD_KEYS)

    def _is_multi_query(self) -> bool:
        # Falcon's new decoder has KV groups whatever multi_query says.
        if self.config.flag("new_decoder_architecture") or "n_head_kv" in self.config:
            return False
        return self.config.flag("multi_query", default=self.model_type == "gpt_bigcode")

    def attention(self) -> FullAttention:
        """K and V of a full layer by the generic fields."""
        head_dim = self.head_dim()
        v_head_dim = self.config.optional_integer("v_head_dim", least=0) or head_dim
        return FullAttention(kv_heads=self.kv_heads(), head_dim=head_dim, v_head_dim=v_head_dim)

    def layer_types(self, known: Mapping[str, Layer], *, key: str = "layer_types") -> list[Layer] | None:
        """Layers by a list of names, or None where the config has no such list."""
        names: Sequence[str] | None = self.config.items(key, str, length=self.layers)
        if names is None:
            return None
        unknown = sorted(set(names) - set(known))
        if unknown:
            self.config.problem(key, f"unknown layer type {shown(unknown[0])}", f"known: {', '.join(known)}")
            return None
        return [known[name] for name in names]
