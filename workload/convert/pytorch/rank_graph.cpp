// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/convert/pytorch/rank_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "workload/convert/pytorch/host_trace.h"
#include "workload/convert/pytorch/json_file.h"
#include "workload/convert/pytorch/kineto.h"

namespace weft::convert::pytorch {
namespace {

constexpr Picoseconds kGap = 1000000000;  ///< 1 ms: a thread that begins so late waited for another one

class Builder {
 public:
  explicit Builder(const ReadOptions& options) : options_(options) { graph_.path = options.host; }

  RankGraph build() {
    host_ = read_host_trace(options_.host, graph_);
    timed_ = !options_.kineto.empty();
    if (timed_) {
      kineto_ = read_kineto(options_.kineto, graph_);
      link();
    }
    choose_iteration();
    add_host_nodes();
    if (timed_) {
      add_kernels();
      add_collectives_without_kernel();
      order_by_syncs();
    }
    order_by_waits();
    return std::move(graph_);
  }

 private:
  uint64_t& count(const char* what) { return graph_.counts[what]; }

  void link() {
    std::unordered_map<int64_t, uint32_t> by_function;
    for (uint32_t i = 0; i < kineto_.operators.size(); ++i)
      if (kineto_.operators[i].record_function > 0)
        by_function.emplace(kineto_.operators[i].record_function, i);
    event_.assign(host_.nodes.size(), kNone);
    for (uint32_t i = 0; i < host_.nodes.size(); ++i) {
      const auto it = by_function.find(host_.nodes[i].rf_id);
      if (host_.nodes[i].rf_id > 0 && it != by_function.end()) event_[i] = it->second;
      ++count(event_[i] != kNone ? "host nodes with their times"
                                 : "host nodes that the Kineto trace does not have");
    }
    if (count("host nodes with their times") == 0)
      throw UserError(
          ExitCode::trace,
          fmt::format("{}: no operator has the `Record function id` of a node of {}; the two files are "
                      "not of one run, or were recorded without it",
                      options_.kineto, options_.host));
  }

  const Event* event(uint32_t host) const {
    return timed_ && event_[host] != kNone ? &kineto_.operators[event_[host]] : nullptr;
  }

  void choose_iteration() {
    kept_.assign(host_.nodes.size(), true);
    if (!options_.one_iteration) return;
    const auto missing = [&](size_t there) {
      throw UserError(ExitCode::usage,
                      fmt::format("--iteration {}: {} has {} ProfilerSteps, numbered from 0; record "
                                  "with a schedule, or leave --iteration out",
                                  options_.iteration, options_.host, there));
    };
    if (timed_) {
      if (options_.iteration >= kineto_.steps.size()) missing(kineto_.steps.size());
      from_ = kineto_.steps[options_.iteration].begin;
      to_ = kineto_.steps[options_.iteration].end();
      for (const uint32_t i : host_.order) {
        const Event* const own = event(i);
        const uint32_t parent = host_.nodes[i].parent;
        kept_[i] =
            own != nullptr ? own->begin >= from_ && own->begin < to_ : parent != kNone && kept_[parent];
      }
      return;
    }
    std::vector<uint32_t> steps;
    for (const uint32_t i : host_.order)
      if (host_.nodes[i].name.find("ProfilerStep") != std::string::npos) steps.push_back(i);
    if (options_.iteration >= steps.size()) missing(steps.size());
    for (const uint32_t i : host_.order) {
      const uint32_t parent = host_.nodes[i].parent;
      kept_[i] = i == steps[options_.iteration] || (parent != kNone && kept_[parent]);
    }
  }

  /// Own time: what no child on the same thread takes.
  Picoseconds own_time(uint32_t i) {
    const Event* const own = event(i);
    if (own == nullptr) {
      if (timed_ || host_.nodes[i].recorded < 0) return 0;
      double children = 0;
      for (const uint32_t child : host_.nodes[i].children)
        children += std::max(host_.nodes[child].recorded, 0.0);
      if (children > host_.nodes[i].recorded) ++count("host nodes of a negative own time, taken as 0");
      return static_cast<Picoseconds>(std::max(host_.nodes[i].recorded - children, 0.0) * 1e6 + 0.5);
    }
    Picoseconds children = waiting_[i];
    const auto add = [&](uint32_t host, const auto& self) -> void {
      for (const uint32_t child : host_.nodes[host].children) {
        const Event* const inner = event(child);
        if (inner == nullptr) {
          self(child, self);  // its own children count
        } else if (inner->thread == own->thread) {
          children += inner->duration;
        }
      }
    };
    add(i, add);
    if (children <= own->duration) return own->duration - children;
    ++count("host nodes of a negative own time, taken as 0");
    return 0;
  }

