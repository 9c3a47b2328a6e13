// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A program becomes rounds by levels: a node's level is the longest way to it, over the dependencies of its
// own member and from every send to its receive, where only what comes after a receive is one level up. A
// member's rounds are the levels in which it does something. A message then never is for an earlier level
// than the one it is sent in, so that rounds cannot wait for each other unless the program does.

#include "workload/collectives/custom.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "workload/trace/chakra.pb.h"
#include "workload/trace/chakra_stream.h"

namespace weft::collectives {
namespace {

using ChakraProtoMsg::AttributeProto;

enum class Kind : uint8_t { send, receive, order };

struct Step {
  Kind kind = Kind::order;
  uint64_t id = 0;
  uint32_t member = 0;
  uint32_t peer = 0;
  int64_t tag = 0;
  BlockSet blocks;       ///< of a send
  bool named = false;    ///< it names its blocks
  bool reduce = false;   ///< of a receive
  uint32_t partner = 0;  ///< the other end, an index into the steps of all members
  std::vector<uint32_t> after;
  std::vector<uint64_t> dependencies;  ///< ids
};

constexpr uint64_t kMaxNodeBytes = uint64_t{1} << 20;
constexpr size_t kMaxSteps = size_t{1} << 25;  // of all members; they are held in memory

std::string file_of(const std::string& prefix, uint32_t member) {
  return CustomAlgorithm::file(prefix, member);
}

[[noreturn]] void fail(const std::string& prefix, uint32_t member, uint64_t node, const std::string& what) {
  throw UserError(ExitCode::trace, fmt::format("{}: node {}: {}", file_of(prefix, member), node, what));
}

/// The value of a numeric or bool attribute; false when it is of another kind or no whole number.
bool read_number(const AttributeProto& a, int64_t& value) {
  auto from_unsigned = [&](uint64_t v) {
    value = static_cast<int64_t>(v);
    return value >= 0;
  };
  auto from_real = [&](double v) {
    if (!(v > -9e15 && v < 9e15)) return false;
    value = static_cast<int64_t>(v);
    return static_cast<double>(value) == v;
  };
  switch (a.value_case()) {
    case AttributeProto::kInt32Val:
      value = a.int32_val();
      return true;
    case AttributeProto::kInt64Val:
      value = a.int64_val();
      return true;
    case AttributeProto::kUint32Val:
      value = a.uint32_val();
      return true;
    case AttributeProto::kUint64Val:
      return from_unsigned(a.uint64_val());
    case AttributeProto::kSint32Val:
      value = a.sint32_val();
      return true;
    case AttributeProto::kSint64Val:
      value = a.sint64_val();
      return true;
    case AttributeProto::kFixed32Val:
      value = a.fixed32_val();
      return true;
    case AttributeProto::kFixed64Val:
      return from_unsigned(a.fixed64_val());
    case AttributeProto::kSfixed32Val:
      value = a.sfixed32_val();
      return true;
    case AttributeProto::kSfixed64Val:
      value = a.sfixed64_val();
      return true;
    case AttributeProto::kBoolVal:
      value = a.bool_val() ? 1 : 0;
      return true;
    case AttributeProto::kFloatVal:
      return from_real(a.float_val());
    case AttributeProto::kDoubleVal:
      return from_real(a.double_val());
    default:
      return false;
  }
}

/// Reads one program; appends its steps.
class Reader {
 public:
  Reader(const std::string& prefix, uint32_t member, uint32_t n) : prefix_(prefix), member_(member), n_(n) {}

  void read(std::vector<Step>& steps) {
    trace::ChakraStream stream(file_of(prefix_, member_));
    const auto begin = static_cast<uint32_t>(steps.size());
    std::unordered_map<uint64_t, uint32_t> by_id;
    ChakraProtoMsg::Node node;
    while (stream.next(node, kMaxNodeBytes)) {
      if (steps.size() == kMaxSteps) {
        fail(prefix_, member_, node.id(),
             fmt::format("the programs have more than {} nodes up to here; use a smaller group", kMaxSteps));
      }
      if (!by_id.emplace(node.id(), static_cast<uint32_t>(steps.size())).second) {
        fail(prefix_, member_, node.id(), "a second node has this id; ids must differ");
      }
      steps.push_back(decode(node));
    }
    for (uint32_t i = begin; i < steps.size(); ++i) {
      for (const uint64_t id : steps[i].dependencies) {
        const auto it = by_id.find(id);
        if (it == by_id.end()) {
          fail(prefix_, member_, steps[i].id,
               fmt::format("it depends on node {}, which the file does not have", id));
        }
        steps[it->second].after.push_back(i);
      }
    }
  }

