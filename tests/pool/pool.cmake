# SPDX-License-Identifier: Apache-2.0
weft_add_sc_test(memory_pool
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/memory_pool_test.cpp
  LINKS weft::sc_models
  TIMEOUT 300
  LABELS unit drawn)
weft_add_sc_test(golden_pool
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/golden_pool_test.cpp
  LINKS weft::sc_models nlohmann_json::nlohmann_json
  TIMEOUT 300
  LABELS golden)
weft_add_sc_test(pool_packets
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/pool_packets_test.cpp
  LINKS weft::sc_models
  TIMEOUT 300
  LABELS unit drawn)
weft_add_sc_test(shared_packets
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/shared_packets_test.cpp
  LINKS weft::sc_models
  TIMEOUT 300
  LABELS unit)
weft_add_sc_test(shared_designs
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/shared_designs_test.cpp
  LINKS weft::sc_models
  TIMEOUT 300
  LABELS unit drawn)
