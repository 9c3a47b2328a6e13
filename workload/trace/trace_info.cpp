// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/trace_info.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "workload/trace/trace_index.h"

namespace weft::trace {
namespace {

uint32_t rank_in_name(const std::string& path) {
  if (path.size() < 4 || path.compare(path.size() - 3, 3, ".et") != 0) return 0;
  const auto dot = path.rfind('.', path.size() - 4);
  if (dot == std::string::npos) return 0;
  const std::string digits = path.substr(dot + 1, path.size() - dot - 4);
  if (digits.empty() || digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string::npos)
    return 0;
  return static_cast<uint32_t>(std::stoul(digits));
}

void add(TraceInfo::Amount& sum, const TraceInfo::Amount& other) {
  sum.count += other.count;
  sum.bytes += other.bytes;
}

void add(TraceInfo::Amount& sum, uint64_t bytes) {
  ++sum.count;
  sum.bytes += bytes;
}

std::string bytes_text(uint64_t bytes) {
  static const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit < 6) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.4g} {} ({} B)", value, units[unit], bytes);
}

std::string time_text(Picoseconds time) {
  const auto ps = static_cast<double>(time);
  if (time >= 1000000000000) return fmt::format("{:.6g} s", ps / 1e12);
  if (time >= 1000000000) return fmt::format("{:.6g} ms", ps / 1e9);
  return fmt::format("{:.6g} us", ps / 1e6);
}

std::string block(const TraceInfo& i, bool sum) {
  std::string text =
      sum ? fmt::format("total of {} files\n", i.files) : fmt::format("{} (rank {})\n", i.path, i.rank);
  const auto line = [&](const std::string& key, const std::string& value) {
    text += fmt::format("  {:<22} {}\n", key, value);
  };
  const auto amount = [&](const std::string& key, const TraceInfo::Amount& a) {
    if (a.count > 0) line(key, fmt::format("{}, {}", a.count, bytes_text(a.bytes)));
  };
  line("file size", bytes_text(i.file_bytes));
  line("nodes", fmt::format("{}", i.nodes));
  for (size_t t = 0; t < i.nodes_by_type.size(); ++t) {
    if (i.nodes_by_type[t] > 0) {
      line(fmt::format("  {}", to_string(static_cast<NodeType>(t))), fmt::format("{}", i.nodes_by_type[t]));
    }
  }
  for (size_t op = 0; op < i.collectives.size(); ++op) {
    amount(to_string(static_cast<CollectiveOp>(op)), i.collectives[op]);
  }
  if (i.wrappers > 0)
    line("collective wrappers", fmt::format("{} (COMM_COLL without comm_type, no time)", i.wrappers));
  amount("sends", i.sends);
  amount("receives", i.receives);
  amount("memory loads", i.memory_loads);
  amount("memory stores", i.memory_stores);
  if (i.compute_cpu + i.compute_gpu > 0) {
    line("compute", fmt::format("{} CPU and {} GPU nodes, {:.6g} FLOP, recorded {}", i.compute_cpu,
                                i.compute_gpu, i.flops, time_text(i.compute_duration)));
  }
  if (i.other_duration > 0) line("other recorded time", time_text(i.other_duration));
  for (const auto& [name, a] : i.groups) {
    amount(name.empty() ? std::string("group of all ranks") : fmt::format("group \"{}\"", name), a);
  }
  line("dependencies", fmt::format("{}, of them {} dangling, {} forward, {} ignored", i.dependencies,
                                   i.dangling, i.forward_references, i.ignored_control));
  if (i.nodes > 0) {
    const auto where = [&](const std::string& path) {
      return sum ? fmt::format(" in {}", path) : std::string();
    };
    line("longest path", fmt::format("{} nodes, node {} to {}{}", i.most_nodes.nodes, i.most_nodes.first_id,
                                     i.most_nodes.last_id, where(i.most_nodes_path)));
    line(
        "longest recorded path",
        fmt::format("{} over {} nodes, node {} to {}{}", time_text(i.longest_time.time), i.longest_time.nodes,
                    i.longest_time.first_id, i.longest_time.last_id, where(i.longest_time_path)));
  }
  for (const auto& w : i.warnings) line("warning", w);
  return text;
}

using Json = nlohmann::ordered_json;

Json to_json(const TraceInfo::Amount& a) {
  return Json{{"count", a.count}, {"bytes", a.bytes}};
}

Json to_json(const TraceInfo& i, bool sum) {
  Json j;
  if (sum) {
    j["files"] = i.files;
  } else {
    j["file"] = i.path;
    j["rank"] = i.rank;
  }
  j["file_bytes"] = i.file_bytes;
  j["nodes"] = i.nodes;
  Json types = Json::object();
  for (size_t t = 0; t < i.nodes_by_type.size(); ++t) {
    if (i.nodes_by_type[t] > 0) types[to_string(static_cast<NodeType>(t))] = i.nodes_by_type[t];
  }
  j["nodes_by_type"] = types;
  Json collectives = Json::object();
  for (size_t op = 0; op < i.collectives.size(); ++op) {
    if (i.collectives[op].count > 0)
      collectives[to_string(static_cast<CollectiveOp>(op))] = to_json(i.collectives[op]);
  }
  j["collectives"] = collectives;
  j["collective_wrappers"] = i.wrappers;
  j["sends"] = to_json(i.sends);
  j["receives"] = to_json(i.receives);
  j["memory_loads"] = to_json(i.memory_loads);
  j["memory_stores"] = to_json(i.memory_stores);
  j["compute"] = Json{{"cpu_nodes", i.compute_cpu},
                      {"gpu_nodes", i.compute_gpu},
                      {"flop", i.flops},
                      {"recorded_ps", i.compute_duration}};
  j["other_recorded_ps"] = i.other_duration;
  j["nodes_with_duration"] = i.with_duration;
  Json groups = Json::object();
  for (const auto& [name, a] : i.groups) groups[name] = to_json(a);
  j["groups"] = groups;
  j["dependencies"] = i.dependencies;
  j["dangling_dependencies"] = i.dangling;
  j["forward_references"] = i.forward_references;
  j["ignored_control_dependencies"] = i.ignored_control;
  const auto path = [&](const LongestPath& p, const std::string& file, bool time) {
    Json k;
    k["nodes"] = p.nodes;
    if (time) k["recorded_ps"] = p.time;
    k["first_id"] = p.first_id;
    k["last_id"] = p.last_id;
    if (sum) k["file"] = file;
    return k;
  };
  j["longest_path"] = path(i.most_nodes, i.most_nodes_path, false);
  j["longest_recorded_path"] = path(i.longest_time, i.longest_time_path, true);
  j["warnings"] = i.warnings;
  return j;
}

}  // namespace

