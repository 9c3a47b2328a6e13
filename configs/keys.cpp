// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "configs/algorithms.h"
#include "configs/extension.h"
#include "configs/implementation.h"
#include "configs/keys/key_table.h"
#include "configs/notation.h"
#include "configs/tree_notation.h"
#include "configs/units.h"

namespace weft {
namespace {

[[noreturn]] void fail(const std::string& message) {
  throw UserError(ExitCode::usage, message);
}

void set_version(Config&, const Value&) {}

Value version(const Config&) {
  return kConfigVersion;
}

constexpr KeyRow kTopLevelKeys[] = {
    {"weft", Type::integer, kRequired, from(kConfigVersion, kConfigVersion),
     custom_field<set_version, version>, "Version of the configuration format."},
    {"plugins", Type::paths, "[]", kAny, field<&Config::plugins>,
     "Shared libraries that bring further models, routing policies and collective algorithms "
     "(docs/plugins.md). Relative to the folder of the configuration file."},
};

std::vector<KeySpec> make_keys() {
  KeyTable table;
  table.add("", kTopLevelKeys);
  add_topology_keys(table);
  add_npu_keys(table);
  add_memory_keys(table);
  add_pool_keys(table);
  add_tier_keys(table);
  add_nmu_keys(table);
  add_packet_keys(table);
  add_collectives_keys(table);
  add_library_keys(table);
  add_run_keys(table);
  add_environment_keys(table);
  add_expect_keys(table);
  add_jobs_keys(table);
  return table.take();
}

template <typename T>
bool less(const T& a, const T& b) {
  return a < b;
}

bool less(const Rate& a, const Rate& b) {
  return static_cast<Wide>(a.bytes_per_second) * b.divisor <
         static_cast<Wide>(b.bytes_per_second) * a.divisor;
}

/// The scalar by type, without range and choices. Strings pass as they are.
Value parse_plain(ValueType type, const std::string& text) {
  switch (type) {
    case ValueType::integer:
      return parse_integer(text);
    case ValueType::number:
      return parse_number(text);
    case ValueType::size:
      return parse_size(text);
    case ValueType::time:
      return parse_time(text);
    case ValueType::bandwidth:
    case ValueType::reduction:
      return parse_bandwidth(text);
    case ValueType::bandwidth_value:
      return parse_bandwidth_value(text);
    case ValueType::compute:
      return parse_compute(text);
    default:
      return text;
  }
}

/// 0 inside, -1 below the minimum, 1 above the maximum.
int range(const KeySpec& key, const Value& value) {
  return std::visit(
      [&](const auto& v) -> int {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, uint64_t> || std::is_same_v<T, double> || std::is_same_v<T, Rate>) {
          if (!key.min.empty() && less(v, std::get<T>(parse_plain(key.type, key.min)))) return -1;
          if (!key.max.empty() && less(std::get<T>(parse_plain(key.type, key.max)), v)) return 1;
        }
        return 0;
      },
      value);
}

bool is_zero(const Value& value) {
  if (const auto* i = std::get_if<uint64_t>(&value)) return *i == 0;
  if (const auto* d = std::get_if<double>(&value)) return *d == 0;
  if (const auto* r = std::get_if<Rate>(&value)) return r->bytes_per_second == 0;
  return false;
}

/// Text as a YAML scalar: plain where that is safe, else in double quotes.
std::string quoted(const std::string& text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '/' || c == '.' || c == '-' || c == '(' || c == ')';
  };
  static const char* const reserved[] = {"null", "true", "false", "yes", "no", "on", "off", "."};
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '/' || c == '.';
  };
  bool safe = !text.empty() && letter(text.front()) && std::all_of(text.begin(), text.end(), plain);
  for (const char* word : reserved)
    if (text == word) safe = false;
  if (safe) return text;
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::vector<KeySpec>& key_table() {
  static std::vector<KeySpec> table = make_keys();
  return table;
}

}  // namespace

const std::vector<KeySpec>& keys() {
  return key_table();
}

