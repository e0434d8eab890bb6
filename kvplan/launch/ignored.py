"""Flags of SGLang that touch no pool: passed over in silence, a reason for each group.

Source: sglang/srt/arg_groups/fields/ (0.5.23) and sglang/srt/server_args.py (0.5.12): every flag
of both, and of the releases between them.
"""

from __future__ import annotations

from kvplan.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    """Flags by what follows them: one value, nothing, or any number of values."""

    reason: str
    values: str = ""
    switches: str = ""
    lists: str = ""


IGNORED: tuple[Ignored, ...] = (
    Ignored(
        reason="how requests come in and answers go out",
        values="""
        admin-api-key api-key asr-max-buffer-seconds asr-max-concurrent-sessions batch-notify-size
        chat-template completion-template constrained-json-max-whitespace-cnt
        constrained-json-whitespace-pattern default-chat-template-kwargs detokenizer-worker-num
        dynamic-batch-tokenizer-batch-size dynamic-batch-tokenizer-batch-timeout fastapi-root-path
        file-storage-path grpc-port grpc-response-timeout-secs hf-chat-template-name host
        http2-initial-connection-window-size http2-max-concurrent-streams port preferred-sampling-params
        reasoning-parser sampling-defaults served-model-name sidecar sidecar-args ssl-ca-certs ssl-certfile
        ssl-keyfile ssl-keyfile-password stream-interval tokenizer-backend tokenizer-mode tokenizer-path
        tokenizer-worker-num tool-call-parser tool-server warmups weight-version
        """,
        switches="""
        allow-auto-truncate constrained-json-disable-any-whitespace disable-tokenizer-batch-decode
        enable-cache-report enable-dynamic-batch-tokenizer enable-http-worker-reuseport enable-http2
        enable-response-store enable-ssl-refresh enable-streaming-session enable-strict-thinking
        enable-tokenizer-batch-encode grpc-mode incremental-streaming-output return-input-ids
        return-output-ids skip-server-warmup skip-tokenizer-init smg-grpc-mode stream-output
        stream-response-default-include-usage strip-thinking-cache trust-request-chat-template
        """,
    ),
    Ignored(
        reason="logs, metrics, traces and dumps",
        values="""
        crash-dump-folder custom-sigquit-handler debug-tensor-dump-inject debug-tensor-dump-input-file
        debug-tensor-dump-output-folder decode-log-interval export-metrics-to-file-dir extra-metric-labels
        forward-hooks forward-pass-metrics-ipc-name forward-pass-metrics-worker-id gc-warning-threshold-secs
        kv-canary kv-canary-real-data kv-canary-sweep-interval kv-events-config load-publish-endpoint
        load-snapshot-publish-interval log-level log-level-http log-requests-format log-requests-level
        msprobe-dump-config otlp-service-name otlp-traces-endpoint smg-http-sidecar-port
        tokenizer-metrics-custom-labels-header trace-modules
        """,
        switches="""
        collect-tokens-histogram enable-expert-distribution-metrics enable-forward-pass-metrics
        enable-metrics enable-metrics-for-all-schedulers enable-mfu-metrics enable-request-time-stats-logging
        enable-trace export-metrics-to-file log-requests show-time-cost
        """,
        lists="""
        bucket-e2e-request-latency bucket-inter-token-latency bucket-time-to-first-token
        debug-tensor-dump-layers generation-tokens-buckets log-requests-target prompt-tokens-buckets
        tokenizer-metrics-allowed-custom-labels uvicorn-access-log-exclude-prefixes
        """,
    ),
    Ignored(
        reason="the order in which requests run",
        values="""
        default-priority-value max-queued-requests min-free-slots-delay num-continuous-decode-steps
        prefill-decode-interval prefill-decode-interval-min-bs prefill-delayer-max-delay-ms
        prefill-delayer-max-delay-passes prefill-delayer-queue-min-ratio
        prefill-delayer-token-usage-low-watermark prefill-max-requests
        priority-scheduling-preemption-threshold retraction-policy schedule-conservativeness schedule-policy
        scheduler-recv-interval
        """,
        switches="""
        abort-on-priority-when-disabled disable-chunked-prefix-cache disable-priority-preemption
        enable-dynamic-chunking enable-mixed-chunk enable-prefill-delayer enable-priority-scheduling
        schedule-low-priority-values-first
        """,
        lists="prefill-delayer-forward-passes-buckets prefill-delayer-wait-seconds-buckets",
    ),
    Ignored(
        reason="which kernels run",
        values="""
        bf16-gemm-backend boundary-reduction cuda-graph-max-seq-len-prefill cuda-graph-prefill-max-context
        deepep-config deepep-dispatcher-output-dtype deepep-v2-mode dllm-algorithm-config
        dsa-paged-mqa-logits-backend dsa-topk-backend dsa-triton-union dsv4-prefill-backend
        elastic-ep-backend elastic-ep-join-mode elastic-ep-scale-timeout ep-dispatch-algorithm eplb-algorithm
        eplb-min-rebalancing-utilization-threshold eplb-rebalance-layers-per-chunk
        eplb-rebalance-num-iterations expert-balancedness-report-mode
        expert-distribution-recorder-buffer-size expert-distribution-recorder-mode
        flashinfer-a2a-dispatch-type flashinfer-allreduce-fusion-backend flashinfer-mxfp4-moe-precision
        fp4-gemm-backend fp8-gemm-backend fuseep-mode grammar-backend init-expert-location kt-cpuinfer
        kt-max-deferred-experts-per-token kt-method kt-threadpool-count linear-attn-verify-backend
        mamba-backend mamba-cache-philox-rounds mamba-max-states-per-path mamba-track-interval
        moe-runner-backend monokernel-backend mooncake-ib-device offload-mode offload-num-in-group
        cuda-graph-tc-compiler offload-prefetch-step piecewise-cuda-graph-compiler ple-offload-backend
        ple-offload-dir return-hidden-states-mode sampling-backend sampling-mask-max-tokens
        tbo-token-distribution-threshold torch-compile-max-bs triton-attention-num-kv-splits
        triton-attention-split-tile-size watermark-config
        """,
        switches="""
        debug-cuda-graph disable-aiter-allreduce-fusion-in-decode disable-aiter-allreduce-fusion-in-prefill
        disable-cuda-graph-padding disable-custom-all-reduce disable-flashinfer-autotune
        disable-flashinfer-cutlass-moe-fp4-allgather disable-outlines-disk-cache
        dllm-fdfo enable-aiter-allreduce-fusion enable-amd-monokernel
        enable-cudagraph-gc enable-custom-logit-processor
        enable-draft-weights-cpu-backup enable-dsa-fused-indexer enable-elastic-expert-backup
        enable-flashinfer-allreduce-fusion enable-fused-moe-sum-all-reduce enable-fused-qk-norm-rope
        enable-layerwise-nvtx-marker enable-lean-attention enable-mamba-cache-stochastic-rounding
        enable-memory-saver enable-mscclpp enable-nan-detection enable-nccl-nvls
        enable-nvidia-megakernel enable-precise-embedding-interpolation enable-profile-cuda-graph
        enable-quant-communications enable-return-aux-hidden-states enable-return-hidden-states
        enable-return-indexer-topk enable-return-routed-experts enable-scattered-sconv
        enable-single-batch-overlap enable-tf32-matmul enable-torch-compile enable-torch-compile-debug-mode
        enable-torch-symm-mem enable-w4a4-mxfp4-megamoe
        enable-watermark enable-weights-cpu-backup enforce-disable-flashinfer-allreduce-fusion
        flashinfer-mla-disable-ragged no-dllm-fdfo no-enable-dsa-fused-indexer
        no-enable-fused-qk-norm-rope no-enable-tf32-matmul no-ple-offload-embedding pre-warm-nccl
        triton-attention-reduce-in-fp32
        """,
        lists="flashinfer-autotune-skip-ops return-aux-hidden-state-layer-ids",
    ),
    Ignored(
        reason="how ranks find and talk to each other",
        values="""
        cp-strategy dcp-comm-backend dist-init-addr dist-timeout elastic-ep-initial-size
        elastic-ep-join-rank-offset gated-launch-port load-balance-method nccl-port nnodes node-rank
        nsa-prefill-cp-mode dsa-prefill-cp-mode pp-async-batch-depth pp-max-micro-batch-size prefill-cp-mode
        """,
        switches="""
        dcp-replicate-q-proj disable-attn-tp-gather elastic-ep-rejoin enable-attn-tp-input-scattered
        enable-dp-attention-local-control-broadcast enable-layernorm-sp enable-megamoe-for-layernorm-sp
        enable-p2p-check enable-tp-lm-head-all-to-all no-dcp-replicate-q-proj no-enable-tp-lm-head-all-to-all
        """,
    ),
    Ignored(
        reason="eviction, and where evicted KV goes",
        values="""
        flexkv-config-file hicache-host-memory-fraction hicache-host-memory-mode hicache-io-backend
        hicache-mem-layout hicache-ratio hicache-size hicache-storage-backend
        hicache-storage-backend-extra-config hicache-storage-prefetch-policy
        hicache-storage-prefetch-retry-max-attempts hicache-storage-prefetch-retry-poll-interval
        hicache-write-policy lmcache-config-file radix-cache-backend radix-eviction-policy
        radix-eviction-policy-config unified-cache-external-linker-backend
        unified-cache-external-linker-config
        """,
        switches="""
        enable-flexkv enable-linker-mla-dedup enable-lmcache enable-session-radix-cache
        """,
    ),
    Ignored(
        reason="how weights get into memory, not how many",
        values="""
        decrypted-config-file decrypted-draft-config-file download-dir engine-info-bootstrap-port load-format
        model-loader-extra-config modelexpress-config modelopt-checkpoint-restore-path
        modelopt-checkpoint-save-path modelopt-export-path quantization-param-path
        remote-instance-weight-loader-backend remote-instance-weight-loader-seed-instance-ip
        remote-instance-weight-loader-seed-instance-service-port
        remote-instance-weight-loader-send-weights-group-ports rl-quant-profile startup-weight-load-mode
        weight-cache-mode weight-cache-socket weight-cache-timeout weight-loader-prefetch-num-threads
        """,
        switches="""
        checkpoint-engine-wait-weights-before-ready delete-ckpt-after-loading is-embedding
        remote-instance-weight-loader-start-seed-via-transfer-engine trust-remote-code
        weight-loader-disable-mmap weight-loader-drop-cache-after-load weight-loader-prefetch-checkpoints
        """,
        lists="custom-weight-loader model-checksum",
    ),
    Ignored(
        reason="processes and GPUs of the machine",
        values="base-gpu-id gpu-id-step random-seed soft-watchdog-timeout watchdog-timeout",
        switches="mlx-enable-sampling sleep-on-idle use-ray",
        lists="gc-threshold numa-node",
    ),
    Ignored(
        reason="how drafts are made and verified",
        values="""
        spec-trace-dir speculative-accept-threshold-acc speculative-accept-threshold-single
        speculative-adaptive-config speculative-attention-mode speculative-dflash-draft-window-size
        speculative-domino-candidate-pool-size speculative-draft-load-format speculative-draft-model-revision
        speculative-draft-sink-size speculative-dsa-topk-backend speculative-dspark-confidence-sts-path
        speculative-dspark-sps-table-path speculative-moe-a2a-backend speculative-moe-runner-backend
        speculative-ngram-capacity speculative-ngram-external-corpus-max-tokens
        speculative-ngram-external-corpus-path speculative-ngram-external-sam-budget
        speculative-ngram-match-type speculative-ngram-max-bfs-breadth speculative-ngram-max-trie-depth
        speculative-ngram-min-bfs-breadth speculative-token-map
        """,
        switches="""
        no-speculative-enable-w4a4-mxfp4-megamoe speculative-dspark-align-verify-tokens-to-graph-tier
        speculative-enable-w4a4-mxfp4-megamoe speculative-skip-dp-mlp-sync speculative-use-block-verification
        speculative-use-rejection-sampling
        """,
    ),
    Ignored(
        reason="how prefill and decode servers exchange KV; --disaggregation-mode is named",
        values="""
        decoupled-spec-bind-endpoint decoupled-spec-connect-endpoints decoupled-spec-rank decoupled-spec-role
        disaggregation-bootstrap-port disaggregation-decode-allocation-policy
        disaggregation-decode-extra-slots disaggregation-decode-host-receive-threshold
        disaggregation-decode-polling-interval disaggregation-decode-retraction-backup
        disaggregation-ib-device disaggregation-transfer-backend encoder-bootstrap-port
        encoder-transfer-backend num-reserved-decode-tokens optimistic-prefill-attempts
        optimistic-prefill-retries pdmux-config-path sm-group-num
        """,
        switches="""
        disaggregation-decode-enable-offload-kvcache disaggregation-decode-enable-radix-cache
        disaggregation-enable-kv-checksum enable-adaptive-dispatch-to-encoder enable-pd-role-switch
        enable-pdmux prefill-round-robin-balance
        """,
        lists="encoder-register-urls encoder-urls",
    ),
    Ignored(
        reason="how adapters are handled (--enable-lora says that there are)",
        values="""
        lora-backend lora-drain-wait-threshold lora-eviction-policy max-loaded-loras max-lora-chunk-size
        """,
        switches="""
        enable-lora-overlap-loading experts-shared-outer-loras lora-strict-loading lora-use-virtual-experts
        no-experts-shared-outer-loras no-lora-strict-loading no-record-nolora-graph record-nolora-graph
        """,
        lists="lora-target-modules",
    ),
    Ignored(
        reason="how images, video and audio come in",
        values="""
        image-processor-backend limit-mm-data-per-request media-url-max-file-size-mb mm-attention-backend
        mm-global-cache-backend mm-io-worker-num mm-preprocess-cache-size-mb mm-process-config
        mm-processor-worker-num
        """,
        switches="""
        disable-fast-image-processor enable-broadcast-mm-inputs-process enable-mm-global-cache
        enable-prefix-mm-cache keep-mm-feature-on-device no-mm-enable-dp-encoder trust-mm-content-hashes
        """,
        lists="allowed-media-domains",
    ),
)
