# SPDX-License-Identifier: Apache-2.0
weft_add_test(causal_log SOURCES ${CMAKE_CURRENT_LIST_DIR}/causal_log_test.cpp LINKS weft::insight LABELS unit)
weft_add_sc_test(golden_paths
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/golden_paths_test.cpp
          ${PROJECT_SOURCE_DIR}/tests/support/golden_collectives.cpp
  LINKS weft::sc_models nlohmann_json::nlohmann_json
  TIMEOUT 900
  LABELS golden)
weft_add_sc_test(packet_hops SOURCES ${CMAKE_CURRENT_LIST_DIR}/packet_hops_test.cpp LINKS weft::sc_models LABELS unit)
weft_add_sc_test(packet_paths
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/packet_paths_test.cpp LINKS weft::sc_models LABELS unit drawn)
weft_add_sc_test(memory_paths
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/memory_paths_test.cpp LINKS weft::sc_models TIMEOUT 900 LABELS unit drawn)
