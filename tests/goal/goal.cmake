# SPDX-License-Identifier: Apache-2.0
# GOAL programs against an independent model of LogGOPS.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME goal COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/goal_test.py $<TARGET_FILE:weft>)
  set_tests_properties(goal PROPERTIES LABELS cli TIMEOUT 300)
endif()
