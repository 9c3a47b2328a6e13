# SPDX-License-Identifier: Apache-2.0
# Tests of base-protocol checks and adapters.
weft_add_sc_test(base_protocol_checker SOURCES ${CMAKE_CURRENT_LIST_DIR}/base_protocol_checker_test.cpp
                 LINKS weft::cosim LABELS unit TIMEOUT 300)
weft_add_sc_test(tlm_adapter SOURCES ${CMAKE_CURRENT_LIST_DIR}/tlm_adapter_test.cpp
                 LINKS weft::cosim LABELS unit TIMEOUT 300)
weft_add_sc_test(mm_to_link SOURCES ${CMAKE_CURRENT_LIST_DIR}/mm_to_link_test.cpp
                 LINKS weft::cosim LABELS unit TIMEOUT 300)
weft_add_sc_test(axi SOURCES ${CMAKE_CURRENT_LIST_DIR}/axi_test.cpp LINKS weft::cosim LABELS unit TIMEOUT 300)

# An RTL memory controller behind AxiMaster; WEFT_VERILATOR_FOUND is of adapters.cmake.
if(WEFT_VERILATOR_FOUND)
  weft_add_rtl_library(axi_memory SOURCES ${PROJECT_SOURCE_DIR}/examples/rtl/axi_memory/axi_memory.sv TOP axi_memory
                       VERILATOR_ARGS -GDATA=64 -GSIZE=65536)
  set_target_properties(axi_memory PROPERTIES EXCLUDE_FROM_ALL ON) # its test needs it
  weft_add_sc_test(axi_memory SOURCES ${CMAKE_CURRENT_LIST_DIR}/axi_memory_test.cpp LINKS axi_memory weft::cosim
                   LABELS unit TIMEOUT 300)
endif()

# Projects of their own against the installed package. Not under the sanitizers: they would need them too.
if(NOT WEFT_SANITIZE)
  set(rtl_examples "")
  if(WEFT_VERILATOR_FOUND)
    set(rtl_examples --rtl)
  endif()
  add_test(NAME cosim_examples
    COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/examples_test.py --build ${PROJECT_BINARY_DIR} --source ${PROJECT_SOURCE_DIR}
            --work ${PROJECT_BINARY_DIR}/cosim_examples_test --generator ${CMAKE_GENERATOR} --cxx ${CMAKE_CXX_COMPILER}
            --prefix-path "${CMAKE_PREFIX_PATH}" ${rtl_examples})
  set_tests_properties(cosim_examples PROPERTIES TIMEOUT 900 LABELS "slow")
endif()
