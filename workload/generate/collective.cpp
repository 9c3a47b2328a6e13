// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/generate/collective.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "configs/file_set.h"
#include "configs/stop.h"
#include "workload/collectives/algorithm.h"
#include "workload/collectives/proof.h"
#include "workload/trace/chakra.pb.h"
#include "workload/trace/chakra_writer.h"

namespace weft::generate {
namespace {

using collectives::PhaseRounds;
using collectives::RoundSend;

[[noreturn]] void usage(const std::string& what) {
  throw UserError(ExitCode::usage, "weft generate collective: " + what);
}

struct Arrival {
  uint32_t from = 0;
  bool reduce = false;
};

void attribute(ChakraProtoMsg::Node& node, const char* name, int64_t value) {
  auto* a = node.add_attr();
  a->set_name(name);
  a->set_int64_val(value);
}

/// Writes one member's program; nodes get the ids 0, 1, ...
class ProgramWriter {
 public:
  ProgramWriter(const std::string& path, uint32_t members) : writer_(path), members_(members) {}

  void send(const RoundSend& s) {
    ChakraProtoMsg::Node node = make(fmt::format("send to {}", s.to), ChakraProtoMsg::COMM_SEND_NODE);
    attribute(node, "comm_dst", s.to);
    attribute(node, "comm_tag", s.at_round);
    attribute(node, "comm_size", s.blocks.count);
    attribute(node, "block_first", s.blocks.first);
    attribute(node, "block_count", s.blocks.count);
    if (s.blocks.count > 1 && s.blocks.stride != 1) attribute(node, "block_stride", s.blocks.stride);
    attribute(node, "blocks", members_);
    writer_.write(node);
  }

  /// The receives of a round; what is written later waits for all of them.
  void receive(const std::vector<Arrival>& arrivals, uint32_t round) {
    if (arrivals.empty()) return;
    std::vector<uint64_t> ids;
    for (const Arrival& arrival : arrivals) {
      ChakraProtoMsg::Node node =
          make(fmt::format("{} from {}", arrival.reduce ? "reduce" : "receive", arrival.from),
               ChakraProtoMsg::COMM_RECV_NODE);
      attribute(node, "comm_src", arrival.from);
      attribute(node, "comm_tag", round);
      auto* reduce = node.add_attr();
      reduce->set_name("reduce");
      reduce->set_bool_val(arrival.reduce);
      ids.push_back(node.id());
      writer_.write(node);
    }
    has_gate_ = true;
    gate_ = ids.front();
    if (ids.size() == 1) return;
    ChakraProtoMsg::Node join;
    join.set_id(next_++);
    join.set_name(fmt::format("end of round {}", round));
    join.set_type(ChakraProtoMsg::METADATA_NODE);
    for (const uint64_t id : ids) join.add_data_deps(id);
    gate_ = join.id();
    writer_.write(join);
  }

  void close() { writer_.close(); }
  uint64_t nodes() const { return next_; }

 private:
  ChakraProtoMsg::Node make(const std::string& name, ChakraProtoMsg::NodeType type) {
    ChakraProtoMsg::Node node;
    node.set_id(next_++);
    node.set_name(name);
    node.set_type(type);
    if (has_gate_) node.add_data_deps(gate_);
    return node;
  }

  trace::ChakraWriter writer_;
  uint32_t members_;
  uint64_t next_ = 0;
  uint64_t gate_ = 0;
  bool has_gate_ = false;
};

}  // namespace

CollectiveProgramSummary generate_collective(const CollectiveProgram& program, const std::string& out,
                                             const std::string& name) {
  const uint32_t n = program.members;
  const collectives::Algorithm* algorithm = collectives::find_algorithm(program.algorithm);
  if (algorithm == nullptr) {
    std::string known;
    for (const auto* a : collectives::all_algorithms()) {
      known += fmt::format("{}{}", known.empty() ? "" : ", ", a->name());
    }
    usage(fmt::format("there is no algorithm `{}`; use one of {}", program.algorithm, known));
  }
  if (n < 2) usage(fmt::format("{} member(s); a collective needs 2 or more", n));
  if (algorithm->in_switch()) {
    usage(fmt::format("`{}` is what switches do, not a program of sends and receives", program.algorithm));
  }
  if (const std::string why = algorithm->refuses(program.op, n); !why.empty()) usage(why);
  if (collectives::rooted(program.op) && program.root >= n) {
    usage(fmt::format("root is {}; it must be a member's index, 0 to {}", program.root, n - 1));
  }
  if (name.empty() || name.find('/') != std::string::npos) {
    usage(fmt::format("the name is `{}`; it must be a file name without folders", name));
  }
  std::error_code error;
  std::filesystem::create_directories(out, error);
  if (error) {
    usage(fmt::format("cannot create the folder {}: {}; give one that can be written", out, error.message()));
  }
  const PhaseRounds rounds = collectives::write_out(*algorithm, program.op, n, program.root);
  // [member][round], in the order of the senders and, of one sender, of its sends: sends and receives of
  // equal tag pair in that order.
  std::vector<std::vector<std::vector<Arrival>>> arrivals(n);
  CollectiveProgramSummary summary;
  for (uint32_t m = 0; m < n; ++m) arrivals[m].resize(rounds[m].size());
  for (uint32_t m = 0; m < n; ++m) {
    for (const auto& round : rounds[m]) {
      for (const RoundSend& send : round.sends) {
        arrivals[send.to][send.at_round].push_back({m, send.reduce});
        ++summary.sends;
      }
    }
  }
  summary.prefix = (std::filesystem::path(out) / name).string();
  FileSet files;  // they appear together
  for (uint32_t m = 0; m < n; ++m) {
    ProgramWriter writer(files.add(fmt::format("{}.{}.et", summary.prefix, m)), n);
    for (uint32_t r = 0; r < rounds[m].size(); ++r) {
      check_stop();
      for (const RoundSend& send : rounds[m][r].sends) writer.send(send);
      writer.receive(arrivals[m][r], r);
    }
    writer.close();
    summary.nodes += writer.nodes();
  }
  files.finish();
  return summary;
}

}  // namespace weft::generate
