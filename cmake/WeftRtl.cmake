# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
#
# RTL blocks by Verilator, in Weft's own build and in projects that use the installed package (docs/rtl_adapters.md).
#
#   weft_add_rtl_block(NAME SOURCES FILE.. TOP MODULE ADAPTER FILE.cpp..
#                      [PERIOD TIME] [TRACE vcd|fst] [VERILATOR_ARGS ARG..] [INCLUDE_DIRS FOLDER..])
#
# makes the plugin NAME.so: the verilated module, and the adapter that registers it. A configuration loads it by
# `plugins:`. The adapter includes "NAME.h", which declares the SystemC module VNAME and knows its pins' widths.
#
#   weft_add_rtl_library(NAME SOURCES FILE.. TOP MODULE [PERIOD ..] [TRACE ..] [VERILATOR_ARGS ..] [INCLUDE_DIRS ..]
#                        [INTO LIBRARY])
#
# makes a library to link into a program of your own. INTO adds the model to a library that another call has made: a
# program has one library for all its models, for they share Verilator's run time.
#
# Both need Verilator: WEFT_VERILATOR_FOUND says whether it is there. The time scale of the RTL is always 1ns/1ps, that
# of the simulation. TRACE compiles in what writes the signals of the RTL's inside (weft::cosim::RtlTrace).

find_program(WEFT_VERILATOR_BIN NAMES verilator_bin HINTS ${VERILATOR_ROOT}/bin $ENV{VERILATOR_ROOT}/bin)
mark_as_advanced(WEFT_VERILATOR_BIN)
if(WEFT_VERILATOR_BIN)
  set(WEFT_VERILATOR_FOUND TRUE)
else()
  set(WEFT_VERILATOR_FOUND FALSE)
endif()

# The width of each port of the top module, as lines of C++, from Verilator's XML. A type that it does not understand
# has no line: then the adapters only know what the pin's C++ type says.
function(_weft_rtl_widths xml_file out)
  file(READ ${xml_file} xml)
  string(REPLACE ";" "" xml "${xml}")
  string(REGEX MATCH "topModule=\"1\">.*" top "${xml}")
  string(FIND "${top}" "</module>" end)
  string(SUBSTRING "${top}" 0 ${end} top)
  string(REGEX MATCH "<typetable.*</typetable>" types "${xml}")
  # Two passes: a type may stand before the one that it is made of.
  string(REGEX MATCHALL "<basicdtype [^>]*>" basics "${types}")
  foreach(line IN LISTS basics)
    string(REGEX MATCH " id=\"([0-9]+)\"" ignored "${line}")
    set(id ${CMAKE_MATCH_1})
    if(line MATCHES "left=\"(-?[0-9]+)\" right=\"(-?[0-9]+)\"")
      math(EXPR bits "${CMAKE_MATCH_1} - ${CMAKE_MATCH_2}")
      if(bits LESS 0)
        math(EXPR bits "-(${bits})")
      endif()
      math(EXPR width_${id} "${bits} + 1")
    elseif(line MATCHES "name=\"(logic|bit|wire|reg)\"")
      set(width_${id} 1)
    endif()
  endforeach()
  string(REGEX MATCHALL "<(unpackarraydtype|packarraydtype|refdtype|enumdtype) [^>]*>([^<]*<range [^>]*>[^<]*<const [^>]*>[^<]*<const [^>]*>)?"
         derived "${types}")
  foreach(pass RANGE 4)
    foreach(line IN LISTS derived)
      string(REGEX MATCH " id=\"([0-9]+)\"" ignored "${line}")
      set(id ${CMAKE_MATCH_1})
      string(REGEX MATCH " sub_dtype_id=\"([0-9]+)\"" ignored "${line}")
      set(of ${CMAKE_MATCH_1})
      if(NOT DEFINED width_${of} OR DEFINED width_${id})
        continue()
      endif()
      if(NOT line MATCHES "^<packarraydtype")
        set(width_${id} ${width_${of}})
      elseif(line MATCHES "&apos(s?)h([0-9a-f]+)\".*&apos(s?)h([0-9a-f]+)\"")
        math(EXPR bits "(0x${CMAKE_MATCH_2}) - (0x${CMAKE_MATCH_4})")
        if(bits LESS 0)
          math(EXPR bits "-(${bits})")
        endif()
        math(EXPR width_${id} "(${bits} + 1) * ${width_${of}}")
      endif()
    endforeach()
  endforeach()
  set(lines "")
  string(REGEX MATCHALL "<var [^>]*pinIndex=[^>]*>" ports "${top}")
  foreach(line IN LISTS ports)
    string(REGEX MATCH " name=\"([^\"]*)\"" ignored "${line}")
    set(port ${CMAKE_MATCH_1})
    string(REGEX MATCH " dtype_id=\"([0-9]+)\"" ignored "${line}")
    if(DEFINED width_${CMAKE_MATCH_1})
      string(APPEND lines "        {\"${port}\", ${width_${CMAKE_MATCH_1}}},\n")
    endif()
  endforeach()
  set(${out} "${lines}" PARENT_SCOPE)
