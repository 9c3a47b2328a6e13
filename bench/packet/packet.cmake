# SPDX-License-Identifier: Apache-2.0
add_executable(packet_bench ${CMAKE_CURRENT_LIST_DIR}/packet_bench.cpp ${CMAKE_CURRENT_LIST_DIR}/golden.cpp
               ${CMAKE_CURRENT_LIST_DIR}/train_bench.cpp)
target_link_libraries(packet_bench PRIVATE weft::tlm_interconnect nlohmann_json::nlohmann_json fmt::fmt weft_flags)
weft_optimise_whole(packet_bench)
