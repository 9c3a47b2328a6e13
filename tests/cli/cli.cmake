# SPDX-License-Identifier: Apache-2.0
weft_add_sc_test(cli_parts
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/parts_test.cpp
  LINKS weft_cli nlohmann_json::nlohmann_json
  LABELS unit)

set(_cli_collective_sources ${PROJECT_SOURCE_DIR}/tests/support/golden_collectives.cpp)
foreach(topic usage collective run bad_input real_traces papers overflow signals validate)
  weft_add_test(cli_${topic}
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/${topic}_test.cpp ${CMAKE_CURRENT_LIST_DIR}/weft_process.cpp
            ${PROJECT_SOURCE_DIR}/tests/vcd/vcd_parser.cpp ${_cli_${topic}_sources}
    LINKS weft::workload nlohmann_json::nlohmann_json
    LABELS cli
    TIMEOUT 300)
  target_compile_definitions(test_cli_${topic} PRIVATE WEFT_DATA_DIR="${WEFT_DATA_DIR}" WEFT_BINARY="$<TARGET_FILE:weft>")
  add_dependencies(test_cli_${topic} weft)
endforeach()

weft_add_sc_test(cli_traffic
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/traffic_test.cpp ${CMAKE_CURRENT_LIST_DIR}/weft_process.cpp
          ${PROJECT_SOURCE_DIR}/tests/vcd/vcd_parser.cpp
  LINKS weft_cli nlohmann_json::nlohmann_json
  LABELS cli
  TIMEOUT 300)
target_compile_definitions(test_cli_traffic PRIVATE WEFT_DATA_DIR="${WEFT_DATA_DIR}" WEFT_BINARY="$<TARGET_FILE:weft>")
add_dependencies(test_cli_traffic weft)

weft_add_test(cli_traffic_rates
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/traffic_rates_test.cpp ${CMAKE_CURRENT_LIST_DIR}/weft_process.cpp
          ${PROJECT_SOURCE_DIR}/tests/vcd/vcd_parser.cpp
  LINKS weft_cli nlohmann_json::nlohmann_json
  LABELS cli
  TIMEOUT 3600)
target_compile_definitions(test_cli_traffic_rates PRIVATE WEFT_BINARY="$<TARGET_FILE:weft>")
add_dependencies(test_cli_traffic_rates weft)

weft_add_sc_test(cli_memory_estimate
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/memory_estimate_test.cpp ${CMAKE_CURRENT_LIST_DIR}/weft_process.cpp
          ${PROJECT_SOURCE_DIR}/tests/vcd/vcd_parser.cpp
  LINKS weft_cli nlohmann_json::nlohmann_json
  LABELS cli
  TIMEOUT 900)
target_compile_definitions(test_cli_memory_estimate PRIVATE WEFT_DATA_DIR="${WEFT_DATA_DIR}" WEFT_BINARY="$<TARGET_FILE:weft>")
add_dependencies(test_cli_memory_estimate weft)

weft_add_sc_test(cli_machine_memory
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/machine_memory_test.cpp
  LINKS weft_cli
  LABELS unit)
