"""Launch lines as people write them: what they set, what they leave to a warning, what is wrong with them."""

from __future__ import annotations

from typing import Any

import pytest

from kvplan.deployment import Deployment
from kvplan.errors import InputError
from kvplan.launch import Launch, parse

SERVER = "python -m sglang.launch_server"


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [
        ("--tp 8", {"tp": 8}),
        ("--tp-size 8", {"tp": 8}),
        ("--tensor-parallel-size 8", {"tp": 8}),
        ("--tp=8", {"tp": 8}),
        ("--tensor-parallel 8", {"tp": 8}),
        ("--tp 4 --tp 8", {"tp": 8}),
        ("--dp 2", {"dp": 2}),
        (
            "--tp 2 --data-parallel-size 2 --enable-dp-attention",
            {"tp": 2, "dp": 2, "enable_dp_attention": True},
        ),
        ("--tp 8 --attn-dp-size 4", {"tp": 8, "dp": 4, "enable_dp_attention": True}),
        ("--attn-dp-size 1", {}),
        ("--pp 2", {"pp": 2}),
        ("--pipeline-parallel-size 2", {"pp": 2}),
        ("--tp 8 --ep 8", {"tp": 8, "ep": 8}),
        ("--dcp-size 8", {"dcp": 8}),
        ("--mem-fraction-static .85", {"mem_fraction_static": 0.85}),
        ("--mem-fraction 0.85", {"mem_fraction_static": 0.85}),
        ("--chunked-prefill-size -1", {"chunked_prefill_size": -1}),
        ("--context-length 131072", {"context_length": 131_072}),
        ("--context-length 128k", {"context_length": 128_000}),
        ("--max-total-tokens 1.5M", {"max_total_tokens": 1_500_000}),
        ("--max-total-tokens 64Ki", {"max_total_tokens": 65_536}),
        ("--max-total-tokens 65536", {"max_total_tokens": 65_536}),
        ("--max-running-requests 64", {"max_running_requests": 64}),
        ("--kv-cache-dtype fp8_e4m3", {"kv_cache_dtype": "fp8_e4m3"}),
        ("--page-size 64", {"page_size": 64}),
        ("--attention-backend trtllm_mla", {"attention_backend": "trtllm_mla"}),
        ("--disable-radix-cache", {"disable_radix_cache": True}),
        ("--disable-hybrid-swa-memory", {"disable_hybrid_swa_memory": True}),
        ("--swa-full-tokens-ratio 0.3", {"swa_full_tokens_ratio": 0.3}),
        ("--mamba-full-memory-ratio 0.5", {"mamba_full_memory_ratio": 0.5}),
        ("--max-mamba-cache-size 128", {"max_mamba_cache_size": 128}),
        ("--mamba-ssm-dtype bfloat16", {"mamba_ssm_dtype": "bfloat16"}),
        ("--enable-hisparse", {"enable_hisparse": True}),
        ("--moe-a2a-backend deepep", {"moe_a2a_backend": "deepep"}),
        ("--moe-dense-tp-size 1", {"moe_dense_tp_size": 1}),
        ("--ep-num-redundant-experts 32", {"ep_num_redundant_experts": 32}),
        ("--enable-dp-lm-head", {"enable_dp_lm_head": True}),
        ("--moe-runner-backend megamoe", {"moe_a2a_backend": "megamoe"}),
        (
            "--speculative-algorithm EAGLE --speculative-num-steps 3 --speculative-eagle-topk 1 "
            "--speculative-num-draft-tokens 4",
            {
                "speculative_algorithm": "EAGLE",
                "speculative_num_steps": 3,
                "speculative_eagle_topk": 1,
                "speculative_num_draft_tokens": 4,
            },
        ),
    ],
)
def test_a_flag_in_any_of_its_spellings_sets_its_field(arguments: str, settings: dict[str, Any]) -> None:
    launch = parse(f"{SERVER} --model-path org/m {arguments}")
    assert launch == Launch(model="org/m", settings=settings)
    assert launch.deployment == Deployment(**settings)


