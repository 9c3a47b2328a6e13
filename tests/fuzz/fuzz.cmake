# SPDX-License-Identifier: Apache-2.0
# Every input of the corpora, once, with any compiler: what fuzzing found stays found.
include(${CMAKE_CURRENT_LIST_DIR}/targets.cmake)
foreach(target IN LISTS WEFT_FUZZ_TARGETS)
  list(TRANSFORM WEFT_FUZZ_SOURCES_${target} PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
  weft_add_test(corpus_${target}
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/corpus_test.cpp ${CMAKE_CURRENT_LIST_DIR}/fuzz.cpp
            ${CMAKE_CURRENT_LIST_DIR}/${target}_fuzz.cpp ${WEFT_FUZZ_SOURCES_${target}}
    LINKS ${WEFT_FUZZ_LINKS_${target}}
    DEFINITIONS WEFT_FUZZ_TARGET="${target}"
    LABELS unit)
endforeach()
