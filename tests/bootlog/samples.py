"""Starts of servers, written by hand in the form that each version has; figures from published starts."""

from __future__ import annotations

# 0.4.9, Llama-3.1-8B on a 24 GB GPU.
V0_4 = """\
[2025-07-14 10:00:00] server_args=ServerArgs(model_path='meta-llama/Llama-3.1-8B-Instruct', \
tokenizer_path='meta-llama/Llama-3.1-8B-Instruct', skip_tokenizer_init=False, trust_remote_code=False, \
dtype='auto', kv_cache_dtype='auto', quantization=None, context_length=None, mem_fraction_static=0.88, \
max_running_requests=None, max_total_tokens=None, chunked_prefill_size=2048, tp_size=1, pp_size=1, \
dp_size=1, \
speculative_algorithm=None, attention_backend=None, page_size=1, json_model_override_args='{}', \
lora_paths=None)
[2025-07-14 10:00:09] Attention backend not set. Use flashinfer backend by default.
[2025-07-14 10:00:09] Init torch distributed begin.
[2025-07-14 10:00:10] Init torch distributed ends. mem usage=0.00 GB
[2025-07-14 10:00:11] Load weight begin. avail mem=22.39 GB
Loading safetensors checkpoint shards: 100% Completed | 4/4 [00:03<00:00,  1.30it/s]
[2025-07-14 10:00:15] Load weight end. type=LlamaForCausalLM, dtype=torch.bfloat16, avail mem=7.37 GB, mem \
usage=15.02 GB.
[2025-07-14 10:00:15] KV Cache is allocated. #tokens: 38141, K size: 2.33 GB, V size: 2.33 GB
[2025-07-14 10:00:15] Memory pool end. avail mem=1.46 GB
[2025-07-14 10:00:20] max_total_num_tokens=38141, chunked_prefill_size=2048, max_prefill_tokens=16384, \
max_running_requests=2048, context_len=131072, available_gpu_mem=0.83 GB
"""

# 0.4.3 on four GPUs, ranks interleaved, with colours and a container's own stamps; the arguments were not
# kept.
V0_4_RANKS = """\
2025-03-08T09:00:01Z stdout F \x1b[32m[2025-03-08 09:00:01 TP1] Load weight begin. avail mem=21.70 GB\x1b[0m
2025-03-08T09:00:01Z stdout F \x1b[32m[2025-03-08 09:00:01 TP0] Load weight begin. avail mem=21.63 GB\x1b[0m
2025-03-08T09:00:09Z stdout F \x1b[32m[2025-03-08 09:00:09 TP0] Load weight end. type=Qwen2ForCausalLM, \
dtype=torch.bfloat16, avail mem=6.09 GB, mem usage=15.54 GB.\x1b[0m
2025-03-08T09:00:09Z stdout F \x1b[32m[2025-03-08 09:00:09 TP1] Load weight end. type=Qwen2ForCausalLM, \
dtype=torch.bfloat16, avail mem=6.16 GB, mem usage=15.54 GB.\x1b[0m
2025-03-08T09:00:10Z stdout F \x1b[32m[2025-03-08 09:00:10 TP1] KV Cache is allocated. #tokens: 46611, \
K size: 1.42 GB, V size: 1.42 GB\x1b[0m
2025-03-08T09:00:10Z stdout F \x1b[32m[2025-03-08 09:00:10 TP0] KV Cache is allocated. #tokens: 46611, \
K size: 1.42 GB, V size: 1.42 GB\x1b[0m
2025-03-08T09:00:10Z stdout F \x1b[32m[2025-03-08 09:00:10 TP0] Memory pool end. avail mem=2.09 GB\x1b[0m
"""

# 0.5.12, a hybrid with a draft: state, KV, then the draft's weights and pool; free memory is made to fit.
V0_5_12_DRAFT = """\
[2026-05-01 12:00:00] server_args=ServerArgs(model_path='/models/Qwen3.5-27B', tp_size=1, dp_size=1, \
kv_cache_dtype='auto', mem_fraction_static=0.8, page_size=1, attention_backend='triton', \
speculative_algorithm='EAGLE', speculative_num_steps=3, speculative_eagle_topk=1, \
speculative_num_draft_tokens=4, mamba_ssm_dtype='bfloat16', max_running_requests=8, max_mamba_cache_size=43, \
swa_full_tokens_ratio=0.8, mamba_full_memory_ratio=0.9, cuda_graph_bs=[1, 2, 4], hooks={'a': (1, ')')})
[2026-05-01 12:00:10 TP0] Load weight begin. avail mem=93.00 GB
[2026-05-01 12:00:20 TP0] Load weight end. elapsed=9.80 s, type=Qwen3_5ForConditionalGeneration, avail \
mem=34.50 GB, mem usage=58.50 GB.
[2026-05-01 12:00:21 TP0] Mamba Cache is allocated. max_mamba_cache_size: 43, conv_state size: 0.12GB, \
ssm_state size: 3.09GB intermediate_ssm_state_cache size: 2.11GB intermediate_conv_window_cache size: 0.04GB
[2026-05-01 12:00:21 TP0] KV Cache is allocated. #tokens: 171008, K size: 5.22 GB, V size: 5.22 GB
[2026-05-01 12:00:21 TP0] Memory pool end. avail mem=18.60 GB
[2026-05-01 12:00:30 TP0] Load weight begin. avail mem=18.60 GB
[2026-05-01 12:00:31 TP0] Load weight end. elapsed=0.80 s, type=Qwen3_5ForCausalLMMTP, avail mem=13.60 GB, \
mem usage=5.00 GB.
[2026-05-01 12:00:32 TP0] KV Cache is allocated. #tokens: 171008, K size: 0.33 GB, V size: 0.33 GB
[2026-05-01 12:00:32 TP0] Memory pool end. avail mem=12.90 GB
[2026-05-01 12:01:00 TP0] max_total_num_tokens=171008, chunked_prefill_size=8192, \
max_prefill_tokens=16384, \
max_running_requests=8, context_len=169000, available_gpu_mem=8.27 GB
"""

