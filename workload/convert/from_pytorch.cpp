// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/convert/from_pytorch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "workload/convert/pytorch/rank_graph.h"
#include "workload/trace/attribute_reader.h"

namespace weft::convert {
namespace {

using pytorch::Group;
using pytorch::Kind;
using pytorch::Node;
using pytorch::RankGraph;

[[noreturn]] void refuse(const std::string& what) {
  throw UserError(ExitCode::usage, "weft trace convert: " + what);
}

bool rooted(CollectiveOp op) {
  return op == CollectiveOp::reduce || op == CollectiveOp::gather || op == CollectiveOp::scatter ||
         op == CollectiveOp::broadcast;
}

/// A group as ranks start, start + stride, ..; nothing if it is none.
struct Grid {
  uint32_t start = 0, stride = 1, size = 0;
};
std::optional<Grid> grid_of(const std::vector<uint32_t>& ranks) {
  if (ranks.empty()) return std::nullopt;
  Grid grid{ranks[0], 1, static_cast<uint32_t>(ranks.size())};
  if (ranks.size() == 1) return grid;
  if (ranks[1] <= ranks[0]) return std::nullopt;
  grid.stride = ranks[1] - ranks[0];
  for (size_t i = 1; i < ranks.size(); ++i)
    if (ranks[i] != grid.start + i * grid.stride) return std::nullopt;
  return grid;
}

/// The groups of all ranks, and how a node of the traced rank names its own on another one.
class Groups {
 public:
  Groups(const PyTorchInput& input, uint32_t ranks) : input_(input), ranks_(ranks) {}

  /// The members of a node's group at `rank`, empty for all, and the group's name in the traces.
  std::pair<std::vector<uint32_t>, std::string> at(const RankGraph& graph, const Node& node, uint32_t rank) {
    const auto it = graph.groups.find(node.group);
    std::vector<uint32_t> members = it == graph.groups.end() ? std::vector<uint32_t>() : it->second.ranks;
    if (it == graph.groups.end() && !node.group.empty()) unknown_.insert(node.group);
    if (members.empty() || members.size() == ranks_) {
      if (members.empty()) return {{}, ""};
      std::vector<uint32_t> sorted = members;
      std::sort(sorted.begin(), sorted.end());
      if (sorted.back() == ranks_ - 1) return {{}, ""};
    }
    if (input_.replicate != 0) members = moved(graph, node.group, members, rank);
    for (const uint32_t member : members)
      if (member >= ranks_)
        refuse(fmt::format(
            "{}: group {} has rank {}, and the traces are of {} ranks; give the traces of all ranks, or "
            "--replicate N",
            graph.path, node.group, member, ranks_));
    if (std::find(members.begin(), members.end(), rank) == members.end())
      refuse(fmt::format(
          "{}: rank {} uses group {}, whose ranks are {}; give the traces in the order of their ranks, "
          "or with --replicate the traced one as --rank R",
          graph.path, rank, node.group, fmt::join(members, ", ")));
    const std::string name =
        input_.replicate != 0 ? fmt::format("{}.{}", node.group, members.front()) : node.group;
    json_[name] = members;
    return {members, name};
  }

  const nlohmann::ordered_json& json() const { return json_; }
  const std::set<std::string>& unknown() const { return unknown_; }
  uint64_t shifted() const { return shifted_.size(); }

 private:
  std::vector<uint32_t> moved(const RankGraph& graph, const std::string& name,
                              const std::vector<uint32_t>& members, uint32_t rank) {
    const std::optional<Grid> grid = grid_of(members);
    const auto whole = grid ? uint64_t{grid->stride} * grid->size : 0;
    const uint64_t traced = input_.rank;
    if (!grid || ranks_ % whole != 0 || grid->start != traced / whole * whole + traced % grid->stride)
      refuse(fmt::format(
          "--replicate {}: {}: group {} has the ranks {}, which are no part of a regular grid of {} "
          "ranks around rank {}: start, start + stride, .. in blocks of stride x size. Give the traces "
          "of all ranks, or the traced rank as --rank R",
          input_.replicate, graph.path, name, fmt::join(members, ", "), ranks_, input_.rank));
    std::vector<uint32_t> result(members.size());
    const auto start = static_cast<uint32_t>(rank / whole * whole + rank % grid->stride);
    for (uint32_t i = 0; i < result.size(); ++i) result[i] = start + i * grid->stride;
    if (result != members) shifted_.insert(name);
    return result;
  }

