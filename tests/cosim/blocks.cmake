# SPDX-License-Identifier: Apache-2.0
# Tests of RTL blocks in a machine.
weft_add_sc_test(cosim_link_model
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/link_model_test.cpp
  LINKS weft::sc_models
  LABELS unit)
weft_add_sc_test(cosim_block_gaps SOURCES ${CMAKE_CURRENT_LIST_DIR}/block_gaps_test.cpp LINKS weft::cosim LABELS unit)
weft_add_sc_test(cosim_nmu_block SOURCES ${CMAKE_CURRENT_LIST_DIR}/nmu_block_test.cpp LINKS weft::cosim LABELS unit)
# Examples and skeletons, built against the installed package. Not under the sanitizers: plugins would need them too.
include(WeftRtl)
if(WEFT_VERILATOR_FOUND AND NOT WEFT_SANITIZE)
  foreach(part switch npu nmu router skeletons)
    add_test(NAME cosim_rtl_${part}
      COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/rtl_examples_test.py --build ${PROJECT_BINARY_DIR} --source ${PROJECT_SOURCE_DIR}
              --work ${PROJECT_BINARY_DIR}/rtl_examples_${part} --only ${part} --generator ${CMAKE_GENERATOR}
              --cxx ${CMAKE_CXX_COMPILER} --prefix-path "${CMAKE_PREFIX_PATH}")
    set_tests_properties(cosim_rtl_${part} PROPERTIES TIMEOUT 1800 LABELS "slow")
  endforeach()
endif()
