# SPDX-License-Identifier: Apache-2.0
# Sources of cosim/tlm.
set(WEFT_COSIM_TLM_SOURCES
  tlm/access_pieces.cpp
  tlm/address_map.cpp
  tlm/base_protocol_checker.cpp
  tlm/cut_accesses.cpp
  tlm/fuzz_initiator.cpp
  tlm/fuzz_target.cpp
  tlm/initiator_edge.cpp
  tlm/mm_to_link.cpp
  tlm/payload_snapshot.cpp
  tlm/socket_names.cpp
  tlm/target_edge.cpp
  tlm/tlm_adapter.cpp)
