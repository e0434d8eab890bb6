"""The lines of a start that say something about memory, in the forms of 0.4 to 0.5.23.

Source: model_executor/model_runner.py, mem_cache/memory_pool.py, model_executor/pool_configurator.py,
managers/scheduler.py and distributed/bootstrap.py of 0.5.12 and 0.5.23.
"""

from __future__ import annotations

import re

_GIB = r"(-?[0-9]{1,7}(?:\.[0-9]{1,6})?) ?GB"
_COUNT = r"([0-9]{1,18})"

SERVER_ARGS = re.compile(r"server_args=")
LOAD_BEGIN = re.compile(rf"Load weight begin\. avail mem={_GIB}")
LOAD_END = re.compile(r"Load weight end\.")
LOADED_CLASS = re.compile(r"\btype=([A-Za-z_][A-Za-z0-9_]{0,120})")
AVAILABLE = re.compile(rf"\bavail mem={_GIB}")
USAGE = re.compile(rf"\bmem usage={_GIB}")
# A pool may have a label in front; its dtype is there since the late 0.5 versions, #tokens since 0.4.
KV_CACHE = re.compile(r"(?:\w{1,40} )?KV Cache (is allocated|VA upper bound)\.")
KV_TOKENS = re.compile(rf"#tokens: {_COUNT}")
KV_DTYPE = re.compile(r"dtype: (?:torch\.)?([a-z0-9_]{1,40})")
KV_SIZES = re.compile(rf"\b(?:K|V|KV) size: {_GIB}")
STATES = re.compile(
    rf"Mamba Cache is allocated\. max_mamba_cache_size: {_COUNT}, "
    rf"conv_state size: {_GIB}, ssm_state size: {_GIB}"
)
SIZING = re.compile(r"Use sliding window memory pool|DSV4 (?:memory calculation|pool sizes):")
SIZING_FIGURE = re.compile(r"([a-z][a-z0-9_]{0,40})=([0-9]{1,18}(?:\.[0-9]{1,6})?)")
POOL_END = re.compile(r"Memory pool end\.")
TOTALS = re.compile(rf"max_total_num_tokens={_COUNT}, ")
# A comma follows each in every version; without one the line is cut.
TOTALS_FIGURE = re.compile(rf"\b(max_total_num_tokens|max_running_requests|context_len)={_COUNT},")
# Lines that only the late 0.5 versions write.
NEWER = re.compile(
    r"Memory baseline taken\.|server_args=\{|KV Cache .{1,30}dtype: "
    r"|DSV4 memory calculation: .*c128_state_fixed="
)
# What any of these lines begins with, to pass over the millions of others quickly.
BEGINNINGS = (
    "server_args=",
    "Load weight",
    "Memory ",
    "KV Cache",
    "Mamba Cache",
    "Use sliding",
    "DSV4 ",
    "max_total_num_tokens",
)
