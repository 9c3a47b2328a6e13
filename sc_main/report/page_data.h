// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What the page of `weft report` shows of a folder of results, cut down to what a browser can hold. The
// page's side of it is report/src/data.js.

#ifndef WEFT_SC_MAIN_REPORT_PAGE_DATA_H
#define WEFT_SC_MAIN_REPORT_PAGE_DATA_H

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sc_main/report/result_folder.h"

namespace weft::report {

/// What of a run is told one by one. What is more is summed up, and the page says so.
struct Limits {
  size_t ranks = 4096;       ///< rows of ranks; more ranks: consecutive ones share a row, which is their mean
  size_t layers = 200;       ///< the longest ones; one row sums up the rest
  size_t collectives = 400;  ///< the longest ones
  size_t links = 32768;      ///< more: a row for each node and dimension; then the busiest rows
  size_t footprints = 4096;  ///< the largest ones
  size_t path_rows = 200;    ///< of each list of critical_path.json
  size_t path_pieces = 4000;  ///< the longest ones
  size_t config_bytes = 256 << 10;
};

/// A run as a JSON object. Throws UserError for files that cannot be read.
nlohmann::ordered_json page_run(const ResultFolder& folder, const std::string& label, const Limits& limits);

/// All runs of these folders. The jobs of a machine with several follow the machine as runs of their own.
nlohmann::ordered_json page_data(const std::vector<std::string>& folders, const std::string& program_version,
                                 const Limits& limits = {});

/// JSON that may stand in a <script> element of a page: no byte of it ends the element or begins a comment.
std::string script_json(const nlohmann::ordered_json& data);

}  // namespace weft::report

#endif
