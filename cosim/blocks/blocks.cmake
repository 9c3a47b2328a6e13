# SPDX-License-Identifier: Apache-2.0
# RTL blocks in the place of a machine's modules.
set(WEFT_COSIM_BLOCKS_SOURCES
  blocks/axi_memory.cpp
  blocks/block_faults.cpp
  blocks/frame_book.cpp
  blocks/message_bytes.cpp
  blocks/message_face.cpp
  blocks/rtl_link.cpp
  blocks/rtl_memory.cpp
  blocks/rtl_nmu.cpp
  blocks/rtl_npu.cpp
  blocks/rtl_router.cpp
  blocks/rtl_switch.cpp
  blocks/rtl_unit.cpp
  blocks/tlm_memory.cpp
  blocks/unit_timing.cpp)
