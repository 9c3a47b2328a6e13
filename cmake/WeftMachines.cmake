# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
#
# The machines of configs/machines/ as a C++ source, so that the program has them wherever it is.
#
#   weft_machines(VARIABLE)       sets VARIABLE to the source, which is made anew when a machine changes
#   cmake -DSOURCES=DIR -DOUTPUT=FILE -P WeftMachines.cmake      makes it

if(CMAKE_SCRIPT_MODE_FILE)
  file(GLOB machines ${SOURCES}/*.yaml)
  list(SORT machines)
  set(rows "")
  foreach(machine IN LISTS machines)
    get_filename_component(name ${machine} NAME_WE)
    file(READ ${machine} text)
    string(APPEND rows "    {\"${name}\", R\"weft(${text})weft\"},\n")
  endforeach()
  file(WRITE ${OUTPUT}.new "// Made by cmake/WeftMachines.cmake of configs/machines.\n#include \"sc_main/machines/catalogue.h\"\n\n"
       "namespace weft::machines {\n\nconst std::vector<Preset>& presets() {\n  static const std::vector<Preset> all = {\n${rows}  };\n"
       "  return all;\n}\n\n}  // namespace weft::machines\n")
  file(RENAME ${OUTPUT}.new ${OUTPUT})
  return()
endif()

function(weft_machines variable)
  file(GLOB machines CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/configs/machines/*.yaml)
  set(source ${PROJECT_BINARY_DIR}/machines/presets.cpp)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/machines)
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DSOURCES=${PROJECT_SOURCE_DIR}/configs/machines -DOUTPUT=${source}
            -P ${PROJECT_SOURCE_DIR}/cmake/WeftMachines.cmake
    DEPENDS ${machines} ${PROJECT_SOURCE_DIR}/cmake/WeftMachines.cmake
    COMMENT "Collecting configs/machines" VERBATIM)
  set(${variable} ${source} PARENT_SCOPE)
endfunction()
