// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The state of the modules along one path, written down so that two moments can be compared: times relative
// to a reference, packets by the order in which they are met. To compare is to write again, word by word
// beside the record, up to the first word that differs.
//
// Three kinds of numbers may drift from one moment to the other without any decision being another one:
// credits of which there are more than enough, packets in the middle of a queue that came long before their
// turn, and what is on its way and concerns nobody yet. What they have drifted by is noted, not compared:
// also where packets of one message leave a queue and those of the next one come behind them. Nor is it when
// credits came that nobody waited for.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_STATE_RECORD_H
#define WEFT_TLM_INTERCONNECT_PACKET_STATE_RECORD_H

#include <algorithm>
#include <cstdint>
#include <vector>

#include "configs/ticks.h"
#include "tlm_interconnect/packet/packet_numbers.h"
#include "tlm_interconnect/protocol/packet_pool.h"

namespace weft::packet {

class StateRecord {
 public:
  /// Starts a new record at time `now`; times are noted relative to `reference`. `another`: the fewest
  /// credits are still counted from the record before.
  void begin(Ticks now, Ticks reference, bool another = false) {
    words_.clear();
    start(now, reference, nullptr);
    another_ = another;
  }
  bool another() const { return another_; }
  /// From now on what is written is compared with `earlier`, which must not change meanwhile.
  /// `earlier_reference`: that of the record.
  void compare(Ticks now, Ticks reference, const std::vector<uint64_t>& earlier, Ticks earlier_reference) {
    start(now, reference, &earlier);
    earlier_reference_ = earlier_reference;
  }
  Ticks now() const { return now_; }

  void number(uint64_t n) {
    if (earlier_ == nullptr) {
      ++written_;
      words_.push_back(n);
    } else if (earlier_word() != n) {
      differs_ = true;
    }
  }
  void time(Ticks t) { number(t - reference_); }
  /// A time that matters only while it lies in the future: all past ones are the same.
  void deadline(Ticks t) { time(std::max(t, now_)); }
  /// Which packet it is does not matter, only where else in the record it occurs.
  void packet(fabric::PacketRef ref) { number(numbers_.of(ref)); }

  // -- what may drift
  /// A record is being made, not compared.
  bool records() const { return earlier_ == nullptr; }
  /// In a comparison: the word of the record that is next.
  uint64_t earlier_word() {
    ++written_;
    if (position_ >= earlier_->size()) {
      differs_ = true;
      return 0;
    }
    return (*earlier_)[position_++];
  }
  /// In a comparison: leaves out words of the record, in which no packet is met for the first time.
  void leave_out(uint64_t words) { position_ += words; }
  void differ() { differs_ = true; }
  /// What took work although it is not written.
  void looked_at(uint64_t words) { written_ += words; }
  /// Credits of one VC, and the fewest since the record.
  void credits(int32_t now, int32_t fewest) {
    if (records()) {
      number(static_cast<uint64_t>(now));
    } else {
      // The word may be any, if another one was other before it.
      const uint32_t fewer = static_cast<uint32_t>(earlier_word()) - static_cast<uint32_t>(now);
      credits_.push_back({static_cast<int32_t>(fewer), fewest, false, false, 0, 0});
    }
  }
  /// Of the credits of that VC that are on their way none had come since the record: so many trains, with
  /// so many credits, have been added at the end.
  void credits_stay(uint32_t trains, uint32_t coming) {
    credits_.back().stay = true;
    credits_.back().trains = trains;
    credits_.back().coming = coming;
  }
  /// When credits of that VC came does not matter, as long as there are enough: so many have been spent since
  /// the record, and so many trains, with so many credits, have been added at the end.
  void credits_unseen(uint64_t spent, uint32_t trains, uint32_t coming) {
    credits_.back().fewer = static_cast<int32_t>(spent);
    credits_.back().unseen = true;
    credits_stay(trains, coming);
    unseen_ = true;
  }
  /// The queue of one VC has grown by so many packets: in its middle, or (`stays`) at its end, and then
  /// nothing of it has been looked at since the record.
  void grown(uint32_t packets, bool stays) {
    if (!records()) queues_.push_back({packets, stays, false, 0, 0});
  }
  /// In a comparison, of a queue whose packets are of several messages, one after the other, or which gets no
  /// more: so many have left at its front, and so many have been put in, before the run `place`.
  void passed_on(uint32_t in, uint32_t out, uint32_t place) {
    queues_.push_back({in, false, true, out, place});
  }
  /// In a comparison: what has been found repeats so often at most.
  void repeats_at_most(uint64_t periods) { most_ = std::min(most_, periods); }
  uint64_t most_repeats() const { return most_; }
  /// In a comparison: the next word is that of a time that has not moved since the record.
  bool stays_next(Ticks t) const { return stays_at(position_, t); }
  bool stays_second(Ticks t) const { return stays_at(position_ + 1, t); }  ///< the one after it
  /// In a comparison: the word of the record that is next; it stays so.
  uint64_t next_word() const { return word_ahead(0); }
  /// .. the one so many words after it.
  uint64_t word_ahead(uint64_t n) const {
    return position_ + n < earlier_->size() ? (*earlier_)[position_ + n] : 0;
  }
  /// .. is that of a time that has moved with the period.
  bool moves_ahead(uint64_t n, Ticks t) const {
    return position_ + n < earlier_->size() && (*earlier_)[position_ + n] == t - reference_;
  }
  /// In a comparison: from the record to now.
  Ticks period() const { return reference_ - earlier_reference_; }
  void stays(Ticks t) {
    if (earlier_word() != t - earlier_reference_) differs_ = true;
  }
  /// A time that moves with the period, or has not moved since the record and is not read meanwhile.
  void time_or_stays(Ticks t) {
    if (records()) return time(t);
    const uint64_t earlier = earlier_word();
    if (earlier != t - reference_ && earlier != t - earlier_reference_) differs_ = true;
  }
  /// What stays is first looked at then.
  void stays_until(Ticks t) { horizon_ = std::min(horizon_, t); }
  /// In a comparison: something stays, or credits are unseen.
  bool fills() const { return horizon_ != kNever || unseen_; }
  /// .. so many periods from `from` on, at most, until what stays is looked at.
  uint64_t periods_left(Ticks from) const { return horizon_ <= from ? 0 : (horizon_ - from) / period(); }

