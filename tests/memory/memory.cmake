# SPDX-License-Identifier: Apache-2.0
weft_add_sc_test(memory SOURCES ${CMAKE_CURRENT_LIST_DIR}/memory_test.cpp
                 LINKS weft::cosim LABELS unit)
weft_add_sc_test(cxl SOURCES ${CMAKE_CURRENT_LIST_DIR}/cxl_test.cpp LINKS weft::cosim LABELS unit)
weft_add_sc_test(banked_hbm SOURCES ${CMAKE_CURRENT_LIST_DIR}/banked_hbm_test.cpp
                 LINKS weft::cosim LABELS unit)
weft_add_sc_test(dram_channel SOURCES ${CMAKE_CURRENT_LIST_DIR}/dram_channel_test.cpp
                 LINKS weft::sc_models nlohmann_json::nlohmann_json LABELS unit)
weft_add_sc_test(dram_relations SOURCES ${CMAKE_CURRENT_LIST_DIR}/dram_relations_test.cpp
                 LINKS weft::sc_models LABELS unit)
weft_add_sc_test(dram_presets SOURCES ${CMAKE_CURRENT_LIST_DIR}/dram_presets_test.cpp
                 LINKS weft::sc_models LABELS unit)
weft_add_sc_test(memory_relations SOURCES ${CMAKE_CURRENT_LIST_DIR}/memory_relations_test.cpp
                 LINKS weft::sc_models LABELS unit)
weft_add_sc_test(memory_data SOURCES ${CMAKE_CURRENT_LIST_DIR}/memory_data_test.cpp
                 LINKS weft::cosim LABELS unit)
weft_add_sc_test(stream_shortcut SOURCES ${CMAKE_CURRENT_LIST_DIR}/stream_shortcut_test.cpp
                 LINKS weft::sc_models TIMEOUT 300)
