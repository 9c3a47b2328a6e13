# SPDX-License-Identifier: Apache-2.0
add_executable(library_bench ${CMAKE_CURRENT_LIST_DIR}/library_bench.cpp)
target_link_libraries(library_bench PRIVATE weft::workload $<BUILD_INTERFACE:weft_flags>)