void add_choice(const std::string& path, const std::string& name, const std::string& description) {
  for (KeySpec& key : key_table()) {
    if (key.path != path) continue;
    for (const Choice& c : key.choices)
      if (c.name == name)
        throw UserError(ExitCode::usage, fmt::format("`{}` has a '{}' already", path, name));
    key.choices.push_back({name, true, description});
    return;
  }
  throw std::logic_error("there is no key " + path);
}

const std::vector<SectionSpec>& sections() {
  static const std::vector<SectionSpec> table = {
      {"topology", false, "The machine's NPUs and how they are joined."},
      {"topology.dimensions[]", false,
       "A list of mappings: one for each dimension of the notation in the same order, or one for all "
       "dimensions."},
      {"topology.dimensions[].collective_unit", false,
       "The collective unit of a Switch dimension's switches, for the algorithm `in_switch`. Other "
       "dimensions and algorithms ignore it."},
      {"topology.dimensions[].levels[]", true,
       "A list of mappings for a tree that is one dimension among others: the links between its switches. "
       "The entries go from the leaf switches up to the roots, one for each level or one for all. Absent: "
       "like the NPUs' links, which the dimension's own keys describe. In an entry for all dimensions it "
       "applies to those that are trees."},
      {"topology.fidelity_rules[]", true,
       "A list of mappings: another fidelity for some messages. The first matching rule applies when a "
       "collective, or a point-to-point message, starts. A rule that never matches gives a warning. Links "
       "of one dimension at two fidelities are separate models: messages at one do not wait for those at "
       "the other. Graphs have no rules."},
      {"topology.graph", true,
       "The machine as an explicit graph, instead of `notation` and `dimensions`. NPUs and switches are "
       "nodes, and a link may join any two. Nodes are named `npu3`; a range is `npu0..npu3`, a list `[npu0, "
       "sw1]`. Collectives plan on `topology.logical`."},
      {"topology.graph.links[]", true, "A list of mappings: one for each link or group of identical links."},
      {"topology.routes[]", true,
       "The next hops of `routing: table`, as a list of mappings. Every node that a message comes to needs "
       "one for its destination."},
      {"npu", false, "The computing part of every NPU."},
      {"hbm", false, "The memory of every NPU."},
      {"remote_memory", true,
       "A memory that every NPU reaches over its own link. Absent: remote accesses in a trace are errors."},
      {"memory", false, "Memory beside the NPUs' own: a pool, hosts and drives."},
      {"memory.pool", true,
       "A pool of memory groups that all NPUs reach through switches (docs/memory_pool.md). Remote accesses "
       "of "
       "traces go to it, in place of `remote_memory`. Absent: there is none."},
      {"memory.host", true,
       "The CPU memory of the NPUs' hosts, behind PCIe links (docs/memory_tiers.md). Accesses of traces with "
       "`tensor_loc: 2` go to it. Absent: there is none."},
      {"memory.nvme", true,
       "The NVMe drives of each host, behind `memory.host`. Accesses of traces with `tensor_loc: 3` go to "
       "them. Absent: there are none."},
      {"loggp", true,
       "How a GOAL program (`workload.goal`) communicates: LogGOPS in place of the machine's links "
       "(docs/goal.md). "
       "Absent: its messages cross the machine."},
      {"nmu", false, "The network messaging unit of every NPU."},
      {"packet", false,
       "Settings of all dimensions at `packet` fidelity: packets, flits, virtual channels, credits, "
       "routers."},
      {"packet.ecn", false, "Marks that routers put on packets where queues are long."},
      {"packet.dcqcn", false, "How senders change their rates when their packets are marked."},
      {"packet.sampling", false,
       "A faster run whose times are not exact: most of the collectives that a job repeats are not "
       "simulated."},
      {"collectives", false, "How collectives become chunks, phases and messages."},
      {"collectives.graph", false,
       "Channels of the library, in place of those that its search finds (docs/libraries.md). Only with "
       "`library`."},
      {"collectives.parameters", false, "What a calibration of the library fits. Only with `library`."},
      {"collectives.rules[]", true,
       "A list of mappings: settings of some collectives, in place of those above. The first matching rule "
       "applies. A rule that never matches gives a warning. A trace node's string attribute `algorithm` "
       "(one name, or one for each dimension between commas) comes before the rules' and all other "
       "algorithms."},
      {"workload", false, "What the machine runs."},
      {"jobs[]", true,
       "A list of mappings: several jobs that share the machine, in place of `workload`. Each runs its own "
       "traces on "
       "NPUs of its own. Where their messages meet on a link or in a switch, they slow each other down."},
      {"implementations[]", true,
       "A list of mappings: the model of single modules, in place of what their own section says. The first "
       "entry that matches a module and names a model of its kind applies. An entry that applies to no "
       "module is an error."},
      {"run", false, "Settings of the run."},
      {"environment", true,
       "The ranks of `weft emulate` that no process runs (docs/guide/emulate.md). Other commands read the "
       "keys and do nothing with them."},
      {"environment.classes[]", true,
       "A list of mappings: which emulated ranks do as which real rank does. Ranks of no entry do as the "
       "nearest real rank below them does."},
      {"environment.communicators[]", true,
       "A list of mappings: the members of communicators that a program makes by colours (MPI_Comm_split) or "
       "unique ids (NCCL), where the real ranks' arguments do not say who the other members are."},
      {"environment.peers[]", true,
       "A list of mappings: when emulated ranks send the point-to-point messages that real ranks receive. "
       "The "
       "first matching entry applies. Without one, an emulated rank sends as its real rank does."},
      {"expect[]", true,
       "A list of mappings: what the results must be (docs/guide/expectations.md). `weft run --check` "
       "compares "
       "them, "
       "and ends with exit code 5 when one is not met. Other commands read the entries and do nothing with "
       "them."},
      {"output", false, "What is written, and where."},
  };
  return table;
}