  struct Credits {
    int32_t fewer;
    int32_t fewest;
    bool stay;        ///< those on their way
    bool unseen;      ///< .. and they may come meanwhile, because there are enough
    uint32_t trains;  ///< if so: added since the record
    uint32_t coming;  ///< .. with so many credits
  };
  struct Queue {
    uint32_t grown;  ///< packets that have come ..
    bool stays;
    bool passes_on;  ///< .. and others have left, each of their own message
    uint32_t out;    ///< if so: how many
    uint32_t place;  ///< .. and before which run those that have come are
    /// By how much it is longer.
    int64_t longer() const { return static_cast<int64_t>(grown) - out; }
  };
  /// In the order in which they were compared.
  const std::vector<Credits>& credits() const { return credits_; }
  const std::vector<Queue>& queues() const { return queues_; }

  const std::vector<uint64_t>& words() const { return words_; }
  /// How many words have been written or compared.
  uint64_t written() const { return written_; }
  /// A word was another one than in the earlier record: what follows need not be written.
  bool differs() const { return differs_; }
  /// Every word of the earlier record came again, but for what has drifted.
  bool equal() const { return !differs_ && earlier_ != nullptr && position_ == earlier_->size(); }

 private:
  bool stays_at(uint64_t position, Ticks t) const {
    return position < earlier_->size() && (*earlier_)[position] == t - earlier_reference_;
  }
  void start(Ticks now, Ticks reference, const std::vector<uint64_t>* earlier) {
    now_ = now;
    reference_ = reference;
    earlier_ = earlier;
    written_ = 0;
    position_ = 0;
    credits_.clear();
    queues_.clear();
    horizon_ = kNever;
    most_ = ~uint64_t{0};
    unseen_ = false;
    another_ = false;
    differs_ = false;
    numbers_.clear();
  }

  Ticks now_ = 0;
  Ticks reference_ = 0;
  Ticks earlier_reference_ = 0;
  Ticks horizon_ = kNever;
  uint64_t most_ = ~uint64_t{0};
  bool unseen_ = false;
  bool another_ = false;
  uint64_t written_ = 0;
  uint64_t position_ = 0;  ///< in the earlier record
  bool differs_ = false;
  const std::vector<uint64_t>* earlier_ = nullptr;  ///< null: this is the record
  std::vector<uint64_t> words_;
  PacketNumbers numbers_;
  std::vector<Credits> credits_;
  std::vector<Queue> queues_;
};

}  // namespace weft::packet

#endif
