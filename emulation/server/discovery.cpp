// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "emulation/server/discovery.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "emulation/environment/instant_fabric.h"

namespace weft::emulation {

KnownMembers discover(const Config& config, JobSettings job, ServerSettings server, uint64_t calls,
                      const std::function<void(const std::string&)>& notify) {
  if (job.world > kMostDiscovered)
    throw UserError(ExitCode::usage,
                    fmt::format("--discover starts a process for each of the {} ranks, and can do so for {}; "
                                "write `environment.communicators` instead",
                                job.world, kMostDiscovered));
  job.real.resize(job.world);
  std::iota(job.real.begin(), job.real.end(), 0u);
  job.wall = false;
  job.wall_clock = nullptr;
  job.data = 0;  // zeros
  job.welcome.clock = 0;
  job.welcome.data = 0;
  job.welcome.compute = static_cast<uint32_t>(ComputeKind::fixed);
  job.welcome.fixed = 0;
  server.quiet = true;
  server.enough = [calls](const Job& running) { return running.settled(calls); };
  InstantFabric fabric;
  Server processes(job, std::move(server), notify);
  job.welcome.epoch = processes.epoch();
  Job all(
      config, job, fabric,
      [&processes](uint32_t rank, const std::vector<uint8_t>& bytes) { processes.send(rank, bytes); },
      nullptr);
  const Outcome outcome = processes.run(all);
  if (!outcome.error.empty())
    throw UserError(outcome.code, "--discover, which runs every rank for a moment: " + outcome.error);
  return all.found();
}

}  // namespace weft::emulation
