# SPDX-License-Identifier: Apache-2.0
set(_packet_dir ${CMAKE_CURRENT_LIST_DIR})
set(_packet_links weft::tlm_interconnect nlohmann_json::nlohmann_json)
foreach(_name policies network trains golden)
  if(EXISTS ${_packet_dir}/${_name}_test.cpp)
    weft_add_test(packet_${_name} SOURCES ${_packet_dir}/${_name}_test.cpp ${_packet_dir}/in_child.cpp LINKS ${_packet_links}
                  LABELS packet TIMEOUT 600)
    target_compile_definitions(test_packet_${_name} PRIVATE WEFT_DATA_DIR="${WEFT_DATA_DIR}")
  endif()
endforeach()
if(TARGET test_packet_golden)
  target_sources(test_packet_golden PRIVATE ${PROJECT_SOURCE_DIR}/bench/packet/golden.cpp)
endif()
