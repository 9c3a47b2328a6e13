# SPDX-License-Identifier: Apache-2.0
add_executable(vcd_bench ${CMAKE_CURRENT_LIST_DIR}/vcd_bench.cpp)
target_link_libraries(vcd_bench PRIVATE weft::vcd benchmark::benchmark $<BUILD_INTERFACE:weft_flags>)
