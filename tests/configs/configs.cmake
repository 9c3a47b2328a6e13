# SPDX-License-Identifier: Apache-2.0
weft_add_test(configs_units SOURCES ${CMAKE_CURRENT_LIST_DIR}/units_test.cpp LINKS weft::configs LABELS unit)
weft_add_test(configs_notation SOURCES ${CMAKE_CURRENT_LIST_DIR}/notation_test.cpp LINKS weft::configs LABELS unit)
weft_add_test(configs_graph SOURCES ${CMAKE_CURRENT_LIST_DIR}/graph_test.cpp LINKS weft::configs LABELS unit)
weft_add_test(configs_graph_limits SOURCES ${CMAKE_CURRENT_LIST_DIR}/graph_limits_test.cpp LINKS weft::configs LABELS unit)
weft_add_test(configs_loader SOURCES ${CMAKE_CURRENT_LIST_DIR}/loader_test.cpp LINKS weft::configs LABELS unit)
weft_add_test(configs_implementation SOURCES ${CMAKE_CURRENT_LIST_DIR}/implementation_test.cpp LINKS weft::configs LABELS unit)
weft_add_test(configs_documents SOURCES ${CMAKE_CURRENT_LIST_DIR}/documents_test.cpp LINKS weft::configs LABELS unit)
weft_add_test(configs_input_file SOURCES ${CMAKE_CURRENT_LIST_DIR}/input_file_test.cpp LINKS weft::configs LABELS unit)
