// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Broadcast and reduce: the chunks of a channel follow each other along its ring, from the root or to it.
// A message is one chunk. Of a call with more than kMostSends of them they are larger: they fill the chain
// later, which may add half a per cent of the time of the bytes.

#include <algorithm>
#include <cmath>

#include "workload/programs/program_parts.h"

namespace weft::library {
namespace {

constexpr double kMostAdded = 0.005;

}  // namespace

void make_chain(const Making& m) {
  const LibraryPlan& plan = m.plan;
  const uint32_t n = m.members();
  const bool reduce = plan.op == LibraryOp::reduce;
  const Buffers& buffers = m.out.buffers();
  const double share = static_cast<double>(plan.bytes) / plan.channels;
  const double chunk = std::min(share, static_cast<double>(plan.chunk_bytes));
  double piece = chunk;
  if (std::ceil(share / chunk) * (n - 1) * plan.channels > kMostSends && n > 2)
    piece = std::min(share, chunk + kMostAdded * share / (n - 2));
  // A chunk that is not whole pays its part of a slice's cost.
  const double byte = m.costs.channel_byte + m.costs.sigma / chunk;
  const double wait = m.costs.step_wait(plan);
  const auto pieces = static_cast<uint32_t>(std::max(1.0, std::ceil(share / piece - 1e-9)));
  const double last = share - piece * (pieces - 1);
  // `weight`: of what a crossing adds to the way; 0: it is none.
  const auto price = [&](double bytes, double weight) {
    const double more = weight > 0 ? m.costs.crossing(bytes) : 0;
    return m.out.price(bytes * byte + more, bytes * byte + wait + weight * more,
                       bytes * m.costs.channel_byte + more);
  };
  const uint32_t whole_inside = price(piece, 0), last_inside = price(last, 0);
  const auto window = static_cast<uint32_t>(std::max(1.0, std::floor(kStepsInFlight * chunk / piece)));
  ChannelOrders orders(m.machine, m.team);
  uint32_t next = 0;
  for (uint32_t channel = 0; channel < plan.channels; ++channel) {
    std::vector<uint32_t> ring = orders.ring(channel);
    std::rotate(ring.begin(), std::find(ring.begin(), ring.end(), m.team.root), ring.end());
    if (reduce) std::rotate(ring.begin(), ring.begin() + 1, ring.end());  // the root is the last one
    const Stretch part = channel_part({0, buffers.shards.back()}, channel, plan.channels, buffers.unit);
    const uint64_t step = static_cast<uint64_t>(piece) / buffers.unit * buffers.unit;
    std::vector<uint32_t> lanes(n - 1);
    for (uint32_t& lane : lanes) lane = m.out.lane();
    // From the first member of a node on there is one crossing less; the others take its time, too.
    double crossings = 0;
    for (uint32_t i = 0; i + 1 < n; ++i)
      crossings += orders.node(ring[i]) != orders.node(ring[i + 1]) ? 1 : 0;
    const double each = crossings > 0 ? std::max(1.0, plan.crossings / crossings) : 1;
    const uint32_t whole_outside = price(piece, each), last_outside = price(last, each);
    const uint32_t first = next;
    const auto at = [&](uint32_t k, uint32_t i) { return first + k * (n - 1) + i; };
    for (uint32_t k = 0; k < pieces; ++k) {
      const uint64_t begin = std::min(part.bytes, k * step);
      const uint64_t bytes = k + 1 == pieces ? part.bytes - begin : std::min(step, part.bytes - begin);
      for (uint32_t i = 0; i + 1 < n; ++i, ++next) {
        Send send;
        send.lane = lanes[i];
        send.from = ring[i];
        send.to = ring[i + 1];
        const bool crosses = orders.node(ring[i]) != orders.node(ring[i + 1]);
        send.price = k + 1 == pieces ? (crosses ? last_outside : last_inside)
                                     : (crosses ? whole_outside : whole_inside);
        send.bytes = bytes;
        send.source = send.target = part.begin + begin;
        send.channel = static_cast<uint16_t>(channel);
        send.reduce = reduce;
        m.out.send(send);
        if (i > 0) m.out.after_arrival(at(k, i - 1), at(k, i));
        if (k < window) continue;
        if (i + 2 < n) {
          m.out.after_end(at(k - window, i + 1), at(k, i));
        } else {
          m.out.after_arrival(at(k - window, i), at(k, i));
        }
      }
    }
  }
}

}  // namespace weft::library
