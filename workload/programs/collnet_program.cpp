// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// CollNetDirect: the network's switches reduce and multicast (SHARP). Data go in loops; the GPUs beside NICs
// are the heads of a part of each loop:
//
//   scatter   every GPU of a node sends each part to its head, which reduces it
//   up        the heads of a part send it to the switch that joins them, which reduces it
//   down      the switch sends the sum back to them
//   gather    a head sends the part to the GPUs of its node
//
// The closed form is that of NVLS: F + (S / loop) t, F = latency + fill t; GPUs contribute a loop each t, and
// F is shared out evenly among the legs.

#include <algorithm>

#include "workload/programs/loop_pieces.h"
#include "workload/programs/program_parts.h"

namespace weft::library {
namespace {

class DirectMaker {
 public:
  explicit DirectMaker(const Making& making)
      : m_(making), orders_(making.machine, making.team), nodes_(orders_.nodes()) {
    // Heads are spread over the node as its NICs are.
    const auto local = static_cast<uint32_t>(nodes_.front().size());
    const uint32_t heads = std::clamp(orders_.nics() * local / m_.machine.gpus_per_node, 1u, local);
    for (uint32_t h = 0; h < heads; ++h) heads_.push_back(h * local / heads);
  }

  void make() {
    const Buffers& buffers = m_.out.buffers();
    const auto heads = static_cast<double>(heads_.size());
    local_ = static_cast<uint32_t>(nodes_.front().size());
    const LoopPieces pieces(m_, heads * static_cast<double>(nodes_.size()) * (2.0 * local_ + 2), heads);
    leg_ = pieces.first_loop() / (local_ > 1 ? 4 : 2);
    window_ = pieces.window();
    for (const uint32_t head : heads_)
      switches_.push_back(m_.out.add_switch({m_.machine.network_dimension, nodes_.front()[head]}));
    lanes_.resize(m_.members());
    for (Lanes& lanes : lanes_) lanes = {m_.out.lane(), m_.out.lane()};
    uint64_t done = 0;
    for (uint32_t k = 0; k < pieces.count(); ++k) {
      cost_ = pieces.cost(k);
      carried_ = pieces.carried(k);
      const uint64_t begin = std::min(done, buffers.shards.back());
      uint64_t size = std::max<uint64_t>(1, pieces.bytes() / buffers.unit) * buffers.unit;
      size = pieces.last(k) ? buffers.shards.back() - begin : std::min(size, buffers.shards.back() - begin);
      make_loop(k, {begin, size});
      done += size;
    }
  }

 private:
  struct Lanes {
    uint32_t scatter = 0;
    uint32_t up = 0;
  };

  void make_loop(uint32_t k, const Stretch& whole) {
    const auto heads = static_cast<uint32_t>(heads_.size());
    const collectives::Split split = even_split(whole.bytes, heads, m_.out.buffers().unit);
    const uint32_t result = m_.out.price(0, leg_, carried_);
    // Alone in its node a head paces the loops itself.
    const double busy = local_ > 1 ? std::min(cost_, leg_) : cost_;
    const uint32_t up = m_.out.price(busy, local_ > 1 ? leg_ : cost_ + leg_, carried_);
    results_.emplace_back(m_.members());
    std::vector<std::vector<uint32_t>> parts(nodes_.size() * heads);  // what a head waits for
    for (size_t node = 0; node < nodes_.size() && local_ > 1; ++node) scatter(k, node, whole, split, parts);
    for (uint32_t h = 0; h < heads; ++h) {
      const Stretch part{whole.begin + split.offset(h), split.size(h)};
      std::vector<uint32_t> ups;
      for (size_t node = 0; node < nodes_.size(); ++node) {
        const uint32_t head = nodes_[node][heads_[h]];
        ups.push_back(m_.send(lanes_[head].up, head, switches_[h], part, up, true));
        for (const uint32_t p : parts[node * heads + h]) m_.out.after_arrival(p, ups.back());
        if (k >= window_) m_.out.after_arrival(results_[k - window_][head], ups.back());
      }
      for (const std::vector<uint32_t>& node : nodes_) {
        const uint32_t head = node[heads_[h]];
        const uint32_t down = m_.send(m_.out.lane(), switches_[h], head, part, result, false);
        for (const uint32_t u : ups) m_.out.after_arrival(u, down);
        results_[k][head] = down;
        for (const uint32_t member : node) {
          if (member == head) continue;
          const uint32_t last = m_.send(m_.out.lane(), head, member, part, result, false);
          m_.out.after_arrival(down, last);
          if (std::find(heads_.begin(), heads_.end(), place(node, member)) == heads_.end())
            results_[k][member] = last;
        }
      }
    }
  }

  void scatter(uint32_t k, size_t node, const Stretch& whole, const collectives::Split& split,
               std::vector<std::vector<uint32_t>>& parts) {
    const auto heads = static_cast<uint32_t>(heads_.size());
    for (const uint32_t member : nodes_[node]) {
      const bool is_head =
          std::find(heads_.begin(), heads_.end(), place(nodes_[node], member)) != heads_.end();
      const uint32_t sends = heads - (is_head ? 1 : 0);
      if (sends == 0) continue;
      const double each = cost_ / sends;
      const uint32_t price = m_.out.price(each, each + leg_, carried_ / sends);
      for (uint32_t h = 0; h < heads; ++h) {
        const uint32_t head = nodes_[node][heads_[h]];
        if (head == member) continue;
        const uint32_t number = m_.send(lanes_[member].scatter, member, head,
                                        {whole.begin + split.offset(h), split.size(h)}, price, true);
        parts[node * heads + h].push_back(number);
        if (k >= window_) m_.out.after_arrival(results_[k - window_][member], number);
      }
    }
  }

  static uint32_t place(const std::vector<uint32_t>& node, uint32_t member) {
    return static_cast<uint32_t>(std::find(node.begin(), node.end(), member) - node.begin());
  }

  const Making& m_;
  ChannelOrders orders_;
  const std::vector<std::vector<uint32_t>>& nodes_;
  std::vector<uint32_t> heads_;                 ///< places in a node
  std::vector<uint32_t> switches_;              ///< by head
  std::vector<Lanes> lanes_;                    ///< by member
  std::vector<std::vector<uint32_t>> results_;  ///< by piece and member: a result that has come to it
  uint32_t local_ = 1;
  uint32_t window_ = kStepsInFlight;  ///< pieces that a GPU has room for
  double leg_ = 0;
  double cost_ = 0;     ///< of the piece being made
  double carried_ = 0;  ///< .. of its bytes
};

}  // namespace

void make_collnet_direct(const Making& making) {
  DirectMaker(making).make();
}

}  // namespace weft::library
