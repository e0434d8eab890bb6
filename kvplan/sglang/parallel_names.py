"""Model classes that do not take a kind of parallelism, by release.

Sources: arg_groups/model_overrides/*.py and arg_groups/model_hook.py; server_args.py before 0.5.19.
"""

from __future__ import annotations

NO_ATTENTION_DP = {
    "0.5.19": "MiniCPMForCausalLM MiniCPMSALAForCausalLM",
    "0.5.21": "IQuestQ1ForCausalLM",
    "0.5.22": "Ernie4_5_VLMoeForConditionalGeneration",
}
# Stages of LongCat would be sized for half of their attention blocks.
NO_PIPELINE = {
    "0.5.12": "LongcatFlashForCausalLM",
    "0.5.18": "InternS2MobiusForConditionalGeneration",
    "0.5.21": "IQuestQ1ForCausalLM",
}
SPLITS_SINCE = {"0.5.13": "LongcatFlashForCausalLM"}
NO_DCP = {"0.5.20": "HYV4ForCausalLM", "0.5.21": "IQuestQ1ForCausalLM"}
