// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What crosses an AXI4-Stream boundary. In Weft one message (or segment of one) is one frame: TDEST is the
// output port or destination, TID the source, TUSER the tag.

#ifndef WEFT_COSIM_AXIS_STREAM_FRAME_H
#define WEFT_COSIM_AXIS_STREAM_FRAME_H

#include <cstdint>
#include <vector>

namespace weft::cosim {

/// From the beat after a TLAST to the next TLAST. The sidebands are the same in all beats of a frame.
struct StreamFrame {
  std::vector<uint8_t> bytes;  ///< those whose TKEEP is set; empty: one beat without bytes
  uint64_t id = 0;             ///< TID; 0 without such a pin, and so with the others
  uint64_t dest = 0;           ///< TDEST
  uint64_t user = 0;           ///< TUSER, its lowest 64 bits

  bool operator==(const StreamFrame& o) const {
    return bytes == o.bytes && id == o.id && dest == o.dest && user == o.user;
  }
};

}  // namespace weft::cosim

#endif
