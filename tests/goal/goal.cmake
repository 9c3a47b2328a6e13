# SPDX-License-Identifier: Apache-2.0
add_test(NAME goal COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/goal_test.py $<TARGET_FILE:weft>)
set_tests_properties(goal PROPERTIES LABELS cli TIMEOUT 300)
