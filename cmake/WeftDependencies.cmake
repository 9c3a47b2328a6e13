# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
#
# Finds every library Weft uses. Nothing is downloaded: all of them are Debian packages (scripts/setup.sh
# installs them), and SystemC may instead be Accellera's own CMake package (2.3.4 or 3.0).

find_package(Threads REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(Protobuf REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)

# Debian's yaml-cpp 0.7 exports a plain `yaml-cpp` target, newer releases `yaml-cpp::yaml-cpp`.
if(NOT TARGET yaml-cpp::yaml-cpp)
  add_library(weft_yaml_cpp INTERFACE)
  target_link_libraries(weft_yaml_cpp INTERFACE yaml-cpp)
  add_library(yaml-cpp::yaml-cpp ALIAS weft_yaml_cpp)
endif()

find_package(SystemCLanguage CONFIG QUIET)
if(TARGET SystemC::systemc)
  message(STATUS "SystemC: CMake package ${SystemCLanguage_VERSION}")
else()
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(SYSTEMC QUIET IMPORTED_TARGET systemc)
  endif()
  add_library(weft_systemc INTERFACE)
  if(TARGET PkgConfig::SYSTEMC)
    target_link_libraries(weft_systemc INTERFACE PkgConfig::SYSTEMC)
    message(STATUS "SystemC: pkg-config ${SYSTEMC_VERSION}")
  else()
    find_path(SYSTEMC_INCLUDE_DIR systemc HINTS $ENV{SYSTEMC_HOME}/include)
    find_library(SYSTEMC_LIBRARY systemc HINTS $ENV{SYSTEMC_HOME}/lib $ENV{SYSTEMC_HOME}/lib-linux64)
    if(NOT SYSTEMC_INCLUDE_DIR OR NOT SYSTEMC_LIBRARY)
      message(FATAL_ERROR "SystemC was not found. On Debian run scripts/setup.sh (package libsystemc-dev), or point "
                          "CMAKE_PREFIX_PATH at an Accellera SystemC 2.3.4 / 3.0 CMake installation.")
    endif()
    target_include_directories(weft_systemc SYSTEM INTERFACE ${SYSTEMC_INCLUDE_DIR})
    target_link_libraries(weft_systemc INTERFACE ${SYSTEMC_LIBRARY})
    message(STATUS "SystemC: ${SYSTEMC_LIBRARY}")
  endif()
  target_link_libraries(weft_systemc INTERFACE Threads::Threads)
  add_library(SystemC::systemc ALIAS weft_systemc)
endif()
