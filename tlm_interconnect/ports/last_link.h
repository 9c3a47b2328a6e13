// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The last link of the ways that end at an NPU, at `analytical` fidelity, kept by the receiver: messages take
// it in the order in which their heads would be there if each were alone. A message may be announced long
// before its head is there, and one that is announced later may be there earlier; so the order is settled
// when a message would be through, which costs no event where nobody waits.

#ifndef WEFT_TLM_INTERCONNECT_PORTS_LAST_LINK_H
#define WEFT_TLM_INTERCONNECT_PORTS_LAST_LINK_H

#include <cstdint>
#include <memory>
#include <vector>

#include "configs/types.h"
#include "tlm_interconnect/ports/link.h"

namespace weft::fabric {

/// One cache line while no more than one message is expected.
class alignas(64) LastLink {
 public:
  LastLink() = default;
  LastLink(LastLink&&) = delete;
  void set_type(LinkType& type) { type_ = &type; }
  /// Of `bytes` on it.
  Picoseconds time_of(uint64_t bytes) const { return type_->time_of(bytes); }

  /// `message` from `source` would arrive with its head at `head` and its tail at `tail`; it needs the link
  /// for `time`. Equal heads are taken in the order of the sources.
  void expect(uint32_t message, uint32_t source, Picoseconds head, Picoseconds tail, Picoseconds time) {
    const Expected entry{head, tail, time, message, source};
    if (size_ == 0) {
      expected()[0] = entry;
      size_ = 1;
      return;
    }
    insert(entry);
  }

  struct Wait {
    Picoseconds head = 0;  ///< how much later than alone its head starts on the link
    Picoseconds tail = 0;  ///< .. and its tail is through
  };
  /// Not before its head is due. Forgets the message.
  Wait take(uint32_t message) {
    if (size_ == 1 && settled_ == 0) {
      size_ = 0;
      Expected& only = expected()[0];
      settle(only);
      return {only.head, only.tail};
    }
    return take_of_several(message);
  }

  /// Nothing is on this link or on its way to it at `now`.
  bool quiet(Picoseconds now) const { return size_ == 0 && free_at_ <= now; }
  /// Is as free as `like`.
  void adopt(const LastLink& like) { free_at_ = like.free_at_; }

 private:
  struct Expected {
    Picoseconds head = 0;  ///< alone; once settled, the wait
    Picoseconds tail = 0;  ///< likewise
    Picoseconds time = 0;
    uint32_t message = 0;
    uint32_t source = 0;
    bool before(const Expected& o) const { return head != o.head ? head < o.head : source < o.source; }
  };
  void settle(Expected& e) {
    const Picoseconds start = e.head > free_at_ ? e.head : free_at_;
    free_at_ = start + e.time;
    if (free_at_ < e.tail) free_at_ = e.tail;  // some link of its way is slower
    e.head = start - e.head;
    e.tail = free_at_ - e.tail;
  }
  Expected* expected() { return outside_ == nullptr ? &inside_ : outside_->data(); }
  void insert(const Expected& entry) {
    if (size_ == (outside_ == nullptr ? 1 : outside_->size())) grow();
    Expected* const all = expected();
    uint32_t at = size_++;
    for (; at > settled_ && entry.before(all[at - 1]); --at) all[at] = all[at - 1];
    all[at] = entry;
  }
  Wait take_of_several(uint32_t message) {
    Expected* const all = expected();
    uint32_t at = 0;
    while (all[at].message != message) ++at;
    for (; settled_ <= at; ++settled_) settle(all[settled_]);
    const Wait wait{all[at].head, all[at].tail};
    --size_;
    --settled_;
    for (; at < size_; ++at) all[at] = all[at + 1];
    return wait;
  }
  void grow() {
    auto larger = std::make_unique<std::vector<Expected>>(size_t{4} * size_);
    for (uint32_t i = 0; i < size_; ++i) (*larger)[i] = expected()[i];
    outside_ = std::move(larger);
  }

  Picoseconds free_at_ = 0;
  uint32_t size_ = 0;
  uint32_t settled_ = 0;  ///< the first so many have taken the link
  LinkType* type_ = nullptr;
  std::unique_ptr<std::vector<Expected>> outside_;  ///< in order; null: inside_
  Expected inside_;
};
static_assert(sizeof(LastLink) == 64, "a link is touched for every message: keep it one cache line");

}  // namespace weft::fabric

#endif
