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

include(WeftShims)
if(NOT WEFT_SYSTEMC_FOUND)
  message(FATAL_ERROR "SystemC was not found. On Debian run scripts/setup.sh (package libsystemc-dev), or point "
                      "CMAKE_PREFIX_PATH at an Accellera SystemC 2.3.4 / 3.0 CMake installation.")
endif()
message(STATUS "SystemC: ${WEFT_SYSTEMC_VERSION} (${WEFT_SYSTEMC_DESCRIPTION})")
