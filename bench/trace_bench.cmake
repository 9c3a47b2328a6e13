# SPDX-License-Identifier: Apache-2.0
add_executable(trace_bench ${CMAKE_CURRENT_LIST_DIR}/trace_bench.cpp)
target_link_libraries(trace_bench PRIVATE weft::workload $<BUILD_INTERFACE:weft_flags>)
