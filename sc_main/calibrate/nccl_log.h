// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_CALIBRATE_NCCL_LOG_H
#define WEFT_SC_MAIN_CALIBRATE_NCCL_LOG_H

#include <string>
#include <vector>

#include "sc_main/calibrate/measurement.h"

namespace weft::calibrate {

/// The tables of a log of nccl-tests or rccl-tests as it is, from version 1 (times in ms) on: columns are
/// found by the names in the header line; labels of mpirun and srun in front of lines, and all other lines
/// (NCCL INFO), are passed over. A log may hold several tables. `path` is for messages. Throws
/// UserError(usage) for a log without a table, one that is cut, and one whose operation cannot be told.
/// Outliers are still in it.
std::vector<Measurement> parse_nccl_log(const std::string& text, const std::string& path,
                                        const ReadOptions& options);

}  // namespace weft::calibrate

#endif