@pytest.mark.parametrize(
    ("line", "model"),
    [
        (f"{SERVER} --model-path org/m", "org/m"),
        (f"{SERVER} --model org/m", "org/m"),
        ("sglang serve org/m", "org/m"),
        ("/opt/venv/bin/sglang serve --model-path org/m", "org/m"),
        ("--model-path org/m", "org/m"),
        ("python3 /sgl-workspace/sglang/python/sglang/launch_server.py --model org/m", "org/m"),
        (f"{SERVER} --model-path org/m --revision v2", "org/m@v2"),
        (f"{SERVER} --model-path '/data/my models/m'", "/data/my models/m"),
        (f"{SERVER} --tp 1", None),
        (f"MODEL=org/m\n{SERVER} --model-path $MODEL", "org/m"),
        (f"export M=org/m; {SERVER} --model-path ${{M}}-chat", "org/m-chat"),
    ],
)
def test_the_model_is_the_one_that_the_line_names(line: str, model: str | None) -> None:
    assert parse(line).model == model


def test_what_touches_no_pool_is_passed_over_in_silence() -> None:
    launch = parse(
        f"{SERVER} --model-path org/m --host 0.0.0.0 --port 30000 --trust-remote-code "
        "--moe-runner-backend triton --tool-call-parser qwen --bucket-e2e-request-latency 1 2 3 "
        "--mem-fraction-static 0.9"
    )
    assert launch.settings == {"mem_fraction_static": 0.9}
    assert launch.ignored == (
        "--host",
        "--port",
        "--trust-remote-code",
        "--moe-runner-backend",
        "--tool-call-parser",
        "--bucket-e2e-request-latency",
    )
    assert launch.warnings(launch.deployment) == ()


@pytest.mark.parametrize(
    ("arguments", "warning"),
    [
        (
            "--mamba-radix-cache-strategy extra_buffer",
            "not modelled: --mamba-radix-cache-strategy extra_buffer: it decides state slots per request",
        ),
        ("--mamba-radix-cache-strategy auto", None),
        ("--attn-cp-size 2", "not modelled: --attn-cp-size 2: heads are split over fewer GPUs"),
        ("--attn-cp-size 1", None),
        ("--dtype float32", "not modelled: --dtype float32: the KV dtype on auto follows it"),
        ("--dtype bfloat16", None),
        ("--config start.yaml", "not modelled: --config start.yaml: the options in the file are not read"),
        (
            "--speculative-draft-model-path org/draft",
            "not modelled: --speculative-draft-model-path org/draft: the layers of the draft are not read",
        ),
        (
            "--moe-a2a-backend deepep --deepep-mode normal",
            "not modelled: --deepep-mode normal: the default memory fraction depends on it",
        ),
        ("--moe-a2a-backend deepep --deepep-mode low_latency", None),
        ("--deepep-mode normal", None),
        ("--moe-a2a-backend mori --deepep-mode normal", None),
        (
            "--moe-a2a-backend deepep --enable-deepep-waterfill",
            "not modelled: --enable-deepep-waterfill: it changes what one GPU loads",
        ),
        (
            "--tp 8 --ep 8 --disable-shared-experts-fusion",
            "not modelled: --disable-shared-experts-fusion: it changes what one GPU loads",
        ),
        (
            "--tp 8 --moe-a2a-backend deepep --enforce-shared-experts-fusion",
            "not modelled: --enforce-shared-experts-fusion: it changes what one GPU loads",
        ),
        ("--tp 8 --disable-shared-experts-fusion", None),  # split over TP, fused or not
        (
            "--enable-mis",
            "not modelled: --enable-mis: it turns CUDA graphs, the radix cache and chunked prefill off",
        ),
        ("--quantization fp8", "not modelled: --quantization fp8: it changes what one GPU loads"),
        (
            "--cuda-graph-bs 1 2 4 8",
            "not modelled: --cuda-graph-bs 1 2 4 8: the default memory fraction depends on it",
        ),
        (
            "--dp-size 2 --attn-dp-size 4 --tp 8",
            "not modelled: --dp-size 2: replicas beside attention ranks are not counted",
        ),
    ],
)
def test_what_changes_the_pool_and_is_not_modelled_is_named(arguments: str, warning: str | None) -> None:
    launch = parse(f"{SERVER} --model-path org/m {arguments}")
    assert launch.warnings(launch.deployment) == (() if warning is None else (warning,))


