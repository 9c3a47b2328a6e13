# SPDX-License-Identifier: Apache-2.0
# Sources of cosim/clock.
set(WEFT_COSIM_CLOCK_SOURCES
  clock/block_clock.cpp
  clock/rtl_trace.cpp)