const std::vector<UnavailableKey>& unavailable_keys() {
  static const std::vector<UnavailableKey> table;
  return table;
}

const KeySpec* find_key(std::string_view path) {
  static const std::map<std::string, const KeySpec*, std::less<>> by_path = [] {
    std::map<std::string, const KeySpec*, std::less<>> m;
    for (const KeySpec& key : keys()) m.emplace(key.path, &key);
    return m;
  }();
  const auto it = by_path.find(path);
  return it == by_path.end() ? nullptr : it->second;
}

const SectionSpec* find_section(std::string_view path) {
  for (const SectionSpec& section : sections())
    if (section.path == path) return &section;
  return nullptr;
}

std::vector<std::string> available_algorithms() {
  std::vector<std::string> names = {kDefaultAlgorithm};
  for (const AlgorithmInfo& info : algorithm_table())
    if (info.available)
      names.push_back(info.argument == nullptr ? std::string(info.name)
                                               : std::string(info.name) + ":" + info.argument);
  return names;
}

std::string allowed_values(const KeySpec& key) {
  const auto bounds = [&key](const std::string& what) {
    std::string out = what;
    if (!key.min.empty() && !key.max.empty())
      out += key.min == key.max ? fmt::format(": {}", key.min)
                                : fmt::format(", from {} to {}", key.min, key.max);
    else if (!key.min.empty())
      out += fmt::format(", from {}", key.min);
    if (!key.zero_word.empty()) out += fmt::format(", or `{}`", key.zero_word);
    return out;
  };
  const auto unit = [](UnitKind kind) { return fmt::format("{}", fmt::join(unit_names(kind), ", ")); };
  switch (key.type) {
    case ValueType::integer:
      return bounds("a whole number");
    case ValueType::number:
      return bounds("a number");
    case ValueType::boolean:
      return "`true` or `false`";
    case ValueType::text:
      return key.min.empty() ? "a text" : "a text that is not empty";
    case ValueType::path:
      return "a path";
    case ValueType::choice: {
      std::vector<std::string> names;
      for (const Choice& c : key.choices)
        if (c.available) names.push_back("`" + c.name + "`");
      return fmt::format("{}", fmt::join(names, ", "));
    }
    case ValueType::size:
      return bounds("a size with a unit (" + unit(UnitKind::size) + ")");
    case ValueType::time:
      return bounds("a time with a unit (" + unit(UnitKind::time) + ")");
    case ValueType::bandwidth:
    case ValueType::bandwidth_value:
      return bounds("a bandwidth with a unit (" + unit(UnitKind::bandwidth) + ")");
    case ValueType::compute:
      return bounds("a compute rate with a unit (" + unit(UnitKind::compute) + ")");
    case ValueType::notation:
      return "a notation such as `Ring(4)_FullyConnected(8)_Switch(4)`";
    case ValueType::algorithms:
      return fmt::format("one of `{}`, or a list of them with one a dimension",
                         fmt::join(available_algorithms(), "`, `"));
    case ValueType::nodes:
      return "a node (`npu3`), a range (`npu0..npu3`) or a list of them";
    case ValueType::switches:
      return fmt::format("a number up to {}, or a list of names", key.max);
    case ValueType::dimensions:
      return fmt::format("`all`, or a list of {}' numbers, such as `[0, 1]`",
                         key.path == "packet.pfc_networks" ? "virtual networks" : "dimensions");
    case ValueType::ranks:
      return "a list of numbers and ranges, such as `[0, 2, 4..7]`";
    case ValueType::implementation: {
      std::vector<std::string> names;
      for (const Choice& c : key.choices) names.push_back("`" + c.name + "`");
      if (names.empty()) return "a model's name; with parameters `name(parameter=value, ..)`";
      return fmt::format("{}, or what a plugin brings; with parameters `name(parameter=value, ..)`",
                         fmt::join(names, ", "));
    }
    case ValueType::paths:
      return "a path, or a list of paths";
    case ValueType::reduction:
      return fmt::format("`none`, `hbm` or `{{bandwidth: X}}` with X from {} to {}", key.min, key.max);
  }
  return "";
}

