# SPDX-License-Identifier: Apache-2.0
weft_add_sc_test(cli_parts
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/parts_test.cpp
  LINKS weft_cli nlohmann_json::nlohmann_json
  LABELS unit)

# weft_add_cli_test(TOPIC plain|systemc LINKS .. [SOURCES ..] [TIMEOUT seconds]): <TOPIC>_test.cpp calls the program.
function(weft_add_cli_test topic kind)
  cmake_parse_arguments(ARG "" "TIMEOUT" "LINKS;SOURCES" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  set(folder ${PROJECT_SOURCE_DIR}/tests/cli)
  weft_add_test_of(${kind} cli_${topic}
    SOURCES ${folder}/${topic}_test.cpp ${folder}/weft_process.cpp ${PROJECT_SOURCE_DIR}/tests/vcd/vcd_parser.cpp
            ${ARG_SOURCES}
    LINKS ${ARG_LINKS} nlohmann_json::nlohmann_json
    LABELS cli
    TIMEOUT ${ARG_TIMEOUT})
  target_compile_definitions(test_cli_${topic} PRIVATE WEFT_BINARY="$<TARGET_FILE:weft>")
  add_dependencies(test_cli_${topic} weft)
endfunction()

foreach(topic usage machine calibrate dimension_packets run split wave_statistics waves_ends jobs expect diff drawing footprint bad_input real_traces papers overflow signals validate)
  weft_add_cli_test(${topic} plain LINKS weft::workload)
endforeach()
weft_add_cli_test(waves plain LINKS weft::workload weft::vcd)
weft_add_cli_test(memory plain LINKS weft::workload)
weft_add_cli_test(collective plain LINKS weft::workload
  SOURCES ${PROJECT_SOURCE_DIR}/tests/support/golden_collectives.cpp)
weft_add_cli_test(pool plain LINKS weft::workload)
weft_add_cli_test(library plain LINKS weft::workload)
weft_add_cli_test(tiers plain LINKS weft::workload)
weft_add_cli_test(traffic systemc LINKS weft_cli)
weft_add_cli_test(traffic_rates plain LINKS weft_cli TIMEOUT 3600)
weft_add_cli_test(memory_estimate systemc LINKS weft_cli TIMEOUT 900)

weft_add_sc_test(cli_machine_memory
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/machine_memory_test.cpp
  LINKS weft_cli
  LABELS unit)
