# SPDX-License-Identifier: Apache-2.0
weft_add_test(text_file SOURCES ${CMAKE_CURRENT_LIST_DIR}/text_file_test.cpp LINKS weft::workload LABELS unit)
weft_add_test(training_loop SOURCES ${CMAKE_CURRENT_LIST_DIR}/training_loop_test.cpp LINKS weft::workload LABELS unit)

find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME text_conversion
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/conversion_test.py $<TARGET_FILE:weft> ${WEFT_DATA_DIR})
  add_test(NAME text_astra
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/astra_test.py $<TARGET_FILE:weft> ${WEFT_DATA_DIR})
  add_test(NAME text_iterations
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/iterations_test.py $<TARGET_FILE:weft>)
  add_test(NAME text_jobs
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/text_jobs_test.py $<TARGET_FILE:weft>)
  add_test(NAME text_end_delays
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/end_delays_test.py $<TARGET_FILE:weft>)
  set_tests_properties(text_conversion text_astra text_iterations text_jobs text_end_delays PROPERTIES LABELS cli TIMEOUT 600)
endif()
