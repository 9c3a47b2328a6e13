# SPDX-License-Identifier: Apache-2.0
# Plugins built against the installed package. Not under the sanitizers: plugins would need them too.
if(NOT WEFT_SANITIZE)
  add_test(NAME plugins
    COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/plugins_test.py --build ${PROJECT_BINARY_DIR} --source ${PROJECT_SOURCE_DIR}
            --work ${PROJECT_BINARY_DIR}/plugins_test --generator ${CMAKE_GENERATOR} --cxx ${CMAKE_CXX_COMPILER}
            --prefix-path "${CMAKE_PREFIX_PATH}")
  set_tests_properties(plugins PROPERTIES TIMEOUT 900 LABELS "slow")
endif()
