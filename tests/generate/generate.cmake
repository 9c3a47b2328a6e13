# SPDX-License-Identifier: Apache-2.0
weft_add_test(systolic SOURCES ${CMAKE_CURRENT_LIST_DIR}/systolic_test.cpp LINKS weft::workload LABELS unit)
weft_add_test(generate_models SOURCES ${CMAKE_CURRENT_LIST_DIR}/models_test.cpp LINKS weft::workload LABELS unit)

find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME cli_generate
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/generate_test.py $<TARGET_FILE:weft> ${WEFT_DATA_DIR})
  add_test(NAME cli_generate_llm
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/llm_parallel_test.py $<TARGET_FILE:weft>)
  add_test(NAME cli_paper
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/paper_test.py $<TARGET_FILE:weft>)
  add_test(NAME paper_fast COMMAND weft paper all --fast --check --no-files --jobs 2)
  set_tests_properties(cli_generate cli_generate_llm cli_paper paper_fast PROPERTIES LABELS cli TIMEOUT 600)
endif()
