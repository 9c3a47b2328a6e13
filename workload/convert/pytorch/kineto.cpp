// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/convert/pytorch/kineto.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <tuple>

#include "workload/convert/pytorch/json_file.h"

namespace weft::convert::pytorch {
namespace {

constexpr double kMost = 1e15;  ///< us: 30 years

class Reader {
 public:
  Reader(const std::string& path, RankGraph& graph) : path_(path), graph_(graph) {}

  Kineto read() {
    const Json json = read_json(path_, "Kineto trace");
    const auto events = json.find("traceEvents");
    if (events == json.end() || !events->is_array())
      fail("it has no list `traceEvents`: this is no Kineto trace");
    double first = std::numeric_limits<double>::infinity();
    for (const Json& event : *events)
      if (event.is_object() && text(event, "ph") == "X")
        if (const auto ts = real(event, "ts")) first = std::min(first, *ts);
    for (size_t i = 0; i < events->size(); ++i) read_event((*events)[i], i, first);
    for (std::vector<Event>* list :
         {&kineto_.operators, &kineto_.steps, &kineto_.calls, &kineto_.kernels, &kineto_.syncs})
      std::stable_sort(list->begin(), list->end(),
                       [](const Event& a, const Event& b) { return a.begin < b.begin; });
    return std::move(kineto_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(ExitCode::trace, fmt::format("{}: {}", path_, what));
  }

  std::vector<Event>* list_of(const std::string& category, const std::string& name) {
    if (name.rfind("ProfilerStep", 0) == 0) return category == "user_annotation" ? &kineto_.steps : nullptr;
    if (category == "cpu_op" || category == "user_annotation") return &kineto_.operators;
    if (category == "cuda_runtime" || category == "cuda_driver" || category == "hip_runtime" ||
        category == "runtime")
      return &kineto_.calls;
    if (category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset") return &kineto_.kernels;
    if (category == "cuda_sync") return &kineto_.syncs;
    return nullptr;
  }

  void read_event(const Json& json, size_t number, double first) {
    if (!json.is_object() || text(json, "ph") != "X") return;
    Event event;
    event.name = text(json, "name");
    std::vector<Event>* const list = list_of(text(json, "cat"), event.name);
    if (list == nullptr) return;
    const auto begin = real(json, "ts");
    const double duration = real(json, "dur").value_or(0);
    if (!begin || !(*begin - first < kMost) || !(std::fabs(duration) < kMost))
      fail(fmt::format("event {} (\"{}\") has no time that can be: `ts` and `dur` are microseconds", number,
                       event.name.substr(0, 60)));
    event.begin = static_cast<Picoseconds>((*begin - first) * 1000 + 0.5) * 1000;
    if (duration < 0) ++graph_.counts["events of a negative duration, taken as 0"];
    if (json.find("dur") == json.end()) ++graph_.counts["events without a duration, taken as 0"];
    event.duration = static_cast<Picoseconds>(std::max(duration, 0.0) * 1000 + 0.5) * 1000;
    event.thread = integer(json, "tid").value_or(-1);
    static const Json kEmpty = Json::object();
    const auto it = json.find("args");
    const Json& args = it != json.end() && it->is_object() ? *it : kEmpty;
    event.record_function = integer(args, "Record function id").value_or(0);
    event.correlation = integer(args, "correlation").value_or(-1);
    event.stream = integer(args, "stream").value_or(-1);
    event.waits_on_stream = integer(args, "wait_on_stream").value_or(-1);
    event.waits_on_record = integer(args, "wait_on_cuda_event_record_corr_id").value_or(-1);
    if (list == &kineto_.kernels && event.correlation >= 0 &&
        !seen_.insert({event.correlation, event.stream, event.begin, event.name}).second) {
      ++graph_.counts["duplicate kernels, of which the first counts"];
      return;
    }
    if (args.contains("Collective name")) communication(args, event);
    list->push_back(std::move(event));
  }

  void communication(const Json& args, Event& event) {
    Communication& c = event.communication;
    const Call call = call_of(text(args, "Collective name"), c.op);
    if (call != Call::collective && call != Call::send && call != Call::receive) return;
    c.present = true;
    c.kind = call == Call::send ? Kind::send : call == Call::receive ? Kind::receive : Kind::collective;
    const uint64_t each = element_bytes(text(args, "dtype"));
    const int64_t elements = std::max<int64_t>(integer(args, "In msg nelems").value_or(0), 0);
    if (each == 0) ++graph_.counts["kernels of collectives with an unknown dtype, counted as bytes"];
    c.bytes = static_cast<uint64_t>(std::min(elements, int64_t{1} << 58)) * std::max<uint64_t>(each, 1);
    c.group = text(args, "Process Group Name");
    c.sequence = integer(args, "Seq").value_or(-1);
    if (const auto peer = integer(args, call == Call::send ? "Dst Rank" : "Src Rank"); peer && *peer >= 0)
      c.peer = static_cast<uint32_t>(std::min<int64_t>(*peer, 1 << 24));
    const std::string ranks = text(args, "Process Group Ranks");
    if (graph_.groups.count(c.group) != 0 || ranks.empty() || ranks.find("...") != std::string::npos) return;
    const Json list = Json::parse(ranks, nullptr, false);
    if (!list.is_array()) return;
    Group group;
    for (const Json& rank : list)
      if (rank.is_number_unsigned()) group.ranks.push_back(static_cast<uint32_t>(rank.get<uint64_t>()));
    group.size = static_cast<uint32_t>(group.ranks.size());
    graph_.groups[c.group] = std::move(group);
  }

  const std::string& path_;
  RankGraph& graph_;
  Kineto kineto_;
  std::set<std::tuple<int64_t, int64_t, Picoseconds, std::string>> seen_;  ///< kernels
};

}  // namespace

Kineto read_kineto(const std::string& path, RankGraph& graph) {
  return Reader(path, graph).read();
}

}  // namespace weft::convert::pytorch
