# SPDX-License-Identifier: Apache-2.0
# The sources of workload/library; workload/CMakeLists.txt collects them into one library. The tables of
# configs/libraries become part of the program.
set(_library_tables ${PROJECT_BINARY_DIR}/generated/workload/library/library_files.cpp)
set(WEFT_NCCL_TABLES "")
foreach(_name nccl rccl)
  set(_file ${PROJECT_SOURCE_DIR}/configs/libraries/${_name}.yaml)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${_file})
  file(READ ${_file} _text)
  string(TOUPPER ${_name} _upper)
  set(WEFT_${_upper}_TABLES "${_text}")
endforeach()
configure_file(${CMAKE_CURRENT_LIST_DIR}/library_files.cpp.in ${_library_tables} @ONLY)

set(WEFT_LIBRARY_SOURCES
  ${_library_tables}
  library/communication_library.cpp
  library/cube_mesh.cpp
  library/library_calls.cpp
  library/library_machine.cpp
  library/library_plan.cpp
  library/library_search.cpp
  library/library_tables.cpp
  library/library_version.cpp
  library/nccl_planner.cpp
  library/nccl_tuner.cpp
  library/overrides.cpp
  library/rccl_planner.cpp
)
