# SPDX-License-Identifier: Apache-2.0
weft_add_test(algorithms SOURCES ${CMAKE_CURRENT_LIST_DIR}/algorithms_test.cpp LINKS weft::workload LABELS unit)
weft_add_test(plan SOURCES ${CMAKE_CURRENT_LIST_DIR}/plan_test.cpp LINKS weft::workload LABELS unit)
weft_add_test(link_share SOURCES ${CMAKE_CURRENT_LIST_DIR}/link_share_test.cpp LINKS weft::workload LABELS unit)
weft_add_test(rules SOURCES ${CMAKE_CURRENT_LIST_DIR}/rules_test.cpp LINKS weft::workload LABELS unit)
weft_add_test(collective_engine SOURCES ${CMAKE_CURRENT_LIST_DIR}/engine_test.cpp LINKS weft::workload LABELS unit)
weft_add_test(slot_waits SOURCES ${CMAKE_CURRENT_LIST_DIR}/slot_waits_test.cpp LINKS weft::workload LABELS unit)
weft_add_test(custom_collectives SOURCES ${CMAKE_CURRENT_LIST_DIR}/custom_test.cpp LINKS weft::workload LABELS unit)
weft_add_sc_test(closed_forms SOURCES ${CMAKE_CURRENT_LIST_DIR}/closed_forms_test.cpp LINKS weft::sc_models)
