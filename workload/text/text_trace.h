// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A training loop as traces: the nodes of a TrainingLoop, encoded as Chakra. A run reads them from memory,
// the converter writes them to files: the two are the same bytes.

#ifndef WEFT_WORKLOAD_TEXT_TEXT_TRACE_H
#define WEFT_WORKLOAD_TEXT_TEXT_TRACE_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "workload/text/text_file.h"
#include "workload/text/training_loop.h"
#include "workload/trace/workload_check.h"

namespace weft::text {

/// Node `i` of the loop has id i + 1 in every rank. Ranks whose traces are equal share their bytes. `sizes`:
/// as for make_loop().
trace::MemoryTraces encode(const TextFile& file, const TrainingLoop& loop,
                           const std::vector<uint32_t>& sizes);

/// What a node is called: "iter0.layer3.forward.conv1", of a collective with its word after it.
std::string node_name(const TextFile& file, const LoopNode& node);

}  // namespace weft::text

#endif
