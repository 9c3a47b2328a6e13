# SPDX-License-Identifier: Apache-2.0
# sc_trace of other IP in Weft's waveforms.
set(WEFT_COSIM_TRACE_SOURCES trace/trace_front.cpp)