endfunction()

# NAME.h of a model, in `folder`.
function(_weft_rtl_header name folder widths trace period)
  set(tracing "")
  if(trace STREQUAL "vcd")
    set(tracing "#define WEFT_RTL_TRACE 1\n#include <verilated_vcd_sc.h>\n")
    set(file VerilatedVcdSc)
  elseif(trace STREQUAL "fst")
    set(tracing "#define WEFT_RTL_TRACE 1\n#include <verilated_fst_sc.h>\n")
    set(file VerilatedFstSc)
  endif()
  string(CONCAT text
    "// Made by weft_add_rtl_block or weft_add_rtl_library. Do not change it.\n\n"
    "#ifndef WEFT_RTL_${name}_H\n#define WEFT_RTL_${name}_H\n\n"
    "#include <cstring>\n\n#include \"V${name}.h\"\n#include \"cosim/axis/pins.h\"\n"
    "#include \"cosim/clock/rtl_trace.h\"\n")
  if(tracing)
    string(APPEND text "${tracing}")
  endif()
  string(APPEND text
    "\nnamespace weft::cosim {\n\n"
    "template <>\nstruct PinWidths<V${name}> {\n  static uint32_t of(const char* pin) {\n"
    "    struct Width {\n      const char* pin;\n      uint32_t bits;\n    };\n"
    "    static const Width widths[] = {\n${widths}        {\"\", 0}};\n"
    "    for (const Width& width : widths) {\n      if (std::strcmp(width.pin, pin) == 0) return width.bits;\n    }\n"
    "    return 0;\n  }\n};\n\n")
  if(tracing)
    string(APPEND text "template <>\nstruct RtlTraceFile<V${name}> {\n  using Type = ${file};\n"
                       "  static void switch_on() { Verilated::traceEverOn(true); }\n};\n\n")
  endif()
  string(APPEND text "}  // namespace weft::cosim\n\n")
  if(period)
    string(APPEND text "/// PERIOD of the block, as weft::parse_time reads it.\n"
                       "inline constexpr const char* k${name}_period = \"${period}\";\n\n")
  endif()
  string(APPEND text "#endif\n")
  file(MAKE_DIRECTORY ${folder})
  file(CONFIGURE OUTPUT ${folder}/${name}.h CONTENT "${text}" @ONLY)
endfunction()

