// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The messages of weft-comm/1. Each has fields(), which writes or reads them in order: one description for
// both ends. Enumerations have the values of weft_comm.h.

#ifndef WEFT_EMULATION_PROTOCOL_MESSAGES_H
#define WEFT_EMULATION_PROTOCOL_MESSAGES_H

#include <cstdint>
#include <string>
#include <vector>

#include "emulation/protocol/frame.h"

namespace weft::emulation {

/// An offset in the client's shared memory: no data.
constexpr uint64_t kNoBuffer = ~uint64_t{0};

struct Hello {
  static constexpr FrameType kType = FrameType::hello;
  uint32_t magic = kMagic;
  uint32_t version_min = kProtocolVersion;
  uint32_t version_max = kProtocolVersion;
  uint32_t rank = 0;
  uint32_t world = 0;
  uint32_t local_rank = 0;
  uint32_t pid = 0;
  uint32_t shim = 0;
  std::string shim_version;
  uint64_t features = 0;  ///< bit 0: a descriptor of shared memory comes with this frame

  template <typename F>
  void fields(F& f) {
    f(magic)(version_min)(version_max)(rank)(world)(local_rank)(pid)(shim)(shim_version)(features);
  }
};
constexpr uint64_t kSharedMemory = 1;

enum class CommHow : uint32_t { ranks = 0, split = 1, cart = 2, unique = 3 };

struct CommNew {
  static constexpr FrameType kType = FrameType::comm_new;
  uint32_t parent = 0;
  uint32_t how = 0;             ///< CommHow
  std::vector<int32_t> values;  ///< ranks: of the parent, none: all; cart: dims, then periods
  int32_t color = 0;
  int32_t key = 0;
  uint32_t n = 0;     ///< unique: members
  uint32_t rank = 0;  ///< unique: this one's number
  std::string id;     ///< unique: 128 bytes
  std::string site;   ///< where in the program, for messages

  template <typename F>
  void fields(F& f) {
    f(parent)(how)(values)(color)(key)(n)(rank)(id).name(site);
  }
};

/// The answer to CommNew. Members are start, start + stride, .. (count), or a list.
struct Comm {
  static constexpr FrameType kType = FrameType::comm;
  uint32_t id = 0;
  uint32_t my_rank = 0;
  uint32_t start = 0;
  uint32_t stride = 1;
  uint32_t count = 0;
  std::vector<uint32_t> ranks;  ///< of the world; empty: regular

  template <typename F>
  void fields(F& f) {
    f(id)(my_rank)(start)(stride)(count)(ranks);
  }
};

struct CommFree {
  static constexpr FrameType kType = FrameType::comm_free;
  uint32_t id = 0;

  template <typename F>
  void fields(F& f) {
    f(id);
  }
};

struct Coll {
  static constexpr FrameType kType = FrameType::coll;
  uint32_t comm = 0;
  uint32_t sequence = 0;  ///< counts this rank's collectives on the communicator, from 0
  uint32_t operation = 0;
  uint32_t type = 0;
  uint32_t element_bytes = 1;
  uint32_t reduction = 0;
  int32_t root = 0;
  uint32_t stream = 0;
  uint64_t count = 0;
  std::vector<uint64_t> counts;
  std::vector<uint64_t> receive_counts;
  uint64_t send_offset = kNoBuffer;  ///< of this rank's contribution in its shared memory
  uint64_t receive_offset = kNoBuffer;
  std::string name;

  template <typename F>
  void fields(F& f) {
    f(comm)(sequence)(
        operation)(type)(element_bytes)(reduction)(root)(stream)(count)(counts)(receive_counts)(send_offset)(receive_offset)
        .name(name);
  }
};

struct Send {
  static constexpr FrameType kType = FrameType::send;
  uint32_t comm = 0;
  int32_t peer = 0;
  int32_t tag = 0;
  uint32_t mode = 0;
  uint64_t bytes = 0;
  uint64_t offset = kNoBuffer;
  std::string name;

  template <typename F>
  void fields(F& f) {
    f(comm)(peer)(tag)(mode)(bytes)(offset).name(name);
  }
};

struct Recv {
  static constexpr FrameType kType = FrameType::recv;
  uint32_t comm = 0;
  int32_t peer = 0;
  int32_t tag = 0;
  uint64_t bytes = 0;
  uint64_t offset = kNoBuffer;
  std::string name;

