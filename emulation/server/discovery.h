// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `weft emulate --discover`: runs every rank of the job for a moment, with zero data and a fabric on which
// nothing takes time, to learn the members of the communicators that they make.

#ifndef WEFT_EMULATION_SERVER_DISCOVERY_H
#define WEFT_EMULATION_SERVER_DISCOVERY_H

#include <cstdint>
#include <functional>
#include <string>

#include "emulation/job/communicators.h"
#include "emulation/job/job.h"
#include "emulation/server/server.h"

namespace weft::emulation {

constexpr uint32_t kMostDiscovered = 4096;  ///< processes at one time

/// Until every rank has ended, or has made `calls` collectives and messages since its last new communicator:
/// then they are killed. `job` and `server` as of the job itself. Throws UserError with the exit code of the
/// rank that fails.
KnownMembers discover(const Config& config, JobSettings job, ServerSettings server, uint64_t calls,
                      const std::function<void(const std::string&)>& notify);

}  // namespace weft::emulation

#endif
