// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Writes what the real ranks did as Chakra traces of all ranks, which `weft run` replays: emulated ranks get
// the trace of the real rank that they follow, with peers and groups moved to their place.

#ifndef WEFT_EMULATION_JOB_CAPTURE_H
#define WEFT_EMULATION_JOB_CAPTURE_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "emulation/job/classes.h"
#include "emulation/job/communicators.h"
#include "emulation/protocol/messages.h"

namespace weft::emulation {

class Capture {
 public:
  /// `folder_name`: DIR/NAME. Throws UserError(usage) if DIR cannot be made.
  Capture(const std::string& folder_name, uint32_t world);

  // What a real rank does at its time.
  void collective(uint32_t rank, uint64_t request, Picoseconds time, const Coll& call,
                  const Communicator& comm);
  void send(uint32_t rank, uint64_t request, Picoseconds time, const Communicator& comm, const Send& call);
  void receive(uint32_t rank, uint64_t request, Picoseconds time, const Communicator& comm, const Recv& call);
  /// .. of a receive: what came.
  void received(uint32_t rank, uint64_t request, uint32_t source, int32_t tag, uint64_t bytes);
  /// It begins to wait, or ends.
  void pause(uint32_t rank, Picoseconds time);
  /// It goes on after these.
  void waited(uint32_t rank, Picoseconds time, const std::vector<uint64_t>& requests);

  struct Written {
    std::string prefix;
    std::string groups;  ///< "": there are none
    uint64_t nodes = 0;
    std::vector<std::string> warnings;
  };
  Written write(const Classes& classes);

 private:
  enum class Kind : uint8_t { compute, collective, send, receive };
  struct Node {
    uint64_t id = 0;
    Kind kind = Kind::compute;
    std::string name;
    std::vector<uint64_t> after;
    Picoseconds duration = 0;
    const Communicator* comm = nullptr;
    uint32_t me = 0;
    uint32_t peer = 0;  ///< member; of a rooted collective the root
    bool matched = true;
    int32_t tag = 0;
    uint64_t bytes = 0;
    uint32_t operation = 0;
  };
  struct Rank {
    std::vector<Node> nodes;
    std::map<uint64_t, size_t> by_request;
    std::vector<uint64_t> frontier;
    Picoseconds ready = 0;  ///< the frontier is over
  };
  Node& add(uint32_t rank, uint64_t request, Picoseconds time, Kind kind, const std::string& name);
  std::string group_name(const Communicator& comm, uint32_t rank, std::vector<uint32_t>& ranks);
  void write_rank(uint32_t rank, uint32_t leader, Written& written);

  std::string prefix_;
  uint32_t world_;
  std::map<uint32_t, Rank> ranks_;
  std::map<std::vector<uint32_t>, std::string> groups_;
};

}  // namespace weft::emulation

#endif
