// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What RTL blocks tell of themselves: what they have done wrong, and what their pins wait for.

#ifndef WEFT_COSIM_BLOCKS_BLOCK_FAULTS_H
#define WEFT_COSIM_BLOCKS_BLOCK_FAULTS_H

#include <cstdint>
#include <string>
#include <vector>

#include "configs/types.h"
#include "cosim/blocks/message_face.h"

namespace weft::cosim {

class StreamMaster;
class StreamSlave;

/// Something that a block has done wrong: a frame that is none of its messages', other bytes, another port.
struct BlockFault {
  Picoseconds at = 0;
  uint32_t port = 0;
  bool known = false;  ///< `message` is set
  MessageFace message;
  std::string what;
};

/// "at 900 ps, port 3: message ..: .."
std::string describe(const BlockFault& fault);

/// A block that can tell of its faults.
class FaultTeller {
 public:
  virtual ~FaultTeller() = default;
  virtual const std::vector<BlockFault>& faults() const = 0;
};

/// The faults of one block. Of many the first ones are kept; all are counted.
class FaultList {
 public:
  void add(BlockFault fault);
  /// `message`: the one that it is of; null: none is known.
  void add(Picoseconds at, uint32_t port, const MessageFace* message, std::string what);
  const std::vector<BlockFault>& kept() const { return kept_; }
  uint64_t count() const { return count_; }
  /// A line of a stall report: the first one. "": there is none.
  std::string stall_line() const;
  /// The lines that end a run: the first five, and how many there are. `whose`: "switch0_1: fault of the RTL
  /// block".
  void tell(const std::string& whose, std::vector<std::string>& lines) const;

 private:
  std::vector<BlockFault> kept_;
  uint64_t count_ = 0;
};

/// A frame whose last beat comes at `last`, and its message has ended on the next link at `told`: that
/// followed from its first beat. A warning; blocks give it for their first such frame, and count them.
void warn_of_late_frame(const std::string& block, const MessageFace& message, Picoseconds told,
                        Picoseconds last);
/// A line of a stall report about so many of them. "": there is none.
std::string late_line(uint64_t frames);
/// A warning of the results about them. There are some.
std::string late_warning(const std::string& block, uint64_t frames);

/// Lines of a stall report: what the adapters of a pair of ports wait for.
std::string stall_lines(const StreamMaster& in, const StreamSlave& out);

}  // namespace weft::cosim

#endif
