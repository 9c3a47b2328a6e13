// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The page docs/configuration_reference.md.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "configs/algorithms.h"
#include "configs/keys.h"
#include "configs/schema.h"
#include "configs/units.h"

namespace weft {
namespace {

constexpr const char* kIntroduction = R"(# Configuration reference

<!-- Made from the tables in configs/keys; a test compares. To renew: WEFT_UPDATE_DOCS=1 ctest -R configs -->

One YAML file describes a machine, its workload and the run. Unknown keys, missing units and values out of range are
errors that name file, line, key, value and what is allowed. `--set a.b=c` on the command line replaces a key. A minimal
file:

```yaml
weft: 1
topology:
  notation: Ring(8)
  dimensions:
    - {bandwidth: 100 GB/s, latency: 500 ns}
```

A machine that no notation describes is a graph (more in configs/examples):

```yaml
weft: 1
topology:
  graph:
    npus: 4
    switches: [leaf0..leaf1]
    links:
      - {from: npu0..npu1, to: leaf0, bandwidth: 50 GB/s, latency: 300 ns}
      - {from: npu2..npu3, to: leaf1, bandwidth: 50 GB/s, latency: 300 ns}
      - {from: leaf0, to: leaf1, bandwidth: 50 GB/s, latency: 1 us, count: 2}
  routing: ecmp
  logical: Ring(2)_Ring(2)      # what collectives plan on
  mapping: [0, 2, 1, 3]         # the NPU of rank 0, 1, ..
```

`--set topology.dimensions[1].latency="1 us"` sets the key for dimension 1 only, `dimensions[*]` for every entry.
Setting one of `bandwidth` and `bandwidth_per_npu` replaces the other. Every run writes `effective.yaml` beside its
results: every key with the value that was used.

## Values

A value is a decimal number (also a fraction, `200/7 GiB/s`) and a unit. Weft keeps it exactly. A time that is not a
whole number of picoseconds, or a size that is not a whole number of bytes, is an error. A bandwidth with more digits
than Weft can keep is rounded to the nearest.

)";

std::string heading_of(const std::string& path) {
  return path.empty() ? "Top level" : "`" + path + "`";
}

std::string shown_default(const KeySpec& key) {
  if (key.required) return "required";
  if (key.fallback.empty()) return "-";
  return "`" + key.fallback + "`";
}

/// A table's cell: no bar and no line break may be left in it.
std::string cell(std::string text) {
  for (size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

std::string short_unit_list(UnitKind kind) {
  std::string out;
  for (const std::string& name : unit_names(kind)) out += (out.empty() ? "`" : ", `") + name + "`";
  return out;
}

/// allowed_values without the list of units, which the page explains once.
std::string brief_allowed(const KeySpec& key) {
  std::string text = allowed_values(key);
  const size_t open = text.find(" with a unit (");
  if (open != std::string::npos) {
    const size_t close = text.find(')', open);
    text.erase(open, close - open + 1);
  }
  return text;
}

/// A paragraph in lines of at most 120 characters, broken at blanks outside `code`.
std::string wrapped(const std::string& paragraph) {
  constexpr size_t kWidth = 120;
  std::string out;
  size_t line = 0;  // where the present line begins
  size_t word = 0;  // where the present word begins
  bool code = false;
  const auto end_word = [&] {
    if (out.size() - line > kWidth && word > line) {
      out[word - 1] = '\n';
      line = word;
    }
  };
  for (const char c : paragraph) {
    if (c == ' ' && !code) {
      end_word();
      word = out.size() + 1;
    }
    if (c == '`') code = !code;
    out += c;
  }
  end_word();
  return out;
}

void add_table(std::string& out, const std::string& prefix) {
  out += "| key | default | allowed | meaning |\n|---|---|---|---|\n";
  for (const KeySpec& key : keys()) {
    if (key.path.rfind(prefix, 0) != 0) continue;
    const std::string name = key.path.substr(prefix.size());
    if (name.find('.') != std::string::npos) continue;
    std::string meaning = key.description;
    std::string choices;
    for (const Choice& c : key.choices)
      if (c.available && !c.description.empty())
        choices += (choices.empty() ? " `" : "; `") + c.name + "`: " + c.description;
    if (!choices.empty()) meaning += choices + ".";
    out += fmt::format("| `{}` | {} | {} | {} |\n", name, shown_default(key), cell(brief_allowed(key)),
                       cell(meaning));
  }
  out += "\n";
}

void add_units(std::string& out) {
  out += "| kind | units |\n|---|---|\n";
  out += "| bandwidth | " + short_unit_list(UnitKind::bandwidth) +
         " (`B` bytes, `b` bits; `k`, `M`, `G` .. are powers of 1000, `Ki`, `Mi`, `Gi` .. of 1024) |\n";
  out += "| size | " + short_unit_list(UnitKind::size) + " |\n";
  out += "| time | " + short_unit_list(UnitKind::time) + " |\n";
  out += "| compute | " + short_unit_list(UnitKind::compute) + " |\n\n";
}

void add_algorithms(std::string& out) {
  out += "## Algorithms\n\n| name | what it does |\n|---|---|\n";
  out += fmt::format(
      "| `{}` | the dimension's own: Ring `ring`, FullyConnected `direct`, Switch `halving_doubling` "
      "(all-to-all: `direct`) |\n",
      kDefaultAlgorithm);
  for (const AlgorithmInfo& info : algorithm_table()) {
    if (!info.available) continue;
    std::vector<std::string> lacks;
    for (int op = 0; op < kCollectiveOps; ++op)
      if (!lacking(info, static_cast<CollectiveOp>(op)).empty())
        lacks.emplace_back(fmt::format("`{}`", to_string(static_cast<CollectiveOp>(op))));
    out += fmt::format("| `{}{}` | {}{}{} |\n", info.name,
                       info.argument == nullptr ? std::string{} : fmt::format(":{}", info.argument),
                       info.description, info.whole ? "; for whole operations only" : "",
                       lacks.empty() ? "" : fmt::format(". It has no {}", fmt::join(lacks, ", ")));
  }
}

}  // namespace

std::string reference_markdown() {
  std::string out = kIntroduction;
  add_units(out);
  out += "## " + heading_of("") + "\n\n";
  add_table(out, "");
  for (const SectionSpec& section : sections()) {
    out += "## " + heading_of(section.path) + "\n\n" + wrapped(section.description) + "\n\n";
    add_table(out, section.path + ".");
  }
  add_algorithms(out);
  return out;
}

}  // namespace weft
