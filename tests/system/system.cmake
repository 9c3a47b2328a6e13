# SPDX-License-Identifier: Apache-2.0
weft_add_sc_test(golden_collectives
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/golden_collectives_test.cpp
  LINKS weft::sc_models nlohmann_json::nlohmann_json
  TIMEOUT 300
  LABELS golden)
weft_add_sc_test(graph_system
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/graph_system_test.cpp
  LINKS weft::sc_models
  TIMEOUT 300
  LABELS unit)
