// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/collective_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "configs/input_file.h"
#include "configs/keys.h"
#include "configs/loader.h"
#include "configs/tree_notation.h"
#include "configs/units.h"
#include "sc_main/json_text.h"
#include "sc_main/machines/catalogue.h"
#include "sc_main/text_options.h"

namespace weft::cli {
namespace {

[[noreturn]] void fail(const std::string& message) {
  throw UserError(ExitCode::usage, message);
}

/// The options as overrides of an empty configuration.
class Overrides {
 public:
  explicit Overrides(size_t dimensions) : dimensions_(dimensions) {}

  void one(const char* option, const char* key, const std::string& value) {
    if (value.empty()) return;
    list_.push_back({key, json_string(value), fmt::format("{} {}", option, value)});
  }

  /// An empty list.
  void none(const char* option, const char* key) { list_.push_back({key, "[]", option}); }

  /// One value a dimension, or one for all.
  void each(const char* option, const char* key, const std::string& values) {
    if (values.empty()) return;
    const std::vector<std::string> items = checked(option, values);
    for (size_t d = 0; d < dimensions_; ++d)
      list_.push_back({fmt::format("topology.dimensions[{}].{}", d, key),
                       json_string(items[items.size() == 1 ? 0 : d]), fmt::format("{} {}", option, values)});
  }

  /// A key that holds such a list itself.
  void list(const char* option, const std::string& key, const std::string& values) {
    if (values.empty()) return;
    std::vector<std::string> items = checked(option, values);
    for (std::string& item : items) item = json_string(item);  // so that `custom:` is no mapping
    list_.push_back({key, items.size() == 1 ? items[0] : fmt::format("[{}]", fmt::join(items, ", ")),
                     fmt::format("{} {}", option, values)});
  }

  /// Any key, as `--set` writes it.
  void set(const std::string& text) { list_.push_back(parse_override(text)); }

  const std::vector<Override>& get() const { return list_; }

 private:
  std::vector<std::string> checked(const char* option, const std::string& values) const {
    std::vector<std::string> items = split_list(values);
    if (items.size() != 1 && items.size() != dimensions_)
      fail(fmt::format(
          "{} '{}': {} values, but the topology has {} dimensions; give {} between commas, or one "
          "for all",
          option, values, items.size(), dimensions_, dimensions_));
    for (const std::string& item : items)
      if (item.empty())
        fail(fmt::format("{} '{}': an empty value between commas; remove the comma", option, values));
    return items;
  }

