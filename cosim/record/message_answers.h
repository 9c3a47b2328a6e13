// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What a block answered in its recording, message by message, and how a replay's answers differ.

#ifndef WEFT_COSIM_RECORD_MESSAGE_ANSWERS_H
#define WEFT_COSIM_RECORD_MESSAGE_ANSWERS_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "cosim/blocks/block_faults.h"
#include "cosim/record/replay.h"

namespace weft::cosim {

/// Tells messages apart: ids, source, destination.
using MessageKey = std::tuple<uint64_t, uint64_t, uint32_t, uint32_t>;
inline MessageKey key_of(const fabric::Crossing& crossing) {
  return {crossing.id_low, crossing.id_high, crossing.source, crossing.destination};
}

class MessageAnswers {
 public:
  /// The recording is at `message` fidelity. All outlive the object.
  MessageAnswers(const Recording& recording, const ReplayOptions& options, ReplayReport& report);

  /// The block has sent a message by a port. Returns what was recorded of it; null: nothing.
  const RecordedEvent* answered(uint32_t port, const fabric::Crossing& crossing);
  /// What has not come is a difference, and so is what the block's pins have shown. `teller` may be null.
  /// `port`: where its faults are told; none: they know.
  void finish(const FaultTeller* teller, std::optional<uint32_t> port = {});
  uint64_t expected() const { return expected_.size(); }

 private:
  struct Expected {
    const RecordedEvent* event = nullptr;
    bool seen = false;
  };
  std::string compare(uint32_t port, const fabric::Crossing& crossing, const RecordedEvent& recorded) const;

  const Recording& recording_;
  const ReplayOptions& options_;
  ReplayReport& report_;
  std::multimap<MessageKey, Expected> expected_;
};

}  // namespace weft::cosim

#endif
