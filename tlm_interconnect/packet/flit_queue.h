// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What one input VC holds or knows to be coming: runs of flits with their arrival times. And the credits on
// their way to one output VC. Both are rings that grow to what they need and stay there.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_FLIT_QUEUE_H
#define WEFT_TLM_INTERCONNECT_PACKET_FLIT_QUEUE_H

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "configs/ticks.h"
#include "configs/types.h"
#include "tlm_interconnect/packet/state_record.h"
#include "tlm_interconnect/packet/state_tape.h"
#include "tlm_interconnect/protocol/packet_pool.h"

namespace weft::packet {

/// A power-of-two ring of plain values; the first few lie in the object itself, where the owner's other state
/// is.
template <typename T, uint32_t kInline>
class Ring {
  static_assert((kInline & (kInline - 1)) == 0, "a power of two");

 public:
  Ring() = default;
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  bool empty() const { return size_ == 0; }
  uint32_t size() const { return size_; }
  T& front() { return items_[head_]; }
  const T& front() const { return items_[head_]; }
  T& back() { return items_[(head_ + size_ - 1) & mask_]; }
  void clear() {
    head_ = 0;
    size_ = 0;
  }
  T& operator[](uint32_t i) { return items_[(head_ + i) & mask_]; }
  const T& operator[](uint32_t i) const { return items_[(head_ + i) & mask_]; }
  void pop_front() {
    head_ = (head_ + 1) & mask_;
    --size_;
  }
  void push_back(const T& value) { push_back() = value; }
  /// One that is to be written.
  T& push_back() {
    if (size_ > mask_) grow();
    return items_[(head_ + size_++) & mask_];
  }
  /// `n` copies of a value before the item `at`.
  void insert(uint32_t at, uint32_t n, const T value) {
    for (uint32_t k = 0; k < n; ++k) push_back(value);
    for (uint32_t k = size_; k-- > at + n;) (*this)[k] = (*this)[k - n];
    for (uint32_t k = at; k < at + n; ++k) (*this)[k] = value;
  }

 private:
  void grow() {
    const uint32_t n = 2 * (mask_ + 1);
    std::unique_ptr<T[]> bigger(new T[n]);
    for (uint32_t i = 0; i < size_; ++i) bigger[i] = (*this)[i];
    more_ = std::move(bigger);
    items_ = more_.get();
    head_ = 0;
    mask_ = n - 1;
  }

  T* items_ = few_;
  uint32_t head_ = 0;
  uint32_t size_ = 0;
  uint32_t mask_ = kInline - 1;
  T few_[kInline];
  std::unique_ptr<T[]> more_;
};

/// Flits of one packet that arrive one every `stride`.
struct FlitRun {
  Ticks first;  ///< arrival of the first flit still here
  fabric::PacketRef packet;
  uint32_t flits;  ///< still here
  uint32_t packet_flits;
  Ticks stride;
};

/// Credits that come back one every `stride`.
struct CreditTrain {
  Ticks first;
  uint32_t count;
  Ticks stride;
};

/// The sender's account of one VC at the other end: credits now and on their way.
class CreditAccount {
 public:
  void set_depth(uint32_t depth) {
    depth_ = depth;
    now_ = static_cast<int32_t>(depth);
  }
  uint32_t depth() const { return depth_; }
  /// As it was in the beginning: all credits are here.
  void restart() {
    trains_.clear();
    coming_ = 0;
    now_ = static_cast<int32_t>(depth_);
  }

  /// Credits usable at `t`; calls must not go back in time.
  int32_t at(Ticks t) {
    while (!trains_.empty() && trains_.front().first <= t) {
      CreditTrain& train = trains_.front();
      const Ticks last = train.first + static_cast<Ticks>(train.count - 1) * train.stride;
      if (last <= t) {
        now_ += static_cast<int32_t>(train.count);
        coming_ -= train.count;
        trains_.pop_front();
        continue;
      }
      const uint32_t n = static_cast<uint32_t>((t - train.first) / train.stride) + 1;
      now_ += static_cast<int32_t>(n);
      coming_ -= n;
      train.first += static_cast<Ticks>(n) * train.stride;
      train.count -= n;
      break;
    }
    return now_;
  }

  void add(const CreditTrain& train) {
    coming_ += train.count;
    added_ += train.count;
    if (!trains_.empty()) {
      CreditTrain& last = trains_.back();
      if (last.stride == train.stride &&
          last.first + static_cast<Ticks>(last.count) * last.stride == train.first) {
        last.count += train.count;
        return;
      }
    }
    trains_.push_back(train);
  }

