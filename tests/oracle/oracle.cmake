# SPDX-License-Identifier: Apache-2.0
# The oracle: random jobs on weft and on a simulator written from the documents. docs/oracle.md.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  # What the documents work out by hand, on the oracle's simulator alone.
  add_test(NAME oracle_examples COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/examples.py)
  set_tests_properties(oracle_examples PROPERTIES LABELS "unit;oracle" TIMEOUT 60)
  add_test(NAME oracle
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/oracle.py $<TARGET_FILE:weft> --seed 1 --cases 500)
  set_tests_properties(oracle PROPERTIES LABELS "slow;oracle" PROCESSORS 2 TIMEOUT 600)
  # Many messages that ask for one link at the same picosecond: the order in which they take it.
  add_test(NAME oracle_ties
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/oracle.py $<TARGET_FILE:weft> --seed 5 --kind ties
            --cases 100)
  set_tests_properties(oracle_ties PROPERTIES LABELS "slow;oracle" PROCESSORS 2 TIMEOUT 300)
else()
  message(STATUS "Python 3 is missing: the tests oracle and oracle_examples are left out")
endif()
