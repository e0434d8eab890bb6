"""Hybrids of attention and linear attention: gated delta net, KDA, lightning."""

from __future__ import annotations

from dataclasses import replace

from kvplan.config import shown
from kvplan.layers import (
    GatedDeltaNet,
    KimiDeltaAttention,
    Layer,
    LightningAttention,
    SlidingAttention,
)
from kvplan.readers.latent import indexed, latent_attention
from kvplan.readers.reading import Reading
from kvplan.readers.standard import read_standard

# Names of MiniCPM-SALA's mixers, and whether each is lightning attention.
_MIXERS = {
    **dict.fromkeys(("minicpm4", "minicpm", "standard", "attention", "attn"), False),
    **dict.fromkeys(("lightning", "lightning_attn", "lightning-attn"), True),
}
STATE_DTYPES = ("float32", "bfloat16", "float16")


def state_dtype(reading: Reading) -> str:
    """Dtype of the recurrent state: mamba_ssm_dtype, else float32."""
    named = reading.config.text("mamba_ssm_dtype", choices=STATE_DTYPES)
    if named is None:
        reading.assume("recurrent state in float32: the config names no mamba_ssm_dtype")
    return named or "float32"


def _gated_delta_net(reading: Reading) -> GatedDeltaNet:
    return GatedDeltaNet(
        k_heads=reading.integer("linear_num_key_heads"),
        v_heads=reading.integer("linear_num_value_heads"),
        k_head_dim=reading.integer("linear_key_head_dim"),
        v_head_dim=reading.integer("linear_value_head_dim"),
        conv_kernel=reading.integer("linear_conv_kernel_dim"),
        state_dtype=state_dtype(reading),
    )


def read_gated_delta_net(reading: Reading) -> list[Layer]:
    """Qwen3-Next and Qwen3.5: layer_types, or every full_attention_interval-th layer is full."""
    config = reading.config
    full, linear = reading.attention(), _gated_delta_net(reading)
    named = reading.layer_types({"linear_attention": linear, "full_attention": full})
    interval = config.optional_integer("full_attention_interval")
    if interval is None:
        if named is None:
            config.problem("full_attention_interval", "is missing, and layer_types too")
        return named or []
    placed: list[Layer] = [full if (index + 1) % interval == 0 else linear for index in range(reading.layers)]
    if named is not None and named != placed:
        config.problem(
            "layer_types",
            f"does not have a full layer at every {interval}th place, as full_attention_interval says",
            "SGLang goes by full_attention_interval alone",
        )
    return placed


def read_gigachat(reading: Reading) -> list[Layer]:
    """GigaChat-3.5: MLA, and gated delta nets by layer_types or outside full_attention_layers.

    Source: SGLang 0.5.23, configs/gigachat35.py.
    """
    latent = latent_attention(reading)
    linear = _gated_delta_net(reading)
    kinds: dict[str, Layer] = {
        "linear_attention": linear,
        "attention": latent,
        "full_attention": latent,
    }
    named = reading.layer_types(kinds)
    if named is not None:
        return named
    listed = reading.config.items("full_attention_layers", int)
    if listed is None:
        reading.config.problem("layer_types", "is missing", "or full_attention_layers")
    full = set(listed or ())
    return [latent if index in full else linear for index in range(reading.layers)]


def read_kimi_delta(reading: Reading) -> list[Layer]:
    """Kimi-Linear, Kimi-K3 and GLM-5.3-Flash: KDA and latent layers by linear_attn_config."""
    linear_config = reading.config.mapping("linear_attn_config")
    if linear_config is None:
        reading.config.problem("linear_attn_config", "is missing")
        return []
    kda = KimiDeltaAttention(
        heads=linear_config.integer("num_heads"),
        head_dim=linear_config.integer("head_dim"),
        conv_kernel=linear_config.integer("short_conv_kernel_size", default=4),
    )
    latent = latent_attention(reading)
    count = reading.layers
    full_ids = set(linear_config.items("full_attn_layers", int) or ())
    kda_ids = set(linear_config.items("kda_layers", int) or ())
    first = 0 if 0 in full_ids | kda_ids else 1  # Kimi counts layers from 1, GLM from 0
    expected = set(range(first, first + count))
    if full_ids | kda_ids != expected or full_ids & kda_ids:
        linear_config.problem(
            "full_attn_layers", f"it and kda_layers together do not name each of {count} layers once"
        )
        return []
    latents = indexed(reading, latent, count)
    return [latents[index] if index + first in full_ids else kda for index in range(count)]