TraceInfo trace_info(const std::string& path) {
  TraceInfo info;
  info.path = info.most_nodes_path = info.longest_time_path = path;
  info.rank = rank_in_name(path);
  const TraceIndex index(path, info.rank, TraceIndex::Options{});
  const TraceStats& stats = index.stats();
  info.file_bytes = stats.file_bytes;
  info.nodes = stats.nodes;
  std::copy(std::begin(stats.nodes_by_type), std::end(stats.nodes_by_type), info.nodes_by_type.begin());
  info.dependencies = stats.dependencies;
  info.dangling = stats.dangling;
  info.forward_references = stats.forward_references;
  info.ignored_control = stats.ignored_control;
  for (const auto& warning : index.warnings()) info.warnings.push_back(warning.text);

  // The cost functions are called once a node: the first pass counts at the same time.
  const auto count = [&](const Node& node) -> Picoseconds {
    if (node.has_duration) ++info.with_duration;
    (node.type == NodeType::comp ? info.compute_duration : info.other_duration) += node.duration;
    switch (node.type) {
      case NodeType::comp:
        ++(node.is_cpu_op ? info.compute_cpu : info.compute_gpu);
        info.flops += static_cast<double>(node.num_ops);
        break;
      case NodeType::mem_load:
        add(info.memory_loads, node.tensor_size);
        break;
      case NodeType::mem_store:
        add(info.memory_stores, node.tensor_size);
        break;
      case NodeType::comm_send:
        add(info.sends, node.comm_size);
        break;
      case NodeType::comm_recv:
        add(info.receives, node.comm_size);
        break;
      case NodeType::comm_coll:
        if (!node.has_comm_type) {
          ++info.wrappers;
          break;
        }
        add(info.collectives[static_cast<size_t>(node.op)], node.comm_size);
        add(info.groups[node.pg_name], node.comm_size);
        break;
      default:
        break;
    }
    return 1;
  };
  info.most_nodes = longest_path(index, count);
  info.longest_time = longest_path(index, [](const Node& node) { return node.duration; });
  return info;
}

TraceInfo total(const std::vector<TraceInfo>& infos) {
  TraceInfo sum;
  sum.files = 0;
  for (const TraceInfo& i : infos) {
    sum.files += i.files;
    sum.file_bytes += i.file_bytes;
    sum.nodes += i.nodes;
    for (size_t t = 0; t < sum.nodes_by_type.size(); ++t) sum.nodes_by_type[t] += i.nodes_by_type[t];
    for (size_t op = 0; op < sum.collectives.size(); ++op) add(sum.collectives[op], i.collectives[op]);
    sum.wrappers += i.wrappers;
    add(sum.sends, i.sends);
    add(sum.receives, i.receives);
    add(sum.memory_loads, i.memory_loads);
    add(sum.memory_stores, i.memory_stores);
    sum.compute_cpu += i.compute_cpu;
    sum.compute_gpu += i.compute_gpu;
    sum.flops += i.flops;
    sum.with_duration += i.with_duration;
    sum.compute_duration += i.compute_duration;
    sum.other_duration += i.other_duration;
    for (const auto& [name, a] : i.groups) add(sum.groups[name], a);
    sum.dependencies += i.dependencies;
    sum.dangling += i.dangling;
    sum.forward_references += i.forward_references;
    sum.ignored_control += i.ignored_control;
    if (sum.most_nodes_path.empty() || i.most_nodes.nodes > sum.most_nodes.nodes) {
      sum.most_nodes = i.most_nodes;
      sum.most_nodes_path = i.most_nodes_path;
    }
    if (sum.longest_time_path.empty() || i.longest_time.time > sum.longest_time.time) {
      sum.longest_time = i.longest_time;
      sum.longest_time_path = i.longest_time_path;
    }
  }
  return sum;
}

std::string to_text(const std::vector<TraceInfo>& infos) {
  std::string text;
  for (const TraceInfo& info : infos) text += (text.empty() ? "" : "\n") + block(info, false);
  if (infos.size() > 1) text += "\n" + block(total(infos), true);
  return text;
}

std::string to_json(const std::vector<TraceInfo>& infos) {
  Json j;
  j["files"] = Json::array();
  for (const TraceInfo& info : infos) j["files"].push_back(to_json(info, false));
  j["total"] = to_json(total(infos), true);
  // Names in a trace may hold any bytes; JSON may not.
  return j.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace weft::trace
