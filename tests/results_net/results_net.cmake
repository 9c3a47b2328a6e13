# SPDX-License-Identifier: Apache-2.0
# The results of 90 small runs, byte for byte: what a change of structure must not move.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME results_net
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/results_net.py $<TARGET_FILE:weft>)
  set_tests_properties(results_net PROPERTIES LABELS slow TIMEOUT 600)
else()
  message(STATUS "Python 3 is missing: the test results_net is left out")
endif()