  /// The innermost operator on a thread at a time.
  uint32_t covering(int64_t thread, Picoseconds at) {
    if (by_thread_.empty())
      for (uint32_t i = 0; i < host_.nodes.size(); ++i)
        if (kept_[i] && event(i) != nullptr && !host_.nodes[i].coalesced)
          by_thread_[event(i)->thread].push_back(i);
    if (!sorted_) {
      for (auto& list : by_thread_)
        std::sort(list.second.begin(), list.second.end(), [&](uint32_t a, uint32_t b) {
          return std::make_tuple(event(a)->begin, ~event(a)->duration, a) <
                 std::make_tuple(event(b)->begin, ~event(b)->duration, b);
        });
      sorted_ = true;
    }
    const std::vector<uint32_t>& list = by_thread_[thread];
    auto it = std::upper_bound(list.begin(), list.end(), at,
                               [&](Picoseconds t, uint32_t i) { return t < event(i)->begin; });
    for (int looked = 0; it != list.begin() && looked < 4096; ++looked)
      if (event(*--it)->end() >= at) return *it;
    return kNone;
  }

  static bool synchronises(const Event& call) { return call.name.find("Synchronize") != std::string::npos; }

  void add_host_nodes() {
    node_.assign(host_.nodes.size(), kNone);
    waiting_.assign(host_.nodes.size(), 0);
    for (const Event& call : kineto_.calls) {
      if (!synchronises(call)) continue;
      const uint32_t i = covering(call.thread, call.begin);
      if (i != kNone) waiting_[i] += std::min(call.duration, event(i)->end() - call.begin);
    }
    std::map<int64_t, uint32_t> last_of_thread;
    std::vector<std::pair<Picoseconds, uint32_t>> ends;  // of nodes with times
    for (const uint32_t i : host_.order) {
      if (!kept_[i]) continue;
      const HostNode& host = host_.nodes[i];
      const auto at = static_cast<uint32_t>(graph_.nodes.size());
      node_[i] = at;
      Node node;
      node.id = host.id;
      node.name = host.name;
      node.duration = own_time(i);
      if (!timed_ && host.communication.present && !host.communication.wait)
        set_communication(node, at, host.communication);
      const auto last = last_of_thread.find(host.tid);
      if (last != last_of_thread.end()) {
        node.before.push_back(last->second);
        next_[last->second] = at;
      }
      if (host.parent != kNone && node_[host.parent] != kNone && host_.nodes[host.parent].tid != host.tid)
        node.before.push_back(node_[host.parent]);
      if (const Event* const own = event(i)) {
        add_gap(*own, last == last_of_thread.end() ? kNone : last->second, node, ends);
        begin_[at] = own->begin;
        end_[at] = own->end();
        ends.emplace_back(own->end(), at);
      }
      last_of_thread[host.tid] = at;
      graph_.nodes.push_back(std::move(node));
    }
  }

  /// A thread that begins, or goes on after more than 1 ms: what another thread has ended last lets it.
  void add_gap(const Event& own, uint32_t last, Node& node,
               const std::vector<std::pair<Picoseconds, uint32_t>>& ends) {
    if (last != kNone && (end_.count(last) == 0 || own.begin < end_[last] + kGap)) return;
    uint32_t best = kNone;
    Picoseconds best_end = last != kNone ? end_[last] : 0;
    for (auto it = ends.rbegin(); it != ends.rend(); ++it)
      if (it->first <= own.begin && it->first >= best_end && it->second != last &&
          it->second < graph_.nodes.size()) {
        best = it->second;
        best_end = it->first;
      }
    if (best == kNone) return;
    node.before.push_back(best);
    ++count("threads that wait for another one: a gap of more than 1 ms");
  }

  /// `at`: the node's index.
  void set_communication(Node& node, uint32_t at, const Communication& c) {
    node.kind = c.kind;
    node.op = c.op;
    node.bytes = c.bytes;
    node.group = c.group;
    node.peer = c.peer;
    ++count("collectives, sends and receives that are written");
    if (c.sequence < 0) return;
    by_sequence_[{c.sequence, c.point_to_point}] = at;
    by_group_[{c.group, c.sequence, c.point_to_point}] = at;
  }

  /// The recorded collective of an operator, or of one of those around it.
  const Communication* recorded(uint32_t host) const {
    for (uint32_t i = host; i != kNone; i = host_.nodes[i].parent)
      if (host_.nodes[i].communication.present && !host_.nodes[i].communication.wait)
        return &host_.nodes[i].communication;
    return nullptr;
  }

