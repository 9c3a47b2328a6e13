// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/parts/parts_report.h"

#include <fmt/format.h>

#include "sc_main/decimal.h"
#include "sc_main/json_text.h"

namespace weft::cli {

void add_parts(JsonText& json, const PartsReport& report) {
  json.key("parts").begin_object();
  json.key("parts").number(uint64_t{report.parts});
  if (!report.why_one.empty()) json.key("one_process_because").text(report.why_one);
  if (report.parts > 1) {
    json.key("cut").text(report.cut);
    json.key("cut_links").number(report.cut_links);
    json.key("lookahead_ns").number(nanoseconds(report.lookahead_ps));
    json.key("crossing_sends").number(report.crossing_sends);
    json.key("imbalance").number(report.imbalance);
    json.key("windows").number(report.windows);
    json.key("transfers").number(report.transfers);
    json.key("waiting_share").number(report.waiting_share);
    json.key("critical_s").number(report.critical_seconds);
    json.key("cpu_s").begin_array();
    for (const double s : report.cpu_seconds) json.number(s);
    json.end_array();
  }
  json.end_object();
}

std::string parts_text(const PartsReport& report) {
  if (report.parts == 1)
    return report.why_one.empty() ? "parts    1\n" : fmt::format("parts    1: {}\n", report.why_one);
  double all = 0;
  for (const double s : report.cpu_seconds) all += s;
  return fmt::format(
      "parts    {}, cut by {}: {} links, {} windows of at least {}, {} messages between parts; {:.0f} % of "
      "the time "
      "waiting for each other; processor time {:.2f} s, the slowest part of each window {:.2f} s\n",
      report.parts, report.cut, grouped(report.cut_links), grouped(report.windows),
      readable_time(report.lookahead_ps), grouped(report.transfers), 100 * report.waiting_share, all,
      report.critical_seconds);
}

}  // namespace weft::cli
