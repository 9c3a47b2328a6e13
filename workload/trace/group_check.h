// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Whether a node of a rank may name a communicator group.

#ifndef WEFT_WORKLOAD_TRACE_GROUP_CHECK_H
#define WEFT_WORKLOAD_TRACE_GROUP_CHECK_H

#include <cstdint>
#include <string>

#include "workload/trace/groups.h"

namespace weft::trace {

/// Members for messages: at most 16 of them.
std::string members_text(const Groups& groups, GroupId group);

/// Why a node of `rank` cannot name the group `pg_name`, and what to do; empty: it can. To follow the node's
/// place and a colon.
std::string group_refusal(const Groups& groups, const std::string& pg_name, uint32_t rank);

}  // namespace weft::trace

#endif
