# SPDX-License-Identifier: Apache-2.0
# One program; one ctest entry a relation, so that they run side by side. docs/testing.md.
add_executable(test_relations
  ${CMAKE_CURRENT_LIST_DIR}/main.cpp
  ${CMAKE_CURRENT_LIST_DIR}/bench.cpp
  ${CMAKE_CURRENT_LIST_DIR}/draw.cpp
  ${CMAKE_CURRENT_LIST_DIR}/job.cpp
  ${CMAKE_CURRENT_LIST_DIR}/machine.cpp
  ${CMAKE_CURRENT_LIST_DIR}/relations.cpp
  ${CMAKE_CURRENT_LIST_DIR}/simpler.cpp
  ${CMAKE_CURRENT_LIST_DIR}/trial.cpp)
file(GLOB _relation_checks CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/checks/*.cpp)
target_sources(test_relations PRIVATE ${_relation_checks})
target_include_directories(test_relations PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(test_relations PRIVATE weft_cli weft::workload nlohmann_json::nlohmann_json CLI11::CLI11 fmt::fmt
                                             SystemC::systemc $<BUILD_INTERFACE:weft_flags>)
