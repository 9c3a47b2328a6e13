# SPDX-License-Identifier: Apache-2.0
# One program; one ctest entry a relation, so that they run side by side. docs/testing.md.
add_executable(test_relations
  ${CMAKE_CURRENT_LIST_DIR}/main.cpp
  ${CMAKE_CURRENT_LIST_DIR}/anomalies.cpp
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
weft_precompile(test_relations ${WEFT_PCH_STANDARD} <fmt/format.h>)
target_compile_options(test_relations PRIVATE $<$<CONFIG:Release>:-O1>)

# The names of relations.cpp; test_relations --list prints them, and relations_list compares.
set(WEFT_RELATIONS
  unrelated
  fidelities
  fold_collectives
  fold_jobs
  bounds_collectives
  bounds_jobs
  sizes
  after_another
  faster
  effective
  waves
  set_option
  key_order
  sums
  as_trace
  carried_data
  dimensions_of_one
  parallel_links
  pairs
  bigger_machine
  equal_dimensions
  rotated
  mapped
  packets
  closed_forms
  chunks_keep_bytes
  more_compute
  scaled
  validated
  graphs
  custom_programs
  traffic
  several_jobs
  borders
  reductions
  critical_path
  library_collectives
  library_jobs
  library_unrelated
  library_scales)
# Relations that are not true yet: docs/testing.md says of each what was found. scripts/relations.sh runs them, too.
set(WEFT_OPEN_RELATIONS)
foreach(relation ${WEFT_RELATIONS})
  if(relation IN_LIST WEFT_OPEN_RELATIONS)
    continue()
  endif()
  add_test(NAME relation_${relation}
    COMMAND test_relations --relation ${relation} --cases 300 --seed 1 --tries 150 --failures 2 --found ${PROJECT_BINARY_DIR}/relations_found
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
  set_tests_properties(relation_${relation} PROPERTIES LABELS "slow;relations" TIMEOUT 600)
endforeach()
# Cases that were broken once (docs/testing.md): relation, seed, case.
foreach(found "validated 70003 25" "effective 70009 12" "bounds_collectives 80003 14" "sums 20261125 24" "critical_path 13 21" "bounds_jobs 410010 8")
  separate_arguments(found)
  list(GET found 0 relation)
  list(GET found 1 seed)
  list(GET found 2 number)
  add_test(NAME relation_found_${relation}_${seed}_${number}
    COMMAND test_relations --relation ${relation} --seed ${seed} --case ${number} --found ${PROJECT_BINARY_DIR}/relations_found
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
  set_tests_properties(relation_found_${relation}_${seed}_${number} PROPERTIES LABELS "relations" TIMEOUT 120)
endforeach()
add_test(NAME relations_list COMMAND test_relations --expect "${WEFT_RELATIONS}")
set_tests_properties(relations_list PROPERTIES LABELS "relations")
