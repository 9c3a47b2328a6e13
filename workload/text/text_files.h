// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Writes a text workload's traces to files.

#ifndef WEFT_WORKLOAD_TEXT_TEXT_FILES_H
#define WEFT_WORKLOAD_TEXT_TEXT_FILES_H

#include <cstdint>
#include <string>

#include "workload/text/text_job.h"

namespace weft::text {

struct WrittenTraces {
  std::string prefix;  ///< <prefix>.<rank>.et
  std::string groups;  ///< the groups file; empty: none is needed
  uint32_t ranks = 0;
  uint64_t nodes_a_rank = 0;
  uint64_t bytes = 0;  ///< of all trace files
};

/// <out>/<name>.<rank>.et, and <out>/<name>.groups.json where a dimension is split. The folder is created.
/// Throws UserError(usage) for a folder or a name that cannot be, UserError(internal) when writing fails.
WrittenTraces write_traces(const TextJob& job, const std::string& out, const std::string& name);

}  // namespace weft::text

#endif
