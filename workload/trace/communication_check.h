// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Holds the traces of a job's ranks against each other. Private to workload_check.cpp.

#ifndef WEFT_WORKLOAD_TRACE_COMMUNICATION_CHECK_H
#define WEFT_WORKLOAD_TRACE_COMMUNICATION_CHECK_H

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "configs/types.h"
#include "workload/trace/collective_numbers.h"
#include "workload/trace/group_check.h"
#include "workload/trace/groups.h"
#include "workload/trace/trace_index.h"
#include "workload/trace/workload_check.h"

namespace weft::trace {

// Holds the ranks' communication against each other, rank by rank. Of a group, only the fingerprints of its
// lowest member's collectives are kept; of the point-to-point messages, those whose peer was not read yet.
class CommunicationCheck {
 public:
  CommunicationCheck(const Groups& groups, const std::vector<std::unique_ptr<TraceIndex>>& indices,
                     uint32_t npus)
      : groups_(groups), indices_(indices), npus_(npus), references_(groups.size()), due_(npus) {
    for (GroupId g = 0; g < groups.size(); ++g) {
      references_[g].rank = *std::min_element(groups.ranks(g).begin(), groups.ranks(g).end());
    }
    counts_.assign(groups.size(), 0);
    differs_.assign(groups.size(), kNoNode);
  }

  // From now on only messages from or to these ranks count, and the others' collectives do not.
  void sample(std::set<uint32_t> ranks) { sample_ = std::move(ranks); }

  // Ranks must come in ascending order.
  void add(const TraceIndex& index, NodeCache& cache) {
    rank_ = index.rank();
    index_ = &index;
    cache_ = &cache;
    for (NodeIndex i = 0; i < index.size(); ++i) {
      switch (index.type(i)) {
        case NodeType::invalid:
          index.decode(cache, i, node_);
          fail(fmt::format(
              "{}: its type is INVALID, which cannot be executed. Give it one of Chakra's node types 1 "
              "(METADATA) to 7 (COMM_COLL).",
              here()));
        case NodeType::comm_coll:
          index.decode(cache, i, node_);
          if (node_.has_comm_type && sampled(rank_)) collective();
          break;
        case NodeType::comm_send:
        case NodeType::comm_recv:
          index.decode(cache, i, node_);
          point_to_point();
          break;
        default:
          break;
      }
    }
    if (sampled(rank_)) {
      finish_group(kWorld);
      for (const GroupId g : groups_.of_rank(rank_)) finish_group(g);
    }
    for (const uint64_t key : due_[rank_]) match(key);
    due_[rank_].clear();
    due_[rank_].shrink_to_fit();
  }

  std::vector<OwnAlgorithm> take_own_algorithms() { return std::move(own_algorithms_); }

  /// When all ranks are in.
  CollectiveNumbers collective_numbers() const { return CollectiveNumbers(groups_, collectives()); }
  /// Of each group, as far as its lowest member was added.
  std::vector<uint32_t> collectives() const {
    std::vector<uint32_t> counts;
    for (const Reference& reference : references_)
      counts.push_back(static_cast<uint32_t>(reference.prints.size()));
    return counts;
  }

 private:
  static bool rooted(CollectiveOp op) {
    return op == CollectiveOp::broadcast || op == CollectiveOp::reduce || op == CollectiveOp::gather ||
           op == CollectiveOp::scatter;
  }

  static uint64_t mix(uint64_t h, uint64_t v) {
    h ^= v + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
    h *= 0xff51afd7ed558ccdull;
    return h ^ (h >> 33);
  }

  [[noreturn]] static void fail(const std::string& what) { throw UserError(ExitCode::trace, what); }

  static constexpr uint64_t kCache = 64ull << 20;
  static constexpr uint64_t kSmallCache = 16ull << 10;

