# SPDX-License-Identifier: Apache-2.0
weft_add_test(vcd
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/glob_test.cpp ${CMAKE_CURRENT_LIST_DIR}/vcd_writer_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/vcd_random_test.cpp ${CMAKE_CURRENT_LIST_DIR}/vcd_count_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/probe_hub_test.cpp ${CMAKE_CURRENT_LIST_DIR}/time_queue_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/time_text_test.cpp ${CMAKE_CURRENT_LIST_DIR}/writer_thread_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/vcd_parser.cpp
  LINKS weft::vcd
  LABELS unit)
weft_add_test(waves
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/waves_test.cpp ${CMAKE_CURRENT_LIST_DIR}/vcd_parser.cpp
  LINKS weft::vcd
  LABELS unit)
