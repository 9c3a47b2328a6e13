# SPDX-License-Identifier: Apache-2.0
# Reads sources: of every build, and with the other checks of style (`ctest -L style`).
weft_add_test(rooms
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/rooms_test.cpp ${CMAKE_CURRENT_LIST_DIR}/source_rules.cpp
  LABELS style)

add_test(NAME format COMMAND ${PROJECT_SOURCE_DIR}/scripts/format.sh --check)
set_tests_properties(format PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 120 LABELS "style")

# Installs to a temporary prefix and builds examples/out_of_tree against it, as a user of the package would.
if(NOT WEFT_SANITIZE)
  add_test(NAME out_of_tree
    COMMAND ${CMAKE_COMMAND} -D WEFT_BUILD_DIR=${PROJECT_BINARY_DIR} -D WEFT_SOURCE_DIR=${PROJECT_SOURCE_DIR}
            -D WORK_DIR=${PROJECT_BINARY_DIR}/out_of_tree -D GENERATOR=${CMAKE_GENERATOR}
            -D CXX=${CMAKE_CXX_COMPILER} -D PREFIX_PATH=${CMAKE_PREFIX_PATH}
            -P ${CMAKE_CURRENT_LIST_DIR}/out_of_tree.cmake)
  set_tests_properties(out_of_tree PROPERTIES TIMEOUT 900 LABELS "slow")
endif()
