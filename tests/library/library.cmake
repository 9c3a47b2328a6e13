# SPDX-License-Identifier: Apache-2.0
weft_add_test(library_plan SOURCES ${CMAKE_CURRENT_LIST_DIR}/plan_test.cpp LINKS weft::workload LABELS unit)
weft_add_test(library_overrides SOURCES ${CMAKE_CURRENT_LIST_DIR}/overrides_test.cpp ${PROJECT_SOURCE_DIR}/tests/vcd/vcd_parser.cpp
  LINKS weft::workload LABELS unit)
weft_add_test(library_calls SOURCES ${CMAKE_CURRENT_LIST_DIR}/calls_test.cpp LINKS weft::workload LABELS unit)
weft_add_test(library_measured SOURCES ${CMAKE_CURRENT_LIST_DIR}/measured_test.cpp ${PROJECT_SOURCE_DIR}/tests/vcd/vcd_parser.cpp LINKS weft::workload
              nlohmann_json::nlohmann_json LABELS golden)
