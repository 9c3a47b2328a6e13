# SPDX-License-Identifier: Apache-2.0
# The documentation: every command runs and prints what the page shows; lines and links; the picture of the rooms.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME docs_commands
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/run_docs.py $<TARGET_FILE:weft>)
  add_test(NAME docs_text COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/check_docs.py)
  add_test(NAME docs_scripts COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/test_docs_scripts.py)
  add_test(NAME docs_architecture
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/architecture.py --check)
  # The figures of docs/cxl.md and docs/moe.md: the program gives them, and the claims of the latter hold.
  add_test(NAME cxl_figure
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/bench/memory/cxl_curves.py $<TARGET_FILE:weft>
            --check ${PROJECT_SOURCE_DIR}/docs/cxl_latency.svg)
  set(moe ${PROJECT_SOURCE_DIR}/bench/memory/moe_breakdown.py $<TARGET_FILE:weft>
          ${PROJECT_SOURCE_DIR}/configs/papers)
  add_test(NAME moe_claims COMMAND ${Python3_EXECUTABLE} ${moe} --small)
  add_test(NAME moe_knee COMMAND ${Python3_EXECUTABLE} ${moe} --knee --small)
  add_test(NAME moe_figure
    COMMAND ${Python3_EXECUTABLE} ${moe} --check ${PROJECT_SOURCE_DIR}/docs/moe_breakdown.svg)
  set_tests_properties(cxl_figure moe_claims moe_knee PROPERTIES LABELS cli TIMEOUT 300)
  set_tests_properties(moe_figure PROPERTIES LABELS slow TIMEOUT 900)
  set_tests_properties(docs_commands docs_text docs_scripts docs_architecture PROPERTIES LABELS cli TIMEOUT 900)
else()
  message(STATUS "Python 3 is missing: the tests of the documentation are left out")
endif()
