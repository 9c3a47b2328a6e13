# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
#
# Installs the build to a fresh prefix, then configures, builds and runs examples/out_of_tree against it, with every
# installed header included.

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    string(JOIN " " command ${ARGN})
    message(FATAL_ERROR "${command}\nfailed with ${status}:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${WEFT_BUILD_DIR} --prefix ${WORK_DIR}/prefix)
# A SystemC of another release, as a user's package registry may offer it: nobody here asks for it.
set(fake ${WORK_DIR}/other_systemc)
file(WRITE ${fake}/include/sysc/kernel/sc_ver.h
  "#define SC_VERSION_MAJOR 9\n#define SC_VERSION_MINOR 8\n#define SC_VERSION_PATCH 7\n")
file(WRITE ${fake}/SystemCLanguageConfig.cmake
  "add_library(SystemC::systemc INTERFACE IMPORTED GLOBAL)\n"
  "target_include_directories(SystemC::systemc INTERFACE ${fake}/include)\n")
file(WRITE ${fake}/SystemCLanguageConfigVersion.cmake
  "set(PACKAGE_VERSION 9.8.7)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n")
file(WRITE ${WORK_DIR}/home/.cmake/packages/SystemCLanguage/other "${fake}")
set(ENV{HOME} ${WORK_DIR}/home)

# Copied, so that nothing beside it in the source tree can help it.
file(COPY ${WEFT_SOURCE_DIR}/examples/out_of_tree DESTINATION ${WORK_DIR}/source)
run(${CMAKE_COMMAND} -S ${WORK_DIR}/source/out_of_tree -B ${WORK_DIR}/build -G ${GENERATOR}
  -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_BUILD_TYPE=Release -D CMAKE_FIND_USE_PACKAGE_REGISTRY=OFF
  -D CMAKE_FIND_USE_SYSTEM_PACKAGE_REGISTRY=OFF "-DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix;${PREFIX_PATH}")

# With the other SystemC the package says no, and why: both versions.
foreach(way registry folder)
  set(offer "")
  if(way STREQUAL folder)
    set(offer -D CMAKE_FIND_USE_PACKAGE_REGISTRY=OFF -D SystemCLanguage_DIR=${fake})
  endif()
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${WORK_DIR}/source/out_of_tree -B ${WORK_DIR}/refused_${way} -G ${GENERATOR}
      -D CMAKE_CXX_COMPILER=${CXX} ${offer} "-DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix;${PREFIX_PATH}"
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  if(status EQUAL 0 OR NOT output MATCHES "was built with SystemC [0-9.]+, and this project would use SystemC 9.8.7")
    message(FATAL_ERROR "the package takes SystemC 9.8.7 (${way}; status ${status}):\n${output}")
  endif()
endforeach()

# All public headers together: one that was not installed, but is included by another, shows here.
file(GLOB_RECURSE headers RELATIVE ${WORK_DIR}/prefix/include/weft ${WORK_DIR}/prefix/include/weft/*.h)
list(LENGTH headers count)
if(count LESS 10)
  message(FATAL_ERROR "only ${count} headers were installed")
endif()
set(all "")
foreach(header IN LISTS headers)
  string(APPEND all "#include \"${header}\"\n")
endforeach()
file(WRITE ${WORK_DIR}/source/out_of_tree/all_headers.cpp "${all}")

run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(${CMAKE_COMMAND} -E chdir ${WORK_DIR} ${WORK_DIR}/build/traffic ${WORK_DIR}/traffic.vcd)
file(READ ${WORK_DIR}/traffic.vcd waves)
if(NOT waves MATCHES "#1000\n")
  message(FATAL_ERROR "the example's waveform has no change at 1 ns:\n${waves}")
endif()