# 0.5.12, full and sliding layers in two pools; gemma-4-26B on two 24 GB GPUs.
V0_5_12_SLIDING = """\
[2026-06-10 08:00:00] server_args=ServerArgs(model_path='google/gemma-4-26B-A4B', tp_size=2, \
mem_fraction_static=0.85, swa_full_tokens_ratio=0.1, max_running_requests=1, chunked_prefill_size=4096, \
attention_backend='triton', page_size=1)
[2026-06-10 08:00:10 TP0] Load weight begin. avail mem=22.91 GB
[2026-06-10 08:00:10 TP1] Load weight begin. avail mem=22.91 GB
[2026-06-10 08:00:20 TP1] Load weight end. elapsed=9.00 s, type=Gemma4ForConditionalGeneration, avail \
mem=13.57 GB, mem usage=9.34 GB.
[2026-06-10 08:00:20 TP0] Load weight end. elapsed=9.00 s, type=Gemma4ForConditionalGeneration, avail \
mem=13.57 GB, mem usage=9.34 GB.
[2026-06-10 08:00:21 TP0] Use sliding window memory pool. full_layer_tokens=530280, swa_layer_tokens=53028
[2026-06-10 08:00:21 TP0] KV Cache is allocated. #tokens: 53028, K size: 2.53 GB, V size: 2.53 GB
[2026-06-10 08:00:21 TP0] KV Cache is allocated. #tokens: 530280, K size: 2.53 GB, V size: 2.53 GB
[2026-06-10 08:00:21 TP0] SWAKVPool mem usage: 10.12 GB, swa size: 53028, full size: 530280
[2026-06-10 08:00:21 TP0] Memory pool end. avail mem=3.43 GB
[2026-06-10 08:00:40 TP0] max_total_num_tokens=530280, chunked_prefill_size=4096, \
max_prefill_tokens=16384, \
max_running_requests=1, context_len=262144, available_gpu_mem=3.42 GB
"""

# 0.5.23, attention DP: arguments as a dictionary, the dtype in the pool line. Figures are kvplan's own.
V0_5_23 = """\
[2026-10-01 12:00:00] server_args={'model_path': 'deepseek-ai/DeepSeek-V3.2', 'tp_size': 8, 'dp_size': 1, \
'attn_dp_size': 8, 'enable_dp_attention': True, 'kv_cache_dtype': 'fp8_e4m3', 'mem_fraction_static': 0.85, \
'page_size': 64, 'attention_backend': 'dsa', 'chunked_prefill_size': 2048, 'cuda_graph_config': \
CudaGraphConfig(decode={'bs': [1, 2]}), 'swa_full_tokens_ratio': 0.8, 'speculative_algorithm': None}
[2026-10-01 12:00:05 DP0 TP0 EP0] Memory baseline taken. mem usage=2.10 GB
[2026-10-01 12:00:05 DP1 TP1 EP1] Memory baseline taken. mem usage=2.10 GB
[2026-10-01 12:00:05 DP0 TP0 EP0] Load weight begin. avail mem=137.00 GB
[2026-10-01 12:00:05 DP1 TP1 EP1] Load weight begin. avail mem=136.50 GB
[2026-10-01 12:00:50 DP0 TP0 EP0] Load weight end. elapsed=45.00 s, type=DeepseekV32ForCausalLM, \
quant=fp8, avail mem=50.00 GB, mem usage=87.00 GB.
[2026-10-01 12:00:50 DP1 TP1 EP1] Load weight end. elapsed=45.00 s, type=DeepseekV32ForCausalLM, \
quant=fp8, avail mem=49.50 GB, mem usage=87.00 GB.
[2026-10-01 12:00:51 DP0 TP0 EP0] KV Cache is allocated. dtype: torch.float8_e4m3fn, #tokens: 648320, \
KV size: \
29.03 GB
[2026-10-01 12:00:51 DP1 TP1 EP1] KV Cache is allocated. dtype: torch.float8_e4m3fn, #tokens: 648320, \
KV size: \
29.03 GB
[2026-10-01 12:00:51 DP0 TP0 EP0] Memory pool end. avail mem=20.40 GB
[2026-10-01 12:00:51 DP1 TP1 EP1] Memory pool end. avail mem=19.90 GB
[2026-10-01 12:01:30 DP0 TP0 EP0] max_total_num_tokens=648320, chunked_prefill_size=2048, \
max_prefill_tokens=16384, max_running_requests=2048, context_len=163840, available_gpu_mem=18.00 GB
[2026-10-01 12:01:30 DP1 TP1 EP1] max_total_num_tokens=648320, chunked_prefill_size=2048, \
max_prefill_tokens=16384, max_running_requests=2048, context_len=163840, available_gpu_mem=17.50 GB
"""

# 0.5.12, DeepSeek-V4: pools by their sizing lines.
V0_5_12_DSV4 = """\
[2026-05-15 12:00:00 TP0] DSV4 memory calculation: bytes_per_full_token=15955.85, available_bytes=19.58 \
GB, \
full_token=1317632
[2026-05-15 12:00:00 TP0] DSV4 pool sizes: full=1317632, swa=131584, c4=329408, c128=10294, c4_state=8224, \
c128_state=131584
"""
