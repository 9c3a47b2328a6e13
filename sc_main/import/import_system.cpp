// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// System files: `key: value` lines of ASTRA-sim 1.0, JSON of 2.x (the keys of astra-sim/system/Sys.cc of
// both).

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "configs/algorithms.h"
#include "configs/types.h"
#include "sc_main/import/import_files.h"
#include "sc_main/import/input_keys.h"

namespace weft::cli::import {
namespace {

using V = Verdict;

struct Word {
  std::string algorithm;
  bool flat = false;    ///< one_..
  uint64_t window = 0;  ///< of direct
};

/// "oneDirect4" -> one_direct, window 4.
std::optional<Word> algorithm_of(std::string word) {
  Word out;
  size_t digits = word.size();
  while (digits > 0 && std::isdigit(static_cast<unsigned char>(word[digits - 1])) != 0) --digits;
  if (digits < word.size() && word.size() - digits < 10) out.window = std::stoull(word.substr(digits));
  const bool window = digits < word.size();
  word.resize(digits);
  if (word.rfind("one", 0) == 0 && word.size() > 3) {
    out.flat = true;
    word = word.substr(3);
    word[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(word[0])));
  }
  static const std::map<std::string, std::string> names = {{"ring", "ring"},
                                                           {"direct", "direct"},
                                                           {"doubleBinaryTree", "double_binary_tree"},
                                                           {"halvingDoubling", "halving_doubling"}};
  const auto found = names.find(word);
  if (found == names.end() || (window && found->second != "direct")) return std::nullopt;
  out.algorithm = (out.flat ? "one_" : "") + found->second;
  return out;
}

class SystemImport {
 public:
  SystemImport(const ImportOptions& options, Imported& imported)
      : options_(options), imported_(imported), keys_(options.system, imported) {}

  void run() {
    scheduling();
    chunks();
    order();
    for (const auto& [key, op] :
         {std::pair<const char*, const char*>{"all-reduce-implementation", "all_reduce"},
          {"all-gather-implementation", "all_gather"},
          {"reduce-scatter-implementation", "reduce_scatter"},
          {"all-to-all-implementation", "all_to_all"}})
      algorithms(key, op);
    old_algorithms();
    old_dispatcher();
    compute();
    for (const char* key : {"boost-mode", "local-reduction-delay", "seprate-log", "trace-enabled",
                            "track-local-mem", "local-mem-trace-filename", "model-shared-bus"})
      quiet(key);
    log_gp();
    keys_.tell_unknown();
  }

 private:
  void set(const std::string& path, const std::string& value) { imported_.set(path, value); }

  [[noreturn]] void refuse(const InputKey& key, const char* allowed) {
    keys_.fail(key, fmt::format("is `{}`; the values are {}", key.text(), allowed));
  }

  /// A key with words: the word of Weft.
  void choice(const char* name, const char* path, const std::map<std::string, std::string>& words) {
    const InputKey* key = keys_.take(name);
    if (key == nullptr) return;
    const auto found = words.find(key->text());
    if (found == words.end()) {
      std::string allowed;
      for (const auto& entry : words) allowed += (allowed.empty() ? "" : ", ") + entry.first;
      refuse(*key, allowed.c_str());
    }
    if (found->second.empty()) {
      keys_.tell(*key, "", V::exact, "as without the key");
      return;
    }
    set(path, found->second);
    keys_.tell(*key, fmt::format("{}: {}", path, found->second), V::exact);
  }

  void scheduling() {
    choice("scheduling-policy", "collectives.scheduling",
           {{"LIFO", "lifo"}, {"FIFO", "fifo"}, {"EXPLICIT", "priority"}});
    choice("intra-dimension-scheduling", "collectives.dimension_scheduling",
           {{"FIFO", "fifo"},
            {"RG", "rg"},
            {"SCF", "smallest_first"},
            {"smallestFirst", "smallest_first"},
            {"lessRemainingPhaseFirst", "less_remaining_phase_first"}});
    double delay = 10;
    // The first public code's local dimension has 10 cycles always.
    const bool old = keys_.has("collective-implementation");
    if (const InputKey* key = keys_.take("endpoint-delay")) {
      delay = keys_.number(*key);
      const double scaled = delay * options_.injection_scale;
      set("nmu.endpoint_delay", fmt::format("{} ns", scaled));
      keys_.tell(*key, fmt::format("nmu.endpoint_delay: {} ns", scaled), V::exact,
                 options_.injection_scale == 1 ? "" : "times --injection-scale");
      if (old && scaled != 10 && imported_.dimensions.size() > 1) {
        imported_.local_endpoint = "10 ns";
        imported_.remarks.push_back(
            "topology.dimensions[0].endpoint_delay: 10 ns: the first public code's local dimension always "
            "has "
            "10 cycles, whatever endpoint-delay is");
      }
    } else {
      set("nmu.endpoint_delay", fmt::format("{} ns", delay * options_.injection_scale));
      imported_.remarks.push_back(
          "the system file has no endpoint-delay: ASTRA-sim's default of 10 ns is used");
    }
  }

