"""JSON Schema of the model YAML, so that editors complete it and check it while it is written."""

from __future__ import annotations

import inspect
from typing import Any

from kvplan.config import MAX_LAYERS
from kvplan.dtypes import BITS
from kvplan.layers import LAYER_KINDS
from kvplan.readers.native import FACTS, KEYS, NATIVE_VERSION, SOURCE_KEYS
from kvplan.readers.native_facts import Fact, facts_of

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_SIZE_PATTERN = r"^\s*[0-9][0-9_]*(\.[0-9]+)?\s*([kKmMgGtT][iI]?)?[bB]?\s*$"

# By field name; `Record.field` where one name means two things.
DESCRIPTIONS = {
    "kvplan": "Version of this format.",
    "mtp_ratios": "Entries of compress_ratios past the last layer, which belong to MTP.",
    "nested_text": "The config nests its language model in a part of its own.",
    "modalities": "Parts beside the text: vision, audio.",
    "oddities": "Entries of the config, as key: value, that some engine version reads in its own way.",
    "bare_kv_algo": "Whether that format is a key of its own beside the one of the weights.",
    "weights_algo": "ModelOpt's name of the weights' format, such as NVFP4.",
    "mixed": "Whether layers are quantised in different ways.",
    "id": "Name of the model, as reports show it; the file's name where it is left out.",
    "architecture": "Class name that the engine looks up, such as LlamaForCausalLM.",
    "model_type": "model_type of the published config.",
    "context_length": "Longest context in tokens, RoPE scaling included.",
    "dtype": "Dtype of the published weights; KV dtype auto follows it.",
    "attention_heads": "Query heads of the whole model.",
    "hidden_size": "Width of the residual stream.",
    "config_heads": "Head fields of the config, which an engine uses where it has no rule for the design.",
    "draft_layers": "MTP layers that ship with the model.",
    "dspark_block": "Tokens that a DSpark draft in the checkpoint proposes at once (dspark_block_size).",
    "draft_local_layers": "MTP layers that the config lists as local (mtp_local_layer_ids).",
    "loops": "How often the stack of layers is run, each time with a cache of its own.",
    "attention_sinks": "Whether attention has learned sinks.",
    "fused_qkv_tp": "Tensor parallel size that the checkpoint's fused QKV was made for.",
    "vision": "Size of the vision tower, for which the engine reserves memory.",
    "Vision.layers": "Layers of the vision tower.",
    "Vision.hidden_size": "Width of the vision tower.",
    "quantization": "How the checkpoint is quantised, as far as the KV cache is concerned.",
    "method": "Quantisation method of the checkpoint.",
    "kv_cache_algo": "Format that the checkpoint declares for K and V, such as FP8.",
    "weights": "Bytes of the whole checkpoint; a text may have a unit (806 GB, 750 GiB).",
    "parameters": "What the checkpoint holds, by kinds that an engine splits and stores in different ways.",
    "embedding": "Input embedding.",
    "lookup_tables": "Learned positions, and embeddings of each layer with their projections.",
    "head": "Output head, where it does not share the embedding.",
    "Parameters.attention": "Projections that are cut by heads, those of recurrent layers too.",
    "attention_kv": "Projections of K and V.",
    "attention_copied": "Down-projections of latents and indexers, whole on every GPU.",
    "mlp": "Dense feed-forward parts.",
    "experts": "Routed experts.",
    "shared_experts": "Experts that every token uses.",
    "router": "Routers, and projections into the width of the experts.",
    "norms": "Normalisation.",
    "towers": "Vision and audio towers.",
    "draft": "MTP layers.",
    "unused": "Copies of embedding and head that come with MTP layers and are never loaded.",
    "moe_layers": "Decoder layers with experts.",
    "routed_experts": "Routed experts of one layer.",
    "experts_per_token": "Routed experts that a token uses in each layer.",
    "dense_layers": "Decoder layers with a dense feed-forward part.",
    "Tensors.count": "Number of parameters.",
    "stored": "Bytes in the checkpoint, scales included.",
    "format": "Dtype as torch names it, or a quantisation.",
    "width": "Intermediate size of a feed-forward part that is stored in blocks.",
    "block_rows": "Rows of a block, which is not cut over GPUs.",
    "block_columns": "Columns of a block, which is not cut over GPUs.",
    "source": "Where the numbers come from.",
    "source.kind": "file, bundled, cache, hub or built.",
    "source.location": "Path, URL or repository that the numbers were read from.",
    "source.file": "File that the numbers were read from.",
    "source.revision": "Commit of that file.",
    "source.note": "Anything else worth knowing about it.",
    "assumed": "Defaults that were used because the published config leaves a value out.",
    "notes": "Remarks on the model.",
    "changes": "What was changed of the published model.",
    "num_layers": "Checked against the layers that are listed.",
    "layers": "Layers in order.",
    "kind": "Attention design of the layer.",
    "count": "Equal layers in a row.",
    "repeat": "How often the group follows itself.",
    "kv_heads": "KV heads of the whole model.",
    "head_dim": "Elements of one head of K.",
    "CompressedAttention.head_dim": "Elements of the one K = V vector that all heads share.",
    "v_head_dim": "Elements of one head of V.",
    "window": "Last tokens that the layer keeps.",
    "LatentAttention.window": "Last tokens that the layer keeps; 0 keeps all.",
    "kv_lora_rank": "Elements of the latent.",
    "qk_rope_head_dim": "Elements of the RoPE part.",
    "index_head_dim": "Elements of one index key; 0 without an indexer.",
    "index_topk": "Entries that a decode step reads.",
    "index_candidates": "Index keys of its source that a CSA2 layer scores again; 0 where it scores none.",
    "LatentAttention.head_dim": "Elements of one head behind the latent, without RoPE; 0 if not known.",
    "LatentAttention.v_head_dim": "Elements of one value head behind the latent; 0 if not known.",
    "index_kpool": "Tokens that share one pooled index key.",
    "index_shared": "Whether the layer reuses the top-k of an earlier one and keeps no index keys.",
    "ratio": "Tokens per compressed entry: 0 window alone, 4 CSA, 128 HCA, 1 and 2 CSA2.",
    "CompressedAttention.source": "Whether a CSA2 layer keeps compressed entries of its own.",
    "state_dtype": "Dtype of the recurrent state.",
    "conv_dtype": "Dtype of the convolution state.",
    "index_dim": "Elements of one index key.",
    "index_value": "Whether index values are kept beside the index keys.",
    "index_dtype": "Dtype of the index.",
    "k_heads": "Key heads of the linear attention.",
    "v_heads": "Value heads of the linear attention.",
    "k_head_dim": "Elements of one key head.",
    "conv_kernel": "Width of the causal convolution; the last width - 1 inputs are kept.",
    "heads": "Heads of the recurrent state.",
    "state_size": "State elements per channel.",
    "groups": "Groups that share B and C.",
    "intermediate": "Channels of the recurrent state.",
    "dim": "Channels of the convolution.",
    "attention": "The attention part.",
    "state": "The recurrent part.",
    "reads": "Shape of the earlier layer whose cache is read.",
}


