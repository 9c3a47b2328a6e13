// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The timing of one direction of a link, kept by the sending port: a FIFO server that is busy until
// `free_at`. Integer picoseconds; while the link stays busy the remainder of each division is carried, so
// that a stream of small messages takes what one large one does. Not a module, not a SystemC object.

#ifndef WEFT_TLM_INTERCONNECT_PORTS_LINK_H
#define WEFT_TLM_INTERCONNECT_PORTS_LINK_H

#include <cstdint>

#include "configs/types.h"

namespace weft::fabric {

/// Watches one link when somebody looks (waveforms); links without an observer pay one test.
class LinkObserver {
 public:
  virtual ~LinkObserver() = default;
  struct Use {
    Picoseconds ready = 0;  ///< the message could have had the link
    Picoseconds start = 0;  ///< it has it from then ..
    Picoseconds end = 0;    ///< .. until then
    Picoseconds not_before_end = 0;
    uint64_t bytes = 0;
    uint64_t id_low = 0;
    uint32_t packet = 0;  ///< its handle, 0: not one of the fabric's messages
  };
  virtual void occupied(const Use& use) = 0;
};

/// What the links of one kind share: rate, latency, and the serialisation of the size seen last.
class LinkType {
 public:
  LinkType() = default;
  LinkType(Rate rate, Picoseconds latency) : rate_(rate), latency_(latency) {}

  Rate rate() const { return rate_; }
  Picoseconds latency() const { return latency_; }

  /// bytes / rate in whole picoseconds and a remainder in units of 1 / rate.bytes_per_second ps. Throws
  /// TimeOverflow.
  void serialise(uint64_t bytes, uint64_t& whole, uint64_t& remainder) {
    if (bytes != cached_bytes_) {
      const ExactTime time = exact_time(bytes, rate_);
      cached_whole_ = within_time(time.whole + 2) - 2;  // room for a remainder
      cached_bytes_ = bytes;
      cached_remainder_ = time.remainder;
    }
    whole = cached_whole_;
    remainder = cached_remainder_;
  }
  /// .. in whole picoseconds, rounded up.
  uint64_t time_of(uint64_t bytes) {
    uint64_t whole = 0;
    uint64_t remainder = 0;
    serialise(bytes, whole, remainder);
    return whole + (remainder != 0 ? 1 : 0);
  }

 private:
  Rate rate_;
  Picoseconds latency_ = 0;
  uint64_t cached_bytes_ = 0;  ///< 0 bytes take no time, as the cache says
  uint64_t cached_whole_ = 0;
  uint64_t cached_remainder_ = 0;
};

/// One cache line.
class alignas(64) Link {
 public:
  struct Slot {
    Picoseconds start = 0;  ///< first byte enters the link
    Picoseconds end = 0;    ///< last byte has entered it
  };

  Link() = default;
  explicit Link(LinkType& type) : type_(&type) {}

  Picoseconds latency() const { return type_->latency(); }
  Rate rate() const { return type_->rate(); }
  /// Of `bytes`, in whole picoseconds, rounded up.
  Picoseconds time_of(uint64_t bytes) const { return type_->time_of(bytes); }

  /// Takes the link for `bytes` that are ready at `ready`, first come first served. Throws TimeOverflow.
  /// `not_before_end`: when the bytes are still arriving (cut-through), the time of the last one.
  /// `id_low`, `packet`: for the observer.
  [[gnu::always_inline]] Slot occupy(Picoseconds ready, uint64_t bytes, Picoseconds not_before_end = 0,
                                     uint64_t id_low = 0, uint32_t packet = 0) {
    Slot slot;
    Picoseconds shared = 0;  // the message before has a part of this one's first picosecond
    if (ready > free_at_) {
      slot.start = ready;
      remainder_ = 0;
    } else {
      slot.start = free_at_;
      shared = remainder_ != 0 ? 1 : 0;
      waited(slot.start - ready);
    }
    uint64_t whole = 0;
    uint64_t remainder = 0;
    type_->serialise(bytes, whole, remainder);
    remainder += remainder_;
    if (remainder >= type_->rate().bytes_per_second) {
      remainder -= type_->rate().bytes_per_second;
      ++whole;
    }
    slot.end = later(slot.start, whole + (remainder != 0 ? 1 : 0));
    free_at_ = slot.start + whole;
    remainder_ = remainder;
    if (slot.end < not_before_end) {
      slot.end = free_at_ = not_before_end;
      remainder_ = 0;
    }
    busy_ -= shared;
    account(slot, {ready, slot.start, slot.end, not_before_end, bytes, id_low, packet});
    return slot;
  }

