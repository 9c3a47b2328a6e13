// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/import/imported.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sc_main/json_text.h"

namespace weft::cli::import {

const char* to_string(Verdict verdict) {
  static const char* const names[] = {"exact", "approximate", "ignored", "no counterpart"};
  return names[static_cast<int>(verdict)];
}

std::string yaml_text(const std::string& text) {
  return json_string(text);  // a JSON string is one of YAML, too
}

uint64_t Imported::npus() const {
  uint64_t npus = 1;
  for (const ImportedDimension& d : dimensions) npus *= d.size;
  return npus;
}

uint64_t Imported::without_counterpart() const {
  return static_cast<uint64_t>(std::count_if(report.begin(), report.end(), [](const ReportRow& row) {
    return row.verdict == Verdict::no_counterpart;
  }));
}

std::string Imported::yaml(const std::string& made_of) const {
  std::string out = fmt::format("# Made by weft import of {}.\nweft: 1\n", made_of);
  if (!graph.empty()) {
    out += fmt::format("topology:\n  graph:\n{}", graph);
  } else if (dimensions.empty() && notation.empty()) {
    out += "# No network file was given: add `topology`.\n";
  } else {
    std::string words = notation;
    for (size_t d = 0; notation.empty() && d < dimensions.size(); ++d)
      words += fmt::format("{}{}({})", d == 0 ? "" : "_", dimensions[d].kind, dimensions[d].size);
    out += fmt::format("topology:\n  notation: {}\n  dimensions:\n", words);
    for (const ImportedDimension& d : dimensions) {
      out +=
          fmt::format("    - {{bandwidth: {}, latency: {}, fidelity: {}", d.bandwidth, d.latency, fidelity);
      if (!d.router.empty()) out += ", router_latency: " + d.router;
      if (!d.nic.empty()) out += ", nic_latency: " + d.nic;
      if (!local_endpoint.empty() && &d == &dimensions[0]) out += ", endpoint_delay: " + local_endpoint;
      if (d.links != 1) out += fmt::format(", links_per_npu: {}", d.links);
      if (!d.phit.empty()) out += ", phit_size: " + d.phit;
      if (!switching.empty()) out += fmt::format(", switching: {}", switching);
      out += "}\n";
    }
    if (!logical.empty()) out += fmt::format("  logical: {}\n", logical);
    if (!mapping.empty()) out += fmt::format("  mapping: {}\n", mapping);
  }
  std::string section;
  for (const auto& [path, value] : settings_) {
    const size_t dot = path.find('.');
    if (path.substr(0, dot) != section) {
      section = path.substr(0, dot);
      out += section + ":\n";
    }
    out += fmt::format("  {}: {}\n", path.substr(dot + 1), value);
  }
  return out;
}

std::string Imported::report_text() const {
  size_t widths[4] = {4, 3, 5, 4};
  const auto cells = [](const ReportRow& row) {
    return std::array<std::string, 4>{row.where, row.key,
                                      row.value.size() > 40 ? row.value.substr(0, 37) + "..." : row.value,
                                      row.weft.empty() ? "-" : row.weft};
  };
  for (const ReportRow& row : report) {
    const auto texts = cells(row);
    for (size_t c = 0; c < 4; ++c) widths[c] = std::max(widths[c], texts[c].size());
  }
  const auto line = [&](const std::string& a, const std::string& b, const std::string& c,
                        const std::string& d, const std::string& e, const std::string& f) {
    std::string text = fmt::format("{:<{}}  {:<{}}  {:<{}}  {:<{}}  {:<14}  {}", a, widths[0], b, widths[1],
                                   c, widths[2], d, widths[3], e, f);
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  std::string out = line("file", "key", "value", "weft", "how", "why");
  uint64_t counts[4] = {};
  for (const ReportRow& row : report) {
    const auto texts = cells(row);
    out += line(texts[0], texts[1], texts[2], texts[3], to_string(row.verdict), row.why);
    ++counts[static_cast<int>(row.verdict)];
  }
  for (const std::string& remark : remarks) out += "note: " + remark + "\n";
  out += fmt::format("{} keys: {} exact, {} approximate, {} ignored, {} without counterpart\n", report.size(),
                     counts[0], counts[1], counts[2], counts[3]);
  return out;
}

}  // namespace weft::cli::import
