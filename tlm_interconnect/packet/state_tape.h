// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The state of the modules along one path, to be brought back at another time, in modules of the same kind,
// for another message. Modules name their fields once; the tape writes them or reads them. Times are relative
// to a reference. Packets are numbered; brought back, each is a copy of the one that is given, or of that for
// a last one.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_STATE_TAPE_H
#define WEFT_TLM_INTERCONNECT_PACKET_STATE_TAPE_H

#include <cstdint>
#include <vector>

#include "configs/ticks.h"
#include "tlm_interconnect/packet/packed_numbers.h"
#include "tlm_interconnect/packet/packet_numbers.h"
#include "tlm_interconnect/protocol/packet_pool.h"

namespace weft::packet {

class StateTape {
 public:
  /// What packets of a message are like.
  struct Models {
    fabric::Packet full;
    fabric::Packet last;
  };
  /// Writes. `last`: which of the packets are like Models::last. `places`: for the tape alone, while it is
  /// written.
  StateTape(PackedNumbers& numbers, Ticks reference, fabric::PacketPool& pool, uint64_t last,
            PacketNumbers& places)
      : written_(&numbers),
        read_(numbers),
        reference_(reference),
        pool_(pool),
        last_(last),
        places_(&places) {
    places.clear();
  }
  /// Reads.
  StateTape(const PackedNumbers& numbers, Ticks reference, fabric::PacketPool& pool, const Models& models)
      : read_(numbers), reference_(reference), pool_(pool), models_(&models) {}

  bool reads() const { return written_ == nullptr; }
  /// The last packet of the message is among those that have been written.
  bool has_last() const { return has_last_; }
  template <typename T>
  void number(T& n) {
    if (reads()) {
      n = static_cast<T>(read_.next());
    } else {
      written_->add(static_cast<uint64_t>(n));
    }
  }
  void time(Ticks& t) {
    Ticks relative = t - reference_;
    number(relative);
    t = relative + reference_;
  }
  void packet(fabric::PacketRef& ref) {
    uint64_t place = reads() || ref == fabric::kNoPacket ? 0 : places_->of(ref);
    bool last = place != 0 && !reads() && pool_[ref].id_high == last_;
    has_last_ = has_last_ || last;
    number(place);
    number(last);
    if (reads()) ref = place == 0 ? fabric::kNoPacket : copy(place, last);
  }

 private:
  fabric::PacketRef copy(uint64_t place, bool last) {
    if (place > packets_.size()) {
      const fabric::PacketRef ref = pool_.acquire();
      pool_[ref] = last ? models_->last : models_->full;
      pool_[ref].references = 1;
      packets_.push_back(ref);
    }
    return packets_[place - 1];
  }

  PackedNumbers* written_ = nullptr;
  PackedNumbers::Reader read_;
  Ticks reference_;
  fabric::PacketPool& pool_;
  const Models* models_ = nullptr;
  uint64_t last_ = 0;
  bool has_last_ = false;
  PacketNumbers* places_ = nullptr;         ///< where packets are written, by the order in which they are met
  std::vector<fabric::PacketRef> packets_;  ///< .. and read
};

}  // namespace weft::packet

#endif
