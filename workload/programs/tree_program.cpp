// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Trees: all-reduce, up to the root and down again, both ways at once by lanes of their own. The closed form
// says how long it takes to fill the tree: F = latency + the time that a chunk alone needs for all hops. A
// message is as large a piece as F allows: with H hops from the farthest member to the root and back, pieces
// that take x each fill the tree in (H - 1) x, and what F has beyond that is shared out among the hops.
// CollNetChain is a tree whose root is a switch of the network. So the time without contention is the closed
// form's whatever the size of a piece.

#include <algorithm>
#include <cmath>
#include <map>

#include "workload/programs/program_parts.h"

namespace weft::library {
namespace {

class TreeMaker {
 public:
  explicit TreeMaker(const Making& making)
      : m_(making), n_(making.members()), orders_(making.machine, making.team) {}

  using Tree = ChannelOrders::Tree;

  void make() {
    for (uint32_t channel = 0; channel < m_.plan.channels; ++channel) trees_.push_back(orders_.tree(channel));
    if (m_.plan.algorithm == LibraryAlgorithm::collnet_chain)
      for (Tree& tree : trees_) put_under_switch(tree);
    find_pieces();
    for (uint32_t channel = 0; channel < m_.plan.channels; ++channel) make_channel(channel);
  }

 private:
  /// The heads of the nodes' chains become children of the switch that joins them.
  void put_under_switch(Tree& tree) {
    std::vector<uint32_t> heads;
    for (uint32_t v = 0; v < m_.members(); ++v) {
      const uint32_t up = tree.parent[v];
      if (up == Tree::kNone || orders_.node(up) != orders_.node(v)) heads.push_back(v);
    }
    const auto [at, fresh] = switches_.try_emplace(orders_.local(heads.front()), 0);
    if (fresh) {
      at->second = m_.out.add_switch({m_.machine.network_dimension, heads.front()});
      n_ = at->second + 1;
    }
    const uint32_t root = at->second;
    tree.parent.resize(root + size_t{1}, Tree::kNone);
    for (const uint32_t head : heads) tree.parent[head] = root;
    tree.children.assign(root + size_t{1}, {});
    for (uint32_t v = 0; v < m_.members(); ++v) tree.children[tree.parent[v]].push_back(v);
    std::vector<uint32_t> depth(root + size_t{1}, 0);
    tree.top_down = {root};
    tree.depth = 0;
    for (size_t i = 0; i < tree.top_down.size(); ++i)
      for (const uint32_t child : tree.children[tree.top_down[i]]) {
        depth[child] = depth[tree.top_down[i]] + 1;
        tree.depth = std::max(tree.depth, depth[child]);
        tree.top_down.push_back(child);
      }
  }

  void find_pieces() {
    const LibraryPlan& plan = m_.plan;
    const double share = static_cast<double>(plan.bytes) / plan.channels;
    const double chunk = std::min(share, static_cast<double>(plan.chunk_bytes));
    const double total = share * m_.costs.channel_byte + (share / chunk - 1) * m_.costs.sigma;
    const double fill = m_.costs.latency + chunk * m_.costs.way_byte;
    uint32_t hops = 1;
    for (const ChannelOrders::Tree& tree : trees_) hops = std::max(hops, 2 * tree.depth);
    const double most = fill / (hops - 1.0);
    pieces_ = static_cast<uint32_t>(std::max(1.0, std::ceil(total / most)));
    // No piece is smaller than the element that it has at least.
    pieces_ = std::min(pieces_, static_cast<uint32_t>(std::max(1.0, share / m_.out.buffers().unit)));
    const double cost = total / pieces_;
    const double wait = std::max(0.0, (fill - (hops - 1) * cost) / hops);
    price_ = m_.out.price(cost, cost + wait, share / pieces_ * m_.costs.channel_byte);
    window_ = static_cast<uint32_t>(std::max(1.0, std::floor(kStepsInFlight * chunk / (share / pieces_))));
  }

