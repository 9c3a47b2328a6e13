# SPDX-License-Identifier: Apache-2.0
weft_add_test(rank_engine SOURCES ${CMAKE_CURRENT_LIST_DIR}/rank_engine_test.cpp LINKS weft::workload LABELS unit)
weft_add_test(layers SOURCES ${CMAKE_CURRENT_LIST_DIR}/layers_test.cpp LINKS weft::workload LABELS unit)
weft_add_test(p2p_matcher SOURCES ${CMAKE_CURRENT_LIST_DIR}/p2p_matcher_test.cpp LINKS weft::workload LABELS unit)
weft_add_test(bounds SOURCES ${CMAKE_CURRENT_LIST_DIR}/bounds_test.cpp LINKS weft::workload LABELS unit)
weft_add_test(generate_llm SOURCES ${CMAKE_CURRENT_LIST_DIR}/llm_test.cpp LINKS weft::workload LABELS unit)
weft_add_test(generate_moe SOURCES ${CMAKE_CURRENT_LIST_DIR}/moe_test.cpp LINKS weft::workload LABELS unit)