  size_t dimensions_;
  std::vector<Override> list_;
};

}  // namespace

Config make_config(CollectiveOptions o, CollectiveOp op) {
  // A notation in the place of a configuration's file is meant as --topology.
  if (o.config.find('(') != std::string::npos && o.topology.empty() && !std::filesystem::exists(o.config))
    o.topology.swap(o.config);
  std::string text;
  size_t dimensions = 0;
  if (!o.machine.empty()) {
    if (!o.config.empty())
      fail(fmt::format("CONFIG {} and --machine {} were both given; keep one of the two", o.config,
                       o.machine));
    machines::MachineText machine = machines::find_machine(o.machine);
    text = std::move(machine.text);
    o.config = std::move(machine.path);
    dimensions = parse_config(text, o.config, o.sets).dimensions.size();
  } else if (!o.config.empty()) {
    text = read_input(o.config, kConfigurationInput);
    dimensions = parse_config(text, o.config, o.sets).dimensions.size();
  }
  if (!o.topology.empty() || o.config.empty()) {
    if (o.topology.empty())
      fail(
          "--topology is missing; give it, a configuration (`weft collective machine.yaml`), or --machine "
          "dgx_h100");
    try {
      dimensions = link_entries(o.topology);
    } catch (const UserError& e) {
      fail(fmt::format("--topology: {}", e.what()));
    }
  }
  if (!o.bandwidth.empty() && !o.bandwidth_per_npu.empty())
    fail("--bandwidth and --bandwidth-per-npu were both given; keep one of the two");
  if (o.bandwidth.empty() && o.bandwidth_per_npu.empty() && o.config.empty())
    fail(
        "--bandwidth is missing; give the bandwidth of a link and direction, for example --bandwidth \"100 "
        "GB/s\" (or "
        "--bandwidth-per-npu)");
  Overrides overrides(dimensions);
  if (o.config.empty()) overrides.one("weft", "weft", std::to_string(kConfigVersion));
  overrides.one("--topology", "topology.notation", o.topology);
  overrides.each("--bandwidth", "bandwidth", o.bandwidth);
  overrides.each("--bandwidth-per-npu", "bandwidth_per_npu", o.bandwidth_per_npu);
  overrides.each("--latency", "latency", o.latency);
  overrides.each("--links-per-npu", "links_per_npu", o.links_per_npu);
  overrides.each("--fidelity", "fidelity", o.fidelity);
  // It holds for all of the collective, whatever the file's rules are.
  if (!o.fidelity.empty() && !o.config.empty()) overrides.none("--fidelity", "topology.fidelity_rules");
  overrides.each("--switching", "switching", o.switching);
  overrides.one("--endpoint-delay", "nmu.endpoint_delay", o.endpoint_delay);
  overrides.one("--chunks", "collectives.chunks", o.chunks);
  overrides.one("--active-chunks", "collectives.active_chunks_per_dimension", o.active_chunks);
  overrides.one("--queues", "collectives.queues_per_dimension", o.queues);
  overrides.one("--order", "collectives.order", o.order);
  overrides.one("--scheduling", "collectives.scheduling", o.scheduling);
  overrides.one("--dimension-scheduling", "collectives.dimension_scheduling", o.dimension_scheduling);
  const bool word = o.reduction == "none" || o.reduction == "hbm" || o.reduction.empty();
  overrides.one("--reduction", word ? "collectives.reduction" : "collectives.reduction.bandwidth",
                o.reduction);
  if (!o.reduce.empty() && o.data.empty() && o.config.empty())
    fail(fmt::format("--reduce {}: only elements are reduced; add --data fp32, bf16 or int32", o.reduce));
  if (!o.data.empty()) {
    const bool none = o.data == "none";
    overrides.one("--data", "run.data", none ? "none" : "functional");
    if (!none) overrides.one("--data", "run.element", o.data);
  }
  overrides.one("--reduce", "run.reduce", o.reduce);
  overrides.list("--algorithm", std::string("collectives.") + to_string(op), o.algorithm);
  for (const std::string& text_of_set : o.sets) overrides.set(text_of_set);
  Config config = build_config(text, o.config, overrides.get());
  // What the command line says holds for this collective, whatever the file's rules are.
  for (CollectiveRule& rule : config.collectives.rules) {
    if (rule.delay) continue;
    if (!o.algorithm.empty()) rule.algorithms.clear();
    if (!o.order.empty()) rule.order.reset();
    if (!o.chunks.empty()) rule.chunks.reset();
  }
  return config;
}

uint32_t root_of(const std::string& text, CollectiveOp op, const Config& config) {
  const uint64_t root = parse_root(text, op);
  if (root >= config.npus())
    fail(fmt::format("--root {}: the machine has {} NPUs; give a rank from 0 to {}", root, config.npus(),
                     config.npus() - 1));
  return static_cast<uint32_t>(root);
}

std::vector<uint64_t> all_sizes(const CollectiveOptions& o, CollectiveOp op) {
  std::vector<uint64_t> sizes;
  try {
    if (!o.size.empty()) sizes.push_back(parse_size_option(o.size));
  } catch (const UserError& e) {
    fail(fmt::format("--size: {}", e.what()));
  }
  if (!o.sizes.empty()) {
    if (!o.size.empty()) fail("--size and --sizes were both given; keep one of the two");
    sizes = parse_sizes(o.sizes);
  }
  if (o.range.given()) {
    if (!o.size.empty() || !o.sizes.empty())
      fail(fmt::format("{} and -b, -e, -f or -i were both given; keep one of the two",
                       o.size.empty() ? "--sizes" : "--size"));
    sizes = sizes_of(o.range);
  }
  if (sizes.empty()) {
    if (op != CollectiveOp::barrier)
      fail(
          "--size is missing; give the size of the collective, for example --size \"1 MiB\", or several: "
          "--sizes 64KiB:1GiB:x2, or -b 64k -e 1G -f 2");
    sizes.push_back(0);
  }
  return sizes;
}

}  // namespace weft::cli
