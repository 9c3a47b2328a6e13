// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/convert/from_goal.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "workload/goal/loggops.h"

namespace weft::convert {
namespace {

using goal::Dependency;
using goal::Kind;
using goal::Match;
using goal::Operation;
using goal::Program;
using goal::RankProgram;

/// What a send or receive gets in place of its own.
struct End {
  uint32_t peer = 0;
  uint32_t tag = 0;
  uint64_t bytes = 0;
  uint32_t send = 0;  ///< of a receive: the send's operation
};

/// Peers, tags and sizes of all messages.
class Messages {
 public:
  Messages(const Program& program, const LogGpConfig& parameters) : program_(program) {
    const goal::LogGopsResult run = goal::run_loggops(program, parameters, true);
    if (!run.stall.empty())
      throw UserError(ExitCode::trace, fmt::format("{}: the program cannot end:{}", program.path, run.stall));
    ends_.resize(program.ranks.size());
    for (size_t r = 0; r < ends_.size(); ++r) ends_[r].resize(program.ranks[r].operations.size());
    find_pinned(run.matches);
    for (const Match& match : run.matches) place(match);
  }

  const End& end(uint32_t rank, uint32_t operation) const { return ends_[rank][operation]; }
  uint64_t wildcards() const { return wildcards_; }
  uint64_t pinned() const { return pinned_; }
  uint64_t resized() const { return resized_; }
  uint64_t own() const { return own_; }  ///< of a rank to itself

 private:
  struct Channel {
    uint64_t bytes = 0;
    bool pinned = false;
    bool used = false;
  };
  using Key = std::tuple<uint32_t, uint32_t, uint32_t>;  // source, destination, tag

  const Operation& op(uint32_t rank, uint32_t i) const { return program_.ranks[rank].operations[i]; }
  Key key(const Match& m) const { return {m.source, m.destination, op(m.source, m.send).tag}; }

  void find_pinned(const std::vector<Match>& matches) {
    for (const Match& m : matches) {
      Channel& channel = channels_[key(m)];
      const Operation& send = op(m.source, m.send);
      const Operation& receive = op(m.destination, m.receive);
      const bool wildcard = receive.peer == goal::kAny || receive.tag == goal::kAny;
      wildcards_ += wildcard ? 1 : 0;
      if (wildcard || (channel.used && channel.bytes != send.size)) channel.pinned = true;
      channel.used = true;
      channel.bytes = send.size;
      highest_tag_ = std::max(highest_tag_, send.tag);
    }
  }

  void place(const Match& m) {
    const Operation& send = op(m.source, m.send);
    if (op(m.destination, m.receive).size != send.size) ++resized_;
    uint32_t tag = send.tag;
    if (channels_[key(m)].pinned) {
      ++pinned_;
      uint32_t& own = own_tags_[{m.source, m.destination}];
      if (own >= goal::kAny - 1 - highest_tag_)
        throw UserError(
            ExitCode::trace,
            fmt::format("{}: the tag {} leaves no room for tags of messages whose order depends on "
                        "times; use lower tags",
                        program_.path, highest_tag_));
      tag = highest_tag_ + ++own;
    }
    if (m.source == m.destination) ++own_;
    ends_[m.source][m.send] = {m.destination, tag, send.size, 0};
    ends_[m.destination][m.receive] = {m.source, tag, send.size, m.send};
  }

