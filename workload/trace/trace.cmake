# SPDX-License-Identifier: Apache-2.0
# The sources of workload/trace; workload/CMakeLists.txt collects them into one library.
set(WEFT_TRACE_SOURCES
  trace/node.cpp
)
