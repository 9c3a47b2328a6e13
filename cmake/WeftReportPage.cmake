# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
#
# The page of `weft report`, from the web project in report/. It is bundled where Node.js is there and the packages of
# report/package-lock.json are installed (scripts/report_packages.sh does that). The build itself never downloads.

set(WEFT_REPORT_PACKAGES "${PROJECT_SOURCE_DIR}/build/report_packages" CACHE PATH
    "Folder with node_modules of report/package-lock.json")
option(WEFT_REPORT_PAGE "Build the page of `weft report`, if Node.js and its packages are there" ON)

# weft_report_page(VARIABLE): sets VARIABLE to the C++ source that holds the page.
function(weft_report_page variable)
  set(${variable} ${PROJECT_SOURCE_DIR}/sc_main/report/no_page.cpp PARENT_SCOPE)
  find_program(WEFT_NODE NAMES node nodejs)
  mark_as_advanced(WEFT_NODE)
  if(NOT WEFT_REPORT_PAGE)
    return()
  endif()
  # Installed or removed packages configure anew.
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/report/package-lock.json)
  if(NOT WEFT_NODE OR NOT EXISTS ${WEFT_REPORT_PACKAGES}/installed)
    message(STATUS "Node.js or the packages of report/ are missing (scripts/report_packages.sh): weft report makes no page")
    return()
  endif()
  execute_process(COMMAND ${WEFT_NODE} --version OUTPUT_VARIABLE version ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX REPLACE "^v" "" version "${version}")
  if(version VERSION_LESS 18)
    message(STATUS "Node.js ${version} is older than 18: weft report makes no page")
    return()
  endif()
  # Packages of another lock file would give another page.
  file(SHA256 ${PROJECT_SOURCE_DIR}/report/package-lock.json wanted)
  file(STRINGS ${WEFT_REPORT_PACKAGES}/installed installed LIMIT_COUNT 1)
  if(NOT installed STREQUAL wanted)
    message(STATUS "The packages in ${WEFT_REPORT_PACKAGES} are not those of report/package-lock.json "
                   "(scripts/report_packages.sh): weft report makes no page")
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/report/src/*)
  set(page ${PROJECT_BINARY_DIR}/report/bundled_page.cpp)
  add_custom_command(OUTPUT ${page}
    COMMAND ${WEFT_NODE} ${PROJECT_SOURCE_DIR}/report/build.mjs ${WEFT_REPORT_PACKAGES} ${page}
    DEPENDS ${PROJECT_SOURCE_DIR}/report/build.mjs ${WEFT_REPORT_PACKAGES}/installed ${sources}
    COMMENT "Bundling the page of weft report" VERBATIM)
  set(${variable} ${page} PARENT_SCOPE)
  set_property(GLOBAL PROPERTY WEFT_HAS_REPORT_PAGE ON)
endfunction()