  template <typename F>
  void fields(F& f) {
    f(comm)(peer)(tag)(bytes)(offset).name(name);
  }
};

enum class WaitHow : uint32_t { all = 0, any = 1, some = 2 };

struct Wait {
  static constexpr FrameType kType = FrameType::wait;
  uint32_t how = 0;  ///< WaitHow
  std::vector<uint64_t> requests;

  template <typename F>
  void fields(F& f) {
    f(how)(requests);
  }
};
/// As Wait; answered at the rank's time.
struct Test : Wait {
  static constexpr FrameType kType = FrameType::test;
};

struct Probe {
  static constexpr FrameType kType = FrameType::probe;
  uint32_t comm = 0;
  int32_t peer = 0;
  int32_t tag = 0;
  uint32_t blocking = 0;

  template <typename F>
  void fields(F& f) {
    f(comm)(peer)(tag)(blocking);
  }
};

struct Compute {
  static constexpr FrameType kType = FrameType::compute;
  int64_t ps = -1;  ///< -1: `flops` and `bytes` say; then it is answered with the time after it
  uint64_t flops = 0;
  uint64_t bytes = 0;
  std::string region;

  template <typename F>
  void fields(F& f) {
    f(ps)(flops)(bytes).name(region);
  }
};

struct Mark {
  static constexpr FrameType kType = FrameType::mark;
  uint32_t kind = 0;
  uint32_t begin = 0;
  int64_t number = 0;
  std::string name;

  template <typename F>
  void fields(F& f) {
    f(kind)(begin)(number).name(name);
  }
};

struct Bye {
  static constexpr FrameType kType = FrameType::bye;
  int32_t status = 0;

  template <typename F>
  void fields(F& f) {
    f(status);
  }
};

enum class ComputeKind : uint32_t { cpu = 0, wall = 1, fixed = 2, table = 3 };

struct Welcome {
  static constexpr FrameType kType = FrameType::welcome;
  uint32_t version = kProtocolVersion;
  uint32_t clock = 0;
  uint32_t data = 0;
  uint32_t compute = 0;   ///< ComputeKind
  int64_t fixed = 0;      ///< ps between two calls
  double scale = 1;       ///< of measured times
  int64_t poll_cost = 0;  ///< ps
  int64_t epoch = 0;      ///< wall clock: CLOCK_MONOTONIC of simulated time 0, ns
  uint64_t features = 0;
  uint32_t ranks_per_node = 1;
  std::string node_prefix;
  std::string table;  ///< path, for ComputeKind::table

  template <typename F>
  void fields(F& f) {
    f(version)(clock)(
        data)(compute)(fixed)(scale)(poll_cost)(epoch)(features)(ranks_per_node)(node_prefix)(table);
  }
};

struct Finished {
  uint64_t request = 0;
  int64_t t = 0;
  int32_t source = 0;
  int32_t tag = 0;
  uint64_t bytes = 0;
  int32_t error = 0;
  uint32_t data = 0;  ///< bit 0: the receive buffer in shared memory is filled
  int64_t queue = 0;
  int64_t network = 0;
  int64_t reduce = 0;
  int64_t injected = 0;

  template <typename F>
  void fields(F& f) {
    f(request)(t)(source)(tag)(bytes)(error)(data)(queue)(network)(reduce)(injected);
  }
};

/// Answers WAIT, TEST, PROBE, COMPUTE and BYE. FrameHead::t: the rank's local time from now on.
struct Done {
  static constexpr FrameType kType = FrameType::done;
  std::vector<Finished> finished;

  template <typename F>
  void fields(F& f) {
    f(finished);
  }
};

struct Error {
  static constexpr FrameType kType = FrameType::error;
  int32_t code = 0;
  std::string text;

  template <typename F>
  void fields(F& f) {
    f(code)(text);
  }
};
/// As Error: another rank failed, time limit, Ctrl-C.
struct Shutdown : Error {
  static constexpr FrameType kType = FrameType::shutdown;
};

}  // namespace weft::emulation

#endif