  struct Reference {
    uint32_t rank = 0;  ///< the group's lowest member
    std::vector<uint64_t> prints;
  };
  struct Message {
    uint32_t tag;
    NodeIndex index;
    uint64_t bytes;
    bool operator<(const Message& o) const {
      return std::tie(tag, bytes, index) < std::tie(o.tag, o.bytes, o.index);
    }
  };
  struct Flow {
    std::vector<Message> sends;
    std::vector<Message> receives;
  };

  bool sampled(uint32_t rank) const { return sample_.empty() || sample_.count(rank) != 0; }

  std::string here() const { return index_->describe(*cache_, node_.index); }

  std::string group_text(GroupId g) const {
    return g == kWorld ? std::string("of all ranks") : fmt::format("\"{}\"", groups_.name(g));
  }

  uint32_t root_of(const Node& node, GroupId g) const {
    return node.has_root ? node.root : groups_.ranks(g).front();
  }

  uint64_t fingerprint(const Node& node, GroupId g) const {
    uint64_t h = mix(1, static_cast<uint64_t>(node.op));
    if (node.op != CollectiveOp::barrier) h = mix(h, node.comm_size);
    if (rooted(node.op)) h = mix(h, root_of(node, g));
    for (const bool b : node.involved_dim) h = mix(h, b ? 3 : 2);
    for (const char c : node.algorithm) h = mix(h, static_cast<uint64_t>(static_cast<unsigned char>(c)) + 4);
    return h;
  }

  void collective() {
    const std::string refusal = group_refusal(groups_, node_.pg_name, rank_);
    if (!refusal.empty()) fail(fmt::format("{}: {}", here(), refusal));
    const GroupId g = *groups_.find(node_.pg_name);
    if (rooted(node_.op) && node_.has_root && !groups_.contains(g, node_.root)) {
      fail(fmt::format(
          "{}: the root of this {} is rank {}, which is not in group {} (members: {}). The root is a rank of "
          "the job, and a member.",
          here(), to_string(node_.op), node_.root, group_text(g), members_text(groups_, g)));
    }
    if (!node_.algorithm.empty()) note_algorithm(g);
    const uint64_t print = fingerprint(node_, g);
    Reference& reference = references_[g];
    const uint32_t k = node_.ordinal;
    ++counts_[g];
    if (rank_ == reference.rank) {
      if (reference.prints.size() <= k) reference.prints.resize(k + uint64_t{1});
      reference.prints[k] = print;
    } else if (k < reference.prints.size() && reference.prints[k] != print &&
               (differs_[g] == kNoNode || k < index_->ordinal(differs_[g]))) {
      differs_[g] = node_.index;  // judged when the rank's count is known
    }
  }

  void note_algorithm(GroupId g) {
    const bool dimensions =
        std::find(node_.involved_dim.begin(), node_.involved_dim.end(), false) != node_.involved_dim.end();
    const auto members = dimensions ? 0 : static_cast<uint32_t>(groups_.ranks(g).size());
    if (!known_algorithms_.emplace(node_.algorithm, node_.op, members).second) return;
    own_algorithms_.push_back({node_.algorithm, node_.op, members, index_->path(), here()});
  }

