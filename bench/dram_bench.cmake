# SPDX-License-Identifier: Apache-2.0
add_executable(dram_bench ${CMAKE_CURRENT_LIST_DIR}/dram_bench.cpp)
target_link_libraries(dram_bench PRIVATE weft::sc_models SystemC::systemc $<BUILD_INTERFACE:weft_flags>)
