# SPDX-License-Identifier: Apache-2.0
weft_add_sc_test(timeline
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/timeline_test.cpp
  LINKS weft_cli
  LABELS unit)

# Timelines are read by a reader of their own (perfetto_reader.py), which shares no code with the writer.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  foreach(topic cases relations)
    add_test(NAME timeline_${topic}
      COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/${topic}_test.py $<TARGET_FILE:weft>)
    set_tests_properties(timeline_${topic} PROPERTIES LABELS slow TIMEOUT 900)
  endforeach()
else()
  message(STATUS "Python 3 is missing: the tests of timelines are left out")
endif()
