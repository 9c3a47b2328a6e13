// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "emulation/job/capture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "emulation/job/data.h"
#include "workload/convert/trace_set.h"
#include "workload/trace/attribute_reader.h"

namespace weft::emulation {

Capture::Capture(const std::string& folder_name, uint32_t world) : world_(world) {
  const std::filesystem::path path(folder_name);
  try {
    prefix_ = convert::output_prefix(path.parent_path().string(), path.filename().string(), world);
  } catch (const UserError& e) {
    throw UserError(e.code(), "--capture " + folder_name + ": " + e.what());
  }
}

void Capture::pause(uint32_t rank, Picoseconds time) {
  Rank& state = ranks_[rank];
  if (time <= state.ready) return;
  Node node;
  node.id = state.nodes.size() + 1;
  node.name = fmt::format("compute{}", node.id);
  node.after = state.frontier;
  node.duration = time - state.ready;
  state.ready = time;
  state.frontier = {node.id};
  state.nodes.push_back(std::move(node));
}

Capture::Node& Capture::add(uint32_t rank, uint64_t request, Picoseconds time, Kind kind,
                            const std::string& name) {
  pause(rank, time);
  Rank& state = ranks_[rank];
  Node node;
  node.id = state.nodes.size() + 1;
  node.kind = kind;
  node.name = name.empty() ? fmt::format("call{}", node.id) : name;
  node.after = state.frontier;
  state.by_request[request] = state.nodes.size();
  state.nodes.push_back(std::move(node));
  return state.nodes.back();
}

void Capture::collective(uint32_t rank, uint64_t request, Picoseconds time, const Coll& call,
                         const Communicator& comm) {
  Node& node = add(rank, request, time, Kind::collective, call.name);
  node.comm = &comm;
  node.me = comm.member(rank);
  node.operation = call.operation;
  node.peer = static_cast<uint32_t>(std::max(0, call.root));
  node.bytes = plan_bytes(call, comm.size);
}

void Capture::send(uint32_t rank, uint64_t request, Picoseconds time, const Communicator& comm,
                   const Send& call) {
  Node& node = add(rank, request, time, Kind::send, call.name);
  node.comm = &comm;
  node.me = comm.member(rank);
  node.peer = static_cast<uint32_t>(call.peer);
  node.tag = call.tag;
  node.bytes = call.bytes;
}

void Capture::receive(uint32_t rank, uint64_t request, Picoseconds time, const Communicator& comm,
                      const Recv& call) {
  Node& node = add(rank, request, time, Kind::receive, call.name);
  node.comm = &comm;
  node.me = comm.member(rank);
  node.matched = false;
}

void Capture::received(uint32_t rank, uint64_t request, uint32_t source, int32_t tag, uint64_t bytes) {
  Rank& state = ranks_[rank];
  Node& node = state.nodes[state.by_request.at(request)];
  node.matched = true;
  node.peer = node.comm->member(source);
  node.tag = tag;
  node.bytes = bytes;
}

void Capture::waited(uint32_t rank, Picoseconds time, const std::vector<uint64_t>& requests) {
  Rank& state = ranks_[rank];
  std::set<uint64_t> before;  // what these requests came after needs no mention
  std::vector<uint64_t> frontier;
  for (const uint64_t request : requests) {
    const auto at = state.by_request.find(request);
    if (at == state.by_request.end()) continue;
    const Node& node = state.nodes[at->second];
    before.insert(node.after.begin(), node.after.end());
    frontier.push_back(node.id);
  }
  for (const uint64_t id : state.frontier)
    if (before.count(id) == 0 && std::find(frontier.begin(), frontier.end(), id) == frontier.end())
      frontier.push_back(id);
  state.frontier = std::move(frontier);
  state.ready = std::max(state.ready, time);
}

/// The group of a rank in place of its leader's communicator; "" for all ranks. `ranks`: its members; empty:
/// there is none.
std::string Capture::group_name(const Communicator& comm, uint32_t rank, std::vector<uint32_t>& ranks) {
  ranks = comm.members_as_seen_by(rank, world_);
  if (ranks.size() == world_ && std::is_sorted(ranks.begin(), ranks.end())) return "";
  std::string& name = groups_[ranks];
  if (name.empty()) name = std::to_string(groups_.size());
  return name;
}

void Capture::write_rank(uint32_t rank, uint32_t leader, Written& written) {
  convert::RankFile file(prefix_, rank);
  for (const Node& node : ranks_[leader].nodes) {
    std::vector<uint32_t> members;
    std::string group;
    if (node.comm != nullptr) group = group_name(*node.comm, rank, members);
    const auto me = std::find(members.begin(), members.end(), rank);
    if (node.comm != nullptr && (me == members.end() || !node.matched)) {
      written.warnings.push_back(
          fmt::format("--capture: {} of rank {} is left out of rank {}'s trace: {}", node.name, leader, rank,
                      node.matched ? "its communicator has no image with that rank" : "no message came"));
      file.begin(node.id, node.name, convert::Type::metadata);
      for (const uint64_t id : node.after) file.control(id);
      file.end();
      continue;
    }
    const auto place = static_cast<uint32_t>(me - members.begin());
    const auto peer = [&] { return members[node.comm->translate(place, node.me, node.peer)]; };
    switch (node.kind) {
      case Kind::compute:
        file.begin(node.id, node.name, convert::Type::comp);
        file.duration(node.duration);
        break;
      case Kind::collective: {
        file.begin(node.id, node.name, convert::Type::collective);
        const auto op = static_cast<CollectiveOp>(node.operation);
        file.number("comm_type", trace::chakra_number(op));
        file.number("comm_size", node.bytes);
        if (!group.empty()) file.text("pg_name", group);
        if (collectives::rooted(op)) file.number("root", members[node.peer]);
        break;
      }
      case Kind::send:
      case Kind::receive: {
        const bool sends = node.kind == Kind::send;
        file.begin(node.id, node.name, sends ? convert::Type::send : convert::Type::receive);
        file.number("comm_src", sends ? rank : peer());
        file.number("comm_dst", sends ? peer() : rank);
        file.number("comm_tag", static_cast<uint64_t>(node.tag));
        file.number("comm_size", node.bytes);
        break;
      }
    }
    for (const uint64_t id : node.after) file.control(id);
    file.end();
  }
  written.nodes += file.nodes();
  file.close();
}

Capture::Written Capture::write(const Classes& classes) {
  Written written;
  written.prefix = prefix_;
  for (uint32_t rank = 0; rank < world_; ++rank) write_rank(rank, classes.representative(rank), written);
  if (written.warnings.size() > 8) {
    const size_t more = written.warnings.size() - 8;
    written.warnings.resize(8);
    written.warnings.push_back(fmt::format("--capture: .. and {} more", more));
  }
  if (groups_.empty()) return written;
  written.groups = prefix_ + ".groups.json";
  std::ofstream out(written.groups);
  out << "{";
  const char* separator = "\n";
  for (const auto& [ranks, name] : groups_) {
    out << separator << fmt::format("  \"{}\": [{}]", name, fmt::join(ranks, ", "));
    separator = ",\n";
  }
  out << "\n}\n";
  out.close();
  if (!out) throw UserError(ExitCode::internal, written.groups + ": the file could not be written");
  return written;
}

}  // namespace weft::emulation
