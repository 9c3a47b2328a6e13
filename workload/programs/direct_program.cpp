// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Programs in which members send straight to those that need their data: RCCL's all-pairs, PAT, and sends and
// receives.

#include <algorithm>
#include <cmath>

#include "workload/programs/program_parts.h"

namespace weft::library {
namespace {

Stretch shard_of(const Making& m, uint32_t member) {
  const std::vector<uint64_t>& shards = m.out.buffers().shards;
  const uint32_t position = m.team.positions[member];
  return {shards[position], shards[position + 1] - shards[position]};
}

/// Who sends to whom, in which order.
class Peers {
 public:
  explicit Peers(const Making& m) : orders_(m.machine, m.team), nodes_(orders_.nodes()) {
    index_.resize(m.members());
    for (const std::vector<uint32_t>& node : nodes_)
      for (uint32_t i = 0; i < node.size(); ++i) index_[node[i]] = i;
  }
  bool near(uint32_t a, uint32_t b) const { return orders_.node(a) == orders_.node(b); }
  /// Those of its node, then those of the next one, and so on; in each from its own place on, so that at any
  /// time all send to different ones.
  std::vector<uint32_t> of(uint32_t member) const {
    std::vector<uint32_t> peers;
    const auto count = static_cast<uint32_t>(nodes_.size());
    for (uint32_t dn = 0; dn < count; ++dn) {
      const std::vector<uint32_t>& node = nodes_[(orders_.node(member) + dn) % count];
      const auto size = static_cast<uint32_t>(node.size());
      for (uint32_t d = 0; d < size; ++d) {
        const uint32_t peer = node[(index_[member] + d) % size];
        if (peer != member) peers.push_back(peer);
      }
    }
    return peers;
  }

