# SPDX-License-Identifier: Apache-2.0
weft_add_test(trace
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/chakra_stream_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/feeder_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/groups_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/node_decoder_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/real_traces_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/trace_index_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/workload_check_test.cpp
  LINKS weft::workload
  LABELS unit)
