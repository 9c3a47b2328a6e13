// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Topologies that are lists: ns-3's topology and configuration (astra-network-ns3), htsim's tiers.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "configs/input_file.h"
#include "sc_main/import/import_files.h"
#include "sc_main/import/input_keys.h"
#include "sc_main/import/logical_ends.h"

namespace weft::cli::import {
namespace {

using V = Verdict;

constexpr uint64_t kMostNodes = 8192;

struct Line {
  uint32_t number;
  std::vector<std::string> words;
};

std::vector<Line> lines_of(const std::string& text) {
  std::vector<Line> lines;
  std::istringstream in(text);
  std::string line;
  for (uint32_t number = 1; std::getline(in, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    Line next{number, {}};
    for (std::string word; words >> word;) next.words.push_back(word);
    if (!next.words.empty()) lines.push_back(std::move(next));
  }
  return lines;
}

[[noreturn]] void fail(const std::string& path, const Line& line, const std::string& what) {
  throw UserError(ExitCode::usage, fmt::format("{}:{}: {}", path, line.number, what));
}

uint64_t whole(const std::string& path, const Line& line, size_t word, uint64_t below, const char* what) {
  const bool there = word < line.words.size();
  const std::string text = there ? line.words[word] : "";
  const bool digits = there && text.size() < 10 && std::all_of(text.begin(), text.end(), [](char c) {
                        return std::isdigit(static_cast<unsigned char>(c)) != 0;
                      });
  const uint64_t value = digits ? std::stoull(text) : 0;
  if (!digits || value >= below)
    fail(path, line, fmt::format("{} is `{}`; give a whole number below {}", what, text, below));
  return value;
}

/// "400Gbps" -> "400 Gb/s".
std::string rate_of(const std::string& path, const Line& line, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  std::string unit(end);
  static const std::map<std::string, const char*> units = {{"bps", "b/s"},   {"Kbps", "kb/s"},
                                                           {"kbps", "kb/s"}, {"Mbps", "Mb/s"},
                                                           {"Gbps", "Gb/s"}, {"Tbps", "Tb/s"}};
  const auto found = units.find(unit);
  if (!(value > 0) || found == units.end())
    fail(path, line, fmt::format("`{}` is no rate of a link; give one such as 400Gbps", text));
  return text.substr(0, text.size() - unit.size()) + " " + found->second;
}

/// "0.0005ms" -> "0.0005 ms".
std::string time_of(const std::string& path, const Line& line, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const std::string unit(end);
  if (!(value >= 0) || end == text.c_str() ||
      (unit != "ps" && unit != "ns" && unit != "us" && unit != "ms" && unit != "s"))
    fail(path, line, fmt::format("`{}` is no delay of a link; give one such as 0.0005ms", text));
  return text.substr(0, text.size() - unit.size()) + " " + unit;
}

std::string row_place(const std::string& path, const Line& line) {
  return fmt::format("{}:{}", std::filesystem::path(path).filename().string(), line.number);
}

}  // namespace

void import_ns3_topology(const std::string& path, const std::string& text, Imported& imported) {
  const std::vector<Line> lines = lines_of(text);
  if (lines.size() < 2)
    throw UserError(ExitCode::usage, fmt::format("{}: has no links; it is no topology of ns-3", path));
  const uint64_t nodes = whole(path, lines[0], 0, kMostNodes + 1, "the number of nodes");
  const uint64_t switches = whole(path, lines[0], 1, nodes, "the number of switches");
  const uint64_t links = whole(path, lines[0], 2, uint64_t{1} << 24, "the number of links");
  const size_t first = switches == 0 ? 1 : 2;
  std::vector<std::string> names(nodes);
  const Line& list = lines[1];
  if (switches > 0 && list.words.size() != switches)
    fail(path, list, fmt::format("has {} switches, but line 1 says {}", list.words.size(), switches));
  for (uint64_t s = 0; s < switches; ++s) {
    std::string& name = names[whole(path, list, s, nodes, "a switch")];
    if (!name.empty()) fail(path, list, fmt::format("names switch {} twice", list.words[s]));
    name = fmt::format("sw{}", s);
  }
  uint64_t npus = 0;
  for (std::string& name : names)
    if (name.empty()) name = fmt::format("npu{}", npus++);
  if (lines.size() - first != links)
    fail(path, lines.back(), fmt::format("{} links follow, but line 1 says {}", lines.size() - first, links));
  std::string out =
      fmt::format("    npus: {}\n    switches: {}\n    npus_forward: false\n    links:\n", npus, switches);
  double errors = 0;
  for (size_t i = first; i < lines.size(); ++i) {
    const Line& line = lines[i];
    if (line.words.size() < 4)
      fail(path, line, "has not the five words of a link: node, node, rate, delay, error rate");
    out += fmt::format("      - {{from: {}, to: {}, bandwidth: {}, latency: {}}}\n",
                       names[whole(path, line, 0, nodes, "a node")],
                       names[whole(path, line, 1, nodes, "a node")], rate_of(path, line, line.words[2]),
                       time_of(path, line, line.words[3]));
    if (line.words.size() > 4) errors = std::max(errors, std::strtod(line.words[4].c_str(), nullptr));
  }
  imported.graph = out;
  imported.report.push_back({row_place(path, lines[0]), "nodes, switches, links",
                             fmt::format("{} {} {}", nodes, switches, links), "topology.graph", V::exact,
                             ""});
  imported.report.push_back({row_place(path, lines[first]), "links", fmt::format("{} lines", links),
                             "topology.graph.links", V::exact, ""});
  if (errors > 0)
    imported.report.push_back({row_place(path, lines[first]), "error rate", fmt::format("{}", errors), "",
                               V::no_counterpart,
                               "of packets; Weft has `flit_error_rate` at `packet` fidelity"});
}

void import_ns3_config(const std::string& path, Imported& imported) {
  InputKeys keys(path, imported);
  const InputKey* topology = keys.take("TOPOLOGY_FILE");
  if (topology->values.size() != 1) keys.fail(*topology, "names no file");
  const std::filesystem::path written(topology->values[0]);
  std::error_code error;
  std::filesystem::path file = written;
  if (!std::filesystem::exists(file, error))
    file = std::filesystem::path(path).parent_path() / written.filename();
  const InputKind kind{"topology", ExitCode::usage,
                       "check TOPOLOGY_FILE; it is looked for as written, and beside its file",
                       uint64_t{64} << 20};
  import_ns3_topology(file.string(), read_input(file.string(), kind), imported);
  keys.tell(*topology, "topology.graph", V::exact);
  if (const InputKey* mode = keys.take("CC_MODE")) {
    static const std::map<std::string, const char*> modes = {
        {"1", "DCQCN"}, {"3", "HPCC"}, {"7", "TIMELY"}, {"8", "DCTCP"}, {"10", "PINT"}};
    const auto found = modes.find(mode->text());
    const bool dcqcn = mode->text() == "1";
    keys.tell(*mode, dcqcn ? "packet.dcqcn" : "", dcqcn ? V::ignored : V::no_counterpart,
              fmt::format("{}{}", found == modes.end() ? "unknown mode" : found->second,
                          dcqcn ? ": of packets; the machine is at `message` fidelity" : ""));
  }
  for (const char* name : {"ENABLE_QCN",
                           "PACKET_PAYLOAD_SIZE",
                           "BUFFER_SIZE",
                           "KMAX_MAP",
                           "KMIN_MAP",
                           "PMAX_MAP",
                           "RP_TIMER",
                           "EWMA_GAIN",
                           "RATE_AI",
                           "RATE_HAI",
                           "MIN_RATE",
                           "ALPHA_RESUME_INTERVAL",
                           "RATE_DECREASE_INTERVAL",
                           "CLAMP_TARGET_RATE",
                           "FAST_RECOVERY_TIMES",
                           "DCTCP_RATE_AI",
                           "USE_DYNAMIC_PFC_THRESHOLD",
                           "L2_CHUNK_SIZE",
                           "L2_ACK_INTERVAL",
                           "L2_BACK_TO_ZERO",
                           "HAS_WIN",
                           "GLOBAL_T",
                           "VAR_WIN",
                           "FAST_REACT",
                           "U_TARGET",
                           "MI_THRESH",
                           "INT_MULTI",
                           "MULTI_RATE",
                           "SAMPLE_FEEDBACK",
                           "PINT_LOG_BASE",
                           "PINT_PROB",
                           "RATE_BOUND",
                           "ACK_HIGH_PRIO",
                           "NIC_TOTAL_PAUSE_TIME"})
    keys.take(name, "packet.*", V::ignored, "of packets; the machine is at `message` fidelity");
  for (const char* name :
       {"FLOW_FILE", "TRACE_FILE", "TRACE_OUTPUT_FILE", "FCT_OUTPUT_FILE", "PFC_OUTPUT_FILE", "QLEN_MON_FILE",
        "QLEN_MON_START", "QLEN_MON_END", "SIMULATOR_STOP_TIME", "ENABLE_TRACE"})
    keys.take(name, "", V::ignored, "Weft writes a folder of results");
  keys.take("ERROR_RATE_PER_LINK", "", V::ignored, "Weft has `flit_error_rate` at `packet` fidelity");
  keys.take("LINK_DOWN", "", V::ignored, "a link that goes down has no counterpart; 0 0 0 is none");
  keys.tell_unknown();
}

void import_htsim_topology(const std::string& path, const std::string& text, Imported& imported) {
  const std::vector<Line> lines = lines_of(text);
  uint64_t nodes = 0, tiers = 0;
  std::vector<std::map<std::string, Line>> of_tier;
  for (const Line& line : lines) {
    const std::string& key = line.words[0];
    const auto tell = [&](const char* weft, V verdict, const char* why) {
      const std::string tier = of_tier.empty() ? "" : fmt::format(" (tier {})", of_tier.size() - 1);
      imported.report.push_back({row_place(path, line), key + tier,
                                 line.words.size() > 1 ? line.words[1] : "", weft, verdict, why});
    };
    if (key == "Nodes") {
      nodes = whole(path, line, 1, kMostNodes + 1, "Nodes");
      tell("topology.notation", V::exact, "");
    } else if (key == "Tiers") {
      tiers = whole(path, line, 1, 4, "Tiers");
      tell("topology.notation", V::exact, "");
    } else if (key == "Podsize") {
      whole(path, line, 1, kMostNodes + 1, "Podsize");
      tell("topology.notation", V::exact, "");
    } else if (key == "Tier") {
      if (whole(path, line, 1, 4, "Tier") != of_tier.size())
        fail(path, line, "tiers are numbered 0, 1, .. in order");
      of_tier.emplace_back();
    } else if (!of_tier.empty() && (key == "Downlink_speed_Gbps" || key == "Radix_Down" ||
                                    key == "Radix_Up" || key == "Downlink_Latency_ns" || key == "Bundle")) {
      of_tier.back()[key] = line;
      tell(key == "Downlink_speed_Gbps"   ? "topology.dimensions[].levels[].bandwidth"
           : key == "Downlink_Latency_ns" ? "topology.dimensions[].levels[].latency"
                                          : "topology.notation",
           V::exact, "");
    } else if (key.rfind("Queue", 0) == 0 || key == "Switch_Latency_ns" ||
               key.rfind("Oversubscribed", 0) == 0) {
      tell("", V::ignored, "the machine is at `message` fidelity");
    } else {
      tell("", V::no_counterpart, "unknown key");
    }
  }
  const auto value = [&](size_t tier, const char* key, uint64_t fallback) {
    const auto found = of_tier[tier].find(key);
    if (found == of_tier[tier].end()) {
      if (fallback != 0) return fallback;
      throw UserError(ExitCode::usage, fmt::format("{}: tier {} has no {}", path, tier, key));
    }
    return whole(path, found->second, 1, 1000000, key);
  };
  if (tiers != 2 || of_tier.size() != 2)
    throw UserError(
        ExitCode::usage,
        fmt::format(
            "{}: {} tiers of switches ({} described); Weft imports 2, which are a Clos network. Write "
            "others as `topology.graph`, or FatTree(k, n)",
            path, tiers, of_tier.size()));
  const uint64_t hosts = value(0, "Radix_Down", 0);
  const uint64_t spines = value(0, "Radix_Up", 0) / value(1, "Bundle", 1);
  if (hosts == 0 || spines == 0 || nodes % hosts != 0 || nodes == 0)
    throw UserError(ExitCode::usage, fmt::format("{}: {} nodes do not fill leaves of {} with {} uplinks",
                                                 path, nodes, hosts, value(0, "Radix_Up", 0)));
  const auto link = [&](size_t tier, uint64_t bundle) {
    const std::string count = bundle > 1 ? fmt::format(", count: {}", bundle) : "";
    return fmt::format("bandwidth: {} Gb/s, latency: {} ns{}", value(tier, "Downlink_speed_Gbps", 0),
                       value(tier, "Downlink_Latency_ns", 1), count);
  };
  // As a graph: leaves first, then spines.
  const uint64_t leaves = nodes / hosts;
  std::string out = fmt::format("    npus: {}\n    switches: {}\n    npus_forward: false\n    links:\n",
                                nodes, leaves + spines);
  for (uint64_t l = 0; l < leaves; ++l)
    out += fmt::format("      - {{from: npu{}..npu{}, to: sw{}, {}}}\n", l * hosts, (l + 1) * hosts - 1, l,
                       link(0, 1));
  out += fmt::format("      - {{from: sw0..sw{}, to: sw{}..sw{}, {}}}\n", leaves - 1, leaves,
                     leaves + spines - 1, link(1, value(1, "Bundle", 1)));
  imported.graph = out;
}

Imported import_all(const ImportOptions& options) {
  Imported imported;
  if (!options.network.empty()) import_network(options, imported);
  if (!options.system.empty()) import_system(options, imported);
  if (!options.memory.empty()) import_memory(options.memory, imported);
  if (!options.groups.empty()) import_groups(options.groups, imported);
  if (!options.logical.empty()) import_logical(options.logical, imported);
  move_ends_to_links(imported);
  return imported;
}

}  // namespace weft::cli::import
