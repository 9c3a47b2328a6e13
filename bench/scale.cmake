# SPDX-License-Identifier: Apache-2.0
add_executable(bench_scale ${CMAKE_CURRENT_LIST_DIR}/scale.cpp)
target_link_libraries(bench_scale PRIVATE weft::sc_models SystemC::systemc $<BUILD_INTERFACE:weft_flags>)
weft_optimise_whole(bench_scale)
