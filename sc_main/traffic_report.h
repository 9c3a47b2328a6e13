// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What `weft traffic` says about its results.

#ifndef WEFT_SC_MAIN_TRAFFIC_REPORT_H
#define WEFT_SC_MAIN_TRAFFIC_REPORT_H

#include <string>

#include "tlm_interconnect/packet/traffic.h"

namespace weft::cli {

std::string traffic_json(const packet::TrafficConfig& config, const packet::TrafficResult& result);

/// For people; `pattern` as it was asked for.
std::string traffic_table(const std::string& pattern, const packet::TrafficConfig& config,
                          const packet::TrafficResult& result);

/// Loads that are saturated or measured nothing, and full buffers in spite of pauses.
void warn_of_traffic(const packet::TrafficResult& result);

}  // namespace weft::cli

#endif