  void chunks() {
    uint64_t splits = 1;
    if (const InputKey* key = keys_.take("preferred-dataset-splits")) {
      splits = keys_.whole(*key);
      if (splits == 0) keys_.fail(*key, "is 0; give at least 1");
      keys_.tell(*key, fmt::format("collectives.chunks: {}", splits), V::approximate,
                 "exact where sizes divide and chunks have 1024 B or more; else ASTRA-sim rounds up, and "
                 "Weft carries no "
                 "byte too many");
    }
    set("collectives.chunks", std::to_string(splits));
    if (const InputKey* key = keys_.take("active-chunks-per-dimension")) {
      const uint64_t active = keys_.whole(*key);
      if (active == 0) keys_.fail(*key, "is 0; give at least 1");
      set("collectives.active_chunks_per_dimension", std::to_string(active));
      keys_.tell(*key, fmt::format("collectives.active_chunks_per_dimension: {}", active),
                 active == 1 ? V::exact : V::approximate,
                 active == 1 ? "" : "active chunks do not slow each other in ASTRA-sim's analytical network");
    }
    if (options_.queues > 1) {
      set("collectives.queues_per_dimension", std::to_string(options_.queues));
      imported_.report.push_back({"command line", "--num-queues-per-dim", std::to_string(options_.queues),
                                  fmt::format("collectives.queues_per_dimension: {}", options_.queues),
                                  V::exact, ""});
    }
  }

  void order() {
    const bool old = keys_.has("collective-implementation");
    if (const InputKey* key = keys_.take("collective-optimization")) {
      const std::string word = key->text();
      if (word != "baseline" && word != "localBWAware") refuse(*key, "baseline and localBWAware");
      // The first public code all-reduces each dimension after the first in turn, as the paper says.
      const std::string value = word == "baseline" ? "baseline" : old ? "enhanced" : "local_bw_aware";
      set("collectives.order", value);
      keys_.tell(*key, "collectives.order: " + value, V::exact);
    } else {
      set("collectives.order", "baseline");
      imported_.remarks.push_back(
          "the system file has no collective-optimization: ASTRA-sim then takes baseline");
    }
    choice("inter-dimension-scheduling", "collectives.order",
           {{"baseline", ""},
            {"ascending", ""},
            {"roundRobin", "round_robin"},
            {"themis", "themis"},
            {"offlineGreedy", "themis"},
            {"themisFlex", "themis_flex"},
            {"offlineGreedyFlex", "themis_flex"}});
  }

  static std::vector<std::string> words_of(const InputKey& key) {
    if (key.list || key.values.size() != 1) return key.values;
    std::vector<std::string> words;
    std::string word;
    for (const char c : key.values[0] + "_") {
      if (c != '_') {
        word += c;
        continue;
      }
      if (!word.empty()) words.push_back(word);
      word.clear();
    }
    return words;
  }

