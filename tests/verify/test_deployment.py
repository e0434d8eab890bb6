"""What a log says of the deployment behind it."""

from __future__ import annotations

from typing import Any

import pytest

from kvplan.bootlog import BootLog, Rank, read_log
from kvplan.verify import told_by
from tests.bootlog import samples

OLDER = {"engine_version": "0.5.12"}


def told(**arguments: Any) -> dict[str, object]:
    """Settings of a log that holds these arguments and nothing else."""
    return dict(told_by(BootLog(ranks=(), server_args=arguments)).settings)


def test_the_arguments_of_a_log_are_the_deployment() -> None:
    assert told_by(read_log(samples.V0_5_12_SLIDING.splitlines())).settings == {
        "tp": 2,
        "page_size": 1,
        "chunked_prefill_size": 4096,
        "max_running_requests": 1,
        "mem_fraction_static": 0.85,
        "swa_full_tokens_ratio": 0.1,
        "attention_backend": "triton",
        "engine_version": "0.5.12",
        "gpu": "rtx4090",
    }


def test_a_chunk_that_attention_ranks_divided_is_put_together_again() -> None:
    settings = told_by(read_log(samples.V0_5_23.splitlines())).settings
    assert (settings["dp"], settings["enable_dp_attention"]) == (8, True)
    assert settings["chunked_prefill_size"] == 16_384  # 8 x 2,048


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [
        ({"swa_full_tokens_ratio": 0.8}, {}),
        ({"max_total_tokens": None, "disable_radix_cache": False}, {}),
        ({"disable_radix_cache": True}, {"disable_radix_cache": True}),
        ({"tp_size": "8", "mem_fraction_static": "high", "page_size": 1.5}, {}),
        ({"tp_size": True}, {}),
        ({"chunked_prefill_size": -1}, {"chunked_prefill_size": -1}),
        ({"context_length": 169_000}, {"context_length": 169_000}),
        ({"mem_fraction_static": 1}, {"mem_fraction_static": 1}),
    ],
)
def test_only_what_was_set_and_has_its_type_counts(
    arguments: dict[str, Any], settings: dict[str, object]
) -> None:
    assert told(**arguments) == {**settings, **OLDER}


@pytest.mark.parametrize(
    ("free_gib", "backend", "gpu"),
    [
        (22.39, None, "rtx4090"),
        (22.91, "triton", "rtx4090"),
        (78.5, "fa3", "h100"),
        (139.0, "fa3", "h200"),
        (177.57, "trtllm_mha", "b200"),
        (78.5, "trtllm_mha", "b200"),
        (2_000.0, None, None),
        (None, "fa3", None),
    ],
)
def test_free_memory_and_backend_tell_the_gpu(
    free_gib: float | None, backend: str | None, gpu: str | None
) -> None:
    log = BootLog(
        ranks=(Rank(name="", free_before_gib=free_gib),), server_args={"attention_backend": backend}
    )
    assert told_by(log).settings.get("gpu") == gpu


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"disaggregation_mode": "prefill"}, ("--disaggregation-mode prefill",)),
        ({"disaggregation_mode": "null", "device": "cuda", "dtype": "auto", "attn_cp_size": 1}, ()),
        ({"json_model_override_args": "{}"}, ()),
        ({"json_model_override_args": '{"num_hidden_layers": 2}'}, ("--json-model-override-args",)),
        ({"enable_hierarchical_cache": True, "attn_cp_size": 2}, ("--attn-cp-size 2", "--enable-hier")),
    ],
)
def test_what_is_not_modelled_is_remembered(arguments: dict[str, Any], named: tuple[str, ...]) -> None:
    found = told_by(BootLog(ranks=(), server_args=arguments)).not_modelled
    assert [line.startswith(name) for line, name in zip(found, named, strict=True)] == [True] * len(named)


def test_what_the_log_leaves_open_is_said() -> None:
    assert told_by(BootLog(ranks=(), starts=3)).notes == (
        "no server_args line: everything that the options don't say is SGLang's default",
        "the log holds 3 starts: the last one is compared",
    )
    assert told_by(BootLog(ranks=(), server_args={"tp_size": 1})).notes == (
        "mem_fraction_static is not in the log: the version's default",
    )
