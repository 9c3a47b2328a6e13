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
  set_tests_properties(docs_commands docs_text docs_scripts docs_architecture PROPERTIES LABELS cli TIMEOUT 900)
else()
  message(STATUS "Python 3 is missing: the tests of the documentation are left out")
endif()