@pytest.mark.parametrize(
    ("budget", "touched"),
    [
        ({}, ["--quantization", "--disable-cuda-graph", "--device"]),
        ({"mem_fraction_static": 0.9}, ["--quantization", "--device"]),
        ({"pre_model_load_gib": 79.0, "free_gib": 60.0}, ["--disable-cuda-graph", "--device"]),
        ({"available_bytes": 1 << 36}, ["--device"]),
    ],
)
def test_a_given_budget_silences_what_no_longer_matters(budget: dict[str, Any], touched: list[str]) -> None:
    launch = parse(f"{SERVER} --model org/m --quantization fp8 --disable-cuda-graph --device xpu")
    warnings = launch.warnings(Deployment(**budget))
    assert [warning.split()[2].rstrip(":") for warning in warnings] == touched


@pytest.mark.parametrize("flag", ["--enable-ep-moe", "--enable-flashinfer-mla", "--disable-mla", "--new 1 2"])
def test_a_flag_of_another_version_is_named_and_left_out(flag: str) -> None:
    launch = parse(f"{SERVER} --model-path org/m {flag} --tp 8")
    assert launch.settings == {"tp": 8}
    named = f"{flag.split(maxsplit=1)[0]}: no flag of SGLang 0.5.12 to 0.5.23, left out"
    assert launch.warnings(launch.deployment) == (named,)


def test_a_default_that_the_text_gives_for_a_variable_is_named() -> None:
    launch = parse(
        f'LOG=${{LOG:-x}}\nM="${{M:-org/m}}"\nTP=4\n'
        f'{SERVER} --model $M --tp ${{TP:-8}} --page-size "${{P-64}}"'
    )
    assert (launch.model, launch.settings) == ("org/m", {"tp": 4, "page_size": 64})
    assert launch.warnings(launch.deployment) == (
        "${M:-org/m}: its default in the text",
        "${P-64}: its default in the text",
    )


def test_variables_in_front_count_as_the_engine_reads_them() -> None:
    launch = parse(
        "docker run --gpus all -e SGLANG_MAMBA_SSM_DTYPE=bfloat16 --env HF_TOKEN=secret "
        f"--env=SGLANG_MAMBA_CONV_DTYPE=float16 lmsysorg/sglang:latest "
        f"env SGLANG_LOG_MS=1 {SERVER} --model org/m"
    )
    assert launch.settings == {"mamba_ssm_dtype": "bfloat16"}
    assert set(launch.env) == {"SGLANG_MAMBA_SSM_DTYPE", "SGLANG_MAMBA_CONV_DTYPE", "SGLANG_LOG_MS"}
    assert launch.warnings(launch.deployment) == (
        "not modelled: SGLANG_MAMBA_CONV_DTYPE float16: dtype of convolution states",
    )


@pytest.mark.parametrize(
    ("arguments", "warnings"),
    [
        (
            "--pp 2",
            ("not modelled: SGLANG_PP_LAYER_PARTITION 20,12: each stage has as many layers as it says",),
        ),
        ("--tp 2", ()),  # one stage has all layers, whatever the variable says
    ],
)
def test_layers_dealt_to_stages_by_hand_are_named(arguments: str, warnings: tuple[str, ...]) -> None:
    launch = parse(f"SGLANG_PP_LAYER_PARTITION=20,12 {SERVER} --model org/m {arguments}")
    assert launch.warnings(launch.deployment) == warnings


def test_the_flag_wins_over_its_variable() -> None:
    launch = parse(f"SGLANG_MAMBA_SSM_DTYPE=bfloat16 {SERVER} --model org/m --mamba-ssm-dtype float16")
    assert launch.settings == {"mamba_ssm_dtype": "float16"}