  void algorithms(const char* name, const char* op) {
    if (const InputKey* custom = keys_.take(std::string(name) + "-custom")) {
      if (custom->values.size() != 1) keys_.fail(*custom, "has not one entry; give one trace prefix");
      const std::string value =
          "custom:" + std::filesystem::absolute(custom->values[0]).lexically_normal().string();
      set(fmt::format("collectives.{}", op), yaml_text(value));
      keys_.tell(*custom, fmt::format("collectives.{}: custom", op), V::exact);
      keys_.take(name, "", V::ignored, "the custom algorithm comes before it");
      return;
    }
    const InputKey* key = keys_.take(name);
    if (key == nullptr) return;
    std::vector<std::string> words = words_of(*key);
    if (words.empty()) keys_.fail(*key, "has no algorithm");
    const size_t dimensions = imported_.dimensions.size();
    std::vector<std::string> names;
    bool flat = false;
    for (const std::string& word : words) {
      const std::optional<Word> known = algorithm_of(word);
      if (!known)
        keys_.fail(
            *key,
            fmt::format("has the word `{}`; the words are ring, direct, doubleBinaryTree, halvingDoubling, "
                        "and oneRing, oneDirect, oneHalvingDoubling, oneDoubleBinaryTree",
                        word));
      flat = flat || known->flat;
      if (known->window != 0) window(*key, known->window);
      names.push_back(known->algorithm);
    }
    if (flat && std::any_of(names.begin(), names.end(), [&](const std::string& n) { return n != names[0]; }))
      keys_.fail(*key, "mixes one algorithm over all dimensions with others; give one of them");
    if (flat) names.resize(1);
    std::string why;
    if (!flat && dimensions != 0 && names.size() > dimensions) {
      why = fmt::format("the network has {} dimensions: the first {} words count", dimensions, dimensions);
      names.resize(dimensions);
    } else if (!flat && dimensions != 0 && names.size() < dimensions) {
      keys_.fail(*key, fmt::format("has {} words and the network {} dimensions; give one for each",
                                   names.size(), dimensions));
    }
    const bool impossible = no_algorithm_of(op, names);
    std::string value = names.size() == 1 ? names[0] : "";
    for (size_t i = 0; names.size() > 1 && i < names.size(); ++i) value += (i == 0 ? "[" : ", ") + names[i];
    if (names.size() > 1) value += "]";
    set(fmt::format("collectives.{}", op), value);
    if (impossible)
      why = fmt::format(
          "ASTRA-sim ends at the first all-to-all by halvingDoubling; `default` takes what suits the "
          "dimension; write ring or direct to choose one{}{}",
          why.empty() ? "" : "; ", why);
    keys_.tell(*key, fmt::format("collectives.{}: {}", op, value),
               impossible    ? V::no_counterpart
               : why.empty() ? V::exact
                             : V::approximate,
               why);
    if (words.size() > 1 && !flat) several_words_ = true;
  }

  /// ASTRA-sim's system files often name halvingDoubling for every operation. Its class has no all-to-all
  /// (HalvingDoubling.cc), which only jobs with one find out. True: such names have become `default`.
  static bool no_algorithm_of(std::string_view op, std::vector<std::string>& names) {
    if (op != to_string(CollectiveOp::all_to_all)) return false;
    bool any = false;
    for (std::string& name : names) {
      if (name != "halving_doubling" && name != "one_halving_doubling") continue;
      name = kDefaultAlgorithm;
      any = true;
    }
    return any;
  }

  void window(const InputKey& key, uint64_t window) {
    if (window_ != 0 && window_ != window)
      keys_.fail(key, fmt::format("has a window of {}, another key one of {}; Weft has one for all", window,
                                  window_));
    window_ = window;
    set("collectives.direct_window", std::to_string(window));
  }

  /// The first public code's one word for all.
  void old_algorithms() {
    const InputKey* key = keys_.take("collective-implementation");
    if (key != nullptr) {
      const std::string word = key->text();
      static const std::map<std::string, std::vector<std::string>> words = {
          {"hierarchicalRing", {"ring", "ring"}},
          {"allToAll", {"ring", "direct"}},
          {"doubleBinaryTree", {"double_binary_tree", "double_binary_tree"}},
          {"doubleBinaryTreeLocalAllToAll", {"direct", "double_binary_tree"}}};
      const auto found = words.find(word);
      if (found == words.end())
        refuse(*key, "hierarchicalRing, allToAll, doubleBinaryTree and doubleBinaryTreeLocalAllToAll");
      std::string value;
      for (size_t d = 0; d < std::max<size_t>(imported_.dimensions.size(), 1); ++d)
        value += (d == 0 ? "[" : ", ") + found->second[d == 0 ? 0 : 1];
      set("collectives.all_reduce", value + "]");
      keys_.tell(*key, "collectives.all_reduce: " + value + "]", V::approximate,
                 "other operations use the dimensions' defaults");
    }
    keys_.take("packet-routing", "", V::ignored,
               "a message goes straight to its receiver, as with `hardware`");
  }