  /// The same at `analytical` fidelity: every message takes ceil(bytes / bandwidth), no carry.
  [[gnu::always_inline]] Slot occupy_analytical(Picoseconds ready, uint64_t bytes,
                                                Picoseconds not_before_end = 0, uint64_t id_low = 0,
                                                uint32_t packet = 0) {
    Slot slot;
    slot.start = ready > free_at_ ? ready : free_at_;
    waited(slot.start - ready);
    slot.end = later(slot.start, time_of(bytes));
    if (slot.end < not_before_end) slot.end = not_before_end;
    free_at_ = slot.end;
    account(slot, {ready, slot.start, slot.end, not_before_end, bytes, id_low, packet});
    return slot;
  }

  /// Has done what `like` has done since it was `before`.
  void adopt(const Link& like, const Link& before) {
    free_at_ = like.free_at_;
    remainder_ = like.remainder_;
    bytes_ += like.bytes_ - before.bytes_;
    messages_ += like.messages_ - before.messages_;
    busy_ += like.busy_ - before.busy_;
    queued_ += like.queued_ - before.queued_;
  }

  /// What a link that was free at a time has done from then on.
  struct Span {
    Picoseconds free_after = 0;  ///< from that time
    uint64_t remainder = 0;
    uint64_t bytes = 0;
    uint64_t messages = 0;
    Picoseconds busy = 0;
    Picoseconds queued = 0;
  };
  /// .. since it was `before`, free at `start`.
  Span since(const Link& before, Picoseconds start) const {
    return {free_at_ > start ? free_at_ - start : 0,
            remainder_,
            bytes_ - before.bytes_,
            messages_ - before.messages_,
            busy_ - before.busy_,
            queued_ - before.queued_};
  }
  /// Does the same from `start` on. False: it is not free then.
  bool repeat(const Span& span, Picoseconds start) {
    if (free_at_ > start) return false;
    if (span.messages == 0) return true;
    free_at_ = later(start, span.free_after);
    remainder_ = span.remainder;
    if (__builtin_add_overflow(bytes_, span.bytes, &bytes_)) count_overflow();
    messages_ += span.messages;
    busy_ += span.busy;
    waited(span.queued);
    return true;
  }

  Picoseconds free_at() const { return free_at_; }
  uint64_t bytes() const { return bytes_; }
  uint64_t messages() const { return messages_; }
  /// Time in which it was taken; a picosecond that two messages share counts once.
  Picoseconds busy() const { return busy_; }
  /// Time that messages waited for this link, summed; kNever if that is more.
  Picoseconds queued() const { return queued_; }
  void observe(LinkObserver* observer) { observer_ = observer; }
  LinkObserver* observer() const { return observer_; }

 private:
  void waited(Picoseconds time) {
    if (__builtin_add_overflow(queued_, time, &queued_)) queued_ = kNever;
  }

  [[gnu::always_inline]] void account(const Slot& slot, const LinkObserver::Use& use) {
    const uint64_t bytes = use.bytes;
    if (__builtin_add_overflow(bytes_, bytes, &bytes_)) count_overflow();
    ++messages_;
    busy_ += slot.end - slot.start;
    if (__builtin_expect(static_cast<int>(observer_ != nullptr), 0) != 0) observer_->occupied(use);
  }

  LinkType* type_ = nullptr;
  Picoseconds free_at_ = 0;
  uint64_t remainder_ = 0;  ///< carried, in ps / bytes_per_second
  uint64_t bytes_ = 0;
  uint64_t messages_ = 0;
  Picoseconds busy_ = 0;
  Picoseconds queued_ = 0;
  LinkObserver* observer_ = nullptr;
};
static_assert(sizeof(Link) == 64, "a link is touched for every message: keep it one cache line");

}  // namespace weft::fabric

#endif
