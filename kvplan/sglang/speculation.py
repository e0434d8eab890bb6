"""What --speculative-algorithm and its numbers become, and which algorithms kvplan can plan.

Source: arg_groups/speculative_hook.py (0.5.23), _handle_eagle_family, _auto_choose_speculative_params and
_handle_ngram; server_args.py, _handle_speculative_decoding (0.5.12).
"""

from __future__ import annotations

from dataclasses import replace

from kvplan.deployment import Deployment
from kvplan.errors import bad_option, refused
from kvplan.sglang.model import EngineModel
from kvplan.sglang.rule_set import Rules

# NEXTN is another name of EAGLE.
DRAFT_HEAD = ("EAGLE", "EAGLE3", "NEXTN")
# Draft weights of their own, whose layers kvplan does not know.
DRAFT_MODEL = ("STANDALONE", "DFLASH", "DSPARK", "FROZEN_KV_MTP", "UNO")
NGRAM = "NGRAM"
DSPARK = "DSPARK"
ALGORITHMS = (*DRAFT_HEAD, NGRAM, *DRAFT_MODEL)
# Classes whose MTP layers come as another checkpoint (_handle_iquest_q1_mtp_draft).
DRAFTS_APART = frozenset({"IQuestQ1ForCausalLM"})
# (steps, top-k, draft tokens) where the user gives none of them.
_CHAIN = (3, 1, 4)
_TREE = (5, 4, 8)
_TREE_CLASSES = frozenset({"LlamaForCausalLM", "Grok1ForCausalLM"})
_NGRAM_TOKENS = 12
_NGRAM_BREADTH = 10


def resolved(model: EngineModel, deployment: Deployment) -> Deployment:
    """The deployment with steps, top-k and draft tokens as the engine fills them in."""
    asked = deployment.speculative_algorithm
    if asked is None:
        return deployment
    algorithm = asked.upper()
    _refuse_unplanned(model, asked, algorithm)
    if algorithm == DSPARK:
        return _with_dspark(model, deployment)
    if algorithm == NGRAM:
        return replace(
            deployment,
            speculative_algorithm=algorithm,
            speculative_eagle_topk=_NGRAM_BREADTH,
            speculative_num_draft_tokens=deployment.speculative_num_draft_tokens or _NGRAM_TOKENS,
        )
    steps, topk, tokens = _numbers(model, deployment)
    return replace(
        deployment,
        speculative_algorithm=algorithm,
        speculative_num_steps=steps,
        speculative_eagle_topk=topk,
        speculative_num_draft_tokens=tokens,
    )


def _refuse_unplanned(model: EngineModel, asked: str, algorithm: str) -> None:
    if algorithm not in ALGORITHMS:
        raise bad_option(
            "speculative_algorithm", f"unknown algorithm {asked!r}", f"known: {', '.join(ALGORITHMS)}"
        )
    if algorithm in DRAFT_HEAD and model.name in DRAFTS_APART:
        raise refused(
            f"{model.name} drafts with a checkpoint of its own, which kvplan does not plan",
            "leave --speculative-algorithm out",
        )
    if algorithm in DRAFT_MODEL and not (algorithm == DSPARK and bundles_dspark(model)):
        raise refused(
            f"{algorithm} needs a draft model, and kvplan plans drafts that ship with the model alone",
            "--speculative-algorithm EAGLE or NGRAM",
        )


def bundles_dspark(model: EngineModel) -> bool:
    """Whether the checkpoint ships a DSpark draft of which kvplan knows the cache: that of DeepSeek-V4."""
    return model.dsv4 and model.architecture.dspark_block is not None


def _with_dspark(model: EngineModel, deployment: Deployment) -> Deployment:
    """One step of a whole block, verified with the token before it (_handle_dspark)."""
    tokens = (model.architecture.dspark_block or 0) + 1
    given = deployment.speculative_num_draft_tokens
    if given not in (None, tokens):
        raise refused(
            f"the DSpark draft of {model.name} is verified {tokens} tokens at a time, not {given}",
            f"--speculative-num-draft-tokens {tokens}, or leave it out",
        )
    return replace(
        deployment,
        speculative_algorithm=DSPARK,
        speculative_num_steps=1,
        speculative_eagle_topk=1,
        speculative_num_draft_tokens=tokens,
    )


def _numbers(model: EngineModel, deployment: Deployment) -> tuple[int, int, int]:
    """Steps, top-k and draft tokens; a chain (top-k 1) verifies one token more than it has steps."""
    steps, topk = deployment.speculative_num_steps, deployment.speculative_eagle_topk
    tokens = deployment.speculative_num_draft_tokens
    if steps is None and topk is None and tokens is None:
        return _TREE if model.name in _TREE_CLASSES else _CHAIN
    if steps is None or topk is None or tokens is None:
        missing = next(name for name, value in _named(steps, topk, tokens) if value is None)
        raise bad_option(
            missing, "is missing", "give steps, eagle-topk and num-draft-tokens together, or none"
        )
    return steps, topk, steps + 1 if topk == 1 else tokens


def _named(steps: int | None, topk: int | None, tokens: int | None) -> tuple[tuple[str, int | None], ...]:
    return (
        ("speculative_num_steps", steps),
        ("speculative_eagle_topk", topk),
        ("speculative_num_draft_tokens", tokens),
    )


def refuse_tree(deployment: Deployment, backends: tuple[str, str], page: int, rules: Rules) -> None:
    """Trees of drafts that the attention backend can't verify; `backends` of prefill and decode."""
    topk = deployment.speculative_eagle_topk
    if deployment.speculative_algorithm is None or topk is None or topk == 1:
        return
    ngram = deployment.speculative_algorithm == NGRAM
    if "trtllm_mha" in backends and not ngram:
        raise refused("the trtllm_mha backend verifies chains of drafts alone", "--speculative-eagle-topk 1")
    allowed = ("flashinfer",) if ngram else rules.paged_tree_backends
    if page > 1 and backends[0] not in allowed:
        raise refused(
            f"a tree of drafts (top-k {topk}) on pages of {page} needs the {' or '.join(allowed)} backend, "
            f"not {backends[0]}",
            "--page-size 1 or --speculative-eagle-topk 1",
        )
