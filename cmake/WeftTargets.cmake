# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
#
# Compiler settings shared by every target, and the two functions by which rooms and tests are declared.

include(GNUInstallDirs)

set(CMAKE_CXX_STANDARD 17) # Debian's libsystemc links with C++17 only
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

find_program(WEFT_CCACHE ccache)
# Without the first of these ccache does not keep what is compiled with a precompiled header; with the other two it finds
# what another checkout compiled.
set(WEFT_CCACHE_ENVIRONMENT CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1)
if(WEFT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env ${WEFT_CCACHE_ENVIRONMENT} ${WEFT_CCACHE})
endif()
# Reports and assertions name files from the top of the checkout, so that an object does not depend on where that is.
add_compile_options(-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)

add_library(weft_flags INTERFACE)
target_compile_options(weft_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
if(WEFT_WERROR)
  target_compile_options(weft_flags INTERFACE -Werror)
endif()
if(WEFT_CHECKS)
  target_compile_definitions(weft_flags INTERFACE WEFT_CHECKS=1)
endif()
if(WEFT_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # The compiler does not look for memory to use again before it has 4 GB, which it never needs: a tenth of its time. And
  # no header has the unnamed namespaces that it warns of: each is in a source.
  target_compile_options(weft_flags INTERFACE "SHELL:--param ggc-min-heapsize=4000000" -Wno-subobject-linkage)
endif()
if(WEFT_SANITIZE)
  # GCC's flow analysis sees uninitialized values in the standard library (std::regex) once it is instrumented.
  target_compile_options(weft_flags INTERFACE -Wno-maybe-uninitialized)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  # SystemC's classes are seen only through Debian's library, which is built without vptr information.
  add_compile_options(-fno-sanitize=vptr)
  add_link_options(-fsanitize=address,undefined)
endif()

if(WEFT_FUZZ)
  # Every room reports its coverage to the fuzzer; only the targets have its main().
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_compile_options(-fno-sanitize=vptr,function) # Debian's SystemC and CLI11 are built without what these need
  add_link_options(-fsanitize=address,undefined)
endif()

# SystemC's headers take longer to read than most files to compile: each room, and all tests together, read them once.
# A file still includes what it uses; WEFT_PCH=OFF builds without.
set(WEFT_PCH_STANDARD <algorithm> <array> <cstdint> <cstring> <deque> <functional> <limits> <map> <memory> <optional> <set>
    <stdexcept> <string> <string_view> <tuple> <unordered_map> <utility> <vector>)
set(WEFT_PCH_SYSTEMC <systemc> <tlm>)

# Programs of weft_optimise_whole() are optimised together with the room tlm_interconnect: the calls from one of its files
# into another are much of the time of a packet network. Its objects are machine code as well, and all others link that.
set(WEFT_WHOLE OFF)
if(WEFT_LTO AND CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_BUILD_TYPE STREQUAL Release AND NOT WEFT_SANITIZE AND NOT WEFT_FUZZ)
  set(WEFT_WHOLE ON)
endif()

# weft_optimise_whole(TARGETS...)
function(weft_optimise_whole)
  if(WEFT_WHOLE)
    foreach(target IN LISTS ARGN)
      set_target_properties(${target} PROPERTIES WEFT_WHOLE ON)
      target_link_options(${target} PRIVATE -flto=auto)
    endforeach()
  endif()
endfunction()

# weft_precompile(TARGET HEADERS...)
function(weft_precompile target)
  if(WEFT_PCH)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# weft_compile_together(TARGET ALONE SOURCES...): with WEFT_UNITY, twelve sources of the target are one translation unit.
# ALONE are left out: they have names of their own that another file of the target has, too (`fail`, `now`).
function(weft_compile_together target)
  cmake_parse_arguments(ARG "" "" "ALONE" ${ARGN})
  set_source_files_properties(${ARG_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${WEFT_UNITY} UNITY_BUILD_BATCH_SIZE 12)
endfunction()

# weft_add_room(NAME SOURCES ... LINKS ... [ALONE ...] [WITHOUT ...]): one static library per top-level folder. LINKS are
# PUBLIC, so what a room may include is exactly what it links. It is installed and exported as weft::NAME. ALONE:
# weft_compile_together. WITHOUT: folders whose headers are not installed.
function(weft_add_room name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;ALONE;WITHOUT" ${ARGN})
  add_library(weft_${name} STATIC ${ARG_SOURCES})
  add_library(weft::${name} ALIAS weft_${name})
  target_include_directories(weft_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/weft>)
  target_link_libraries(weft_${name} PUBLIC ${ARG_LINKS} PRIVATE $<BUILD_INTERFACE:weft_flags>)
  target_compile_features(weft_${name} PUBLIC cxx_std_17)
  if(SystemC::systemc IN_LIST ARG_LINKS)
    weft_precompile(weft_${name} ${WEFT_PCH_STANDARD} ${WEFT_PCH_SYSTEMC})
  else()
    weft_precompile(weft_${name} ${WEFT_PCH_STANDARD})
  endif()
  weft_compile_together(weft_${name} ALONE ${ARG_ALONE})
  # libweft_net.so is made of the rooms. Their calls stay direct.
  set_target_properties(weft_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_compile_options(weft_${name} PRIVATE $<$<CXX_COMPILER_ID:GNU,Clang>:-fno-semantic-interposition>)
  if(WEFT_CHECKS)
    # Headers look at it too, so who uses the installed libraries must see the same.
    target_compile_definitions(weft_${name} INTERFACE $<INSTALL_INTERFACE:WEFT_CHECKS=1>)
  endif()
  if(WEFT_INSTALL)
    install(TARGETS weft_${name} EXPORT weftTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    set(without "")
    foreach(folder IN LISTS ARG_WITHOUT)
      list(APPEND without PATTERN ${folder} EXCLUDE)
    endforeach()
    install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft/${name}
      FILES_MATCHING PATTERN "*.h" ${without})
  endif()
endfunction()

# Builds every test with the label `unit`, the ones that run under the sanitizers. `scripts/test.sh` does not build them a
# second time in its release tree, but for those that draw fewer cases there (label `drawn`).
add_custom_target(weft_unit_tests)

# What all tests share, compiled once: `plain` for tests of plain C++, `systemc` for tests that need a kernel and SystemC's
# main, `machine` for those of them that see the whole machine. Tests are compiled with -O1: most of their time is the
# compiler's.
function(weft_add_test_support)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/tests/support/paths.cpp PROPERTIES COMPILE_DEFINITIONS
    "WEFT_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\";WEFT_DATA_DIR=\"${WEFT_DATA_DIR}\"")
  foreach(kind plain systemc machine)
    set(target weft_test_${kind})
    if(kind STREQUAL plain)
      add_library(${target} OBJECT ${PROJECT_SOURCE_DIR}/tests/support/paths.cpp)
      target_link_libraries(${target} PUBLIC GTest::gtest_main fmt::fmt $<BUILD_INTERFACE:weft_flags>)
      weft_precompile(${target} ${WEFT_PCH_STANDARD} <gtest/gtest.h> <fmt/format.h>)
    else()
      add_library(${target} OBJECT ${PROJECT_SOURCE_DIR}/tests/support/sc_test_main.cpp ${PROJECT_SOURCE_DIR}/tests/support/isolated.cpp
        ${PROJECT_SOURCE_DIR}/tests/support/kernel_warnings.cpp ${PROJECT_SOURCE_DIR}/tests/support/paths.cpp)
      target_link_libraries(${target} PUBLIC GTest::gtest fmt::fmt SystemC::systemc $<BUILD_INTERFACE:weft_flags>)
      set(headers ${WEFT_PCH_STANDARD} ${WEFT_PCH_SYSTEMC} <gtest/gtest.h> <fmt/format.h>)
      if(kind STREQUAL machine)
        target_link_libraries(${target} PUBLIC weft::sc_models)
        list(APPEND headers ${PROJECT_SOURCE_DIR}/sc_models/machine.h)
      endif()
      weft_precompile(${target} ${headers})
    endif()
    target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
    target_compile_options(${target} PUBLIC $<$<CONFIG:Release>:-O1>)
  endforeach()
endfunction()

# weft_add_test_of(KIND NAME ...): what weft_add_test and weft_add_sc_test share.
function(weft_add_test_of kind name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINKS;LABELS;DEFINITIONS" ${ARGN})
  if("unit" IN_LIST ARG_LABELS AND NOT "drawn" IN_LIST ARG_LABELS AND NOT WEFT_UNIT_TESTS)
    return()
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  if(WEFT_SANITIZE)
    math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * 8") # the sanitizers slow tests down
  endif()
  add_executable(test_${name} ${ARG_SOURCES})
  target_link_libraries(test_${name} PRIVATE weft_test_${kind} ${ARG_LINKS})
  target_compile_definitions(test_${name} PRIVATE ${ARG_DEFINITIONS})
  if(WEFT_PCH)
    target_precompile_headers(test_${name} REUSE_FROM weft_test_${kind})
  endif()
  add_test(NAME ${name} COMMAND test_${name} WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}"
                       ENVIRONMENT "SYSTEMC_DISABLE_COPYRIGHT_MESSAGE=1")
  if("unit" IN_LIST ARG_LABELS)
    add_dependencies(weft_unit_tests test_${name})
  endif()
endfunction()

# weft_add_test(NAME SOURCES ... LINKS ... [LABELS ...] [TIMEOUT seconds] [DEFINITIONS ...]): one executable, one ctest
# entry.
function(weft_add_test name)
  weft_add_test_of(plain ${name} ${ARGN})
endfunction()

# weft_add_sc_test(NAME ...): like weft_add_test, with SystemC's main.
function(weft_add_sc_test name)
  cmake_parse_arguments(ARG "" "" "LINKS" ${ARGN})
  if("weft::sc_models" IN_LIST ARG_LINKS)
    weft_add_test_of(machine ${name} ${ARGN})
  else()
    weft_add_test_of(systemc ${name} ${ARGN})
  endif()
endfunction()
