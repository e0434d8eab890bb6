"""Speculative decoding that a model's design, its kernels or the way it is spread do not take.

Sources: server_args.py, check_server_args, _handle_mamba_radix_cache and _handle_speculative_decoding,
arg_groups/deepseek_v4_hook.py (0.5.12); validation_hook.py, check_pipeline_parallel_compat,
attention_hook.py and deepseek_v4_hook.py under arg_groups/ (0.5.23).
"""

from __future__ import annotations

from kvplan.deployment import Deployment
from kvplan.errors import refused
from kvplan.sglang.model import EngineModel
from kvplan.sglang.rule_set import Rules
from kvplan.sglang.speculation import NGRAM
from kvplan.sglang.state_cache import StateCache

# Names under which a draft that ships with the model is asked for.
_SHIPPED = ("EAGLE", "NEXTN")
_LEAVE_OUT = "leave --speculative-algorithm out"


def refuse_speculation(
    model: EngineModel, deployment: Deployment, states: StateCache, backend: str, rules: Rules
) -> None:
    """RefusedError for drafts that the server would not start with; `deployment` as the user gave it."""
    asked = deployment.speculative_algorithm
    if asked is None:
        return
    algorithm = asked.upper()
    if deployment.pp > 1:
        raise refused("drafts do not go with pipeline parallelism", f"--pp 1, or {_LEAVE_OUT}")
    if backend == "flex_attention":
        raise refused("the flex_attention backend verifies no drafts", "another --attention-backend")
    if model.dsv4:
        _refuse_dsv4(model, deployment, algorithm, rules)
    untracked = model.name in rules.states_at_single_tokens
    if untracked and states.radix_cache and not deployment.assume_supported:
        raise refused(
            f"the radix cache of {model.name} keeps no states of drafts in SGLang {rules.version}",
            "--disable-radix-cache, or --assume-supported for a server with tracking slots of its own",
        )
    if algorithm in _SHIPPED and model.name in rules.drafts_read_as_mla:
        raise refused(
            f"SGLang {rules.version} reads the draft of {model.name} as MLA, which it is not",
            f"--engine-version 0.5.21 or later, or {_LEAVE_OUT}",
        )
    if algorithm == NGRAM and deployment.enable_dp_attention:
        raise refused("NGRAM does not go with DP attention", "leave --enable-dp-attention out")


def _refuse_dsv4(model: EngineModel, deployment: Deployment, algorithm: str, rules: Rules) -> None:
    if algorithm not in rules.dsv4_drafts:
        raise refused(
            f"{model.name} drafts with {' or '.join(rules.dsv4_drafts)}, not {algorithm}",
            f"--speculative-algorithm {rules.dsv4_drafts[0]}",
        )
    if algorithm == "EAGLE" and deployment.speculative_eagle_topk != 1:
        raise refused(
            f"{model.name} verifies chains of drafts alone, and the flag has no default here",
            "--speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4",
        )
