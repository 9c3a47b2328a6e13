// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/programs/channel_orders.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "workload/library/cube_mesh.h"

namespace weft::library {
namespace {

constexpr uint32_t kAny = ~0u;

/// Looks for a cycle through all places whose links carry no more than `level` rings a link. `last`: a path
/// that ends there instead; kAny: a cycle.
class CycleSearch {
 public:
  CycleSearch(const std::vector<uint32_t>& places, uint32_t width, const std::vector<uint32_t>& capacity,
              const std::vector<uint32_t>& load, uint32_t level, uint32_t last)
      : places_(places), width_(width), capacity_(capacity), load_(load), level_(level), last_(last) {}

  bool run() {
    passed_.assign(width_, false);
    path_ = {places_.front()};
    passed_[places_.front()] = true;
    return extend();
  }
  const std::vector<uint32_t>& path() const { return path_; }

 private:
  static constexpr uint32_t kMostTries = 20000;

  size_t arc(uint32_t from, uint32_t to) const { return static_cast<size_t>(from) * width_ + to; }
  bool free(uint32_t from, uint32_t to) const {
    return load_[arc(from, to)] < level_ * capacity_[arc(from, to)];
  }
  /// Least load a link first, then the thickest bundle, then the next place.
  bool before(uint32_t from, uint32_t a, uint32_t b) const {
    const uint64_t left = uint64_t{load_[arc(from, a)] + 1} * capacity_[arc(from, b)];
    const uint64_t right = uint64_t{load_[arc(from, b)] + 1} * capacity_[arc(from, a)];
    if (left != right) return left < right;
    if (capacity_[arc(from, a)] != capacity_[arc(from, b)])
      return capacity_[arc(from, a)] > capacity_[arc(from, b)];
    return (a + width_ - from) % width_ < (b + width_ - from) % width_;
  }
  bool extend() {
    const uint32_t from = path_.back();
    if (path_.size() == places_.size()) return last_ == kAny ? free(from, path_.front()) : from == last_;
    if (++tries_ > kMostTries) return false;
    std::vector<uint32_t> next;
    for (const uint32_t place : places_)
      if (!passed_[place] && free(from, place)) next.push_back(place);
    std::sort(next.begin(), next.end(), [&](uint32_t a, uint32_t b) { return before(from, a, b); });
    for (const uint32_t place : next) {
      path_.push_back(place);
      passed_[place] = true;
      if (extend()) return true;
      path_.pop_back();
      passed_[place] = false;
    }
    return false;
  }

