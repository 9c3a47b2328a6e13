# SPDX-License-Identifier: Apache-2.0
# Conversions of PyTorch and FlexFlow traces with the built program.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME convert
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/convert_test.py $<TARGET_FILE:weft> --data ${WEFT_DATA_DIR})
  set_tests_properties(convert PROPERTIES LABELS cli TIMEOUT 300)
endif()
