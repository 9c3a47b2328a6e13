// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/report/machine_drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "configs/dot_text.h"
#include "configs/types.h"
#include "sc_main/report/link_names.h"

namespace weft::report {
namespace {

/// From idle to busy: grey, blue, yellow, orange, red.
struct Shade {
  double from;
  const char* color;
  const char* words;
};
constexpr std::array<Shade, 5> kShades = {{{0, "#9aa5b1", "below 20 %"},
                                           {0.2, "#3f8fc4", "20 to 40 %"},
                                           {0.4, "#d4a72c", "40 to 60 %"},
                                           {0.6, "#dd7a2f", "60 to 80 %"},
                                           {0.8, "#c0392b", "80 % and more"}}};

const char* color_of(double busy) {
  const char* color = kShades[0].color;
  for (const Shade& shade : kShades)
    if (busy >= shade.from) color = shade.color;
  return color;
}

/// "nmu3" -> "NPU 3": a port of an NMU is its NPU's.
std::string label_of(const std::string& module) {
  if (module.compare(0, 3, "nmu") == 0) return "NPU " + module.substr(3);
  return module;
}

struct Direction {
  double busy = 0;
  double bytes = 0;
};

struct Edge {
  Direction forth, back;  ///< from the module whose name is less, and to it
};

/// Between which modules, in which dimension; the less name first.
using Ends = std::tuple<std::string, std::string, std::string>;

class Drawing {
 public:
  explicit Drawing(const ResultFolder& results) {
    const CsvTable links = results.need_table("links.csv");
    const size_t name = links.column("name");
    const size_t to = links.column("to");
    const size_t dimension = links.column("dimension");
    const size_t busy = links.column("busy_fraction");
    const size_t bytes = links.column("bytes");
    for (size_t row = 0; row < links.rows(); ++row) {
      const std::string from = sender_of(links.text(row, name)).node;
      const std::string other = place_of(links.text(row, to));
      if (from == other) continue;  // between an NPU and its own router
      modules_.insert(from);
      modules_.insert(other);
      const std::string in(links.text(row, dimension));
      Edge& edge = edges_[{std::min(from, other), std::max(from, other), in}];
      Direction& way = from < other ? edge.forth : edge.back;
      way.busy = std::max(way.busy, links.number(row, busy));  // of parallel links the busiest
      way.bytes += links.number(row, bytes);
      Sum& sum = dimensions_[in];
      ++sum.links;
      sum.busy += links.number(row, busy);
      sum.busiest = std::max(sum.busiest, links.number(row, busy));
      sum.bytes += links.number(row, bytes);
    }
  }

  std::string dot(const ResultFolder& results) const {
    const bool full = modules_.size() <= kDrawnModules;
    const double time = results.number("/time_ns").value_or(0);
    std::string title = fmt::format(
        "{}: link utilisation over {:.6g} us",
        results.text("/notation").empty() ? "graph" : dot_text(results.text("/notation")), time / 1000);
    if (!full)
      title +=
          fmt::format("\\n{} modules: by dimension, the mean of its links and the busiest", modules_.size());
    std::string out = fmt::format(
        "graph \"weft\" {{\n  label=\"{}\";\n  labelloc=t;\n  {}fontname=\"Helvetica\";\n"
        "  node [shape=box, fontname=\"Helvetica\"];\n  edge [fontname=\"Helvetica\", fontsize=9];\n",
        title, full ? "layout=neato;\n  overlap=false;\n  splines=true;\n  " : "");
    if (full)
      draw_all(out);
    else
      draw_dimensions(out);
    return out + legend() + "}\n";
  }

 private:
  struct Sum {
    uint64_t links = 0;
    double busy = 0, busiest = 0, bytes = 0;
  };

  void draw_all(std::string& out) const {
    for (const std::string& module : modules_) {
      const bool npu = module.compare(0, 3, "nmu") == 0 || module.compare(0, 3, "npu") == 0;
      out += fmt::format("  \"{}\" [label=\"{}\"{}];\n", dot_text(module), dot_text(label_of(module)),
                         npu ? "" : ", shape=ellipse");
    }
    for (const auto& [ends, edge] : edges_) {
      const auto& [a, b, dimension] = ends;
      const double most = std::max(edge.forth.busy, edge.back.busy);
      const std::string both = fmt::format("{:.0f} / {:.0f} %", edge.forth.busy * 100, edge.back.busy * 100);
      out += fmt::format(
          "  \"{}\" -- \"{}\" [color=\"{}\", penwidth={:.1f}, label=\"{}\", tooltip=\"dimension {}: {} to {} "
          "{:.0f} B, back "
          "{:.0f} B\"];\n",
          dot_text(a), dot_text(b), color_of(most), 1 + 3 * most, both, dot_text(dimension), dot_text(a),
          dot_text(b), edge.forth.bytes, edge.back.bytes);
    }
  }

  void draw_dimensions(std::string& out) const {
    out += fmt::format("  \"modules\" [label=\"{} modules\"];\n", modules_.size());
    for (const auto& [dimension, sum] : dimensions_) {
      const double mean = sum.busy / static_cast<double>(sum.links);
      out += fmt::format(
          "  \"d{}\" [label=\"dimension {}\\n{} directed links, {:.0f} B\", shape=ellipse];\n  \"modules\" "
          "-- \"d{}\" "
          "[color=\"{}\", penwidth={:.1f}, label=\"mean {:.1f} %, busiest {:.1f} %\"];\n",
          dot_text(dimension), dot_text(dimension), sum.links, sum.bytes, dot_text(dimension),
          color_of(sum.busiest), 1 + 3 * sum.busiest, mean * 100, sum.busiest * 100);
    }
  }

  static std::string legend() {
    std::string rows;
    for (const Shade& shade : kShades)
      rows += fmt::format("<tr><td bgcolor=\"{}\" width=\"16\"></td><td align=\"left\">{}</td></tr>",
                          shade.color, shade.words);
    return fmt::format(
        "  \"legend\" [shape=plain, fontsize=9, label=<<table border=\"0\" cellspacing=\"2\"><tr><td "
        "colspan=\"2\">busy, of "
        "the run's time</td></tr>{}</table>>];\n",
        rows);
  }

  std::set<std::string> modules_;
  std::map<Ends, Edge> edges_;
  std::map<std::string, Sum> dimensions_;
};

}  // namespace

std::string draw_utilisation(const ResultFolder& results) {
  if (!results.has("links.csv"))
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: it has no links.csv, so there is nothing to colour; of several jobs name the folder "
                    "of the machine",
                    results.path()));
  return Drawing(results).dot(results);
}

}  // namespace weft::report