  void add_kernels() {
    std::unordered_map<int64_t, const Event*> calls;
    for (const Event& call : kineto_.calls)
      if (call.correlation >= 0) calls.emplace(call.correlation, &call);
    uint64_t id = 0;
    for (const HostNode& host : host_.nodes) id = std::max(id, host.id);
    for (const Event& kernel : kineto_.kernels) {
      const auto call = calls.find(kernel.correlation);
      const uint32_t host = call == calls.end() ? kNone : covering(call->second->thread, call->second->begin);
      if (options_.one_iteration && (host == kNone || !kept_[host]) &&
          (kernel.begin < from_ || kernel.begin >= to_))
        continue;
      const auto at = static_cast<uint32_t>(graph_.nodes.size());
      Node node;
      node.id = ++id;
      node.name = kernel.name;
      node.kind = Kind::kernel;
      node.duration = kernel.duration;
      node.stream = static_cast<uint32_t>(std::clamp<int64_t>(kernel.stream, 0, 1 << 30));
      if (kernel.name.rfind("nccl", 0) == 0 || kernel.name.rfind("rccl", 0) == 0)
        nccl_kernel(kernel, host, node);
      if (host != kNone && node_[host] != kNone)
        node.before.push_back(node_[host]);
      else
        ++count("kernels without the operator that has launched them");
      std::vector<uint32_t>& stream = streams_[kernel.stream];
      if (!stream.empty()) node.before.push_back(stream.back());
      stream.push_back(at);
      launched_[at] = call == calls.end() ? kernel.begin : call->second->begin;
      ++count("kernels and copies of the GPU");
      graph_.nodes.push_back(std::move(node));
    }
    record_calls_ = std::move(calls);
  }

  void nccl_kernel(const Event& kernel, uint32_t host, Node& node) {
    const Communication* const around = host == kNone ? nullptr : recorded(host);
    Communication c = kernel.communication;
    if (!c.present) {
      if (around != nullptr) {
        c = *around;
      } else {
        const Call call = call_of(kernel.name, c.op);
        if (call != Call::collective) {
          ++count("kernels of NCCL whose operation is not known, written as kernels");
          return;
        }
        c.present = true;
        ++count("collectives without a size, as no operator around records it");
      }
    } else if (around != nullptr) {
      if (c.sequence < 0) c.sequence = around->sequence;
      c.point_to_point = around->point_to_point;
      if (c.group.empty()) c.group = around->group;
      if (c.bytes == 0) c.bytes = around->bytes;
    }
    node.duration = 0;
    set_communication(node, static_cast<uint32_t>(graph_.nodes.size()), c);
    if (around != nullptr) with_kernel_.insert(around);
  }

  /// Collectives that the host trace records, and no kernel runs: those of Gloo, for example, or of a GPU
  /// that was not recorded.
  void add_collectives_without_kernel() {
    const bool none = graph_.counts.count("collectives, sends and receives that are written") == 0;
    for (const uint32_t i : host_.order) {
      const Communication& c = host_.nodes[i].communication;
      if (node_[i] == kNone || !c.present || c.wait || with_kernel_.count(&c) != 0) continue;
      if (!none) {
        ++count("collectives of the host trace that no kernel was found for, left out");
        continue;
      }
      Node& node = graph_.nodes[node_[i]];
      node.duration = 0;
      set_communication(node, node_[i], c);
      ++count("collectives without a kernel, written where the host calls them");
    }
  }

  /// The collective that a `wait` is for: of its group, else the last one with its number.
  uint32_t waited_for(const Communication& c) const {
    if (c.sequence < 0) return kNone;
    for (const bool point_to_point : {c.point_to_point, !c.point_to_point}) {
      const auto own = by_group_.find({c.group, c.sequence, point_to_point});
      if (own != by_group_.end()) return own->second;
    }
    for (const bool point_to_point : {c.point_to_point, !c.point_to_point}) {
      const auto any = by_sequence_.find({c.sequence, point_to_point});
      if (any != by_sequence_.end()) return any->second;
    }
    return kNone;
  }

  /// The last kernel of a stream (any: -1) that was launched before a time.
  uint32_t last_launched(int64_t stream, Picoseconds before) const {
    uint32_t best = kNone;
    for (const auto& [number, kernels] : streams_) {
      if (stream >= 0 && number != stream) continue;
      for (auto it = kernels.rbegin(); it != kernels.rend(); ++it) {
        if (launched_.at(*it) >= before) continue;
        if (best == kNone || launched_.at(*it) > launched_.at(best)) best = *it;
        break;
      }
    }
    return best;
  }