/// A key that takes this model; "": none does.
static std::string key_of_model(const std::string& model) {
  for (const KeySpec& key : key_table()) {
    if (key.type != ValueType::implementation) continue;
    for (const Choice& c : key.choices)
      if (c.name == model) return key.path;
  }
  return "";
}

Value parse_value(const KeySpec& key, const std::string& text) {
  if (!key.zero_word.empty() && text == key.zero_word && key.type == ValueType::bandwidth) return Rate{};
  if (!key.zero_word.empty() && text == key.zero_word)
    return key.type == ValueType::compute || key.type == ValueType::bandwidth_value ? Value(0.0)
                                                                                    : Value(uint64_t{0});
  const std::string shown = text.size() > 60 ? text.substr(0, 60) + "..." : text;
  switch (key.type) {
    case ValueType::boolean:
      if (text == "true" || text == "True" || text == "TRUE") return true;
      if (text == "false" || text == "False" || text == "FALSE") return false;
      fail(fmt::format("'{}' is neither true nor false; allowed: {}", shown, allowed_values(key)));
    case ValueType::choice: {
      std::vector<std::string> names;
      for (const Choice& c : key.choices) {
        if (c.name == text) {
          if (c.available) return text;
          fail(fmt::format("'{}' is not available in this version; allowed: {}", text, allowed_values(key)));
        }
        names.push_back(c.name);
      }
      const std::string near = nearest_name(text, names);
      fail(fmt::format("'{}' is unknown{}; allowed: {}", shown,
                       near.empty() ? "" : fmt::format(" (did you mean `{}`?)", near), allowed_values(key)));
    }
    case ValueType::implementation: {
      const Implementation implementation = parse_implementation(text);
      std::vector<std::string> names;
      for (const Choice& c : key.choices) names.push_back(c.name);
      // Without choices the modules' kinds decide, which the machine knows.
      if (names.empty() || std::find(names.begin(), names.end(), implementation.model) != names.end())
        return print_implementation(implementation);
      const std::string other = key_of_model(implementation.model);
      if (!other.empty())
        fail(fmt::format("'{}' is a model for `{}`, and this key takes {}", implementation.model, other,
                         fmt::join(names, ", ")));
      const std::string near = nearest_name(implementation.model, names);
      fail(fmt::format(
          "there is no model '{}'{}; known: {}. A model of a plugin needs `plugins:` (weft replay: --plugin)",
          implementation.model, near.empty() ? "" : fmt::format(" (did you mean `{}`?)", near),
          fmt::join(names, ", ")));
    }
    case ValueType::text:
    case ValueType::path:
    case ValueType::paths:
      if (text.find('\0') != std::string::npos) fail("the text holds a zero byte; remove it");
      if (!key.min.empty() && text.empty())
        fail(fmt::format("'' is empty; allowed: {}", allowed_values(key)));
      return text;
    case ValueType::notation:
      if (key.path == "topology.notation" && is_tree_notation(text))
        return print_tree_notation(parse_tree_notation(text));
      return print_notation(parse_notation(text));
    default:
      break;
  }
  const Value value = parse_plain(key.type, text);
  const int where = range(key, value);
  if (where != 0) {
    if (key.path == "weft")
      fail(fmt::format("'{}' is a version of the format that this program does not know; write `weft: {}`",
                       shown, kConfigVersion));
    const char* const what = is_zero(value) ? "is zero" : where < 0 ? "is too small" : "is too large";
    const std::string hint = is_zero(value) && !key.zero_word.empty()
                                 ? fmt::format(" (write `{}` if that is meant)", key.zero_word)
                                 : "";
    fail(fmt::format("'{}' {}{}; allowed: {}", shown, what, hint, allowed_values(key)));
  }
  return value;
}