  struct Lanes {
    uint32_t up = 0;
    std::vector<uint32_t> down;  ///< by child
  };

  void make_channel(uint32_t channel) {
    const ChannelOrders::Tree& tree = trees_[channel];
    const Buffers& buffers = m_.out.buffers();
    const Stretch part = channel_part({0, buffers.shards.back()}, channel, m_.plan.channels, buffers.unit);
    const collectives::Split split = even_split(part.bytes, pieces_, buffers.unit);
    std::vector<Lanes> lanes(n_);
    for (const uint32_t v : tree.top_down) {
      if (tree.parent[v] != ChannelOrders::Tree::kNone) lanes[v].up = m_.out.lane();
      for (size_t c = 0; c < tree.children[v].size(); ++c) lanes[v].down.push_back(m_.out.lane());
    }
    up_.assign(n_, {});
    down_.assign(n_, {});
    for (uint32_t k = 0; k < pieces_; ++k) {
      Send send;
      send.price = price_;
      send.bytes = split.size(k);
      send.source = send.target = part.begin + split.offset(k);
      send.channel = static_cast<uint16_t>(channel);
      for (auto v = tree.top_down.rbegin(); v != tree.top_down.rend(); ++v)
        if (tree.parent[*v] != ChannelOrders::Tree::kNone) send_up(tree, *v, lanes[*v].up, k, send);
      for (const uint32_t v : tree.top_down)
        for (size_t c = 0; c < tree.children[v].size(); ++c)
          send_down(tree, v, tree.children[v][c], lanes[v].down[c], k, send);
    }
  }

  void send_up(const ChannelOrders::Tree& tree, uint32_t v, uint32_t lane, uint32_t k, Send send) {
    send.lane = lane;
    send.from = v;
    send.to = tree.parent[v];
    send.reduce = true;
    const uint32_t number = m_.out.send(send);
    up_[v].push_back(number);
    for (const uint32_t child : tree.children[v]) m_.out.after_arrival(up_[child][k], number);
    if (k < window_) return;
    // The parent sends on upwards, or (the root) downwards.
    const uint32_t old = k - window_;
    const bool root = tree.parent[send.to] == ChannelOrders::Tree::kNone;
    m_.out.after_end(root ? down_[tree.children[send.to].front()][old] : up_[send.to][old], number);
  }

  void send_down(const ChannelOrders::Tree& tree, uint32_t v, uint32_t child, uint32_t lane, uint32_t k,
                 Send send) {
    send.lane = lane;
    send.from = v;
    send.to = child;
    const uint32_t number = m_.out.send(send);
    down_[child].push_back(number);
    if (tree.parent[v] != ChannelOrders::Tree::kNone) {
      m_.out.after_arrival(down_[v][k], number);
    } else {
      for (const uint32_t other : tree.children[v]) m_.out.after_arrival(up_[other][k], number);
    }
    if (k < window_) return;
    const uint32_t old = k - window_;
    if (tree.children[child].empty()) {
      m_.out.after_arrival(down_[child][old], number);
    } else {
      m_.out.after_end(down_[tree.children[child].front()][old], number);
    }
  }

  const Making& m_;
  uint32_t n_;  ///< members, and switches
  ChannelOrders orders_;
  std::vector<ChannelOrders::Tree> trees_;
  std::map<uint32_t, uint32_t> switches_;  ///< CollNet: those of the network, by the heads' place in the node
  uint32_t pieces_ = 1;
  uint32_t price_ = 0;
  uint32_t window_ = kStepsInFlight;
  std::vector<std::vector<uint32_t>> up_;    ///< by member: the messages that it sends up, by piece
  std::vector<std::vector<uint32_t>> down_;  ///< by member: those that come down to it
};

}  // namespace

void make_tree(const Making& making) {
  TreeMaker(making).make();
}

}  // namespace weft::library