# Adds the verilated model NAME to an existing target.
macro(_weft_rtl_model caller target name)
  if(NOT WEFT_VERILATOR_FOUND)
    message(FATAL_ERROR "${caller}(${name}): Verilator was not found. On Debian install the package verilator (in Weft's "
                        "own tree: scripts/setup.sh); elsewhere set VERILATOR_ROOT, as a CMake variable, to its folder. "
                        "Test WEFT_VERILATOR_FOUND to go on without RTL.")
  endif()
  foreach(needed SOURCES TOP)
    if(NOT ARG_${needed})
      message(FATAL_ERROR "${caller}(${name}): ${needed} is missing: give the RTL files and the name of the top module")
    endif()
  endforeach()
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${caller}(${name}): unknown arguments: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT name MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "${caller}(${name}): the name becomes the C++ class V${name}: use letters, digits and _")
  endif()
  if(ARG_TRACE AND NOT ARG_TRACE MATCHES "^(vcd|fst)$")
    message(FATAL_ERROR "${caller}(${name}): TRACE ${ARG_TRACE}: it is vcd or fst")
  endif()
  set(_weft_rtl_files "")
  foreach(file IN LISTS ARG_SOURCES)
    get_filename_component(file ${file} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
    if(NOT EXISTS ${file})
      message(FATAL_ERROR "${caller}(${name}): there is no file ${file}")
    endif()
    list(APPEND _weft_rtl_files ${file})
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${_weft_rtl_files})

  # Objects of models and Verilator's run time must agree on tracing.
  set(_weft_rtl_trace "${ARG_TRACE}")
  if(NOT _weft_rtl_trace)
    set(_weft_rtl_trace none)
  endif()
  get_target_property(_weft_rtl_before ${target} WEFT_RTL_TRACE)
  if(_weft_rtl_before AND NOT _weft_rtl_before STREQUAL _weft_rtl_trace)
    message(FATAL_ERROR "${caller}(${name}): the models of one library have the same TRACE: this one ${_weft_rtl_trace}, "
                        "those before it ${_weft_rtl_before}")
  endif()
  set_target_properties(${target} PROPERTIES WEFT_RTL_TRACE ${_weft_rtl_trace})

  # The RTL's precision must be the simulation's, and foreign RTL may have warnings.
  set(_weft_rtl_args ${ARG_VERILATOR_ARGS} --timescale-override 1ns/1ps -Wno-fatal)
  foreach(folder IN LISTS ARG_INCLUDE_DIRS)
    get_filename_component(folder ${folder} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
    list(APPEND _weft_rtl_args -I${folder})
  endforeach()
  set(_weft_rtl_folder ${CMAKE_CURRENT_BINARY_DIR}/weft_rtl/${target}/${name})
  file(MAKE_DIRECTORY ${_weft_rtl_folder})

  # The ports' widths, which the C++ types do not tell. Without them (another Verilator) all else works.
  set(_weft_rtl_xml ${_weft_rtl_folder}/ports.xml)
  execute_process(
    COMMAND ${WEFT_VERILATOR_BIN} --xml-only --xml-output ${_weft_rtl_xml} --Mdir ${_weft_rtl_folder}/xml
            --top-module ${ARG_TOP} ${_weft_rtl_args} ${_weft_rtl_files}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} RESULT_VARIABLE _weft_rtl_code OUTPUT_QUIET ERROR_QUIET)
  set(_weft_rtl_widths_text "")
  if(_weft_rtl_code EQUAL 0 AND EXISTS ${_weft_rtl_xml})
    _weft_rtl_widths(${_weft_rtl_xml} _weft_rtl_widths_text)
  endif()
  _weft_rtl_header(${name} ${_weft_rtl_folder} "${_weft_rtl_widths_text}" "${ARG_TRACE}" "${ARG_PERIOD}")

  get_filename_component(_weft_rtl_prefix ${WEFT_VERILATOR_BIN} DIRECTORY)
  get_filename_component(_weft_rtl_prefix ${_weft_rtl_prefix} DIRECTORY)
  find_package(verilator QUIET HINTS ${VERILATOR_ROOT} $ENV{VERILATOR_ROOT} ${_weft_rtl_prefix}
               ${_weft_rtl_prefix}/share/verilator /usr/share/verilator)
  if(NOT COMMAND verilate)
    message(FATAL_ERROR "${caller}(${name}): ${WEFT_VERILATOR_BIN} is there, but not its file verilator-config.cmake; set "
                        "VERILATOR_ROOT, as a CMake variable, to the folder that has it")
  endif()
  set(_weft_rtl_tracing "")
  if(ARG_TRACE STREQUAL "vcd")
    set(_weft_rtl_tracing TRACE)
  elseif(ARG_TRACE STREQUAL "fst")
    set(_weft_rtl_tracing TRACE_FST)
  endif()
  # GCC 12 crashes on a file of -O2 behind a precompiled header of -O1.
  set(_weft_rtl_fast -O2)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" _weft_rtl_build_type)
  if("${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${_weft_rtl_build_type}} " MATCHES "-O1? ")
    set(_weft_rtl_fast -O1)
  endif()
  verilate(${target} SYSTEMC ${_weft_rtl_tracing} PREFIX V${name} TOP_MODULE ${ARG_TOP}
           DIRECTORY ${_weft_rtl_folder}/verilated SOURCES ${_weft_rtl_files} VERILATOR_ARGS ${_weft_rtl_args}
           OPT_FAST ${_weft_rtl_fast} OPT_SLOW -O1)
  if(ARG_TRACE AND EXISTS ${VERILATOR_ROOT}/include/verilated_${ARG_TRACE}_sc.cpp)
    target_sources(${target} PRIVATE ${VERILATOR_ROOT}/include/verilated_${ARG_TRACE}_sc.cpp)
  endif()
  target_include_directories(${target} PUBLIC ${_weft_rtl_folder})
  # Verilator's headers and what it makes have warnings of their own.
  target_include_directories(${target} SYSTEM PUBLIC ${_weft_rtl_folder}/verilated ${VERILATOR_ROOT}/include
                             ${VERILATOR_ROOT}/include/vltstd)
  target_compile_features(${target} PRIVATE cxx_std_17)
  # Every file that Verilator makes reads SystemC's headers.
  if(NOT DEFINED WEFT_PCH OR WEFT_PCH)
    target_precompile_headers(${target} PRIVATE <systemc.h>)
  endif()
  # A model's files are many and small: with WEFT_UNITY they are one. CMake leaves files with flags of their own out, and
  # the build type has the same optimisation.
  if(WEFT_UNITY)
    get_target_property(_weft_rtl_made ${target} SOURCES)
    list(FILTER _weft_rtl_made INCLUDE REGEX "^${_weft_rtl_folder}/verilated/.*[.]cpp$")
    set_source_files_properties(${_weft_rtl_made} PROPERTIES COMPILE_FLAGS "" UNITY_GROUP ${name})
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  endif()
endmacro()


