// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/record/block_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <systemc>
#include <utility>

#include "configs/effective.h"
#include "configs/keys.h"
#include "sc_models/switch_model.h"

namespace weft::cosim {
namespace {

const char* kind_of(BlockEnd::Kind kind) {
  switch (kind) {
    case BlockEnd::Kind::nmu:
      return "nmu";
    case BlockEnd::Kind::fabric_switch:
      return "switch";
    default:
      return "router";
  }
}

/// Of several messages the one of the lowest sender is first, not the one of the lowest port.
bool by_sender(const SwitchWays& ways) {
  fabric::Packet packet;
  packet.source = 77777;
  return ways.turn(0, packet) == packet.source;
}

}  // namespace

std::string block_name(const std::string& written) {
  static const std::regex of_npu(R"(npu\[?([0-9]+)\]?\.(nmu|hbm))");
  std::smatch parts;
  if (std::regex_match(written, parts, of_npu)) return parts[2].str() + parts[1].str();
  static const std::regex numbered(R"((nmu|npu|hbm)\[([0-9]+)\])");
  if (std::regex_match(written, parts, numbered)) return parts[1].str() + parts[2].str();
  return written;
}

uint64_t configuration_digest(const Config& config) {
  Config machine = config;
  machine.output = OutputConfig();
  machine.file.clear();
  const std::string text = effective_yaml(machine);
  return checksum(text.data(), text.size());
}

BlockRecorder::BlockRecorder(const std::string& block, std::string file, const Config& config,
                             std::string program)
    : file_(std::move(file)) {
  header_.block = block_name(block);
  header_.program = std::move(program);
  header_.digest = configuration_digest(config);
  Config machine = config;
  machine.output = OutputConfig();
  machine.plugins.clear();
  machine.implementations.clear();
  header_.configuration = effective_yaml(machine);
}

BlockRecorder::~BlockRecorder() = default;

bool BlockRecorder::take(const JoinedLink& link, const char* level, bool& initiator, uint32_t& port) {
  initiator = link.from.block == header_.block;
  const BlockEnd& own = initiator ? link.from : link.to;
  const BlockEnd& peer = initiator ? link.to : link.from;
  if (own.block != header_.block) {
    if (seen_.size() < 10000) seen_.insert({link.from.block, link.to.block});
    return false;
  }
  header_.kind = kind_of(own.kind);
  header_.level = level;
  if (own.model != nullptr) {
    header_.cut_through = own.model->switching() == Switching::cut_through;
    header_.turn_by_sender = own.model->ways() != nullptr && by_sender(*own.model->ways());
    header_.has_unit = own.model->unit() != nullptr;
  }
  const size_t leaves = initiator ? 0 : 1;
  const std::string name = leaves < link.names.size() ? link.names[leaves] : std::string();
  // A pair's two directions are joined one by one: they are one port.
  const auto same = std::find_if(header_.ports.begin(), header_.ports.end(), [&](const RecordedPort& other) {
    return own.port == BlockEnd::kNextPort && !name.empty() && other.name == name;
  });
  port = own.port != BlockEnd::kNextPort ? own.port : static_cast<uint32_t>(same - header_.ports.begin());
  if (port >= header_.ports.size()) header_.ports.resize(port + size_t{1});
  RecordedPort& described = header_.ports[port];
  described.name = name;
  described.peer = peer.block;
  described.initiator = initiator;
  if (link.type != nullptr) {
    described.rate = link.type->rate().bytes_per_second;
    described.rate_per = link.type->rate().divisor;
    described.latency = link.type->latency();
  }
  if (link.terms != nullptr) {
    described.vcs = link.terms->vcs;
    described.depth = link.terms->depth;
    described.flit_latency = link.terms->latency;
    described.credit_latency = link.terms->credit_latency;
    described.flit_time = link.flit_time;
    header_.cycle = link.cycle;
    header_.virtual_networks = link.virtual_networks;
  }
  return true;
}

template <typename What>
void BlockRecorder::add(uint32_t port, bool into, const What& what) {
  if (!writer_) return;
  writer_->add({sc_core::sc_time_stamp().value(), port, into, what});
}

fabric::CrossingWatch BlockRecorder::watch(const JoinedLink& link) {
  bool initiator = false;
  uint32_t port = 0;
  if (!take(link, "message", initiator, port)) return {};
  return [this, port, initiator](bool forward, const fabric::Crossing& crossing) {
    add(port, forward != initiator, crossing);
  };
}

fabric::FlitWatch BlockRecorder::watch_packets(const JoinedLink& link) {
  bool initiator = false;
  uint32_t port = 0;
  if (!take(link, "packet", initiator, port)) return {};
  return [this, port, initiator](bool forward, const fabric::FlitCrossing& crossing) {
    add(port, forward != initiator, crossing);
  };
}

fabric::CrossingWatch BlockRecorder::watch_messages(const BlockEnd& nmu) {
  if (nmu.block != header_.block) return {};
  header_.kind = kind_of(nmu.kind);
  header_.level = "message";
  const auto port = static_cast<uint32_t>(header_.ports.size());
  header_.ports.push_back({nmu.block, kOwnSide});
  return [this, port](bool forward, const fabric::Crossing& crossing) { add(port, forward, crossing); };
}

MemoryTarget::AccessWatch BlockRecorder::watch_accesses(const MemoryTarget& memory) {
  if (memory.basename() != header_.block) {
    if (seen_.size() < 10000) seen_.insert(memory.basename());
    return {};
  }
  header_.kind = "memory";
  header_.level = "access";
  for (uint32_t i = 0; i < memory.sockets(); ++i)
    header_.ports.push_back({fmt::format("{}.port{}", memory.name(), i), "an initiator"});
  return [this](bool complete, uint64_t number, const MemoryTarget::Access& access, Picoseconds at) {
    add(access.client, !complete, RecordedAccess{number, access.address, access.length, access.write, at});
  };
}

NodeWatch* BlockRecorder::watch_nodes(const std::string& npu) {
  if (npu != header_.block) {
    if (seen_.size() < 10000) seen_.insert(npu);
    return nullptr;
  }
  header_.kind = "npu";
  header_.level = "node";
  header_.ports.push_back({npu, "its trace"});
  return this;
}

void BlockRecorder::no_nodes(const std::string& npu) {
  throw UserError(
      ExitCode::usage,
      fmt::format("--record '{}': this model of an NPU tells nothing of its nodes, and cannot be recorded; "
                  "models that derive from Npu or RtlNpu can",
                  npu));
}

void BlockRecorder::started(const trace::Node& node, Picoseconds time) {
  open_[node.index] = nodes_;
  add(0, true,
      RecordedNode{nodes_++, sc_core::sc_time_stamp().value(), std::make_shared<const trace::Node>(node),
                   time});
}

void BlockRecorder::answered(const trace::Node& node, Picoseconds at) {
  const auto open = open_.find(node.index);
  add(0, false, RecordedNode{open->second, at, nullptr, 0});
  open_.erase(open);
}

void BlockRecorder::begin() {
  const auto is_link = [](const RecordedPort& port) { return port.peer != kOwnSide; };
  if (std::none_of(header_.ports.begin(), header_.ports.end(), is_link)) {
    const std::vector<std::string> names(seen_.begin(), seen_.end());
    const std::string near = nearest_name(header_.block, names);
    throw UserError(
        ExitCode::usage,
        fmt::format("--record '{}': {}", header_.block,
                    names.empty()
                        ? std::string("no block of this machine has links with two ends of their own: at "
                                      "`analytical` fidelity messages do not pass links one by one; give the "
                                      "dimension `fidelity: message` or `fidelity: packet`")
                        : fmt::format("no block of that name has links at `message` or `packet` fidelity, "
                                      "and this run has no memory or NPU of that name to record{}; the "
                                      "blocks are {} .. {}. A run builds a memory only if something uses "
                                      "it, such as `collectives.reduction: hbm`; in `weft collective` no "
                                      "NPU runs nodes",
                                      near.empty() ? "" : fmt::format(" (did you mean `{}`?)", near),
                                      names.front(), names.back())));
  }
  for (RecordedPort& port : header_.ports)
    if (port.rate == 0) port.rate = 1;  // `packet` fidelity, or a port without a link
  writer_ = std::make_unique<RecordingWriter>(file_, header_);
}

void BlockRecorder::end(const std::vector<RecordedCollective>& collectives) {
  if (writer_) writer_->finish(collectives);
}

}  // namespace weft::cosim