  const Program& program_;
  std::vector<std::vector<End>> ends_;
  std::map<Key, Channel> channels_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> own_tags_;
  uint32_t highest_tag_ = 0;
  uint64_t wildcards_ = 0, pinned_ = 0, resized_ = 0, own_ = 0;
};

/// For each operation what it waits for: ends by `requires`, and those that it has by `irequires`.
struct Waits {
  std::vector<std::vector<uint32_t>> ends, by_start;
};

Waits waits_of(const RankProgram& rank) {
  const size_t n = rank.operations.size();
  Waits waits;
  waits.ends.resize(n);
  waits.by_start.resize(n);
  std::vector<std::vector<uint32_t>> starts(n);
  std::vector<uint32_t> unmet(n);
  std::vector<std::vector<uint32_t>> after(n);
  for (const Dependency& d : rank.dependencies) {
    (d.start ? starts : waits.ends)[d.after].push_back(d.before);
    if (!d.start) continue;
    ++unmet[d.after];
    after[d.before].push_back(d.after);
  }
  const auto tidy = [](std::vector<uint32_t>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  };
  for (std::vector<uint32_t>& list : waits.ends) tidy(list);
  std::vector<uint32_t> ready;
  for (uint32_t i = 0; i < n; ++i)
    if (unmet[i] == 0) ready.push_back(i);
  while (!ready.empty()) {
    const uint32_t i = ready.back();
    ready.pop_back();
    std::vector<uint32_t>& inherited = waits.by_start[i];
    for (const uint32_t before : starts[i]) {
      inherited.insert(inherited.end(), waits.ends[before].begin(), waits.ends[before].end());
      inherited.insert(inherited.end(), waits.by_start[before].begin(), waits.by_start[before].end());
    }
    tidy(inherited);
    inherited.erase(std::remove_if(inherited.begin(), inherited.end(),
                                   [&](uint32_t b) {
                                     return std::binary_search(waits.ends[i].begin(), waits.ends[i].end(), b);
                                   }),
                    inherited.end());
    for (const uint32_t next : after[i])
      if (--unmet[next] == 0) ready.push_back(next);
  }
  return waits;
}

std::string name_of(const RankProgram& rank, uint32_t i) {
  const std::string_view label = rank.label(i);
  return label.empty() ? fmt::format("{}{}", to_string(rank.operations[i].kind), i) : std::string(label);
}

uint64_t write_rank(const Program& program, uint32_t r, const Messages& messages, const std::string& prefix) {
  const RankProgram& rank = program.ranks[r];
  const Waits waits = waits_of(rank);
  RankFile file(prefix, r);
  for (uint32_t i = 0; i < rank.operations.size(); ++i) {
    const Operation& op = rank.operations[i];
    // Chakra has no message of a rank to itself: there the receive only waits for the send.
    const bool own = op.kind != Kind::calc && messages.end(r, i).peer == r;
    file.begin(i + 1, name_of(rank, i),
               own                     ? Type::metadata
               : op.kind == Kind::calc ? Type::comp
               : op.kind == Kind::send ? Type::send
                                       : Type::receive);
    for (const uint32_t before : waits.ends[i]) file.data(before + uint64_t{1});
    for (const uint32_t before : waits.by_start[i]) file.control(before + uint64_t{1});
    if (own && op.kind == Kind::receive) file.data(messages.end(r, i).send + uint64_t{1});
    file.flag("is_cpu_op", false);
    if (op.kind == Kind::calc) {
      file.duration(times(op.size, 1000));
      file.number("stream", op.cpu);
    } else if (!own) {
      const End& end = messages.end(r, i);
      const bool send = op.kind == Kind::send;
      file.number("comm_src", send ? r : end.peer);
      file.number("comm_dst", send ? end.peer : r);
      file.number("comm_tag", end.tag);
      file.number("comm_size", end.bytes);
      file.number("goal_cpu", op.cpu);
      file.number("goal_nic", op.nic);
    }
    file.end();
  }
  file.close();
  return file.nodes();
}

}  // namespace

Report from_goal(const Program& program, const LogGpConfig& parameters, const std::string& prefix) {
  Report report;
  report.prefix = prefix;
  report.ranks = static_cast<uint32_t>(program.ranks.size());
  goal::check_program(program, &report.warnings);
  const Messages messages(program, parameters);
  uint64_t calcs = 0, sends = 0, starts = 0;
  for (uint32_t r = 0; r < report.ranks; ++r) {
    for (const Operation& op : program.ranks[r].operations) {
      calcs += op.kind == Kind::calc ? 1 : 0;
      sends += op.kind == Kind::send ? 1 : 0;
    }
    for (const Dependency& d : program.ranks[r].dependencies) starts += d.start ? 1 : 0;
    report.nodes += write_rank(program, r, messages, prefix);
  }
  report.count("calcs", calcs);
  report.count("messages", sends);
  report.count("processors of a rank", program.cpus());
  report.count("network interfaces of a rank", program.nics());
  report.count("irequires, written as the dependencies of the other operation", starts);
  report.count("receives with wildcards, fixed to the message that they get with LogGOPS",
               messages.wildcards());
  report.count("messages with a tag of their own, as their order may change", messages.pinned());
  report.count("messages of a rank to itself, written as nodes that take no time", messages.own());
  report.count("receives of another size than their message, which has the message's size now",
               messages.resized());
  return report;
}

}  // namespace weft::convert
