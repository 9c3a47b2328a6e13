// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// One function for each kind of input file. Each adds to the machine and a row of the report for every key of
// its file. All throw UserError(usage) with file, line and key for values that cannot be.

#ifndef WEFT_SC_MAIN_IMPORT_IMPORT_FILES_H
#define WEFT_SC_MAIN_IMPORT_IMPORT_FILES_H

#include <cstdint>
#include <string>

#include "sc_main/import/imported.h"

namespace weft::cli::import {

struct ImportOptions {
  std::string system, network, memory, groups, logical;  ///< files; empty: none
  uint64_t queues = 0;                                   ///< --num-queues-per-dim; 0: not given
  double injection_scale = 1;
  bool aware = false;        ///< the back end Analytical_Congestion_Aware
  bool approximate = false;  ///< a LogGP gap becomes an injection bandwidth
};

/// Garnet texts, analytical JSON of 1.x and YAML of 2.x, ns-3's config and topology, htsim's topology.
void import_network(const ImportOptions& options, Imported& imported);
/// After the network, whose dimensions the algorithms are for.
void import_system(const ImportOptions& options, Imported& imported);
void import_memory(const std::string& path, Imported& imported);
void import_groups(const std::string& path, Imported& imported);
void import_logical(const std::string& path, Imported& imported);

/// Topologies that are lists of links: ns-3's `nodes switches links`, htsim's tiers.
void import_ns3_topology(const std::string& path, const std::string& text, Imported& imported);
void import_htsim_topology(const std::string& path, const std::string& text, Imported& imported);
void import_ns3_config(const std::string& path, Imported& imported);

/// All files of the options, in their order.
Imported import_all(const ImportOptions& options);

}  // namespace weft::cli::import

#endif