  void finish_group(GroupId g) {
    const Reference& reference = references_[g];
    const uint32_t count = std::exchange(counts_[g], 0);
    const NodeIndex differs = std::exchange(differs_[g], kNoNode);
    if (rank_ == reference.rank) return;
    const auto expected = static_cast<uint32_t>(reference.prints.size());
    if (count == expected && differs == kNoNode) return;

    const TraceIndex& other = *indices_[reference.rank];
    NodeCache other_cache = other.open_cache(kCache);
    Node theirs;
    if (count == expected) {
      index_->decode(*cache_, differs, node_);
      const NodeIndex t = find(other, other_cache, g, node_.ordinal, theirs);
      fail(fmt::format(
          "{}: collective number {} of group {} {}, but on rank {} {} (n-th in ascending node id is the same "
          "collective on every rank): {}. Make the ranks' traces agree.",
          here(), node_.ordinal + 1, group_text(g), difference(node_, theirs, g, true), reference.rank,
          difference(theirs, node_, g, true), other.describe(other_cache, t)));
    }
    const uint32_t k = differs != kNoNode ? index_->ordinal(differs) : std::min(count, expected);
    const bool missing_here = count < expected;
    if (missing_here) {
      const NodeIndex t = find(other, other_cache, g, k, theirs);
      fail(fmt::format(
          "{}: rank {} never joins a collective of group {}: it has {}, rank {} has {}. The first without a "
          "partner is number {}, {} of {} bytes: {}. Add it to rank {}'s trace or mend the groups file.",
          index_->path(), rank_, group_text(g), count, reference.rank, expected, k + 1, to_string(theirs.op),
          theirs.comm_size, other.describe(other_cache, t), rank_));
    }
    find(*index_, *cache_, g, k, node_);
    fail(fmt::format(
        "{}: rank {} never joins a collective of group {}: it has {}, rank {} has {}. The first without a "
        "partner is number {}, {} of {} bytes: {}. Add it to rank {}'s trace or mend the groups file.",
        other.path(), reference.rank, group_text(g), expected, rank_, count, k + 1, to_string(node_.op),
        node_.comm_size, here(), reference.rank));
  }

  // What `a` is where it differs from `b`.
  std::string difference(const Node& a, const Node& b, GroupId g, bool verb) const {
    const char* is = verb ? "is " : "";
    if (a.op != b.op) return fmt::format("{}{} of {} bytes", is, to_string(a.op), a.comm_size);
    if (a.op != CollectiveOp::barrier && a.comm_size != b.comm_size) {
      return fmt::format("{}{} of {} bytes", is, to_string(a.op), a.comm_size);
    }
    if (rooted(a.op) && root_of(a, g) != root_of(b, g)) {
      return fmt::format("{}{} with root {}", is, to_string(a.op), root_of(a, g));
    }
    if (a.algorithm != b.algorithm)
      return fmt::format("{}{} with {}", is, to_string(a.op),
                         a.algorithm.empty() ? std::string("no algorithm of its own")
                                             : fmt::format("algorithm \"{}\"", a.algorithm));
    std::string dims;
    for (const bool d : a.involved_dim) dims += fmt::format("{}{}", dims.empty() ? "" : ", ", d);
    return fmt::format("{}{} with involved_dim [{}]", is, to_string(a.op), dims);
  }

  // The collective number k of a group in a rank's trace.
  NodeIndex find(const TraceIndex& index, NodeCache& cache, GroupId g, uint32_t k, Node& node) const {
    for (NodeIndex i = 0; i < index.size(); ++i) {
      if (index.type(i) != NodeType::comm_coll || index.ordinal(i) != k) continue;
      index.decode(cache, i, node);
      if (node.has_comm_type && groups_.find(node.pg_name) == std::optional<GroupId>(g)) return i;
    }
    return kNoNode;
  }

  void point_to_point() {
    const bool send = node_.type == NodeType::comm_send;
    const char* peer_name = send ? "comm_dst" : "comm_src";
    if (node_.peer >= npus_) {
      fail(fmt::format(
          "{}: {} is rank {}, but the machine has {} NPUs (ranks 0 to {}). Use a machine of the traces' "
          "size.",
          here(), peer_name, node_.peer, npus_, npus_ - 1));
    }
    if (node_.peer == rank_) {
      fail(
          fmt::format("{}: {} is its own rank {}: a rank cannot {} itself. Remove the node or mend its peer.",
                      here(), peer_name, rank_, send ? "send to" : "receive from"));
    }
    if (node_.has_own_end && node_.own_end != rank_) {
      fail(fmt::format(
          "{}: {} is rank {}, but the node is in the trace of rank {}: a rank {} itself. Move the node "
          "to rank {}'s trace or mend the attribute.",
          here(), send ? "comm_src" : "comm_dst", node_.own_end, rank_,
          send ? "sends only from" : "receives only at", node_.own_end));
    }
    if (!sampled(rank_) && !sampled(node_.peer)) return;
    const uint64_t source = send ? rank_ : node_.peer;
    const uint64_t target = send ? node_.peer : rank_;
    const auto [it, added] = flows_.try_emplace(source << 32 | target);
    if (added) due_[std::max(source, target)].push_back(it->first);
    (send ? it->second.sends : it->second.receives).push_back({node_.tag, node_.index, node_.comm_size});
  }

