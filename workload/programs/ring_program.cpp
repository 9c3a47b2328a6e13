// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Rings that reduce or gather parts: all-reduce, all-gather, reduce-scatter. A channel's share goes round in
// loops of one chunk a member. One message is one chunk: its slices are in its price, as the closed form has
// them. Loops that a large call has many of are joined: j loops become one, whose chunks are j times as large
// and cost j times as much. As loops follow each other, that changes nothing without contention.

#include <algorithm>
#include <cmath>

#include "workload/programs/program_parts.h"

namespace weft::library {
namespace {

/// Loops that run as one.
struct LoopGroup {
  uint64_t chunk = 0;  ///< bytes of a member's part, in all loops together
  uint32_t price = 0;
  uint32_t crossing = 0;  ///< the price of a message to another node
  bool last = false;      ///< takes what is left
};

class RingMaker {
 public:
  explicit RingMaker(const Making& making)
      : m_(making),
        op_(making.plan.op),
        n_(making.members()),
        steps_(making.plan.steps),
        window_(std::max<uint32_t>(1, kStepsInFlight / (making.plan.slices > 1 ? kStepsInFlight / 2 : 1))),
        orders_(making.machine, making.team) {}

  void make() {
    find_groups();
    for (uint32_t channel = 0; channel < m_.plan.channels; ++channel) make_channel(channel);
  }

 private:
  void find_groups() {
    const LibraryPlan& plan = m_.plan;
    const double share = static_cast<double>(plan.bytes) / plan.channels;
    const auto chunk = static_cast<double>(plan.chunk_bytes);
    const double full = std::floor(share / static_cast<double>(plan.loop_bytes));
    const double rest = share - full * static_cast<double>(plan.loop_bytes);
    const double each = static_cast<double>(steps_) * plan.channels * n_;
    const double join = std::max(1.0, std::ceil(full * each / kMostSends));
    for (double left = full; left > 0; left -= join) {
      const double loops = std::min(left, join);
      groups_.push_back({static_cast<uint64_t>(loops * chunk), price(chunk, loops, false),
                         price(chunk, loops, true), false});
    }
    if (rest > 0) groups_.push_back({0, price(rest / n_, 1, false), price(rest / n_, 1, true), false});
    groups_.back().last = true;
  }
  uint32_t price(double chunk, double loops, bool crosses) {
    const double more = crosses ? m_.costs.crossing(chunk) : 0;
    return m_.out.price(loops * (m_.costs.chunk_cost(m_.plan, chunk) + more),
                        loops * (m_.costs.ring_step(m_.plan, chunk) + more),
                        loops * (chunk * m_.costs.channel_byte + more));
  }

  /// The chunks of the channel's next loop, by place on the ring.
  void cut(const LoopGroup& group) {
    const Buffers& buffers = m_.out.buffers();
    if (op_ == LibraryOp::all_reduce) {
      const uint64_t bytes = group.last ? left_ : std::min(left_, group.chunk * n_);
      const collectives::Split split = even_split(bytes, n_, buffers.unit);
      for (uint32_t i = 0; i < n_; ++i) chunks_[i] = {part_.begin + split.offset(i), split.size(i)};
      part_.begin += bytes;
      left_ -= bytes;
      return;
    }
    for (uint32_t i = 0; i < n_; ++i) {
      Stretch& shard = shards_[i];
      const uint64_t bytes = group.last ? shard.bytes : std::min(shard.bytes, group.chunk);
      chunks_[i] = {shard.begin, bytes};
      shard.begin += bytes;
      shard.bytes -= bytes;
    }
  }

  void make_channel(uint32_t channel) {
    const Buffers& buffers = m_.out.buffers();
    const std::vector<uint32_t> ring = orders_.ring(channel);
    part_ = channel_part({0, buffers.shards.back()}, channel, m_.plan.channels, buffers.unit);
    left_ = part_.bytes;
    shards_.resize(n_);
    chunks_.resize(n_);
    for (uint32_t i = 0; i < n_; ++i) {
      const uint32_t position = m_.team.positions[ring[i]];
      shards_[i] =
          channel_part({buffers.shards[position], buffers.shards[position + 1] - buffers.shards[position]},
                       channel, m_.plan.channels, buffers.unit);
    }
    std::vector<uint32_t> lanes(n_);
    for (uint32_t& lane : lanes) lane = m_.out.lane();
    const auto total = static_cast<uint32_t>(groups_.size()) * steps_;
    const auto first = static_cast<uint32_t>(sends_);
    for (uint32_t g = 0; g < groups_.size(); ++g) {
      cut(groups_[g]);
      for (uint32_t s = 0; s < steps_; ++s)
        for (uint32_t i = 0; i < n_; ++i) send(ring, lanes[i], groups_[g], channel, s, i);
    }
    tie(first, total);
  }

  void send(const std::vector<uint32_t>& ring, uint32_t lane, const LoopGroup& group, uint32_t channel,
            uint32_t s, uint32_t i) {
    // In the steps that reduce, a member passes on what it has combined; its own part comes to it last.
    const bool reduces = op_ == LibraryOp::reduce_scatter || (op_ == LibraryOp::all_reduce && s < n_ - 1);
    const uint32_t turn = op_ == LibraryOp::all_reduce && !reduces ? s - (n_ - 1) : s;
    const uint32_t behind = reduces ? turn + 1 : turn;
    const Stretch& chunk = chunks_[(i + 2 * n_ - behind % n_) % n_];
    Send send;
    send.lane = lane;
    send.from = ring[i];
    send.to = ring[(i + 1) % n_];
    send.price = orders_.node(send.from) == orders_.node(send.to) ? group.price : group.crossing;
    send.bytes = chunk.bytes;
    send.source = send.target = chunk.begin;
    send.channel = static_cast<uint16_t>(channel);
    send.reduce = reduces;
    m_.out.send(send);
    ++sends_;
  }

  /// A step waits for the arrival of the one before it, and for room at the next member: until that has sent
  /// on (in a loop's last step: has got) what came `window` steps before.
  void tie(uint32_t first, uint32_t total) {
    const auto at = [&](uint32_t t, uint32_t i) { return first + t * n_ + i; };
    for (uint32_t t = 1; t < total; ++t) {
      for (uint32_t i = 0; i < n_; ++i) {
        m_.out.after_arrival(at(t - 1, (i + n_ - 1) % n_), at(t, i));
        if (t < window_) continue;
        const uint32_t old = t - window_;
        if ((old + 1) % steps_ == 0) {
          m_.out.after_arrival(at(old, i), at(t, i));
        } else if (old + 1 < t) {
          m_.out.after_end(at(old + 1, (i + 1) % n_), at(t, i));
        }
      }
    }
  }

  const Making& m_;
  LibraryOp op_;
  uint32_t n_;
  uint32_t steps_;
  uint32_t window_;  ///< chunks that a connection has room for
  ChannelOrders orders_;
  std::vector<LoopGroup> groups_;
  Stretch part_;  ///< all-reduce: the channel's
  uint64_t left_ = 0;
  std::vector<Stretch> shards_;  ///< .. else: its part of every shard, by place on the ring
  std::vector<Stretch> chunks_;
  size_t sends_ = 0;
};

}  // namespace

void make_ring(const Making& making) {
  RingMaker(making).make();
}

}  // namespace weft::library
