// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What `weft emulate` writes: summary.json, calls.csv, iterations.csv, and lines for people.

#ifndef WEFT_SC_MAIN_EMULATE_RESULTS_H
#define WEFT_SC_MAIN_EMULATE_RESULTS_H

#include <string>
#include <vector>

#include "configs/config.h"
#include "emulation/job/report.h"
#include "sc_main/output_folder.h"

namespace weft::cli {

struct EmulationRecord {
  const Config& config;
  const emulation::Report& report;
  uint32_t world = 0;
  std::string clock;
  std::string detail;
  std::string error;    ///< "": all is well
  std::string capture;  ///< prefix of the traces; "": none
  std::vector<std::string> warnings;
  uint64_t events = 0;
  double wall_s = 0;
  double peak_rss_MiB = 0;
};

/// p-th part (0 to 1) of the answers came at most so late; 0 without answers.
Picoseconds lateness(const emulation::Report& report, double p);
/// Wall clock: answers were later than 1 % of the run.
bool late(const emulation::Report& report);

std::string emulation_json(const EmulationRecord& record);
std::string emulation_text(const EmulationRecord& record);
void write_emulation(const OutputFolder& folder, const EmulationRecord& record);

}  // namespace weft::cli

#endif
