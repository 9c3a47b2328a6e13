// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What an import makes of ASTRA-sim's files: a machine, and for each key what became of it.

#ifndef WEFT_SC_MAIN_IMPORT_IMPORTED_H
#define WEFT_SC_MAIN_IMPORT_IMPORTED_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weft::cli::import {

/// How far Weft does what a key says.
enum class Verdict : uint8_t { exact, approximate, ignored, no_counterpart };
const char* to_string(Verdict verdict);

struct ReportRow {
  std::string where;  ///< "system.json:3"
  std::string key;
  std::string value;
  std::string weft;  ///< Weft's key and value; "": none
  Verdict verdict = Verdict::exact;
  std::string why;  ///< "": nothing to say
};

struct ImportedDimension {
  std::string kind;  ///< of the notation: Ring, FullyConnected, Switch
  uint64_t size = 1;
  std::string bandwidth;  ///< with a unit, of one link
  std::string latency;    ///< with a unit
  uint64_t links = 1;
  std::string nic, router;  ///< latencies with a unit; empty: none
  std::string phit;         ///< size with a unit; empty: as all
};

class Imported {
 public:
  std::vector<ImportedDimension> dimensions;  ///< empty: no network was given, or `graph` has it
  std::string notation;                       ///< in place of the dimensions' own, with levels: Clos(..)
  std::string graph;                          ///< lines below `topology.graph:`, indented by 4; empty: none
  std::string mapping;                        ///< YAML list; empty: none
  std::string logical;                        ///< notation; empty: none
  std::string local_endpoint;  ///< the first dimension's own endpoint delay, with a unit; empty: as all
  std::string fidelity = "analytical";
  std::string switching;  ///< empty: Weft's default
  std::vector<ReportRow> report;
  std::vector<std::string> remarks;  ///< about no single key

  /// `path`: "collectives.chunks". A later value wins.
  void set(const std::string& path, const std::string& value) { settings_[path] = value; }
  bool has(const std::string& path) const { return settings_.count(path) != 0; }

  uint64_t npus() const;
  /// The configuration file. Without dimensions or graph it has no topology, and says so in a comment.
  std::string yaml(const std::string& made_of) const;
  std::string report_text() const;
  /// Rows that Weft cannot do.
  uint64_t without_counterpart() const;

 private:
  std::map<std::string, std::string> settings_;
};

/// A value as a word of YAML, in quotes where it has to be.
std::string yaml_text(const std::string& text);

}  // namespace weft::cli::import

#endif
