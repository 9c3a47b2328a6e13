# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
#
# Gives SystemC and yaml-cpp the same target names wherever they come from. Used by Weft's own build and, installed
# beside weftConfig.cmake, by the projects that use Weft. The targets are imported ones, so that the exported
# libraries refer to them by name. Sets WEFT_SYSTEMC_FOUND and WEFT_SYSTEMC_DESCRIPTION.

# Debian's yaml-cpp 0.7 exports a plain `yaml-cpp` target, newer releases `yaml-cpp::yaml-cpp`.
if(NOT TARGET yaml-cpp::yaml-cpp AND TARGET yaml-cpp)
  add_library(yaml-cpp::yaml-cpp INTERFACE IMPORTED GLOBAL)
  target_link_libraries(yaml-cpp::yaml-cpp INTERFACE yaml-cpp)
endif()

# SystemC: Accellera's CMake package (2.3.4, 3.0), else pkg-config (Debian), else SYSTEMC_HOME or the usual folders.
if(NOT TARGET SystemC::systemc)
  find_package(SystemCLanguage CONFIG QUIET)
  if(TARGET SystemC::systemc)
    set(WEFT_SYSTEMC_DESCRIPTION "CMake package ${SystemCLanguage_VERSION}")
  endif()
endif()
if(NOT TARGET SystemC::systemc)
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(SYSTEMC QUIET IMPORTED_TARGET GLOBAL systemc)
  endif()
  if(TARGET PkgConfig::SYSTEMC)
    add_library(SystemC::systemc INTERFACE IMPORTED GLOBAL)
    target_link_libraries(SystemC::systemc INTERFACE PkgConfig::SYSTEMC Threads::Threads)
    set(WEFT_SYSTEMC_DESCRIPTION "pkg-config ${SYSTEMC_VERSION}")
  else()
    find_path(WEFT_SYSTEMC_INCLUDE_DIR systemc HINTS $ENV{SYSTEMC_HOME}/include)
    find_library(WEFT_SYSTEMC_LIBRARY systemc HINTS $ENV{SYSTEMC_HOME}/lib $ENV{SYSTEMC_HOME}/lib-linux64)
    mark_as_advanced(WEFT_SYSTEMC_INCLUDE_DIR WEFT_SYSTEMC_LIBRARY)
    if(WEFT_SYSTEMC_INCLUDE_DIR AND WEFT_SYSTEMC_LIBRARY)
      add_library(SystemC::systemc INTERFACE IMPORTED GLOBAL)
      target_include_directories(SystemC::systemc SYSTEM INTERFACE ${WEFT_SYSTEMC_INCLUDE_DIR})
      target_link_libraries(SystemC::systemc INTERFACE ${WEFT_SYSTEMC_LIBRARY} Threads::Threads)
      set(WEFT_SYSTEMC_DESCRIPTION "${WEFT_SYSTEMC_LIBRARY}")
    endif()
  endif()
endif()
if(TARGET SystemC::systemc)
  set(WEFT_SYSTEMC_FOUND TRUE)
else()
  set(WEFT_SYSTEMC_FOUND FALSE)
endif()