  /// How many of `wanted` flits, one every `stride` from `t`, each find a credit in time. at() was called,
  /// for a moment not after `t`.
  uint32_t run(Ticks t, uint32_t wanted, Ticks stride) const {
    int64_t n = now_;
    for (uint32_t k = 0; n < wanted && k < trains_.size(); ++k) {
      CreditTrain train = trains_[k];
      if (n < 0) {  // those that a burst counts on already
        const auto taken = static_cast<uint32_t>(std::min<int64_t>(-n, train.count));
        n += taken;
        train.first += static_cast<Ticks>(taken) * train.stride;
        train.count -= taken;
        if (train.count == 0) continue;
      }
      const Ticks slot = t + static_cast<Ticks>(n) * stride;
      if (train.first > slot) break;
      if (train.stride > stride) {
        const uint64_t more = (slot - train.first) / (train.stride - stride) + 1;
        if (more < train.count) {
          n += static_cast<int64_t>(more);
          break;
        }
      }
      n += train.count;
    }
    return n <= 0 ? 0 : static_cast<uint32_t>(std::min<int64_t>(n, wanted));
  }

  void spend(uint32_t n) {
    now_ -= static_cast<int32_t>(n);
    spent_ += n;
    fewest_ = std::min(fewest_, now_);
  }

  /// When `wanted` credits will be here at once, as far as is known; kNever: not known yet.
  Ticks when(uint32_t wanted) const {
    int64_t n = now_;
    for (uint32_t k = 0; k < trains_.size(); ++k) {
      const CreditTrain& train = trains_[k];
      if (n + train.count >= static_cast<int64_t>(wanted)) {
        const int64_t more = static_cast<int64_t>(wanted) - n;
        return train.first + (more > 1 ? static_cast<Ticks>(more - 1) * train.stride : 0);
      }
      n += train.count;
    }
    return kNever;
  }

  /// For packet trains: all of it, or all of it later.
  void write(StateRecord& state) {
    at(state.now());
    if (state.records() && !state.another()) {
      fewest_ = now_;
      spent_ = added_ = 0;
    }
    state.credits(now_, fewest_);
    if (!state.records() && (write_what_stays(state) || write_what_comes_again(state) || write_added(state)))
      return;
    write_coming(state);
  }
  /// `periods` times the same again. What stays gets more at its end, all else is later.
  void shift(const StateRecord::Credits& drift, Ticks period, uint64_t periods) {
    const int64_t fewer = static_cast<int64_t>(periods) * drift.fewer;
    if (fewer > 0) {
      spend(static_cast<uint32_t>(fewer));
    } else {
      now_ -= static_cast<int32_t>(fewer);
    }
    if (!drift.stay) {
      for (uint32_t k = 0; k < trains_.size(); ++k) trains_[k].first += periods * period;
      return;
    }
    coming_ += static_cast<uint32_t>(periods) * drift.coming;
    const uint32_t from = trains_.size() - drift.trains;
    for (uint64_t period_no = 1; period_no <= periods; ++period_no) {
      for (uint32_t k = from; k < from + drift.trains; ++k) {
        CreditTrain train = trains_[k];
        train.first += period_no * period;
        trains_.push_back(train);
      }
    }
  }

  /// All of it, for another account of the same depth, which has nothing on its way that is not written.
  void move(StateTape& tape) {
    uint32_t trains = trains_.size();
    tape.number(trains);
    if (tape.reads()) trains_.clear();
    for (uint32_t k = 0; k < trains;) {
      CreditTrain train = tape.reads() ? CreditTrain{} : trains_[k];
      tape.time(train.first);
      tape.number(train.count);
      tape.number(train.stride);
      // A stream gives them back regularly: so many more like it, each so much later.
      uint32_t more = tape.reads() ? 0 : more_like(k);
      Ticks later = more == 0 ? 0 : trains_[k + 1].first - train.first;
      tape.number(more);
      if (more != 0) tape.number(later);
      k += 1 + more;
      if (!tape.reads()) continue;
      for (uint32_t n = 0; n <= more; ++n) {
        CreditTrain& one = trains_.push_back();
        one.first = train.first + n * later;
        one.count = train.count;
        one.stride = train.stride;
      }
    }
    tape.number(now_);
    tape.number(coming_);
  }

