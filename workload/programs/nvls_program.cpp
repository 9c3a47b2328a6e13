// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// NVLS: the switches of a node reduce and multicast. Data go in loops; every GPU of a node is the head of a
// part of each loop:
//
//   contribute   every GPU sends each part to the switch, which reduces it
//   reduced      the switch sends the sum of a part to its head
//   (nodes)      the heads of a part reduce and broadcast it over the nodes by trees, or the network's
//                switches do (SHARP)
//   multicast    the head sends the part to the switch, which sends it to all others
//
// Reduce-scatter is the first half, all-gather the second; every rank has a part of its own, and is its head.
// Over nodes the network's switches reduce a part for its rank, or send it to the heads at the same place of
// the other nodes, which multicast it there. The closed form is F + (S / loop) t with
// F = latency + fill t: GPUs contribute a loop each t, and F is shared out evenly among the legs of a part's
// way. Links carry a loop once up and once down, and its parts once more, as multimem operations do. All
// channels of a GPU are one lane. A large call has many loops; some of them go as one piece (loop_pieces.h).

#include <algorithm>

#include "workload/programs/loop_pieces.h"
#include "workload/programs/program_parts.h"

namespace weft::library {
namespace {

constexpr uint32_t kNone = ~0u;

class NvlsMaker {
 public:
  explicit NvlsMaker(const Making& making)
      : m_(making),
        op_(making.plan.op),
        orders_(making.machine, making.team),
        nodes_(orders_.nodes()),
        heads_(static_cast<uint32_t>(nodes_.front().size())),
        owners_(op_ == LibraryOp::all_reduce ? 1 : static_cast<uint32_t>(nodes_.size())),
        reduced_between_(making.plan.algorithm == LibraryAlgorithm::nvls && nodes_.size() > 1) {
    for (uint32_t channel : {0u, 1u}) find_tree(channel);
    if (reduced_between_) depth_ = 1;
  }

  void make() {
    const Buffers& buffers = m_.out.buffers();
    const auto nodes = static_cast<double>(nodes_.size());
    const double sends = owners_ == 1 ? 2.0 * (heads_ + 1) * nodes : nodes * ((heads_ + 2) * nodes + 1);
    const LoopPieces pieces(m_, heads_ * sends, 1.0 * heads_ * owners_);
    leg_ = pieces.first_loop() / ((reduces() ? 2 : 0) + (spreads() ? 2 : 0) + 2 * depth_);
    window_ = pieces.window();
    for (const std::vector<uint32_t>& node : nodes_)
      switches_.push_back(m_.out.add_switch({0, node.front()}));
    if (reduced_between_)
      for (const uint32_t head : nodes_.front())
        rails_.push_back(m_.out.add_switch({m_.machine.network_dimension, head}));
    lanes_.resize(m_.members());
    for (Lanes& lanes : lanes_) lanes = {m_.out.lane(), {m_.out.lane(), m_.out.lane()}, m_.out.lane()};
    uint64_t done = 0;  // all_reduce: of the buffer; else: of every shard
    for (uint32_t k = 0; k < pieces.count(); ++k) {
      cost_ = pieces.cost(k);
      carried_ = pieces.carried(k);
      uint64_t size = pieces.bytes() / (op_ == LibraryOp::all_reduce ? 1 : m_.members());
      size = std::max<uint64_t>(1, size / buffers.unit) * buffers.unit;
      make_loop(k, done, pieces.last(k) ? kNone64 : size);
      done += size;
    }
  }

 private:
  static constexpr uint64_t kNone64 = ~uint64_t{0};
  struct Lanes {
    uint32_t contribute = 0;
    uint32_t up[2] = {0, 0};  ///< by tree: what a leaf of one sends does not wait for the other
    uint32_t share = 0;
  };

  struct Prices {
    uint32_t contribute = 0, result = 0, hop = 0, share = 0;
  };

  bool reduces() const { return op_ != LibraryOp::all_gather; }
  bool spreads() const { return op_ != LibraryOp::reduce_scatter; }

