"""Ways to spread a model over GPUs that its class does not take (0.5.23).

Sources: arg_groups/model_overrides/*.py and arg_groups/model_hook.py.
"""

from __future__ import annotations

from kvplan.deployment import Deployment
from kvplan.errors import refused
from kvplan.layers import LatentAttention
from kvplan.sglang.model import EngineModel
from kvplan.sglang.rule_set import Rules

NO_ATTENTION_DP = frozenset(
    """
    Ernie4_5_VLMoeForConditionalGeneration IQuestQ1ForCausalLM MiniCPMForCausalLM MiniCPMSALAForCausalLM
    """.split()
)
NO_PIPELINE = frozenset({"IQuestQ1ForCausalLM", "InternS2MobiusForConditionalGeneration"})
NO_DCP = frozenset({"HYV4ForCausalLM", "IQuestQ1ForCausalLM"})


def refuse_parallel(model: EngineModel, deployment: Deployment, rules: Rules) -> None:
    """RefusedError for a kind of parallelism that the model's class does not support."""
    if not rules.class_parallel_limits:
        if model.name == "LongcatFlashForCausalLM" and deployment.pp > 1:
            # Its stages would be sized for half of their attention blocks.
            raise refused(f"SGLang {rules.version} does not split {model.name} into stages", "--pp 1")
        return
    if model.name in NO_ATTENTION_DP and deployment.attention_dp > 1:
        raise refused(f"{model.name} does not support DP attention", "leave --enable-dp-attention out")
    if model.name in NO_PIPELINE and deployment.pp > 1:
        raise refused(f"{model.name} does not support pipeline parallelism", "--pp 1 with a larger --tp")
    if deployment.dcp > 1:
        _refuse_dcp(model, deployment)


def _refuse_dcp(model: EngineModel, deployment: Deployment) -> None:
    if model.name in NO_DCP:
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