  const PyTorchInput& input_;
  uint32_t ranks_;
  nlohmann::ordered_json json_ = nlohmann::ordered_json::object();
  std::set<std::string> unknown_, shifted_;
};

class Writer {
 public:
  Writer(const PyTorchInput& input, Report& report, uint32_t ranks)
      : input_(input), report_(report), groups_(input, ranks), ranks_(ranks) {}

  void write(const RankGraph& graph, uint32_t rank) {
    RankFile file(report_.prefix, rank);
    const std::vector<std::vector<uint32_t>> before = dependencies(graph);
    for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
      if (dropped_[i]) continue;
      const Node& node = graph.nodes[i];
      file.begin(node.id, node.name, type_of(node));
      for (const uint32_t b : before[i]) file.data(graph.nodes[b].id);
      file.flag("is_cpu_op", node.kind == Kind::host);
      if (node.kind == Kind::host || node.kind == Kind::kernel) file.duration(node.duration);
      if (node.kind == Kind::kernel) file.number("stream", node.stream);
      if (node.kind != Kind::host && node.kind != Kind::kernel) communication(file, graph, node, rank);
      file.end();
    }
    file.close();
    report_.nodes += file.nodes();
  }

  Groups& groups() { return groups_; }
  uint64_t pruned() const { return pruned_; }
  uint64_t bytes() const { return bytes_; }

 private:
  static Type type_of(const Node& node) {
    switch (node.kind) {
      case Kind::collective:
        return Type::collective;
      case Kind::send:
        return Type::send;
      case Kind::receive:
        return Type::receive;
      default:
        return Type::comp;
    }
  }

  /// Nodes that take no time are left out; whoever waits for them waits for what they wait for.
  std::vector<std::vector<uint32_t>> dependencies(const RankGraph& graph) {
    const size_t n = graph.nodes.size();
    std::vector<std::vector<uint32_t>> before(n);
    dropped_.assign(n, false);
    std::vector<uint32_t> unmet(n), order;
    std::vector<std::vector<uint32_t>> after(n);
    for (uint32_t i = 0; i < n; ++i)
      for (const uint32_t b : graph.nodes[i].before) {
        ++unmet[i];
        after[b].push_back(i);
      }
    for (uint32_t i = 0; i < n; ++i)
      if (unmet[i] == 0) order.push_back(i);
    for (size_t k = 0; k < order.size(); ++k)
      for (const uint32_t next : after[order[k]])
        if (--unmet[next] == 0) order.push_back(next);
    constexpr size_t kMostEdges = 8;  // a node that many wait for, and that waits for many, stays
    for (const uint32_t i : order) {
      std::vector<uint32_t>& list = before[i];
      for (const uint32_t b : graph.nodes[i].before) {
        if (dropped_[b])
          list.insert(list.end(), before[b].begin(), before[b].end());
        else
          list.push_back(b);
      }
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
      if (input_.keep_all || graph.nodes[i].kind != Kind::host || graph.nodes[i].duration != 0 ||
          list.size() > kMostEdges)
        continue;
      dropped_[i] = true;
      ++pruned_;
    }
    return before;
  }

  void communication(RankFile& file, const RankGraph& graph, const Node& node, uint32_t rank) {
    const auto group = groups_.at(graph, node, rank);
    const auto& members = group.first;  // no structured binding: a lambda of C++17 cannot refer to one
    const auto& name = group.second;
    bytes_ += node.bytes;
    const auto member = [&](uint32_t index) -> uint64_t {
      const size_t size = members.empty() ? ranks_ : members.size();
      if (index >= size)
        throw UserError(ExitCode::trace,
                        fmt::format("{}: node {} (\"{}\") names member {} of a group of {}", graph.path,
                                    node.id, node.name.substr(0, 60), index, size));
      return members.empty() ? index : members[index];
    };
    file.number("comm_size", node.bytes);
    if (node.kind == Kind::collective) {
      file.number("comm_type", trace::chakra_number(node.op));
      if (!name.empty()) file.text("pg_name", name);
      if (rooted(node.op)) file.number("root", member(node.peer));
      return;
    }
    uint64_t peer = member(node.peer);
    if (input_.replicate != 0) peer = moved_peer(graph, node, members, rank);
    file.number("comm_src", node.kind == Kind::send ? rank : peer);
    file.number("comm_dst", node.kind == Kind::send ? peer : rank);
    file.number("comm_tag", node.tag);
  }

