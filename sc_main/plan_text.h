// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Plans of collectives in words: the share of an NPU's links that a plan can use, and its number of chunks.

#ifndef WEFT_SC_MAIN_PLAN_TEXT_H
#define WEFT_SC_MAIN_PLAN_TEXT_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "workload/collectives/plan.h"

namespace weft::cli {

/// "100 GB/s of an NPU's 200 GB/s (50 %): 1 of 2 links in dimension 0; `collectives.queues_per_dimension: 2`
/// lifts it to 100 %". Empty where link_share() says nothing.
std::string share_text(const collectives::PlanBuilder& plans, const collectives::CollectivePlan& plan);

/// "1 (8 B to 256 KiB), 4 (1 MiB)" of bytes and chunks, by ascending sizes.
std::string chunks_text(const std::vector<std::pair<uint64_t, uint32_t>>& chunks);

/// share_text() of a collective of all NPUs.
std::string share_text(const Config& config, CollectiveOp op, uint64_t bytes, uint32_t root);

/// Of `collectives.library`: version and machine, what the search has found, the parameters. Throws UserError
/// as library::CommunicationLibrary does.
std::string library_text(const Config& config);

/// Lines for `weft describe`: the library; without one the share and the chunks of every operation on all
/// NPUs, equal ones in one line; nothing for machines of more than 65,536 NPUs.
std::string describe_plans(const Config& config);

}  // namespace weft::cli

#endif
