# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
#
# Installs the package that find_package(weft) finds. Rooms add themselves to the export set (weft_add_room).

include(CMakePackageConfigHelpers)

set(_weft_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/weftConfig.cmake.in ${PROJECT_BINARY_DIR}/weftConfig.cmake
  INSTALL_DESTINATION ${_weft_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/weftConfigVersion.cmake COMPATIBILITY SameMinorVersion)

install(EXPORT weftTargets NAMESPACE weft:: DESTINATION ${_weft_package_dir})
install(FILES ${PROJECT_BINARY_DIR}/weftConfig.cmake ${PROJECT_BINARY_DIR}/weftConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/WeftShims.cmake ${PROJECT_SOURCE_DIR}/cmake/WeftRtl.cmake
  DESTINATION ${_weft_package_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
# protoc's header is included as "workload/trace/chakra.pb.h" like any other.
install(DIRECTORY ${PROJECT_BINARY_DIR}/generated/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft
  FILES_MATCHING PATTERN "*.h")
if(TARGET weft)
  install(TARGETS weft RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
