// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Few processes for many real ranks (`weft emulate --at-once`): the ranks run one after another, so many at a
// time, on a fabric on which nothing takes time. Their calls and the compute times between them are recorded.
// Then all recordings run together, without processes, on the machine. What a program calls must not depend
// on simulated time, nor on what ranks send that did not run beside it.

#ifndef WEFT_EMULATION_SERVER_RECORDING_H
#define WEFT_EMULATION_SERVER_RECORDING_H

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "emulation/job/communicators.h"
#include "emulation/job/job.h"
#include "emulation/server/server.h"

namespace weft::emulation {

struct RecordedCall {
  Frame frame;
  Picoseconds gap = 0;             ///< computed before it
  bool answered = false;           ///< an answer named requests, or a message
  std::vector<uint64_t> finished;  ///< .. these requests
  uint32_t made = ~0u;             ///< COMM_NEW: the communicator
};
using Recordings = std::map<uint32_t, std::vector<RecordedCall>>;  ///< by real rank

/// Runs the real ranks of `job`, `at_once` at a time. Throws UserError with the code of the job that fails.
Recordings record(const Config& config, const JobSettings& job, const ServerSettings& server,
                  uint32_t at_once, const KnownMembers& members,
                  const std::function<void(const std::string&)>& notify);

/// The recorded ranks, in place of a Server.
class Player {
 public:
  /// `recordings` outlives it.
  explicit Player(const Recordings& recordings);

  /// What the job sends its ranks.
  void send(uint32_t rank, const std::vector<uint8_t>& bytes);
  /// Until all ranks have ended, or something is wrong.
  Outcome run(Job& job);

 private:
  struct Rank {
    const std::vector<RecordedCall>* calls = nullptr;
    size_t next = 0;
    bool waits = false;
    Picoseconds time = 0;
    Picoseconds computed = 0;            ///< since its last call that was replayed
    uint32_t making = ~0u;               ///< recorded number of the communicator that it waits for
    std::map<uint32_t, uint32_t> comms;  ///< recorded number -> number in this job
  };

  bool pass(Job& job);

  std::map<uint32_t, Rank> ranks_;
};

}  // namespace weft::emulation

#endif