function(weft_add_rtl_block name)
  cmake_parse_arguments(ARG "" "TOP;PERIOD;TRACE" "SOURCES;VERILATOR_ARGS;INCLUDE_DIRS;ADAPTER" ${ARGN})
  if(NOT ARG_ADAPTER)
    message(FATAL_ERROR "weft_add_rtl_block(${name}): ADAPTER is missing: the C++ file that binds the block's pins and "
                        "registers it by WEFT_PLUGIN (docs/rtl_adapters.md has one to begin with)")
  endif()
  add_library(${name} MODULE ${ARG_ADAPTER})
  _weft_rtl_model(weft_add_rtl_block ${name} ${name})
  foreach(property INTERFACE_INCLUDE_DIRECTORIES INTERFACE_COMPILE_DEFINITIONS)
    set(_weft_rtl_${property} "")
    foreach(room cosim sc_models workload)
      list(APPEND _weft_rtl_${property} $<TARGET_PROPERTY:weft::${room},${property}>)
    endforeach()
  endforeach()
  target_include_directories(${name} PRIVATE ${_weft_rtl_INTERFACE_INCLUDE_DIRECTORIES})
  target_compile_definitions(${name} PRIVATE ${_weft_rtl_INTERFACE_COMPILE_DEFINITIONS})
  target_link_libraries(${name} PRIVATE SystemC::systemc fmt::fmt)
  # Several blocks in one program: each keeps its own copy of Verilator's run time, whatever the others trace.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${name} PRIVATE -fno-gnu-unique)
  endif()
  # Calls within the plugin are direct, as in a program: some 9 % of the time of a light block.
  if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    target_compile_options(${name} PRIVATE -fvisibility-inlines-hidden -fno-semantic-interposition)
    target_link_options(${name} PRIVATE LINKER:-Bsymbolic-functions)
  endif()
  set_target_properties(${name} PROPERTIES PREFIX "" POSITION_INDEPENDENT_CODE ON)
endfunction()

function(weft_add_rtl_library name)
  cmake_parse_arguments(ARG "" "TOP;PERIOD;TRACE;INTO" "SOURCES;VERILATOR_ARGS;INCLUDE_DIRS" ${ARGN})
  set(library ${name})
  if(ARG_INTO)
    set(library ${ARG_INTO})
    if(NOT TARGET ${library})
      message(FATAL_ERROR "weft_add_rtl_library(${name}): INTO ${library}: there is no such library yet")
    endif()
  else()
    add_library(${library} STATIC)
    target_link_libraries(${library} PUBLIC weft::cosim)
    # Models only: what Verilator makes is not for the sanitizers.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${library} PRIVATE -fno-sanitize=all)
    endif()
  endif()
  _weft_rtl_model(weft_add_rtl_library ${library} ${name})
  set_target_properties(${library} PROPERTIES INTERFACE_WEFT_RTL_TRACE ${_weft_rtl_trace})
  set_property(TARGET ${library} APPEND PROPERTY COMPATIBLE_INTERFACE_STRING WEFT_RTL_TRACE)
endfunction()
