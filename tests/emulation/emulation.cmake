# SPDX-License-Identifier: Apache-2.0
# `weft emulate` with small C programs on libweft_comm.
enable_language(C)
add_executable(emulation_pattern ${CMAKE_CURRENT_LIST_DIR}/programs/pattern.c)
target_link_libraries(emulation_pattern PRIVATE weft::weft_comm)
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME emulation
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/emulation_test.py $<TARGET_FILE:weft>
            $<TARGET_FILE:emulation_pattern>)
  set_tests_properties(emulation PROPERTIES LABELS cli TIMEOUT 300)
endif()
weft_add_sc_test(emulation_restricted
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/restricted_test.cpp
  LINKS weft::emulation weft::sc_models
  TIMEOUT 300
  LABELS unit)
weft_add_test(emulation_protocol
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/protocol_test.cpp
  LINKS weft::weft_comm_static
  LABELS unit)