  /// The fewest that a burst left since the last record.
  int32_t fewest() const { return fewest_; }
  /// Credits that are not here at `t`, as at(). From now on the fewest are counted.
  int32_t lacking(Ticks t) {
    fewest_ = at(t);
    return static_cast<int32_t>(depth_) - fewest_;
  }
  /// All will be here at `t`, as is known now.
  bool complete_by(Ticks t) const { return now_ == static_cast<int32_t>(depth_) || when(depth_) <= t; }

  /// Credits here (may be below zero inside a burst that counts on coming ones) plus those on their way.
  int64_t outstanding() const { return static_cast<int64_t>(now_) + coming_; }

 private:
  /// How many trains after `k` are like it, at equal distances.
  uint32_t more_like(uint32_t k) const {
    if (k + 1 == trains_.size()) return 0;
    const CreditTrain& first = trains_[k];
    const Ticks later = trains_[k + 1].first - first.first;
    uint32_t n = 0;
    for (Ticks next = first.first + later; k + n + 1 < trains_.size(); ++n, next += later) {
      const CreditTrain& train = trains_[k + n + 1];
      if (train.first != next || train.count != first.count || train.stride != first.stride) break;
    }
    return n;
  }
  void write_coming(StateRecord& state) const {
    state.number(trains_.size());
    for (uint32_t k = 0; k < trains_.size() && !state.differs(); ++k) {
      state.time(trains_[k].first);
      state.number(trains_[k].stride);
      state.number(trains_[k].count);
    }
  }
  // Those from `from` on came in a period: in the next one the first of them becomes one with the last, as
  // add() does it.
  bool become_one(uint32_t from, Ticks period) const {
    if (from == trains_.size()) return false;
    const CreditTrain& first = trains_[from];
    const CreditTrain& last = trains_[trains_.size() - 1];
    return last.stride == first.stride &&
           last.first + static_cast<Ticks>(last.count) * last.stride == first.first + period;
  }
  // Before the first credits come those on their way only get more: nobody looks at them while there are
  // enough. True: so it has been since the record.
  bool write_what_stays(StateRecord& state) {
    const auto before = static_cast<uint32_t>(state.next_word());
    const uint32_t size = trains_.size();
    if (before == 0 || size < before || !state.stays_second(trains_.front().first)) return false;
    state.earlier_word();
    for (uint32_t k = 0; k < before && !state.differs(); ++k) {
      state.stays(trains_[k].first);
      state.number(trains_[k].stride);
      state.number(trains_[k].count);
    }
    uint32_t coming = 0;
    for (uint32_t k = before; k < size; ++k) coming += trains_[k].count;
    if (become_one(before, state.period())) state.differ();
    state.credits_stay(size - before, coming);
    state.stays_until(trains_.front().first);
    return true;
  }

  // Those on their way are the record's, later by the period.
  bool write_what_comes_again(StateRecord& state) const {
    const uint32_t size = trains_.size();
    if (state.word_ahead(0) != size) return false;
    uint64_t at = 1;
    for (uint32_t k = 0; k < size; ++k, at += 3) {
      const CreditTrain& train = trains_[k];
      if (!state.moves_ahead(at, train.first) || state.word_ahead(at + 1) != train.stride ||
          state.word_ahead(at + 2) != train.count)
        return false;
    }
    state.looked_at(3 * uint64_t{size} / 4);
    state.leave_out(at);
    return true;
  }
  // Where there are always enough credits nobody looks when those on their way come. Then it is enough that
  // the same are spent, and the same are added at the end, in each period. For so long as would do if none
  // came.
  bool write_added(StateRecord& state) const {
    const uint32_t size = trains_.size();
    uint32_t from = size;
    uint64_t sum = 0;
    while (sum < added_ && from > 0) sum += trains_[--from].count;
    if (sum != added_) return false;
    if (become_one(from, state.period())) return false;
    state.leave_out(1 + 3 * state.word_ahead(0));
    state.credits_unseen(spent_, size - from, static_cast<uint32_t>(added_));
    return true;
  }

  int32_t now_ = 0;
  uint32_t coming_ = 0;
  uint32_t depth_ = 0;
  // Since the last record:
  int32_t fewest_ = 0;  ///< left by a burst
  uint64_t spent_ = 0;
  uint64_t added_ = 0;
  Ring<CreditTrain, 2> trains_;
};

}  // namespace weft::packet

#endif