def read_lightning(reading: Reading) -> list[Layer]:
    """MiniMax-M1 and -Text-01: attn_type_list, 1 is full attention and 0 lightning attention."""
    full = reading.attention()
    lightning = LightningAttention(heads=reading.heads, head_dim=reading.head_dim())
    kinds = reading.config.items("attn_type_list", int, length=reading.layers)
    if kinds is None:
        reading.config.problem("attn_type_list", "is missing")
        return []
    return [full if kind == 1 else lightning for kind in kinds]


def read_minicpm_sala(reading: Reading) -> list[Layer]:
    """MiniCPM-SALA: mixer_types, repeated over the layers (SGLang 0.5.23, configs/minicpm.py)."""
    config = reading.config
    if config.get("sparse_config") is not None:
        config.problem("sparse_config", "sparse attention has a cache design that kvplan does not have")
    full = reading.attention()
    heads = config.optional_integer("lightning_nkv") or full.kv_heads
    lightning = LightningAttention(
        heads=heads, head_dim=config.optional_integer("lightning_head_dim") or full.head_dim
    )
    names = config.items("mixer_types", str) or ["minicpm4"]
    unknown = sorted(set(names) - set(_MIXERS))
    if unknown:
        config.problem("mixer_types", f"unknown mixer {shown(unknown[0])}", f"known: {', '.join(_MIXERS)}")
        return []
    return [lightning if _MIXERS[names[i % len(names)]] else full for i in range(reading.layers)]


def read_minicpm(reading: Reading) -> list[Layer]:
    """MiniCPM: plain attention, or the mixers of MiniCPM-SALA where the config names them."""
    hybrid = reading.config.get("mixer_types") is not None
    return read_minicpm_sala(reading) if hybrid else read_standard(reading)


def read_bailing_linear(reading: Reading) -> list[Layer]:
    """Ring-linear: the last layer of each group has KV heads, the others are lightning attention."""
    full = reading.attention()
    state = LightningAttention(heads=reading.heads, head_dim=full.head_dim)
    group = reading.config.integer("layer_group_size")
    return [full if (index + 1) % group == 0 else state for index in range(reading.layers)]


def read_bailing_hybrid(reading: Reading) -> list[Layer]:
    """Ling-2.5 and Ling-3: the last layer of each group is MLA, the others lightning or KDA.

    Source: SGLang 0.5.23, configs/bailing_hybrid.py.
    """
    config = reading.config
    count = reading.layers
    latent = latent_attention(reading)
    if config.flag("use_mla_nope") and reading.architecture.startswith("BailingMoeV3"):
        latent = replace(latent, qk_rope_head_dim=0)
    state = _bailing_state(reading)
    schedule = config.get("layer_group_size")
    if isinstance(schedule, list):
        flags = config.items("layer_group_size", int, length=count) or [0] * count
        return [state if flag == 1 else latent for flag in flags]
    group = config.integer("layer_group_size", default=1)
    return [latent if (index + 1) % group == 0 else state for index in range(count)]


def _bailing_state(reading: Reading) -> Layer:
    kernel = reading.config.optional_integer("short_conv_kernel_size")
    if kernel is None:
        return LightningAttention(heads=reading.heads, head_dim=reading.head_dim())
    return KimiDeltaAttention(heads=reading.heads, head_dim=reading.head_dim(), conv_kernel=kernel)


def read_jet_nemotron(reading: Reading) -> list[Layer]:
    """Jet-Nemotron: `jet` layers are delta nets, `attn` full and `swa` sliding attention.

    Source: SGLang 0.5.23, configs/jet_nemotron.py.
    """
    designs = reading.config.mapping("efficient_attention_config")
    jet = designs.mapping("jet") if designs is not None else None
    swa = designs.mapping("swa") if designs is not None else None
    if jet is None:
        reading.config.problem("efficient_attention_config.jet", "is missing")
        return []
    heads, k_head_dim = jet.integer("num_heads"), jet.integer("head_dim")
    state = GatedDeltaNet(
        k_heads=heads,
        v_heads=heads,
        k_head_dim=k_head_dim,
        v_head_dim=int(k_head_dim * jet.ratio("expand_v", default=1.0)),
        conv_kernel=jet.integer("conv_size"),
    )
    full = reading.attention()
    sliding = SlidingAttention(
        kv_heads=full.kv_heads,
        head_dim=full.head_dim,
        v_head_dim=full.v_head_dim,
        window=swa.integer("window_size") if swa is not None else 1,
    )
    return reading.layer_types({"jet": state, "attn": full, "swa": sliding}) or []