  /// The peer is as many places on in the group as the traced rank's is.
  uint64_t moved_peer(const RankGraph& graph, const Node& node, const std::vector<uint32_t>& members,
                      uint32_t rank) const {
    const auto found = graph.groups.find(node.group);
    const std::vector<uint32_t> traced =
        found == graph.groups.end() ? std::vector<uint32_t>() : found->second.ranks;
    const auto place = [](const std::vector<uint32_t>& list, uint32_t r) {
      return list.empty() ? r : static_cast<uint32_t>(std::find(list.begin(), list.end(), r) - list.begin());
    };
    const uint32_t size = members.empty() ? ranks_ : static_cast<uint32_t>(members.size());
    const uint32_t own = members.empty() ? input_.rank : place(traced, input_.rank);
    const uint32_t at = (place(members, rank) + node.peer + size - own % size) % size;
    return members.empty() ? at : members[at];
  }

  const PyTorchInput& input_;
  Report& report_;
  Groups groups_;
  uint32_t ranks_;
  std::vector<bool> dropped_;
  uint64_t pruned_ = 0, bytes_ = 0;
};

void check_input(const PyTorchInput& input) {
  if (!input.kineto.empty() && input.kineto.size() != input.host.size())
    refuse(fmt::format(
        "{} execution traces and {} --kineto traces; give one Kineto trace for each, in the same order",
        input.host.size(), input.kineto.size()));
  if (input.replicate != 0 && input.host.size() != 1)
    refuse(fmt::format("--replicate makes all ranks of one trace, and {} are named", input.host.size()));
  if (input.replicate == 0 && input.rank != 0) refuse("--rank is for --replicate");
  if (input.replicate != 0 && input.rank >= input.replicate)
    refuse(fmt::format("--rank is {}, and --replicate {} makes ranks 0 to {}", input.rank, input.replicate,
                       input.replicate - 1));
}

void write_groups(const Groups& groups, Report& report) {
  if (groups.json().empty()) return;
  report.groups_file = report.prefix + ".groups.json";
  std::ofstream file(report.groups_file, std::ios::trunc);
  file << groups.json().dump(1) << "\n";
  file.close();
  if (!file)
    throw UserError(
        ExitCode::internal,
        fmt::format("{}: cannot be written; make room or choose another --out", report.groups_file));
}

}  // namespace

Report from_pytorch(const PyTorchInput& input, const std::string& out, const std::string& name) {
  check_input(input);
  Report report;
  report.ranks = input.replicate != 0 ? input.replicate : static_cast<uint32_t>(input.host.size());
  report.prefix = output_prefix(out, name, report.ranks);
  Writer writer(input, report, report.ranks);
  std::map<std::string, uint64_t> counts;
  uint64_t largest_group = 0;
  for (uint32_t i = 0; i < input.host.size(); ++i) {
    const RankGraph graph = pytorch::read_rank(
        {input.host[i], input.kineto.empty() ? "" : input.kineto[i], input.one_iteration, input.iteration});
    for (const auto& [what, n] : graph.counts) counts[what] += n;
    report.warnings.insert(report.warnings.end(), graph.warnings.begin(), graph.warnings.end());
    for (const auto& group : graph.groups)
      largest_group = std::max<uint64_t>(largest_group, group.second.size);
    if (input.replicate == 0) {
      writer.write(graph, i);
    } else {
      for (uint32_t rank = 0; rank < report.ranks; ++rank) writer.write(graph, rank);
    }
  }
  write_groups(writer.groups(), report);
  if (largest_group > report.ranks)
    report.warnings.push_back(
        fmt::format("a group of the trace has {} ranks, and {} {} written; give the traces of all "
                    "ranks, or --replicate {}",
                    largest_group, report.ranks, report.ranks == 1 ? "is" : "are", largest_group));
  for (const std::string& group : writer.groups().unknown())
    report.warnings.push_back(
        fmt::format("group {} is named nowhere; it is taken as all ranks", group.substr(0, 60)));
  for (const auto& [what, n] : counts) report.count(what, n);
  report.count("bytes of collectives, sends and receives, over all ranks", writer.bytes());
  report.count("nodes without a time, merged into those that wait for them, over all ranks", writer.pruned());
  if (input.replicate != 0)
    report.count("groups that were moved to the other ranks", writer.groups().shifted());
  return report;
}

}  // namespace weft::convert
