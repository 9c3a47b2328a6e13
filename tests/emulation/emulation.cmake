# SPDX-License-Identifier: Apache-2.0
# `weft emulate` with small C programs on libweft_comm.
enable_language(C)
add_executable(emulation_pattern ${CMAKE_CURRENT_LIST_DIR}/programs/pattern.c)
target_link_libraries(emulation_pattern PRIVATE weft::weft_comm)
add_executable(emulation_training ${PROJECT_SOURCE_DIR}/examples/emulation/c/training.c)
target_link_libraries(emulation_training PRIVATE weft::weft_comm)
add_library(emulation_delay MODULE ${CMAKE_CURRENT_LIST_DIR}/programs/delay.c)
target_include_directories(emulation_delay PRIVATE ${PROJECT_SOURCE_DIR}/emulation/environment)
add_executable(emulation_fuzzed_rank ${CMAKE_CURRENT_LIST_DIR}/programs/fuzzed_rank.cpp
               ${CMAKE_CURRENT_LIST_DIR}/drawn_session.cpp)
target_link_libraries(emulation_fuzzed_rank PRIVATE weft::weft_comm_static weft_flags)
target_include_directories(emulation_fuzzed_rank PRIVATE ${PROJECT_SOURCE_DIR})
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME emulation
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/emulation_test.py $<TARGET_FILE:weft>
            $<TARGET_FILE:emulation_pattern> $<TARGET_FILE:emulation_delay> $<TARGET_FILE:emulation_training>)
  add_test(NAME emulation_ends
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/ends_test.py $<TARGET_FILE:weft>
            $<TARGET_FILE:emulation_pattern>)
  add_test(NAME emulation_frames
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/frames_test.py $<TARGET_FILE:weft>
            $<TARGET_FILE:emulation_pattern>)
  add_test(NAME emulation_fuzzed
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/fuzzed_test.py $<TARGET_FILE:weft>
            $<TARGET_FILE:emulation_fuzzed_rank>)
  # Without a PyTorch it is skipped, and says so.
  if(NOT WEFT_SANITIZE)
    add_test(NAME emulation_torch
      COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/torch_test.py $<TARGET_FILE:weft> ${PROJECT_SOURCE_DIR})
    set_tests_properties(emulation_torch PROPERTIES LABELS cli TIMEOUT 600 SKIP_RETURN_CODE 77)
  endif()
  # The picture in docs/guide/emulate.md shows what the programs give.
  add_test(NAME emulation_figure
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/bench/emulation/iteration.py $<TARGET_FILE:weft>
            $<TARGET_FILE:emulation_training> --check ${PROJECT_SOURCE_DIR}/docs/guide/emulated_iteration.svg)
  set_tests_properties(emulation emulation_ends emulation_frames emulation_fuzzed emulation_figure PROPERTIES LABELS cli TIMEOUT 300)
endif()
weft_add_sc_test(emulation_restricted
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/restricted_test.cpp
  LINKS weft::emulation weft::sc_models
  TIMEOUT 300
  LABELS unit)
weft_add_sc_test(emulation_cost
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/cost_test.cpp
  LINKS weft::emulation weft::sc_models
  TIMEOUT 300
  LABELS unit)
weft_add_sc_test(emulation_sessions
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/sessions_test.cpp ${CMAKE_CURRENT_LIST_DIR}/drawn_session.cpp
  LINKS weft::emulation weft::sc_models
  TIMEOUT 300
  LABELS unit)
weft_add_test(emulation_protocol
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/protocol_test.cpp
  LINKS weft::weft_comm_static
  LABELS unit)
