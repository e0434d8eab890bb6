"""Ways to spread a model over GPUs that its class does not take, by release; see parallel_names."""

from __future__ import annotations

from kvplan.deployment import Deployment
from kvplan.errors import bad_option, refused
from kvplan.layers import LatentAttention
from kvplan.sglang.model import EngineModel
from kvplan.sglang.rule_set import Rules


def refuse_parallel(model: EngineModel, deployment: Deployment, rules: Rules) -> None:
    """RefusedError for a kind of parallelism that the model's class does not support."""
    if model.name in rules.no_attention_dp and deployment.attention_dp > 1:
        raise refused(f"{model.name} does not support DP attention", "leave --enable-dp-attention out")
    if model.name in rules.no_pipeline and deployment.pp > 1:
        raise refused(f"{model.name} does not support pipeline parallelism", "--pp 1 with a larger --tp")
    if deployment.dcp > 1:
        _refuse_dcp(model, deployment, rules)


def _refuse_dcp(model: EngineModel, deployment: Deployment, rules: Rules) -> None:
    if not rules.splits_context:
        raise bad_option(
            "dcp",
            f"kvplan has no rules of decode context parallelism in SGLang {rules.version}",
            "--engine-version 0.5.22 or later",
        )
    if model.name in rules.no_dcp:
        raise refused(f"{model.name} does not support decode context parallelism", "--dcp 1")
    if not model.dsa:
        return
    pools = [layer.index_kpool for layer, _ in model.groups if isinstance(layer, LatentAttention)]
    if max(pools, default=1) > 1:
        raise refused(
            "an index key that pools tokens can't be split by decode context parallelism", "--dcp 1"
        )
    if deployment.enable_hisparse:
        raise refused("sparse MLA with --dcp does not go with --enable-hisparse", "--dcp 1")
    if deployment.speculative_eagle_topk not in (None, 1):
        raise refused("sparse MLA with --dcp verifies chains of drafts alone", "--speculative-eagle-topk 1")