  void old_dispatcher() {
    const InputKey* key = keys_.take("injection-policy");
    if (key == nullptr) return;
    static const std::map<std::string, std::pair<const char*, const char*>> policies = {
        {"normal", {"8", "64"}},
        {"semiAggressive", {"16", "64"}},
        {"aggressive", {"32", "64"}},
        {"extraAggressive", {"64", "128"}},
        {"infinite", {"1000000", ""}}};
    const auto found = policies.find(key->text());
    if (found == policies.end())
      refuse(*key, "normal, semiAggressive, aggressive, extraAggressive and infinite");
    const auto& [active, threshold] = found->second;
    set("collectives.active_chunks_per_dimension", active);
    if (*threshold != '\0') set("collectives.dispatch_threshold", threshold);
    keys_.tell(*key,
               fmt::format("collectives.active_chunks_per_dimension: {}{}", active,
                           *threshold == '\0' ? "" : fmt::format(", dispatch_threshold: {}", threshold)),
               V::approximate, "ASTRA-sim counts for each queue");
  }

  void compute() {
    if (const InputKey* key = keys_.take("peak-perf")) {
      const std::string peak = keys_.number(*key) > 0 ? fmt::format("{} TFLOPS", key->text()) : "none";
      set("npu.peak", peak);
      keys_.tell(*key, "npu.peak: " + peak, V::exact);
    }
    if (const InputKey* key = keys_.take("local-mem-bw")) {
      if (keys_.number(*key) > 0) {
        set("npu.memory_bandwidth", key->text() + " GB/s");
        set("hbm.bandwidth", key->text() + " GB/s");
        keys_.tell(*key, fmt::format("npu.memory_bandwidth, hbm.bandwidth: {} GB/s", key->text()), V::exact);
      } else {
        keys_.tell(*key, "", V::no_counterpart, "a memory has a bandwidth; Weft's defaults hold");
      }
    }
    flag("roofline-enabled", "npu.roofline",
         "a node without tensor_size is skipped by ASTRA-sim, not by Weft");
    if (const InputKey* key = keys_.take("replay-only")) {
      const bool on = keys_.number(*key) != 0;
      keys_.tell(*key, "", on ? V::no_counterpart : V::exact,
                 on ? "Weft runs collectives, it does not replay their recorded times" : "off, as in Weft");
    }
    keys_.take("per-node-custom-implementation", "", V::no_counterpart,
               "a node's own algorithm is its attribute `algorithm`");
  }

  void flag(const char* name, const char* path, const char* why) {
    const InputKey* key = keys_.take(name);
    if (key == nullptr) return;
    const std::string text = key->text();
    const bool on = text == "true" || text == "1";
    if (!on && text != "false" && text != "0") refuse(*key, "0 and 1");
    set(path, on ? "true" : "false");
    keys_.tell(*key, fmt::format("{}: {}", path, on ? "true" : "false"), on ? V::approximate : V::exact,
               on ? why : "");
  }

  void quiet(const char* name) {
    static const std::map<std::string, const char*> reasons = {
        {"boost-mode", "Weft folds identical ranks, with exact results"},
        {"local-reduction-delay", "ASTRA-sim reads it and does not use it; Weft has `collectives.reduction`"},
        {"seprate-log", "Weft writes a folder of results"},
        {"trace-enabled", "Weft has `--timeline`"},
        {"track-local-mem", "Weft has `run.footprint`"},
        {"local-mem-trace-filename", "Weft has `run.footprint`"},
        {"model-shared-bus", "Weft has no bus between NPU and network interface"}};
    keys_.take(name, "", V::ignored, reasons.at(name));
  }

  /// The bus between NPU and NIC.
  void log_gp() {
    for (const char* name : {"L", "o", "g"}) {
      if (const InputKey* key = keys_.take(name)) {
        const bool zero = keys_.number(*key) == 0;
        keys_.tell(*key, "", zero ? V::exact : V::no_counterpart,
                   zero ? "0, as in Weft" : "the bus of the LogGP model");
      }
    }
    const InputKey* gap = keys_.take("G");
    if (gap == nullptr) return;
    const double per_byte = keys_.number(*gap);
    if (per_byte > 0 && options_.approximate) {
      set("nmu.injection_bandwidth", fmt::format("{} GB/s", 1 / per_byte));
      keys_.tell(*gap, fmt::format("nmu.injection_bandwidth: {} GB/s", 1 / per_byte), V::approximate, "1/G");
      return;
    }
    keys_.tell(*gap, "", per_byte == 0 ? V::exact : V::no_counterpart,
               per_byte == 0 ? "0, as in Weft" : "--approximate makes it nmu.injection_bandwidth");
  }

