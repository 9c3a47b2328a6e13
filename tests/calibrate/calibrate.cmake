# SPDX-License-Identifier: Apache-2.0
foreach(topic nccl_log measured_json accuracy fit log_version nic_limit result_times)
  weft_add_test(calibrate_${topic}
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/${topic}_test.cpp ${PROJECT_SOURCE_DIR}/tests/vcd/vcd_parser.cpp
    LINKS weft_calibrate
    LABELS unit)
endforeach()