  // Both ends are read: per tag, the sizes sent and received must be the same, in whatever order.
  void match(uint64_t key) {
    const auto it = flows_.find(key);
    Flow flow = std::move(it->second);
    flows_.erase(it);
    const auto source = static_cast<uint32_t>(key >> 32);
    const auto target = static_cast<uint32_t>(key);
    std::sort(flow.sends.begin(), flow.sends.end());
    std::sort(flow.receives.begin(), flow.receives.end());
    const auto same = [](const Message& a, const Message& b) { return a.tag == b.tag && a.bytes == b.bytes; };
    if (std::equal(flow.sends.begin(), flow.sends.end(), flow.receives.begin(), flow.receives.end(), same))
      return;

    // What is left on each side once equal messages are taken away, by tag and size.
    std::vector<Message> sends;
    std::vector<Message> receives;
    auto s = flow.sends.begin();
    auto r = flow.receives.begin();
    while (s != flow.sends.end() || r != flow.receives.end()) {
      const auto order = [](const Message& a, const Message& b) {
        return std::tie(a.tag, a.bytes) < std::tie(b.tag, b.bytes);
      };
      if (r == flow.receives.end() || (s != flow.sends.end() && order(*s, *r))) {
        sends.push_back(*s++);
      } else if (s == flow.sends.end() || order(*r, *s)) {
        receives.push_back(*r++);
      } else {
        ++s;
        ++r;
      }
    }
    const auto text = [&](uint32_t rank, NodeIndex i) {
      const TraceIndex& index = *indices_[rank];
      NodeCache cache = index.open_cache(kSmallCache);
      return index.describe(cache, i);
    };
    for (const Message& m : sends) {
      const auto partner =
          std::find_if(receives.begin(), receives.end(), [&](const Message& o) { return o.tag == m.tag; });
      if (partner != receives.end()) {
        fail(fmt::format(
            "{}: sends {} bytes to rank {} with tag {}, but its receive expects {} bytes: {}. Make the two "
            "sizes equal.",
            text(source, m.index), m.bytes, target, m.tag, partner->bytes, text(target, partner->index)));
      }
    }
    if (!sends.empty()) {
      const Message& m = sends.front();
      fail(fmt::format(
          "{}: a send without a receive: {} bytes to rank {} with tag {}, but {} has no COMM_RECV left from "
          "rank {} with that tag. Add the receive or remove the send.",
          text(source, m.index), m.bytes, target, m.tag, indices_[target]->path(), source));
    }
    const Message& m = receives.front();
    fail(
        fmt::format("{}: a receive without a send: {} bytes from rank {} with tag {}, but {} has no "
                    "COMM_SEND left to rank "
                    "{} with that tag. Add the send or remove the receive.",
                    text(target, m.index), m.bytes, source, m.tag, indices_[source]->path(), target));
  }

  const Groups& groups_;
  const std::vector<std::unique_ptr<TraceIndex>>& indices_;
  uint32_t npus_;
  std::vector<Reference> references_;
  std::vector<uint32_t> counts_;    ///< of the rank being read, by group
  std::vector<NodeIndex> differs_;  ///< its first collective that differs from the reference, by group
  std::unordered_map<uint64_t, Flow> flows_;
  std::vector<std::vector<uint64_t>> due_;  ///< flows that are complete once this rank is read
  std::set<std::tuple<std::string, CollectiveOp, uint32_t>> known_algorithms_;
  std::vector<OwnAlgorithm> own_algorithms_;
  std::set<uint32_t> sample_;  ///< empty: all ranks
  uint32_t rank_ = 0;
  const TraceIndex* index_ = nullptr;
  NodeCache* cache_ = nullptr;
  Node node_;
};

}  // namespace weft::trace

#endif
