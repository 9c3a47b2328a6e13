# SPDX-License-Identifier: Apache-2.0
foreach(topic axis expression journal)
  weft_add_test(sweep_${topic}
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/${topic}_test.cpp ${PROJECT_SOURCE_DIR}/tests/vcd/vcd_parser.cpp
    LINKS weft_sweep
    LABELS unit)
endforeach()

weft_add_test(sweep_command
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/command_test.cpp ${PROJECT_SOURCE_DIR}/tests/cli/weft_process.cpp
          ${PROJECT_SOURCE_DIR}/tests/vcd/vcd_parser.cpp
  LINKS weft::workload nlohmann_json::nlohmann_json
  LABELS cli
  TIMEOUT 300)
target_compile_definitions(test_sweep_command PRIVATE WEFT_BINARY="$<TARGET_FILE:weft>")
add_dependencies(test_sweep_command weft)

# Daemons of its own, on this machine; skipped where Slurm is not installed.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND AND NOT WEFT_SANITIZE)
  add_test(NAME sweep_slurm
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/slurm_test.py $<TARGET_FILE:weft>)
  set_tests_properties(sweep_slurm PROPERTIES LABELS "slow" TIMEOUT 600 SKIP_RETURN_CODE 77)
endif()