 private:
  Step decode(const ChakraProtoMsg::Node& node) const {
    Step step;
    step.id = node.id();
    step.member = member_;
    for (const uint64_t id : node.data_deps()) step.dependencies.push_back(id);
    for (const uint64_t id : node.ctrl_deps()) step.dependencies.push_back(id);
    std::sort(step.dependencies.begin(), step.dependencies.end());
    step.dependencies.erase(std::unique(step.dependencies.begin(), step.dependencies.end()),
                            step.dependencies.end());
    switch (node.type()) {
      case ChakraProtoMsg::COMM_SEND_NODE:
        step.kind = Kind::send;
        break;
      case ChakraProtoMsg::COMM_RECV_NODE:
        step.kind = Kind::receive;
        break;
      case ChakraProtoMsg::METADATA_NODE:
        return step;  // orders others, takes no time
      default:
        fail(prefix_, member_, node.id(),
             fmt::format("it is a {}; the program of a collective holds COMM_SEND_NODE, COMM_RECV_NODE and "
                         "METADATA_NODE only",
                         ChakraProtoMsg::NodeType_Name(node.type())));
    }
    const char* const peer_name = step.kind == Kind::send ? "comm_dst" : "comm_src";
    int64_t peer = -1;
    int64_t first = 0;
    int64_t count = 0;
    int64_t stride = 1;
    int64_t reduce = 0;
    int64_t blocks = n_;
    bool has_first = false;
    bool has_count = false;
    for (const AttributeProto& a : node.attr()) {
      int64_t* into = a.name() == peer_name        ? &peer
                      : a.name() == "comm_tag"     ? &step.tag
                      : a.name() == "block_first"  ? &first
                      : a.name() == "block_count"  ? &count
                      : a.name() == "block_stride" ? &stride
                      : a.name() == "blocks"       ? &blocks
                      : a.name() == "reduce"       ? &reduce
                                                   : nullptr;
      if (into == nullptr) continue;
      if (!read_number(a, *into)) {
        fail(prefix_, member_, node.id(), fmt::format("attribute `{}` is no whole number", a.name()));
      }
      has_first = has_first || into == &first;
      has_count = has_count || into == &count;
    }
    auto require = [&](bool good, const char* name, int64_t value, const std::string& wanted) {
      if (good) return;
      fail(prefix_, member_, node.id(), fmt::format("`{}` is {}; it must be {}", name, value, wanted));
    };
    require(peer >= 0 && peer < n_ && peer != member_, peer_name, peer,
            fmt::format("another member's index, 0 to {}", n_ - 1));
    step.peer = static_cast<uint32_t>(peer);
    require(blocks == n_, "blocks", blocks,
            fmt::format("{}, the number of members: the data is cut into as many blocks", n_));
    require(reduce == 0 || reduce == 1, "reduce", reduce, "0 or 1");
    step.reduce = reduce == 1;
    step.named = has_first || has_count;
    if (step.named || step.kind == Kind::send) {
      if (!has_count) count = 1;
      require(has_first, "block_first", -1, "given: the first block that the message carries");
      require(first >= 0 && first < n_, "block_first", first, fmt::format("from 0 to {}", n_ - 1));
      require(count >= 1 && count <= n_, "block_count", count, fmt::format("from 1 to {}", n_));
      require(stride >= 1 && stride <= n_, "block_stride", stride, fmt::format("from 1 to {}", n_));
      step.blocks = {static_cast<uint32_t>(first), static_cast<uint32_t>(count),
                     static_cast<uint32_t>(stride)};
      std::vector<bool> seen(count > 1 && stride > 1 ? n_ : 0, false);
      if (!seen.empty()) {
        bool twice = false;
        step.blocks.for_each(n_, [&](uint32_t b) {
          twice = twice || seen[b];
          seen[b] = true;
        });
        require(!twice, "block_count", count,
                fmt::format("smaller: with `block_stride` {} the message carries a block twice", stride));
      }
    }
    return step;
  }

