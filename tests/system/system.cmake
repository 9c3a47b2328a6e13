# SPDX-License-Identifier: Apache-2.0
weft_add_sc_test(golden_collectives
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/golden_collectives_test.cpp
          ${PROJECT_SOURCE_DIR}/tests/support/golden_collectives.cpp
  LINKS weft::sc_models nlohmann_json::nlohmann_json
  TIMEOUT 300
  LABELS golden)
weft_add_sc_test(golden_packets
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/golden_packets_test.cpp
          ${PROJECT_SOURCE_DIR}/tests/support/golden_collectives.cpp
  LINKS weft::sc_models nlohmann_json::nlohmann_json
  TIMEOUT 300
  LABELS golden)
weft_add_sc_test(border
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/border_test.cpp
  LINKS weft::sc_models
  LABELS unit)
weft_add_sc_test(module_choices
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/module_choices_test.cpp
  LINKS weft::sc_models
  LABELS unit)
weft_add_sc_test(link_signals
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/link_signals_test.cpp
  LINKS weft::sc_models
  LABELS unit)
weft_add_sc_test(scheduling_anomaly
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/scheduling_anomaly_test.cpp
  LINKS weft::sc_models
  LABELS unit)
weft_add_sc_test(shared_machine
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/shared_machine_test.cpp
  LINKS weft::sc_models
  LABELS unit)
weft_add_sc_test(graph_system
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/graph_system_test.cpp
  LINKS weft::sc_models
  TIMEOUT 300)
weft_add_sc_test(tree_dimensions
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/tree_dimensions_test.cpp
  LINKS weft::sc_models
  TIMEOUT 300
  LABELS unit)
weft_add_sc_test(end_delays
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/end_delays_test.cpp
  LINKS weft::sc_models
  TIMEOUT 300
  LABELS unit)
weft_add_sc_test(folding
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/folding_test.cpp
  LINKS weft::sc_models
  TIMEOUT 300)
weft_add_sc_test(instant_parts
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/instant_parts_test.cpp
  LINKS weft::sc_models
  LABELS unit)
weft_add_sc_test(routes SOURCES ${CMAKE_CURRENT_LIST_DIR}/routes_test.cpp LINKS weft::sc_models LABELS unit)
weft_add_sc_test(counts SOURCES ${CMAKE_CURRENT_LIST_DIR}/counts_test.cpp LINKS weft::sc_models LABELS unit)
weft_add_sc_test(arrival_order SOURCES ${CMAKE_CURRENT_LIST_DIR}/arrival_order_test.cpp LINKS weft::sc_models LABELS unit)
weft_add_sc_test(random_systems SOURCES ${CMAKE_CURRENT_LIST_DIR}/random_systems_test.cpp ${PROJECT_SOURCE_DIR}/tests/data/cases.cpp LINKS weft::sc_models LABELS unit drawn)
weft_add_sc_test(auto_chunks
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/auto_chunks_test.cpp
  LINKS weft::sc_models
  TIMEOUT 300
  LABELS unit)
weft_add_sc_test(schedulers SOURCES ${CMAKE_CURRENT_LIST_DIR}/schedulers_test.cpp LINKS weft::sc_models TIMEOUT 900)
weft_add_sc_test(packet_system SOURCES ${CMAKE_CURRENT_LIST_DIR}/packet_system_test.cpp LINKS weft::sc_models LABELS unit)
weft_add_sc_test(fidelity_rules
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/fidelity_rules_test.cpp
  LINKS weft::sc_models nlohmann_json::nlohmann_json
  TIMEOUT 300)
weft_add_sc_test(library_folding
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/library_folding_test.cpp
  LINKS weft::sc_models
  TIMEOUT 300)
weft_add_sc_test(trace_folding
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/trace_folding_test.cpp
  LINKS weft::sc_models
  TIMEOUT 300)
weft_add_sc_test(part_folding
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/part_folding_test.cpp
  LINKS weft::sc_models
  TIMEOUT 300)
weft_add_sc_test(class_manifest
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/class_manifest_test.cpp
  LINKS weft::sc_models
  TIMEOUT 300)
weft_add_sc_test(stage_folding
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/stage_folding_test.cpp
  LINKS weft::sc_models
  TIMEOUT 300)
weft_add_sc_test(repeated_collectives
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/repeated_collectives_test.cpp
  LINKS weft::sc_models
  TIMEOUT 300)
weft_add_sc_test(splitting
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/splitting_test.cpp
  LINKS weft::sc_models
  TIMEOUT 300)
weft_add_sc_test(collective_unit
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/collective_unit_test.cpp
  LINKS weft::tlm_interconnect
  LABELS unit)
weft_add_sc_test(in_switch SOURCES ${CMAKE_CURRENT_LIST_DIR}/in_switch_test.cpp LINKS weft::sc_models LABELS unit)
weft_add_sc_test(analytical
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/analytical_test.cpp
          ${PROJECT_SOURCE_DIR}/tests/data/cases.cpp
  LINKS weft::sc_models
  TIMEOUT 300)
weft_add_sc_test(collective_waits
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/collective_waits_test.cpp
  LINKS weft::sc_models
  TIMEOUT 900)
weft_add_sc_test(sampled_collectives
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/sampled_collectives_test.cpp
  LINKS weft::sc_models
  TIMEOUT 600)
weft_add_sc_test(bounds_system
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/bounds_system_test.cpp
          ${PROJECT_SOURCE_DIR}/tests/data/cases.cpp
  LINKS weft::sc_models
  TIMEOUT 900)
weft_add_sc_test(instant_queue SOURCES ${CMAKE_CURRENT_LIST_DIR}/instant_queue_test.cpp LINKS weft::tlm_interconnect LABELS unit)
weft_add_sc_test(fabric_sockets
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/fabric_sockets_test.cpp
  LINKS weft::tlm_interconnect
  LABELS unit)
weft_add_sc_test(memory_contention
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/memory_contention_test.cpp
  LINKS weft::sc_models
  TIMEOUT 300
  LABELS unit)
weft_add_sc_test(memory_tensors
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/memory_tensors_test.cpp
  LINKS weft::sc_models
  LABELS unit)
weft_add_sc_test(what_if_delays
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/what_if_delays_test.cpp
  LINKS weft::sc_models
  LABELS unit)
