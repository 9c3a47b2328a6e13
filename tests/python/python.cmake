# SPDX-License-Identifier: Apache-2.0
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME python COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/python_test.py $<TARGET_FILE:weft>)
  set_tests_properties(python PROPERTIES LABELS cli TIMEOUT 300)
endif()
