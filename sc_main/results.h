// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The results of a run: the files a program reads and the table a person reads.

#ifndef WEFT_SC_MAIN_RESULTS_H
#define WEFT_SC_MAIN_RESULTS_H

#include <functional>
#include <string>
#include <vector>

#include "configs/config.h"
#include "sc_main/json_text.h"
#include "sc_main/output_folder.h"
#include "sc_main/parts/parts_report.h"
#include "sc_models/run_result.h"

namespace weft::cli {

/// Version of summary.json: raised when a key changes its meaning or goes away.
constexpr int kSummaryVersion = 1;

/// A run and what its results say about it.
struct RunRecord {
  const Config& config;
  const RunResult& result;
  bool finished = true;
  std::vector<std::string> warnings;
  double wall_s = 0;
  double peak_rss_MiB = 0;
  bool per_layer = false;              ///< summary_text(): every layer
  bool shared = false;                 ///< the machine has other jobs: what is the machine's is left out
  const PartsReport* parts = nullptr;  ///< how the parts of the run went; null: it was not to be in parts
};

/// A collective that is not finished has no end, no time and no bandwidth.
bool complete(const CollectiveRow& row);

/// A collective that is faster than physics allows, in one line; else "".
std::string check_lower_bound(const CollectiveRow& row);

/// A communication library planned it (`collectives.library`).
bool by_library(const CollectiveRow& row);

/// collectives.csv and phases.csv. `together`: see ResultFile.
void write_collectives(const OutputFolder& folder, const std::vector<CollectiveRow>& rows,
                       FileSet* together = nullptr);

/// flows.csv: the flows that DCQCN has slowed down.
void write_flows(const OutputFolder& folder, const Machine::Congestion& congestion,
                 FileSet* together = nullptr);
/// In one line; "" without ECN.
std::string congestion_text(const Config& config, const Machine::Congestion& congestion);
/// The key `congestion` of an object; nothing without ECN.
void add_congestion(JsonText& json, const Config& config, const Machine::Congestion& congestion);

/// links.csv. Its busy fractions are of `result.time`.
void write_links(const OutputFolder& folder, const RunResult& result, FileSet* together = nullptr);
/// The key `links` of an object: sums.
void add_links(JsonText& json, const RunResult& result);
/// .. as lines for people.
std::string links_text(const RunResult& result);
/// .. and, with priority flow control, one about pauses; else "".
std::string pauses_text(const RunResult& result);
/// The last keys of a summary: `invariants`, `warnings`, `wall_s`, `peak_rss_MiB`.
void add_verdict(JsonText& json, const std::vector<std::string>& broken_invariants,
                 const std::vector<std::string>& warnings, double wall_s, double peak_rss_MiB);
/// The lines `time` and `work` for people.
std::string time_text(Picoseconds time, bool finished);
std::string work_text(const RunResult& result, double wall_s, double peak_rss_MiB);
/// Calls `write` for files that get their names together, when all of them are complete. Throws Interrupted
/// when a signal comes: those that are complete have their names then.
void write_together(const std::function<void(FileSet&)>& write);
/// Weft's version.
const char* program_version();

/// "P0 reduce_scatter d0 ring", with the queue and network time of each phase of a collective.
std::string phase_table(const CollectiveRow& row);

/// summary.json. Byte-identical for equal runs but for `wall_s` and `peak_rss_MiB`, each on a line of its
/// own.
std::string summary_json(const RunRecord& record);
/// ranks.csv, collectives.csv, phases.csv, layers.csv, iterations.csv, footprint.csv, links.csv, flows.csv
/// (with DCQCN; links and flows unless `record.shared`) and, last, summary.json, which get their names when
/// all of them are complete. Throws Interrupted when a signal comes: those that are complete are there then.
void write_results(const OutputFolder& folder, const RunRecord& record);
/// For people.
std::string summary_text(const RunRecord& record);

}  // namespace weft::cli

#endif
