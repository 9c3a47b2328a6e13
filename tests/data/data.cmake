# SPDX-License-Identifier: Apache-2.0
weft_add_test(data_elements
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/elements_test.cpp LINKS weft::workload LABELS unit)
weft_add_test(data_collectives
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/collective_data_test.cpp ${CMAKE_CURRENT_LIST_DIR}/cases.cpp
  LINKS weft::workload TIMEOUT 300 LABELS unit)
weft_add_sc_test(data_systems
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/systems_test.cpp ${CMAKE_CURRENT_LIST_DIR}/cases.cpp
  LINKS weft::sc_models TIMEOUT 600)
weft_add_sc_test(p2p_data SOURCES ${CMAKE_CURRENT_LIST_DIR}/p2p_data_test.cpp LINKS weft::sc_models LABELS unit)
