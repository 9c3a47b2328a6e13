# SPDX-License-Identifier: Apache-2.0
weft_add_sc_test(match_table SOURCES ${CMAKE_CURRENT_LIST_DIR}/match_table_test.cpp LINKS weft::network_interface LABELS unit)
weft_add_sc_test(weft_net SOURCES ${CMAKE_CURRENT_LIST_DIR}/weft_net_test.cpp LINKS weft::network_interface LABELS unit)
weft_add_sc_test(weft_net_remote SOURCES ${CMAKE_CURRENT_LIST_DIR}/remote_test.cpp LINKS weft::network_interface LABELS unit)
# The examples, built against the installed package. Not under the sanitizers: they would need them too.
if(NOT WEFT_SANITIZE)
  add_test(NAME network_interface_examples
    COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/examples_test.py --build ${PROJECT_BINARY_DIR} --source ${PROJECT_SOURCE_DIR}
            --work ${PROJECT_BINARY_DIR}/network_interface_examples --generator ${CMAKE_GENERATOR} --cxx ${CMAKE_CXX_COMPILER}
            --prefix-path "${CMAKE_PREFIX_PATH}")
  set_tests_properties(network_interface_examples PROPERTIES TIMEOUT 900 LABELS "slow")
endif()
