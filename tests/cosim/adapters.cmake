# SPDX-License-Identifier: Apache-2.0
# Tests of pin adapters and clocks. The RTL is in rtl/.
include(WeftRtl)
if(WEFT_VERILATOR_FOUND)
  set(rtl ${CMAKE_CURRENT_LIST_DIR}/rtl)
  weft_add_rtl_library(pipe SOURCES ${rtl}/stream_pipe.sv TOP stream_pipe VERILATOR_ARGS -GWIDTH=64 -GSTAGES=5)
  weft_add_rtl_library(widths SOURCES ${rtl}/widths.sv ${rtl}/stream_pipe.sv TOP widths INTO pipe)
  weft_add_rtl_library(widths_bv SOURCES ${rtl}/widths.sv ${rtl}/stream_pipe.sv TOP widths VERILATOR_ARGS --pins-bv 2
                       INTO pipe)
  foreach(name bare broken timer)
    weft_add_rtl_library(${name} SOURCES ${rtl}/${name}.sv TOP ${name} INTO pipe)
  endforeach()
  foreach(scale fs ns none)
    string(TOUPPER SCALE_${scale} macro)
    weft_add_rtl_library(scale_${scale} SOURCES ${rtl}/scale.sv TOP scale VERILATOR_ARGS -D${macro} INTO pipe)
  endforeach()
  weft_add_rtl_library(reduction_unit SOURCES ${PROJECT_SOURCE_DIR}/examples/rtl/reduction_unit/reduction_unit.sv
                       TOP reduction_unit INTO pipe)
  set_target_properties(pipe PROPERTIES EXCLUDE_FROM_ALL ON) # its tests need it
  weft_add_sc_test(cosim_reduction_unit SOURCES cosim/reduction_unit_test.cpp LINKS pipe weft::cosim LABELS unit)
  weft_add_sc_test(cosim_streams SOURCES cosim/streams_test.cpp LINKS pipe weft::cosim LABELS unit)
  weft_add_sc_test(cosim_clock SOURCES cosim/clock_test.cpp LINKS pipe weft::cosim LABELS unit)
  weft_add_sc_test(cosim_stream_checker SOURCES cosim/stream_checker_test.cpp LINKS pipe weft::cosim LABELS unit)
  weft_add_rtl_library(npu_timer SOURCES ${PROJECT_SOURCE_DIR}/examples/rtl/npu_timer/npu_timer.sv TOP npu_timer)
  set_target_properties(npu_timer PROPERTIES EXCLUDE_FROM_ALL ON) # its test needs it
  weft_add_sc_test(cosim_npu_block SOURCES cosim/npu_block_test.cpp ${PROJECT_SOURCE_DIR}/examples/rtl/npu_timer/npu_timer.cpp
                   LINKS npu_timer weft::cosim LABELS unit)
  set(mesh_router ${PROJECT_SOURCE_DIR}/examples/rtl/mesh_router)
  weft_add_rtl_library(mesh_router SOURCES ${mesh_router}/mesh_router.sv TOP mesh_router)
  set_target_properties(mesh_router PROPERTIES EXCLUDE_FROM_ALL ON) # its test needs it
  weft_add_sc_test(cosim_pool_router SOURCES cosim/pool_router_test.cpp ${mesh_router}/mesh_router.cpp
                   LINKS mesh_router weft::cosim LABELS unit)
  # Not under the sanitizers: plugins would need them too.
  if(NOT WEFT_SANITIZE)
    add_test(NAME cosim_reduction_unit_example
      COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/reduction_unit_example_test.py --build ${PROJECT_BINARY_DIR}
              --source ${PROJECT_SOURCE_DIR} --work ${PROJECT_BINARY_DIR}/reduction_unit_example_test --generator ${CMAKE_GENERATOR}
              --cxx ${CMAKE_CXX_COMPILER} --prefix-path "${CMAKE_PREFIX_PATH}")
    set_tests_properties(cosim_reduction_unit_example PROPERTIES TIMEOUT 900 LABELS "slow")
  endif()
else()
  # Reported as skipped; where CI=true an error.
  add_test(NAME cosim_rtl COMMAND sh -c "echo 'Verilator was not found: no RTL tests (scripts/setup.sh installs it)'; \
[ \"$CI\" = true ] && exit 1; exit 77")
  set_tests_properties(cosim_rtl PROPERTIES SKIP_RETURN_CODE 77)
endif()
