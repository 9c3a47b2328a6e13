# SPDX-License-Identifier: Apache-2.0
# Tests of record and replay.
weft_add_sc_test(cosim_recording
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/recording_test.cpp ${PROJECT_SOURCE_DIR}/tests/vcd/vcd_parser.cpp
  LINKS weft::cosim
  LABELS unit)
weft_add_test_of(plain cosim_record
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/record_test.cpp ${PROJECT_SOURCE_DIR}/tests/cli/weft_process.cpp
          ${PROJECT_SOURCE_DIR}/tests/vcd/vcd_parser.cpp
  LINKS weft::workload nlohmann_json::nlohmann_json
  LABELS cli
  TIMEOUT 600)
target_compile_definitions(test_cosim_record PRIVATE WEFT_BINARY="$<TARGET_FILE:weft>")
add_dependencies(test_cosim_record weft)
weft_add_sc_test(cosim_switch_replay
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/switch_replay_test.cpp ${PROJECT_SOURCE_DIR}/tests/vcd/vcd_parser.cpp
  LINKS weft::cosim
  LABELS unit)
weft_add_sc_test(cosim_router_replay
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/router_replay_test.cpp
  LINKS weft::cosim
  LABELS unit)
weft_add_sc_test(trace_front SOURCES ${CMAKE_CURRENT_LIST_DIR}/trace_front_test.cpp ${PROJECT_SOURCE_DIR}/tests/vcd/vcd_parser.cpp
                 LINKS weft::cosim LABELS unit)
if(WEFT_SANITIZE)
  # sc_int shifts signed values to cut them to their width, in its header. What is precompiled would still be checked.
  target_compile_options(test_trace_front PRIVATE -fno-sanitize=shift)
  set_target_properties(test_trace_front PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
endif()
