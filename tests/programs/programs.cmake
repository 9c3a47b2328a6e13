# SPDX-License-Identifier: Apache-2.0
weft_add_test(programs SOURCES ${CMAKE_CURRENT_LIST_DIR}/programs_test.cpp ${CMAKE_CURRENT_LIST_DIR}/program_rig.cpp
  LINKS weft::workload LABELS unit)
weft_add_sc_test(library_rules
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/library_rules_test.cpp
  LINKS weft::sc_models nlohmann_json::nlohmann_json
  DEFINITIONS WEFT_MACHINES="${PROJECT_SOURCE_DIR}/configs/machines"
  TIMEOUT 300
  LABELS unit)

weft_add_sc_test(program_machines
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/program_machines_test.cpp
  LINKS weft::sc_models
  DEFINITIONS WEFT_MACHINES="${PROJECT_SOURCE_DIR}/configs/machines"
  TIMEOUT 300
  LABELS unit)
