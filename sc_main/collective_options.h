// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// From the options of `weft collective` to a configuration and sizes.

#ifndef WEFT_SC_MAIN_COLLECTIVE_OPTIONS_H
#define WEFT_SC_MAIN_COLLECTIVE_OPTIONS_H

#include <cstdint>
#include <string>
#include <vector>

#include "configs/config.h"
#include "sc_main/critical_path.h"
#include "sc_main/parts/parts_options.h"
#include "sc_main/record_options.h"
#include "sc_main/size_list.h"
#include "sc_main/timeline/run_timeline.h"

namespace weft::cli {

/// Options as they were written; an empty one was not given.
struct CollectiveOptions {
  std::string topology, bandwidth, bandwidth_per_npu, latency, links_per_npu, fidelity, switching;
  std::string op = "all_reduce";
  std::string algorithm, chunks, active_chunks, queues, order, scheduling, dimension_scheduling, reduction,
      endpoint_delay;
  std::string size, sizes, root;
  SizeRange range;
  bool json = false;
  bool no_fold = false;
  bool force = false;
  std::string data, reduce;
  bool phases = false;
  std::string out;
  PartsOptions parts;
  RecordOptions record;
  CriticalPathOptions path;
  TimelineOptions timeline;
  std::string config, machine;
  std::string format;  ///< "": the table of its own
  std::vector<std::string> sets;
};

/// All of these throw UserError(usage), which names the option.
Config make_config(CollectiveOptions options, CollectiveOp op);
/// 0 if it was not given.
uint32_t root_of(const std::string& text, CollectiveOp op, const Config& config);
/// The sizes in the order in which they run; a barrier has one of 0 bytes.
std::vector<uint64_t> all_sizes(const CollectiveOptions& options, CollectiveOp op);

}  // namespace weft::cli

#endif