  const ImportOptions& options_;
  Imported& imported_;
  InputKeys keys_;
  uint64_t window_ = 0;
  bool several_words_ = false;
};

}  // namespace

void import_system(const ImportOptions& options, Imported& imported) {
  SystemImport(options, imported).run();
}

using V = Verdict;

void import_memory(const std::string& path, Imported& imported) {
  InputKeys keys(path, imported);
  const InputKey* type = keys.take("memory-type");
  if (type == nullptr) keys.fail("key `memory-type` is missing; it is no memory file of ASTRA-sim");
  const std::string word = type->text();
  if (word != "NO_MEMORY_EXPANSION" && word != "PER_NPU_MEMORY_EXPANSION" &&
      word != "PER_NODE_MEMORY_EXPANSION" && word != "MEMORY_POOL")
    keys.fail(*type, fmt::format("is `{}`; the values are NO_MEMORY_EXPANSION, PER_NPU_MEMORY_EXPANSION, "
                                 "PER_NODE_MEMORY_EXPANSION and MEMORY_POOL",
                                 word));
  const bool none = word == "NO_MEMORY_EXPANSION";
  const bool shared = !none && word != "PER_NPU_MEMORY_EXPANSION";
  keys.tell(*type, none ? "no remote_memory" : "remote_memory", shared ? V::approximate : V::exact,
            shared ? "each NPU has a link of its own: requests of several do not wait for each other" : "");
  for (const auto& [name, key, unit] : {std::tuple<const char*, const char*, const char*>{
                                            "remote-mem-latency", "remote_memory.latency", "ns"},
                                        {"remote-mem-bw", "remote_memory.bandwidth", "GB/s"}}) {
    const InputKey* given = keys.take(name);
    if (given == nullptr) {
      if (!none) keys.fail(fmt::format("key `{}` is missing, which {} needs", name, word));
      continue;
    }
    const double value = keys.number(*given);
    if (none) {
      keys.tell(*given, "", V::ignored, "there is no remote memory");
      continue;
    }
    if (value == 0 && std::string(unit) == "GB/s") keys.fail(*given, "is 0; give a bandwidth");
    imported.set(key, fmt::format("{} {}", given->text(), unit));
    keys.tell(*given, fmt::format("{}: {} {}", key, given->text(), unit), V::exact);
  }
  for (const char* name : {"num-nodes", "num-npus-per-node"})
    keys.take(name, "", V::ignored,
              shared ? "each NPU has a link of its own" : "nothing is shared by a node");
  keys.tell_unknown();
}

void import_groups(const std::string& path, Imported& imported) {
  const std::string absolute = std::filesystem::absolute(path).lexically_normal().string();
  imported.set("workload.groups", yaml_text(absolute));
  InputKeys keys(path, imported);
  for (const InputKey& key : keys.keys()) {
    const InputKey* taken = keys.take(key.name);
    if (!taken->list) keys.fail(*taken, "is no list of ranks");
    keys.tell(*taken, "workload.groups", V::exact);
  }
}

void import_logical(const std::string& path, Imported& imported) {
  InputKeys keys(path, imported);
  const InputKey* dims = keys.take("logical-dims");
  if (dims == nullptr) keys.fail("key `logical-dims` is missing; it is no logical topology of ASTRA-sim");
  uint64_t npus = 1;
  std::string notation;
  for (size_t i = 0; i < dims->values.size(); ++i) {
    const uint64_t size = keys.whole(*dims, i);
    if (size == 0) keys.fail(*dims, "has a 0; give sizes of at least 1");
    npus *= size;
    notation += fmt::format("{}Switch({})", i == 0 ? "" : "_", size);
  }
  const uint64_t machine = imported.npus();
  if (imported.dimensions.empty() && imported.graph.empty()) {
    keys.tell(*dims, "", V::no_counterpart, "without a network file there is no machine to plan on");
  } else if (!imported.dimensions.empty() && npus != machine) {
    keys.tell(*dims, "", V::no_counterpart,
              fmt::format("it has {} NPUs and the network {}: a job on a part of them is `workload.npus`",
                          npus, machine));
  } else {
    imported.logical = notation;
    keys.tell(*dims, "topology.logical: " + notation, V::exact);
  }
  keys.tell_unknown();
}

}  // namespace weft::cli::import