  const std::vector<uint32_t>& places_;
  uint32_t width_;
  const std::vector<uint32_t>& capacity_;
  const std::vector<uint32_t>& load_;
  uint32_t level_;
  uint32_t last_;
  std::vector<bool> passed_;
  std::vector<uint32_t> path_;
  uint32_t tries_ = 0;
};

/// The parent of a node in the binary tree over n nodes, in which node 0 is the root.
uint32_t binary_parent(uint32_t node, uint32_t n) {
  if (node == 0) return ~0u;
  const uint32_t bit = node & (~node + 1);
  const uint32_t up = (node ^ bit) | bit << 1;
  return up < n ? up : node ^ bit;
}

/// .. in the complementary one: mirrored, or shifted by one if n is odd.
uint32_t other_parent(uint32_t node, uint32_t n) {
  const auto turn = [n](uint32_t v) { return n % 2 == 0 ? n - 1 - v : (v + n - 1) % n; };
  const auto back = [n](uint32_t v) { return n % 2 == 0 ? n - 1 - v : (v + 1) % n; };
  const uint32_t parent = binary_parent(turn(node), n);
  return parent == ~0u ? ~0u : back(parent);
}

}  // namespace

ChannelOrders::ChannelOrders(const LibraryMachine& machine, const Team& team)
    : machine_(machine),
      gpus_(machine.gpus_per_node),
      nics_(std::max(1u, std::min(machine.nics_per_node, gpus_))),
      gpus_of_nic_(gpus_ / nics_) {
  std::map<uint32_t, std::vector<uint32_t>> by_node;
  const auto members = static_cast<uint32_t>(team.npus.size());
  local_.resize(members);
  node_.resize(members);
  used_.assign(gpus_, false);
  for (uint32_t m = 0; m < members; ++m) {
    by_node[team.npus[m] / gpus_].push_back(m);
    local_[m] = team.npus[m] % gpus_;
    used_[local_[m]] = true;
  }
  for (auto& [node, list] : by_node) {
    std::sort(list.begin(), list.end(), [&](uint32_t a, uint32_t b) { return local_[a] < local_[b]; });
    for (const uint32_t m : list) node_[m] = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back(std::move(list));
  }
  find_entries();
  const bool mesh = machine.links == NodeLinks::cube_mesh && gpus_ == kCubeMeshGpus;
  if (!mesh && machine.links != NodeLinks::fully_connected) return;
  load_.assign(size_t{gpus_} * gpus_, 0);
  for (uint32_t a = 0; a < gpus_; ++a)
    for (uint32_t b = 0; b < gpus_; ++b) capacity_.push_back(mesh ? cube_mesh_links(a, b) : a != b ? 1 : 0);
}

/// Channels take the NICs beside the communicator's GPUs in turn, and the GPUs of a NIC.
void ChannelOrders::find_entries() {
  for (const std::vector<uint32_t>& node : nodes_) {
    std::vector<bool> has(gpus_, false);
    for (const uint32_t member : node) has[local_[member]] = true;
    std::vector<std::vector<uint32_t>>& entries = entries_.emplace_back();
    for (uint32_t nic = 0; nic < nics_; ++nic) {
      std::vector<uint32_t> beside;
      const uint32_t end = (nic + 1) * gpus_ / nics_;
      for (uint32_t place = nic * gpus_ / nics_; place < end; ++place)
        if (has[place] && beside.size() < gpus_of_nic_) beside.push_back(place);
      if (!beside.empty()) entries.push_back(std::move(beside));
    }
  }
}

/// The GPU beside the NIC by which the channel enters the node.
uint32_t ChannelOrders::entry(uint32_t node, uint32_t channel) const {
  const auto nics = static_cast<uint32_t>(entries_[node].size());
  const std::vector<uint32_t>& beside = entries_[node][channel % nics];
  return beside[channel / nics % beside.size()];
}

std::vector<uint32_t> ChannelOrders::cycle(uint32_t channel) {
  if (!capacity_.empty()) return balanced_cycle(channel, entry(0, channel));
  std::vector<uint32_t> places(gpus_);
  std::iota(places.begin(), places.end(), 0u);
  return places;
}

/// Of several nodes: the GPU from which a channel that enters at `first` leaves, beside the same NIC if GPUs
/// share one, so that all NICs have equally many. Between fully connected GPUs the channels of a NIC leave by
/// different ones: what changes rails after an odd number of nodes uses all links then.
uint32_t ChannelOrders::exit(uint32_t channel, uint32_t first) const {
  if (nodes_.size() < 2) return kAny;
  const uint32_t shared = gpus_of_nic_;
  const bool all_joined = machine_.links == NodeLinks::fully_connected && shared == 1;
  const auto nics = static_cast<uint32_t>(entries_.front().size());
  const uint32_t turn = all_joined && gpus_ > 1 ? channel / nics % (gpus_ - 1) : 0;
  const uint32_t last = shared > 1 ? first / shared * shared + (first % shared + 1) % shared
                                   : (first + gpus_ - 1 - turn) % gpus_;
  return last < gpus_ && last != first && used_[last] ? last : kAny;
}

std::vector<uint32_t> ChannelOrders::balanced_cycle(uint32_t channel, uint32_t first) {
  constexpr uint32_t kMostLevels = 256;
  std::vector<uint32_t> places;
  for (uint32_t i = 0; i < gpus_; ++i)
    if (used_[(first + i) % gpus_]) places.push_back((first + i) % gpus_);
  if (places.size() < 2) return places;
  const uint32_t last = exit(channel, first);
  for (uint32_t level = 1; level <= kMostLevels; ++level) {
    CycleSearch search(places, gpus_, capacity_, load_, level, last);
    if (!search.run()) continue;
    places = search.path();
    break;
  }
  for (size_t i = 0; i + (last == kAny ? 0 : 1) < places.size(); ++i)
    ++load_[size_t{places[i]} * gpus_ + places[(i + 1) % places.size()]];
  return places;
}

std::vector<uint32_t> ChannelOrders::members_of(uint32_t node, uint32_t channel, std::vector<uint32_t> cycle,
                                                bool backwards) const {
  if (capacity_.empty())
    std::rotate(cycle.begin(), std::find(cycle.begin(), cycle.end(), entry(node, channel)), cycle.end());
  if (backwards) std::reverse(cycle.begin(), cycle.end());
  std::vector<uint32_t> members;
  for (const uint32_t place : cycle)
    for (const uint32_t m : nodes_[node])
      if (local_[m] == place) members.push_back(m);
  return members;
}

std::vector<uint32_t> ChannelOrders::ring(uint32_t channel) {
  const std::vector<uint32_t> places = cycle(channel);
  std::vector<uint32_t> order;
  for (uint32_t node = 0; node < nodes_.size(); ++node) {
    const std::vector<uint32_t> members = members_of(node, channel, places, node % 2 != 0);
    order.insert(order.end(), members.begin(), members.end());
  }
  return order;
}

ChannelOrders::Tree ChannelOrders::tree(uint32_t channel) {
  const std::vector<uint32_t> places = cycle(channel);
  const auto count = static_cast<uint32_t>(nodes_.size());
  const auto nics = static_cast<uint32_t>(entries_.front().size());
  // The channels of each NIC alternate between the two trees: an inner node of one is a leaf of the other.
  const bool other = (channel % nics + channel / nics) % 2 != 0;
  Tree tree;
  tree.parent.assign(local_.size(), Tree::kNone);
  tree.children.resize(local_.size());
  std::vector<uint32_t> heads;
  uint32_t root = 0;
  for (uint32_t node = 0; node < count; ++node) {
    const std::vector<uint32_t> members = members_of(node, channel, places, false);
    heads.push_back(members.front());
    for (size_t i = 1; i < members.size(); ++i) tree.parent[members[i]] = members[i - 1];
  }
  for (uint32_t node = 0; node < count; ++node) {
    const uint32_t up = other ? other_parent(node, count) : binary_parent(node, count);
    if (up == ~0u) {
      root = heads[node];
    } else {
      tree.parent[heads[node]] = heads[up];
    }
  }
  for (uint32_t m = 0; m < tree.parent.size(); ++m)
    if (tree.parent[m] != Tree::kNone) tree.children[tree.parent[m]].push_back(m);
  std::vector<uint32_t> depth(tree.parent.size(), 0);
  tree.top_down = {root};
  for (size_t i = 0; i < tree.top_down.size(); ++i) {
    const uint32_t m = tree.top_down[i];
    tree.depth = std::max(tree.depth, depth[m]);
    for (const uint32_t child : tree.children[m]) {
      depth[child] = depth[m] + 1;
      tree.top_down.push_back(child);
    }
  }
  return tree;
}

}  // namespace weft::library