std::string print_value(const KeySpec& key, const Value& value) {
  if (!key.zero_word.empty() && is_zero(value)) return key.zero_word;
  switch (key.type) {
    case ValueType::integer:
      return std::to_string(std::get<uint64_t>(value));
    case ValueType::number:
      return print_number(std::get<double>(value));
    case ValueType::boolean:
      return std::get<bool>(value) ? "true" : "false";
    case ValueType::size:
      return print_size(std::get<uint64_t>(value));
    case ValueType::time:
      return print_time(std::get<uint64_t>(value));
    case ValueType::bandwidth:
      return print_bandwidth(std::get<Rate>(value));
    case ValueType::bandwidth_value:
      return print_bandwidth_value(std::get<double>(value));
    case ValueType::compute:
      return print_compute(std::get<double>(value));
    case ValueType::algorithms: {
      const auto& names = std::get<std::vector<std::string>>(value);
      if (std::all_of(names.begin(), names.end(), [](const std::string& n) { return n.empty(); }))
        return kDefaultAlgorithm;
      std::string out;
      for (const std::string& n : names)
        out += (out.empty() ? "[" : ", ") + (n.empty() ? std::string(kDefaultAlgorithm) : quoted(n));
      return out + "]";
    }
    case ValueType::paths: {
      std::string out;
      for (const std::string& n : std::get<std::vector<std::string>>(value))
        out += (out.empty() ? "[" : ", ") + quoted(n);
      return out.empty() ? "[]" : out + "]";
    }
    case ValueType::ranks:
    case ValueType::dimensions: {
      const auto& numbers = std::get<std::vector<std::string>>(value);
      return numbers.empty() ? "all" : fmt::format("[{}]", fmt::join(numbers, ", "));
    }
    case ValueType::switches:
      return fmt::format("[{}]", fmt::join(std::get<std::vector<std::string>>(value), ", "));
    case ValueType::reduction: {
      const auto& r = std::get<ReductionSetting>(value);
      if (r.kind == ReductionKind::fixed_bandwidth)
        return "{bandwidth: " + print_bandwidth(r.bandwidth) + "}";
      return to_string(r.kind);
    }
    default:
      return quoted(std::get<std::string>(value));
  }
}

std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() > 64) return "";
  std::string best;
  size_t best_distance = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    std::vector<size_t> row(candidate.size() + 1);
    for (size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= word.size(); ++i) {
      size_t diagonal = row[0];
      row[0] = i;
      for (size_t j = 1; j < row.size(); ++j) {
        const size_t substitute = diagonal + (word[i - 1] == candidate[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

}  // namespace weft