  const std::string& prefix_;
  uint32_t member_;
  uint32_t n_;
};

const char* word(Kind kind) {
  return kind == Kind::send ? "send" : kind == Kind::receive ? "receive" : "metadata node";
}

/// Pairs the k-th send with the k-th receive of the same two members and tag, in the order of the files.
void match(const std::string& prefix, std::vector<Step>& steps) {
  std::map<std::tuple<uint32_t, uint32_t, int64_t>, std::pair<std::vector<uint32_t>, std::vector<uint32_t>>>
      pairs;
  for (uint32_t i = 0; i < steps.size(); ++i) {
    const Step& s = steps[i];
    if (s.kind == Kind::send) pairs[{s.member, s.peer, s.tag}].first.push_back(i);
    if (s.kind == Kind::receive) pairs[{s.peer, s.member, s.tag}].second.push_back(i);
  }
  for (const auto& [key, ends] : pairs) {
    const auto& [sends, receives] = ends;
    if (sends.size() != receives.size()) {
      const bool lonely_send = sends.size() > receives.size();
      const Step& s = steps[lonely_send ? sends[receives.size()] : receives[sends.size()]];
      fail(prefix, s.member, s.id,
           fmt::format("the {} {} member {} with tag {} has no {} there ({} has {} of that tag and {} {})",
                       word(s.kind), lonely_send ? "to" : "from", s.peer, s.tag,
                       lonely_send ? "receive" : "send", file_of(prefix, std::get<0>(key)),
                       fmt::format("{} send(s)", sends.size()), file_of(prefix, std::get<1>(key)),
                       fmt::format("{} receive(s)", receives.size())));
    }
    for (size_t k = 0; k < sends.size(); ++k) {
      Step& receive = steps[receives[k]];
      steps[sends[k]].partner = receives[k];
      receive.partner = sends[k];
      const BlockSet& sent = steps[sends[k]].blocks;
      if (receive.named && (receive.blocks.first != sent.first || receive.blocks.count != sent.count ||
                            (sent.count > 1 && receive.blocks.stride != sent.stride))) {
        fail(
            prefix, receive.member, receive.id,
            fmt::format("it names blocks (first {}, count {}, stride {}) and its send, node {} of {}, others "
                        "(first {}, count {}, stride {}); a block keeps its number",
                        receive.blocks.first, receive.blocks.count, receive.blocks.stride, steps[sends[k]].id,
                        file_of(prefix, steps[sends[k]].member), sent.first, sent.count, sent.stride));
      }
    }
  }
}

/// The nodes of a cycle among those that still wait for something.
std::string name_cycle(const std::vector<Step>& steps, const std::vector<uint32_t>& waits) {
  // Backwards from any of them: each waits for another that waits.
  std::vector<uint32_t> before(steps.size(), ~0u);
  for (uint32_t i = 0; i < steps.size(); ++i) {
    if (waits[i] == 0) continue;
    for (const uint32_t a : steps[i].after) before[a] = i;
    if (steps[i].kind == Kind::send && before[steps[i].partner] == ~0u) before[steps[i].partner] = i;
  }
  uint32_t at = 0;
  while (waits[at] == 0 || before[at] == ~0u) ++at;
  std::vector<bool> seen(steps.size(), false);
  while (!seen[at]) {
    seen[at] = true;
    at = before[at];
  }
  std::string text;
  const uint32_t start = at;
  uint32_t named = 0;
  do {
    if (named++ == 8) {
      text += " <- ...";
      break;
    }
    text += fmt::format("{}{} {} of member {}", named == 1 ? "" : " <- ", word(steps[at].kind), steps[at].id,
                        steps[at].member);
    at = before[at];
  } while (at != start);
  return text;
}

/// Levels of all steps; throws on a cycle.
std::vector<uint32_t> find_levels(const std::string& prefix, const std::vector<Step>& steps) {
  std::vector<uint32_t> waits(steps.size(), 0);
  for (const Step& s : steps) {
    for (const uint32_t a : s.after) ++waits[a];
    if (s.kind == Kind::send) ++waits[s.partner];
  }
  std::vector<uint32_t> level(steps.size(), 0);
  std::vector<uint32_t> ready;
  for (uint32_t i = 0; i < steps.size(); ++i) {
    if (waits[i] == 0) ready.push_back(i);
  }
  size_t done = 0;
  while (done < ready.size()) {
    const uint32_t i = ready[done++];
    auto reach = [&](uint32_t other, uint32_t at_least) {
      level[other] = std::max(level[other], at_least);
      if (--waits[other] == 0) ready.push_back(other);
    };
    for (const uint32_t a : steps[i].after) reach(a, level[i] + (steps[i].kind == Kind::receive ? 1 : 0));
    if (steps[i].kind == Kind::send) reach(steps[i].partner, level[i]);
  }
  if (done != steps.size()) {
    throw UserError(
        ExitCode::trace,
        fmt::format("{}.*.et: the programs deadlock: {} node(s) can never run, among them the cycle "
                    "({}), each waiting for the next; break it by sending before receiving",
                    prefix, steps.size() - done, name_cycle(steps, waits)));
  }
  return level;
}

PhaseRounds make_rounds(const std::vector<Step>& steps, const std::vector<uint32_t>& level, uint32_t n) {
  // A member's levels with a send or receive in them, in order.
  std::vector<std::vector<uint32_t>> used(n);
  for (uint32_t i = 0; i < steps.size(); ++i) {
    if (steps[i].kind != Kind::order) used[steps[i].member].push_back(level[i]);
  }
  PhaseRounds rounds(n);
  for (uint32_t m = 0; m < n; ++m) {
    std::sort(used[m].begin(), used[m].end());
    used[m].erase(std::unique(used[m].begin(), used[m].end()), used[m].end());
    // A member that does nothing has one empty round.
    rounds[m].resize(std::max<size_t>(1, used[m].size()));
  }
  auto round_of = [&](uint32_t i) {
    const auto& levels = used[steps[i].member];
    return static_cast<uint32_t>(std::lower_bound(levels.begin(), levels.end(), level[i]) - levels.begin());
  };
  for (uint32_t i = 0; i < steps.size(); ++i) {
    const Step& s = steps[i];
    if (s.kind == Kind::order) continue;
    Round& round = rounds[s.member][round_of(i)];
    if (s.kind == Kind::receive) {
      ++round.receives;
    } else {
      round.sends.push_back({s.peer, round_of(s.partner), s.blocks, steps[s.partner].reduce});
    }
  }
  return rounds;
}

}  // namespace

std::shared_ptr<const CustomAlgorithm> CustomAlgorithm::load(const std::string& prefix, uint32_t n) {
  std::vector<Step> steps;
  for (uint32_t m = 0; m < n; ++m) {
    try {
      Reader(prefix, m, n).read(steps);
    } catch (const UserError& e) {
      throw UserError(e.code(), fmt::format("algorithm `custom:{}` for {} members: {}", prefix, n, e.what()));
    }
  }
  match(prefix, steps);
  const std::vector<uint32_t> levels = find_levels(prefix, steps);
  return std::shared_ptr<const CustomAlgorithm>(new CustomAlgorithm(prefix, make_rounds(steps, levels, n)));
}

std::string CustomAlgorithm::file(const std::string& prefix, uint32_t member) {
  return fmt::format("{}.{}.et", prefix, member);
}

CustomAlgorithm::CustomAlgorithm(std::string prefix, PhaseRounds rounds)
    : prefix_(std::move(prefix)), rounds_(std::move(rounds)), last_(rounds_.size()) {
  for (uint32_t m = 0; m < rounds_.size(); ++m) {
    for (const Round& round : rounds_[m]) {
      for (const RoundSend& send : round.sends) {
        uint32_t& last = last_[send.to].emplace(m, 0).first->second;
        last = std::max(last, send.at_round);
      }
    }
  }
}

std::string CustomAlgorithm::refuses(CollectiveOp, uint32_t n) const {
  if (n == rounds_.size()) return {};
  return fmt::format("custom:{} has programs for {} members, not {}", prefix_, rounds_.size(), n);
}

uint32_t CustomAlgorithm::rounds(const PhaseShape& s) const {
  return static_cast<uint32_t>(rounds_[s.me].size());
}

void CustomAlgorithm::round(const PhaseShape& s, uint32_t r, Round& out) const {
  out = rounds_[s.me][r];
}

bool CustomAlgorithm::expects(const PhaseShape& s, uint32_t r, uint32_t from) const {
  const auto it = last_[s.me].find(from);
  return it != last_[s.me].end() && it->second >= r;
}

std::string CustomAlgorithm::disproof(const PhaseShape& s, uint32_t& block) const {
  const auto [it, fresh] = proven_.try_emplace({s.op, rooted(s.op) ? s.root : 0});
  if (fresh) it->second.text = disprove(rounds_, s.op, s.root, &it->second.block);
  if (it->second.text.empty()) return {};
  block = it->second.block;
  return fmt::format("{}.*.et: the programs do not do what {} is defined to do: {}", prefix_, to_string(s.op),
                     it->second.text);
}

}  // namespace weft::collectives