@pytest.mark.parametrize(
    ("image", "rules", "warnings"),
    [
        ("lmsysorg/sglang:v0.5.12.post1-cu130", "0.5.12", ()),
        ("lmsysorg/sglang:v0.5.23", "0.5.23", ()),
        ("registry.example/sglang:v0.5.15", "0.5.15", ()),
        (
            "registry.example/sglang:v0.5.25",
            "0.5.23",
            ("the image holds SGLang v0.5.25, the rules are those of 0.5.23",),
        ),
        (
            "lmsysorg/sglang:v0.4.9-cu126",
            "0.5.12",
            ("the image holds SGLang v0.4.9-cu126, the rules are those of 0.5.12",),
        ),
        ("lmsysorg/sglang:latest", None, ()),
    ],
)
def test_an_image_says_whose_rules_apply(image: str, rules: str | None, warnings: tuple[str, ...]) -> None:
    launch = parse(f"docker run {image} {SERVER} --model org/m")
    assert launch.settings.get("engine_version") == rules
    assert launch.warnings(launch.deployment) == warnings


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("--node-rank 0", "--node-rank 1"),
        ("--dist-init-addr a:1 --port 1", "--dist-init-addr b:1 --port 2"),
        ("--cpu-offload-gb 20 --quantization fp8", "--quantization fp8 --cpu-offload-gb 20"),
        ("--attn-cp-size 1", ""),
    ],
)
def test_commands_whose_plans_are_the_same_are_one_server(one: str, other: str) -> None:
    launch = parse(f"{SERVER} --model org/m --tp 16 {one}\n{SERVER} --model org/m --tp 16 {other}")
    assert (launch.model, launch.settings) == ("org/m", {"tp": 16})


@pytest.mark.parametrize(
    ("line", "problems"),
    [
        (f"{SERVER} --model x --tpp 8", ["f: '--tpp' is no flag of SGLang (did you mean --tp?)"]),
        (
            f"{SERVER} --model x --max-runing-requests 3 --tp 8",
            ["f: '--max-runing-requests' is no flag of SGLang (did you mean --max-running-requests?)"],
        ),
        (
            f"{SERVER} --model x --speculative-num 3",
            ["f: '--speculative-num' could be --speculative-num-draft-tokens or --speculative-num-steps"],
        ),
        (f"{SERVER} --model x stray", ["f: 'stray' belongs to no flag"]),
        (f"{SERVER} --model x --tp", ["f: --tp-size: needs a value"]),
        (f"{SERVER} --model x -tp 8", ["f: '-tp' is no flag of SGLang (did you mean --tp?)"]),
        (
            f"{SERVER} --model x --context-length 128K",  # the suffix is lower-case there
            ["f: --context-length: '128K' is not a whole number"],
        ),
        (
            f"{SERVER} --model x --mem-fraction-static 0,88",
            ["f: --mem-fraction-static: '0,88' is not a number"],
        ),
        (
            f"{SERVER} --model x --tp two --page-size=",
            ["f: --tp-size: 'two' is not a whole number", "f: --page-size: '' is not a whole number"],
        ),
        (
            f"{SERVER} --model x --disable-radix-cache=1",
            ["f: --disable-radix-cache: is a switch and takes no '1'"],
        ),
        (
            f"{SERVER} --model x --mem-fraction-static nan",
            ["f: --mem-fraction-static: 'nan' is not a number"],
        ),
        (
            f"{SERVER} --model $MODEL --tp $TP",
            [
                "f: --tp-size: '$TP' holds a variable that the text does not set",
                "f: --model-path: '$MODEL' holds a variable that the text does not set",
            ],
        ),
        (f"{SERVER} --help", ["f: --help starts no server"]),
        ("", ["f: no SGLang server is started (python -m sglang.launch_server ... or sglang serve ...)"]),
        (
            "vllm serve org/m --tensor-parallel-size 8",
            ["f: no SGLang server is started (python -m sglang.launch_server ... or sglang serve ...)"],
        ),
        (f"{SERVER} --model 'x", ["f: a quotation is not closed"]),
        (
            f"{SERVER} --model x\n  --tp 8",
            [
                "f: '--tp' stands in no command (a comment or a line without a backslash ends a command, "
                "as in a shell)"
            ],
        ),
        (
            f"{SERVER} --model x --tp 8\n{SERVER} --model x --tp 4",
            ["f: starts 2 different servers (give one)"],
        ),
        (
            "sglang serve x --tp 2\nsglang serve x --tp 2 --quantization fp8 --cpu-offload-gb 20",
            ["f: starts 2 different servers (give one)"],
        ),
        (
            "sglang serve x --quantization fp8\nsglang serve x --quantization awq",
            ["f: starts 2 different servers (give one)"],
        ),
        (
            "sglang serve x\nSGLANG_DSV4_KV_LAYOUT=v5 sglang serve x",
            ["f: starts 2 different servers (give one)"],
        ),
    ],
)
def test_what_is_wrong_comes_out_all_at_once(line: str, problems: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        parse(line, "f")
    assert [str(problem) for problem in caught.value.problems] == problems