  void order_by_syncs() {
    bool found = false;
    for (const Event& sync : kineto_.syncs) {
      found = true;
      const auto call = record_calls_.find(sync.correlation);
      const Event& asked = call != record_calls_.end() ? *call->second : sync;
      const int64_t on =
          sync.waits_on_stream >= 0 ? sync.waits_on_stream
          : sync.name.find("Context") != std::string::npos || sync.name.find("Device") != std::string::npos
              ? -1
              : sync.stream;
      const auto record = record_calls_.find(sync.waits_on_record);
      const Picoseconds until = record != record_calls_.end() ? record->second->begin : asked.begin;
      const uint32_t kernel = last_launched(on, until);
      if (kernel == kNone) continue;
      if (sync.name.find("Stream Wait") != std::string::npos) {
        stream_waits(sync.stream, asked.begin, kernel);
      } else {
        host_waits(covering(asked.thread, asked.begin), kernel);
      }
    }
    for (const Event& call : kineto_.calls) {
      if (found || !synchronises(call)) continue;
      const uint32_t kernel = last_launched(-1, call.begin);
      if (kernel != kNone && call.name.find("Device") != std::string::npos)
        host_waits(covering(call.thread, call.begin), kernel);
    }
    if (!found && !kineto_.kernels.empty())
      graph_.warnings.push_back(
          fmt::format("{}: it has no cuda_sync events, so the order of streams is only known "
                      "where an operator `wait`s; record with CUPTI's synchronisation events",
                      options_.kineto));
    count("edges of synchronisation");
  }

  /// The first kernel that the stream gets after `asked` waits.
  void stream_waits(int64_t stream, Picoseconds asked, uint32_t kernel) {
    const auto it = streams_.find(stream);
    if (it == streams_.end()) return;
    for (const uint32_t later : it->second) {
      if (launched_[later] < asked || later <= kernel) continue;
      graph_.nodes[later].before.push_back(kernel);
      ++count("edges of synchronisation");
      return;
    }
  }

  /// What the thread does after the operator waits: the operator itself may have launched the kernel.
  void host_waits(uint32_t host, uint32_t kernel) {
    if (host == kNone || node_[host] == kNone) return;
    const auto next = next_.find(node_[host]);
    if (next == next_.end()) return;
    late_.emplace_back(next->second, kernel);
    ++count("edges of synchronisation");
  }

  void order_by_waits() {
    for (const uint32_t i : host_.order) {
      const Communication& c = host_.nodes[i].communication;
      if (!c.present || !c.wait || node_[i] == kNone) continue;
      const uint32_t collective = waited_for(c);
      if (collective == kNone) {
        ++count("waits whose collective is not there");
        continue;
      }
      ++count("waits that wait for their collective");
      late_.emplace_back(node_[i], collective);
    }
    count("waits whose collective is not there");
    for (const auto& [node, kernel] : late_)
      if (!depends(kernel, node))
        graph_.nodes[node].before.push_back(kernel);
      else
        ++count("edges of synchronisation that would go in a circle, left out");
  }

  /// Whether `node` comes after `on`.
  bool depends(uint32_t node, uint32_t on) const {
    if (node == on) return true;
    std::vector<bool> seen(graph_.nodes.size());
    std::vector<uint32_t> stack{node};
    while (!stack.empty()) {
      const uint32_t i = stack.back();
      stack.pop_back();
      for (const uint32_t before : graph_.nodes[i].before) {
        if (before == on) return true;
        if (seen[before]) continue;
        seen[before] = true;
        stack.push_back(before);
      }
    }
    return false;
  }

  const ReadOptions& options_;
  RankGraph graph_;
  HostTrace host_;
  Kineto kineto_;
  bool timed_ = false;
  std::vector<uint32_t> event_;  ///< of each host node, kNone: it has none
  std::vector<bool> kept_;
  std::vector<uint32_t> node_;        ///< of each host node
  std::vector<Picoseconds> waiting_;  ///< in calls that synchronise
  Picoseconds from_ = 0, to_ = kNever;
  std::map<int64_t, std::vector<uint32_t>> by_thread_, streams_;
  bool sorted_ = false;
  std::unordered_map<uint32_t, uint32_t> next_;  ///< on the same thread
  std::unordered_map<uint32_t, Picoseconds> begin_, end_, launched_;
  std::map<std::pair<int64_t, bool>, uint32_t> by_sequence_;
  std::map<std::tuple<std::string, int64_t, bool>, uint32_t> by_group_;
  std::set<const Communication*> with_kernel_;
  std::unordered_map<int64_t, const Event*> record_calls_;
  std::vector<std::pair<uint32_t, uint32_t>> late_;
};

}  // namespace

RankGraph read_rank(const ReadOptions& options) {
  return Builder(options).build();
}

}  // namespace weft::convert::pytorch