  /// The tree over the nodes of every second part.
  void find_tree(uint32_t channel) {
    const ChannelOrders::Tree tree = orders_.tree(channel);
    std::vector<uint32_t> parent(nodes_.size(), kNone);
    for (uint32_t v = 0; v < tree.parent.size(); ++v) {
      const uint32_t up = tree.parent[v];
      if (up != ChannelOrders::Tree::kNone && orders_.node(up) != orders_.node(v))
        parent[orders_.node(v)] = orders_.node(up);
    }
    for (uint32_t node = 0; node < nodes_.size(); ++node) {
      uint32_t hops = 0;
      for (uint32_t at = node; parent[at] != kNone; at = parent[at]) ++hops;
      depth_ = std::max(depth_, hops);
    }
    parents_.push_back(std::move(parent));
  }

  /// What head `h` of a node has of the piece: of all of it, or of the shard of its rank at node `owner`.
  Stretch part(uint32_t owner, uint32_t h, uint64_t done, uint64_t size) const {
    const Buffers& buffers = m_.out.buffers();
    if (op_ == LibraryOp::all_reduce) {
      const uint64_t begin = std::min(done, buffers.shards.back());
      const uint64_t bytes = std::min(size, buffers.shards.back() - begin);
      const collectives::Split split = even_split(bytes, heads_, buffers.unit);
      return {begin + split.offset(h), split.size(h)};
    }
    const uint32_t position = m_.team.positions[nodes_[owner][h]];
    const uint64_t shard = buffers.shards[position + 1] - buffers.shards[position];
    const uint64_t begin = std::min(done, shard);
    return {buffers.shards[position] + begin, std::min(size, shard - begin)};
  }

  void make_loop(uint32_t k, uint64_t done, uint64_t size) {
    const double busy = std::min(cost_ / owners_, leg_);
    const double parts = 1.0 * heads_ * owners_;
    const double each = cost_ / parts;
    Prices p;
    p.contribute = m_.out.price(each, each + leg_, carried_ / parts);
    p.result = m_.out.price(0, leg_, carried_ / owners_);
    p.hop = m_.out.price(busy, leg_, carried_ / owners_);
    // An all-gather has nothing before its multicast that takes the time of the loop's bytes.
    p.share = reduces() ? p.hop : m_.out.price(cost_ / owners_, cost_ / owners_ + leg_, carried_ / owners_);
    if (reduces()) results_.emplace_back(m_.members());
    std::vector<std::vector<std::vector<uint32_t>>> contributions(owners_ * heads_);  // by part and node
    for (size_t node = 0; node < nodes_.size() && reduces(); ++node)
      for (const uint32_t member : nodes_[node])
        for (uint32_t owner = 0; owner < owners_; ++owner)
          for (uint32_t h = 0; h < heads_; ++h) {
            const uint32_t number = m_.send(lanes_[member].contribute, member, switches_[node],
                                            part(owner, h, done, size), p.contribute, true);
            auto& of = contributions[owner * heads_ + h];
            of.resize(nodes_.size());
            of[node].push_back(number);
            if (k >= window_) m_.out.after_arrival(results_[k - window_][member], number);
          }
    for (uint32_t owner = 0; owner < owners_; ++owner)
      for (uint32_t h = 0; h < heads_; ++h)
        make_part(k, owner, h, part(owner, h, done, size), contributions[owner * heads_ + h], p);
  }

  void make_part(uint32_t k, uint32_t owner, uint32_t h, const Stretch& part,
                 const std::vector<std::vector<uint32_t>>& contributions, const Prices& p) {
    std::vector<std::vector<uint32_t>> before(nodes_.size());  // what the head of a node waits for
    for (size_t node = 0; node < nodes_.size() && reduces(); ++node) {
      const uint32_t head = nodes_[node][h];
      const uint32_t number = m_.send(m_.out.lane(), switches_[node], head, part, p.result, false);
      for (const uint32_t c : contributions[node]) m_.out.after_arrival(c, number);
      before[node].push_back(number);
      results_[k][head] = number;
    }
    if (reduced_between_)
      cross_switch(owner, h, part, p, before);
    else if (nodes_.size() > 1)
      cross((k + h) % 2, h, part, p.hop, before);
    if (!spreads()) return;
    for (size_t node = 0; node < nodes_.size(); ++node) {
      const uint32_t head = nodes_[node][h];
      const uint32_t up = m_.send(lanes_[head].share, head, switches_[node], part, p.share, false);
      for (const uint32_t b : before[node]) m_.out.after_arrival(b, up);
      for (const uint32_t member : nodes_[node]) {
        if (member == head) continue;
        m_.out.after_arrival(up, m_.send(m_.out.lane(), switches_[node], member, part, p.result, false));
      }
    }
  }

