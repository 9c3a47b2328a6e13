// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The program of one call of a communication library: all messages of all channels, what each waits for, and
// what it costs. A program holds no state of a run, so that equal calls share one.
//
// Messages are sent by lanes. A lane belongs to one member (what a thread block of a channel does in one
// direction) and sends its messages one at a time, in order. A message starts when its lane is free, all
// arrivals that it waits for have come, and the receiver has room. Its price says how long the lane is busy,
// and when the receiver can use the message at the earliest; links that are slower or in use make it later.
//
// Switches that reduce and multicast (NVLS, CollNet) are members, too, behind the ranks: each combines the
// contributions that come to it, and sends the results.

#ifndef WEFT_WORKLOAD_PROGRAMS_PROGRAM_H
#define WEFT_WORKLOAD_PROGRAMS_PROGRAM_H

#include <cstdint>
#include <utility>
#include <vector>

#include "configs/types.h"

namespace weft::library {

struct Price {
  Picoseconds cost = 0;     ///< the lane is busy from the start on
  Picoseconds flight = 0;   ///< from the start until the receiver can use it, alone
  Picoseconds carried = 0;  ///< the part of it in which the links carry the bytes
};

struct Send {
  uint32_t lane = 0;
  uint32_t from = 0;  ///< member
  uint32_t to = 0;
  uint32_t price = 0;   ///< Program::prices
  uint32_t waits = 0;   ///< events that must come before it starts
  uint64_t bytes = 0;   ///< of data
  uint64_t source = 0;  ///< where they begin in the sender's buffer
  uint64_t target = 0;  ///< .. and in the receiver's
  uint16_t channel = 0;
  bool reduce = false;  ///< the receiver combines them with its own
};

/// What the members' buffers hold, in bytes: all shards.
struct Buffers {
  std::vector<uint64_t> shards;  ///< where the shard of each position begins; one more than members
  uint32_t unit = 1;             ///< bytes of an element: what a message has a multiple of
  /// Input and output are two buffers, and sends go from the one to the other.
  bool apart = false;
  CollectiveOp op = CollectiveOp::all_reduce;
};

/// A switch that reduces and multicasts: the one that joins the member's line of the dimension.
struct SwitchPlace {
  uint32_t dimension = 0;
  uint32_t member = 0;
};

class Program {
 public:
  /// Ranks, and behind them the switches.
  uint32_t members() const { return static_cast<uint32_t>(work_.size()); }
  uint32_t ranks() const { return ranks_; }
  /// Of members ranks() ..
  const std::vector<SwitchPlace>& switches() const { return switches_; }
  const std::vector<Send>& sends() const { return sends_; }
  const Price& price(const Send& send) const { return prices_[send.price]; }
  /// Bytes of a message on the links.
  uint64_t wire(const Send& send) const;
  const Buffers& buffers() const { return buffers_; }

  uint32_t lanes() const { return static_cast<uint32_t>(first_of_lane_.size()) - 1; }
  /// The lane's messages are order()[lane_begin(l)] .. order()[lane_begin(l + 1) - 1].
  uint32_t lane_begin(uint32_t lane) const { return first_of_lane_[lane]; }
  const std::vector<uint32_t>& order() const { return order_; }

  /// Calls f(lane) for each lane of the member.
  template <typename F>
  void for_each_lane(uint32_t member, F&& f) const {
    lanes_of_.for_each(member, f);
  }

  /// Messages that wait for the arrival of `send`, and for the end of its lane's work on it.
  template <typename F>
  void for_each_after_arrival(uint32_t send, F&& f) const {
    arrivals_.for_each(send, f);
  }
  template <typename F>
  void for_each_after_end(uint32_t send, F&& f) const {
    ends_.for_each(send, f);
  }
  bool has_ends(uint32_t send) const { return ends_.any(send); }
  /// Messages that a member sends and receives, together.
  uint32_t work(uint32_t member) const { return work_[member]; }

 private:
  friend class ProgramBuilder;
  /// Lists of messages, one for each message.
  struct Edges {
    std::vector<uint32_t> begin;
    std::vector<uint32_t> to;
    template <typename F>
    void for_each(uint32_t send, F&& f) const {
      for (uint32_t i = begin[send]; i < begin[send + 1]; ++i) f(to[i]);
    }
    bool any(uint32_t send) const { return begin[send] != begin[send + 1]; }
  };

  std::vector<Send> sends_;
  std::vector<Price> prices_;
  Buffers buffers_;
  double wire_factor_ = 1;
  uint32_t ranks_ = 0;
  std::vector<SwitchPlace> switches_;
  std::vector<uint32_t> order_;
  std::vector<uint32_t> first_of_lane_;
  Edges arrivals_, ends_;
  Edges lanes_of_;  ///< by member
  std::vector<uint32_t> work_;
};

/// Collects the messages of a program in any order, but those of a lane as the lane sends them.
class ProgramBuilder {
 public:
  ProgramBuilder(uint32_t ranks, Buffers buffers, double wire_factor);

  const Buffers& buffers() const { return program_.buffers_; }
  uint32_t lane() { return lanes_++; }
  /// One more switch: the number of the member.
  uint32_t add_switch(const SwitchPlace& place);
  /// All in us.
  uint32_t price(double cost, double flight, double carried);
  /// Returns the message's number. `waits` is counted here.
  uint32_t send(const Send& send);
  /// `send` waits until `of` has arrived, or until the lane of `of` has done with it.
  void after_arrival(uint32_t of, uint32_t send);
  void after_end(uint32_t of, uint32_t send);

  Program finish();

 private:
  using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;
  static void gather(Pairs& pairs, size_t lists, Program::Edges& edges);

  Program program_;
  uint32_t lanes_ = 0;
  Pairs arrivals_, ends_;
};

}  // namespace weft::library

#endif
