# SPDX-License-Identifier: Apache-2.0
weft_add_sc_test(parts_units
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/cut_test.cpp ${CMAKE_CURRENT_LIST_DIR}/rings_test.cpp
  LINKS weft::parts
  LABELS unit)
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME parts_same
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/parts_test.py $<TARGET_FILE:weft> --cases 60)
  add_test(NAME parts_ends
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/parts_ends_test.py $<TARGET_FILE:weft>)
  set_tests_properties(parts_same parts_ends PROPERTIES LABELS cli TIMEOUT 900)
else()
  message(STATUS "Python 3 is missing: the tests of runs in parts are left out")
endif()
