# SPDX-License-Identifier: Apache-2.0
# The reduction unit of examples/rtl alone, built as it is there; rtl_speed.py compares it with the same unit in a job.
include(WeftRtl)
if(WEFT_VERILATOR_FOUND)
  weft_add_rtl_library(reduction_unit SOURCES ${PROJECT_SOURCE_DIR}/examples/rtl/reduction_unit/reduction_unit.sv
                       TOP reduction_unit TRACE fst)
  add_executable(rtl_alone ${CMAKE_CURRENT_LIST_DIR}/rtl_alone.cpp)
  target_link_libraries(rtl_alone PRIVATE reduction_unit weft_flags)
endif()
