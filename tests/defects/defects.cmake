# SPDX-License-Identifier: Apache-2.0
# Known defects stay mended: the files of the data folder's `defects` with the built program.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME defects
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/defects.py $<TARGET_FILE:weft> --data ${WEFT_DATA_DIR})
  set_tests_properties(defects PROPERTIES LABELS cli TIMEOUT 600 SKIP_RETURN_CODE 77)
else()
  message(STATUS "Python 3 is missing: the test defects is left out")
endif()
