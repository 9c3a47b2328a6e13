// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The messages that are in an RTL block as frames: what each looks like on the pins, which message a frame
// that comes out is of, and what the block has done wrong.

#ifndef WEFT_COSIM_BLOCKS_FRAME_BOOK_H
#define WEFT_COSIM_BLOCKS_FRAME_BOOK_H

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "configs/types.h"
#include "cosim/axis/stream_frame.h"
#include "cosim/axis/stream_pins.h"
#include "cosim/blocks/block_faults.h"
#include "cosim/blocks/message_face.h"

namespace weft::cosim {

class FrameBook {
 public:
  /// What the block does wrong goes into `faults`, at `first_port` and the ports after it.
  explicit FrameBook(FaultList& faults, uint32_t first_port = 0) : faults_(faults), first_port_(first_port) {}

  struct Entry {
    MessageFace message;
    StreamFrame frame;  ///< as it went in
    uint32_t in = 0;    ///< ports
    uint32_t out = 0;
    Picoseconds head = 0;
    Picoseconds tail = 0;
    uint32_t handle = 0;  ///< the owner's
    bool begun = false;   ///< its first beat has come out
  };
  using Place = std::list<Entry>::iterator;

  /// `pins`: of a port that sends frames; they say which sidebands a frame has. Errors: UserError(usage) when
  /// frames of several inputs cannot be told apart.
  void learn(const StreamPins& pins, bool several_inputs);

  /// A message goes in: gives its frame TID (the input), TDEST (the output) and TUSER (a tag). `payload`:
  /// what it carries; empty: its pattern.
  Place enter(const MessageFace& message, std::vector<uint8_t> payload, uint32_t in, uint32_t out);
  /// The message of a frame with these sidebands that comes out by `port` and has not begun, or of one that
  /// has. end(): it is of none, which is a fault.
  Place find(uint64_t id, uint64_t user, uint32_t port, bool begun, Picoseconds now);
  Place end() { return entries_.end(); }
  /// The frame has come out whole: looks at its bytes and its port, and forgets it.
  void leave(Place place, const StreamFrame& frame, uint32_t port, Picoseconds now);

  size_t size() const { return entries_.size(); }
  const std::list<Entry>& entries() const { return entries_; }

 private:
  bool by_id_ = false;
  uint64_t user_mask_ = 0;
  uint64_t next_tag_ = 0;
  std::list<Entry> entries_;
  FaultList& faults_;
  uint32_t first_port_;
};

}  // namespace weft::cosim

#endif
