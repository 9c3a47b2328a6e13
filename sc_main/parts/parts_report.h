// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_PARTS_PARTS_REPORT_H
#define WEFT_SC_MAIN_PARTS_PARTS_REPORT_H

#include <cstdint>
#include <string>
#include <vector>

namespace weft::cli {

class JsonText;

/// How a run in parts went. Its numbers differ from run to run.
struct PartsReport {
  uint32_t parts = 1;
  std::string cut;      ///< "rank / 256 % 16"; empty: nothing is cut
  std::string why_one;  ///< why one process has run all, though more were asked for; empty: not so
  uint64_t crossing_sends = 0;
  double imbalance = 1;
  uint64_t lookahead_ps = 0;  ///< the smallest latency of a cut link
  uint64_t cut_links = 0;
  uint64_t windows = 0;
  uint64_t transfers = 0;           ///< between parts, sum
  double waiting_share = 0;         ///< of the parts' time, at meetings
  double critical_seconds = 0;      ///< sum over the windows of the slowest part's processor time
  std::vector<double> cpu_seconds;  ///< by part
};

/// The key `parts` of a summary.
void add_parts(JsonText& json, const PartsReport& report);
/// .. in one line for people.
std::string parts_text(const PartsReport& report);

}  // namespace weft::cli

#endif