 private:
  ChannelOrders orders_;
  const std::vector<std::vector<uint32_t>>& nodes_;
  std::vector<uint32_t> index_;
};

}  // namespace

/// Every member gets a part of all others' data and combines it, then sends the result to all. A message has
/// a lane of its own: all links of a member are used at once.
void make_all_pairs(const Making& m) {
  const LibraryPlan& plan = m.plan;
  const uint32_t n = m.members();
  const Buffers& buffers = m.out.buffers();
  const double bytes_time = static_cast<double>(plan.bytes) * m.costs.byte / 2;
  const uint32_t price = m.out.price(bytes_time, bytes_time + m.costs.latency / 2, bytes_time);
  const Peers peers(m);
  for (uint32_t channel = 0; channel < plan.channels; ++channel) {
    const Stretch part = channel_part({0, buffers.shards.back()}, channel, plan.channels, buffers.unit);
    const collectives::Split split = even_split(part.bytes, n, buffers.unit);
    std::vector<std::vector<uint32_t>> to(n);  // messages of the first step, by receiver
    for (const bool reduce : {true, false}) {
      for (uint32_t i = 0; i < n; ++i) {
        for (const uint32_t j : peers.of(i)) {
          const uint32_t owner = reduce ? j : i;
          Send send;
          send.lane = m.out.lane();
          send.from = i;
          send.to = j;
          send.price = price;
          send.bytes = split.size(owner);
          send.source = send.target = part.begin + split.offset(owner);
          send.channel = static_cast<uint16_t>(channel);
          send.reduce = reduce;
          const uint32_t number = m.out.send(send);
          if (reduce) {
            to[j].push_back(number);
          } else {
            for (const uint32_t first : to[i]) m.out.after_arrival(first, number);
          }
        }
      }
    }
  }
}

/// One rank a node: in round r a member sends min(2^r, n - 2^r) shards over a distance of 2^r; reduce-scatter
/// does the same backwards. All channels together are one lane.
void make_pat(const Making& m) {
  const LibraryPlan& plan = m.plan;
  const uint32_t n = m.members();
  const bool reduce = plan.op == LibraryOp::reduce_scatter;
  std::vector<uint32_t> order(n);  // member by position
  for (uint32_t i = 0; i < n; ++i) order[m.team.positions[i]] = i;
  std::vector<uint32_t> lanes(n);
  for (uint32_t& lane : lanes) lane = m.out.lane();
  const double bytes_time = static_cast<double>(plan.bytes) * m.costs.byte;
  const double wait = m.costs.latency / plan.steps + m.costs.sigma;
  std::vector<std::vector<uint32_t>> before(n);  // messages of the last round, by receiver
  for (uint32_t round = 0; round < plan.steps; ++round) {
    const uint32_t r = reduce ? plan.steps - 1 - round : round;
    const uint32_t distance = 1u << r;
    const uint32_t count = std::min(distance, n - distance);
    std::vector<std::vector<uint32_t>> now(n);
    for (uint32_t i = 0; i < n; ++i) {
      // All-gather: i .. i + count - 1 to the one before; reduce-scatter: those of the one behind to it.
      const uint32_t to = reduce ? (i + distance) % n : (i + n - distance) % n;
      const uint32_t first = reduce ? to : i;
      for (uint32_t b = 0; b < count;) {
        const uint32_t begin = (first + b) % n;
        const uint32_t run = std::min(count - b, n - begin);  // as far as they lie in one piece
        const Stretch from = shard_of(m, order[begin]);
        const Stretch last = shard_of(m, order[begin + run - 1]);
        const double cost = bytes_time * run / (n - 1);
        const uint32_t number =
            m.send(lanes[i], order[i], order[to], {from.begin, last.begin + last.bytes - from.begin},
                   m.out.price(cost, cost + wait, cost), reduce);
        for (const uint32_t arrived : before[i]) m.out.after_arrival(arrived, number);
        now[to].push_back(number);
        b += run;
      }
    }
    before.swap(now);  // its own lane has waited for those before
  }
}

/// Each member sends to its node by one lane (without a switch: by one for each link) and to other nodes by
/// another, at the rate at which the slower of the two ends with the closed form.
void make_point_to_point(const Making& m, CollectiveOp op) {
  constexpr double kMostPieces = 64;
  const LibraryPlan& plan = m.plan;
  const uint32_t n = m.members();
  const Buffers& buffers = m.out.buffers();
  const double bytes_time = static_cast<double>(plan.bytes) * m.costs.byte;
  const double time = bytes_time + static_cast<double>(plan.loops) * m.costs.sigma;
  const double to_peer = static_cast<double>(plan.bytes) / n;
  const double pairs = static_cast<double>(n) * (n - 1);
  const double most = std::clamp(kMostSends / pairs, 1.0, kMostPieces);
  const auto pieces = static_cast<uint32_t>(
      std::clamp(std::ceil(to_peer / static_cast<double>(plan.chunk_bytes)), 1.0, most));
  const Peers peers(m);
  for (uint32_t i = 0; i < n; ++i) {
    const std::vector<uint32_t> all = peers.of(i);
    const auto near = static_cast<double>(
        std::count_if(all.begin(), all.end(), [&](uint32_t p) { return peers.near(i, p); }));
    const double far = static_cast<double>(all.size()) - near;
    const auto price = [&](double count) {
      const double each = time / (std::max(1.0, count) * pieces);
      return m.out.price(each, each + m.costs.latency, bytes_time / (std::max(1.0, count) * pieces));
    };
    // To the root of a gather all send at once, and share its links.
    const bool pairs_linked =
        m.machine.links == NodeLinks::fully_connected || m.machine.links == NodeLinks::cube_mesh;
    const uint32_t near_price = price(op == CollectiveOp::gather || pairs_linked ? 1 : near);
    const uint32_t far_price = price(op == CollectiveOp::gather ? 1 : far);
    const uint32_t near_lane = m.out.lane();
    const uint32_t far_lane = m.out.lane();
    uint16_t turn = 0;
    for (const uint32_t j : all) {
      // Who is not the root sends to it (gather) or nothing (scatter); its own time is as in an all-to-all.
      if (op == CollectiveOp::gather && j != m.team.root) continue;
      if (op == CollectiveOp::scatter && i != m.team.root) continue;
      const bool inside = peers.near(i, j);
      const uint32_t lane = !inside ? far_lane : pairs_linked ? m.out.lane() : near_lane;
      const bool gathers = op == CollectiveOp::gather || op == CollectiveOp::all_gather;
      const Stretch from = shard_of(m, gathers ? i : j);
      const collectives::Split split = even_split(from.bytes, pieces, buffers.unit);
      for (uint32_t k = 0; k < pieces; ++k) {
        Send send;
        send.lane = lane;
        send.from = i;
        send.to = j;
        send.price = inside ? near_price : far_price;
        send.bytes = split.size(k);
        send.source = from.begin + split.offset(k);
        send.target = (op == CollectiveOp::all_to_all ? m.team.positions[i] * from.bytes
                       : gathers                      ? from.begin
                                                      : 0) +
                      split.offset(k);
        send.channel = static_cast<uint16_t>(turn++ % std::max(1u, plan.channels));
        m.out.send(send);
      }
    }
  }
}

}  // namespace weft::library
