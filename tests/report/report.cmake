# SPDX-License-Identifier: Apache-2.0
weft_add_test(report_result_folder
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/result_folder_test.cpp ${PROJECT_SOURCE_DIR}/tests/vcd/vcd_parser.cpp
  LINKS weft_report
  LABELS unit)

weft_add_test(report_page_data
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/page_data_test.cpp ${PROJECT_SOURCE_DIR}/tests/vcd/vcd_parser.cpp
  LINKS weft_report
  LABELS unit)

get_property(has_page GLOBAL PROPERTY WEFT_HAS_REPORT_PAGE)
weft_add_test(report_command
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/command_test.cpp ${PROJECT_SOURCE_DIR}/tests/cli/weft_process.cpp
          ${PROJECT_SOURCE_DIR}/tests/vcd/vcd_parser.cpp
  LINKS weft::configs nlohmann_json::nlohmann_json
  LABELS cli)
target_compile_definitions(test_report_command PRIVATE WEFT_BINARY="$<TARGET_FILE:weft>" WEFT_HAS_REPORT_PAGE=$<BOOL:${has_page}>)
add_dependencies(test_report_command weft)

# The page in a real browser; skipped (77) without Chromium (with CI=true: an error) and without the packages.
if(WEFT_NODE AND NOT WEFT_SANITIZE)
  add_test(NAME report_page
    COMMAND ${WEFT_NODE} ${CMAKE_CURRENT_LIST_DIR}/page_test.mjs $<TARGET_FILE:weft> ${WEFT_REPORT_PACKAGES}
            ${PROJECT_SOURCE_DIR})
  set_tests_properties(report_page PROPERTIES LABELS cli TIMEOUT 600 SKIP_RETURN_CODE 77)
else()
  message(STATUS "Node.js is missing: the page of weft report is not tested in a browser")
endif()