def json_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of the model YAML.

    It asks for torch's names of dtypes; the reader understands other spellings of config files too.
    """
    properties = {
        "kvplan": {"const": NATIVE_VERSION, "description": describe("kvplan")},
        "id": {"type": "string", "description": describe("id")},
        **{fact.key: _property(fact, "Architecture") for fact in FACTS},
        "source": _source(),
        "num_layers": _whole("num_layers", most=MAX_LAYERS),
        "layers": _entries("layers"),
    }
    return {
        "$schema": _DIALECT,
        "title": "kvplan model",
        "description": "A model for kvplan: its layers in order and the facts that sizing needs beside them.",
        **_object({key: properties[key] for key in KEYS}, [*_required(FACTS), "layers"]),
        "$defs": {
            "entry": {"oneOf": [{"$ref": f"#/$defs/{name}"} for name in ("group", *_by_kind())]},
            "group": {
                "description": "A pattern of layers that is repeated.",
                **_object(
                    {"repeat": _whole("repeat", most=MAX_LAYERS), "layers": _entries("layers")}, ["layers"]
                ),
            },
            **{name: _layer(kind, counted=True) for name, kind in _by_kind().items()},
        },
    }


def describe(key: str, record: str = "") -> str:
    """What a key means; KeyError for one that nobody described."""
    return DESCRIPTIONS.get(f"{record}.{key}") or DESCRIPTIONS[key]


def _by_kind() -> dict[str, type[Any]]:
    return {kind.kind: kind for kind in LAYER_KINDS}


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    needed = {"required": required} if required else {}
    return {"type": "object", "properties": properties, **needed, "additionalProperties": False}


def _required(facts: tuple[Fact, ...]) -> list[str]:
    return [fact.key for fact in facts if fact.required and not fact.fallback]


def _entries(key: str) -> dict[str, Any]:
    items = {"$ref": "#/$defs/entry"}
    return {"type": "array", "items": items, "minItems": 1, "description": describe(key)}


def _source() -> dict[str, Any]:
    texts = {key: {"type": "string", "description": describe(key, "source")} for key in SOURCE_KEYS}
    return {"description": describe("source"), **_object(texts, [])}


def _whole(key: str, *, most: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": 1, "maximum": most, "description": describe(key)}


def _layer(kind: Any, *, counted: bool) -> dict[str, Any]:
    facts = facts_of(kind)
    properties = {
        "kind": {"const": kind.kind, "description": describe("kind")},
        **({"count": {**_whole("count", most=MAX_LAYERS), "default": 1}} if counted else {}),
        **{fact.key: _property(fact, kind.__name__) for fact in facts},
    }
    return {"description": _first_paragraph(kind), **_object(properties, ["kind", *_required(facts)])}


def _first_paragraph(record: object) -> str:
    return " ".join((inspect.getdoc(record) or "").partition("\n\n")[0].split())


def _property(fact: Fact, record: str) -> dict[str, Any]:
    described = {"description": describe(fact.key, record)}
    if fact.fallback:
        described["description"] += f" The same as {fact.fallback} where it is left out."
    if fact.many:
        members = {"type": "integer"} if fact.types[0] is int else {"type": "string"}
        return {**described, "type": "array", "items": members}
    default = {} if fact.required or fact.default is None else {"default": fact.default}
    return {**described, **_type(fact), **default}


def _type(fact: Fact) -> dict[str, Any]:
    kind: Any = fact.types[0]
    if kind is bool:
        return {"type": "boolean"}
    if kind is str:
        length = {} if fact.may_be_empty else {"minLength": 1}
        return {"enum": list(BITS)} if fact.is_dtype else {"type": "string", **length}
    if kind is int:
        bounds = (
            {"enum": list(fact.choices)} if fact.choices else {"minimum": fact.least, "maximum": fact.most}
        )
        number = {"type": "integer", **bounds}
        return {"anyOf": [number, {"type": "string", "pattern": _SIZE_PATTERN}]} if fact.is_size else number
    if hasattr(kind, "kind"):
        return {"oneOf": [_layer(member, counted=False) for member in fact.types]}
    facts = facts_of(kind)
    return _object({nested.key: _property(nested, kind.__name__) for nested in facts}, _required(facts))