  /// The switch that joins the heads of the part reduces what they send. All get the sum, or the rank that
  /// owns the part; or that rank's is sent to the others.
  void cross_switch(uint32_t owner, uint32_t h, const Stretch& part, const Prices& p,
                    std::vector<std::vector<uint32_t>>& before) {
    std::vector<uint32_t> ups;
    for (size_t node = 0; node < nodes_.size(); ++node) {
      if (!reduces() && node != owner) continue;
      const uint32_t head = nodes_[node][h];
      ups.push_back(m_.send(lanes_[head].up[0], head, rails_[h], part, p.hop, reduces()));
      for (const uint32_t b : before[node]) m_.out.after_arrival(b, ups.back());
    }
    for (size_t node = 0; node < nodes_.size(); ++node) {
      if (op_ != LibraryOp::all_reduce && reduces() != (node == owner)) continue;
      const uint32_t down = m_.send(m_.out.lane(), rails_[h], nodes_[node][h], part, p.result, false);
      for (const uint32_t u : ups) m_.out.after_arrival(u, down);
      before[node] = {down};
    }
  }

  /// Reduces the part over the nodes and broadcasts it: `before` becomes the arrivals that end it at each.
  void cross(uint32_t tree, uint32_t h, const Stretch& part, uint32_t hop,
             std::vector<std::vector<uint32_t>>& before) {
    const std::vector<uint32_t>& parent = parents_[tree];
    std::vector<uint32_t> order;  // parents before their children
    for (uint32_t node = 0; node < nodes_.size(); ++node)
      if (parent[node] == kNone) order.push_back(node);
    for (size_t i = 0; i < order.size(); ++i)
      for (uint32_t node = 0; node < nodes_.size(); ++node)
        if (parent[node] == order[i]) order.push_back(node);
    for (size_t i = order.size(); i-- > 1;) {
      const uint32_t node = order[i];
      const uint32_t from = nodes_[node][h];
      const uint32_t number = m_.send(lanes_[from].up[tree], from, nodes_[parent[node]][h], part, hop, true);
      for (const uint32_t b : before[node]) m_.out.after_arrival(b, number);
      // The parent combines it with what its own switch has reduced.
      m_.out.after_arrival(before[parent[node]].front(), number);
      before[parent[node]].push_back(number);
    }
    for (size_t i = 1; i < order.size(); ++i) {
      const uint32_t node = order[i];
      const uint32_t from = nodes_[parent[node]][h];
      const uint32_t number = m_.send(m_.out.lane(), from, nodes_[node][h], part, hop, false);
      for (const uint32_t b : before[parent[node]]) m_.out.after_arrival(b, number);
      before[node] = {number};
    }
  }

  const Making& m_;
  LibraryOp op_;
  ChannelOrders orders_;
  const std::vector<std::vector<uint32_t>>& nodes_;
  uint32_t heads_;
  uint32_t owners_;       ///< nodes whose ranks have parts of their own; all_reduce: 1
  bool reduced_between_;  ///< by switches of the network
  uint32_t depth_ = 0;
  std::vector<std::vector<uint32_t>> parents_;  ///< by node, of the two trees
  std::vector<uint32_t> switches_;              ///< by node
  std::vector<uint32_t> rails_;                 ///< switches of the network, by head
  std::vector<Lanes> lanes_;                    ///< by member
  std::vector<std::vector<uint32_t>> results_;  ///< by piece and member: the result that comes to it as head
  uint32_t window_ = kStepsInFlight;            ///< pieces that a GPU has room for
  double leg_ = 0;
  double cost_ = 0;     ///< of the piece being made
  double carried_ = 0;  ///< .. of its bytes
};

}  // namespace

void make_nvls(const Making& making) {
  NvlsMaker(making).make();
}

}  // namespace weft::library
