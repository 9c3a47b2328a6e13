# SPDX-License-Identifier: Apache-2.0
weft_add_sc_test(match_table SOURCES ${CMAKE_CURRENT_LIST_DIR}/match_table_test.cpp LINKS weft::network_interface LABELS unit)
weft_add_sc_test(weft_net SOURCES ${CMAKE_CURRENT_LIST_DIR}/weft_net_test.cpp LINKS weft::network_interface LABELS unit)
