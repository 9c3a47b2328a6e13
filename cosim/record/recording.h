// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A recording: everything that crossed the boundary of one block in a run, in one file. With it the block can
// be run again alone (replay.h).
//
// The file: the eight bytes of kRecordingMagic, the version of the format, the header, the events in the
// order of time, and an end with their number, their checksum and the names of the collectives. Numbers are
// little-endian or, in events, of as few bytes as they need. A file without its end is refused: a run that
// was stopped by a crash has written it.

#ifndef WEFT_COSIM_RECORD_RECORDING_H
#define WEFT_COSIM_RECORD_RECORDING_H

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "configs/ticks.h"
#include "configs/types.h"
#include "tlm_interconnect/border/crossing.h"
#include "tlm_interconnect/border/flit_crossing.h"
#include "workload/trace/node.h"

namespace weft::cosim {

inline constexpr char kRecordingMagic[] = {'W', 'E', 'F', 'T', 'R', 'E', 'C', '\n'};
/// 3: nodes of NPUs. The oldest one that is read has everything else.
inline constexpr uint32_t kRecordingVersion = 3;
inline constexpr uint32_t kOldestRecording = 2;

/// One port of the recorded block: a link.
struct RecordedPort {
  std::string name;        ///< of the link, as links.csv names the direction that leaves the block
  std::string peer;        ///< the block at the other side
  bool initiator = false;  ///< the block has the initiator socket of the link
  uint64_t rate = 0;       ///< `message` fidelity: Rate::bytes_per_second and Rate::divisor
  uint64_t rate_per = 1;
  Picoseconds latency = 0;
  uint32_t vcs = 0;  ///< `packet` fidelity: PacketLinkTerms and the time of a flit
  uint32_t depth = 0;
  Ticks flit_latency = 0;
  Ticks credit_latency = 0;
  Ticks flit_time = 0;
};

/// The port of an NMU at which its own side stands: what its NPU and its collectives send and get. Its peer.
inline constexpr char kOwnSide[] = "own side";

struct RecordingHeader {
  std::string kind;             ///< "nmu", "switch", "router", "memory", "npu"
  std::string block;            ///< `switch0_1`
  std::string level;            ///< "message", "packet", "access" of a memory, or "node" of an NPU
  std::string program;          ///< version of the program that wrote it
  uint64_t digest = 0;          ///< of the configuration of the machine
  bool cut_through = true;      ///< of a switch
  bool turn_by_sender = false;  ///< of a switch: which of several messages is first (SwitchWays::turn)
  bool has_unit = false;        ///< of a switch: it has a collective unit
  Ticks cycle = 0;              ///< of a router
  uint32_t virtual_networks = 1;
  std::string configuration;  ///< of the machine, as YAML, without `plugins` and `implementations`
  std::vector<RecordedPort> ports;
};

/// An access to a memory: when it came, or when it was complete.
struct RecordedAccess {
  uint64_t number = 0;  ///< in the order in which they came
  uint64_t address = 0;
  uint64_t length = 0;
  bool write = false;
  Picoseconds at = 0;  ///< absolute; when it was told or later
};

/// A node that an NPU computes, loads or stores: when it started, or when it was answered.
struct RecordedNode {
  uint64_t number = 0;  ///< in the order in which they started
  Picoseconds at = 0;   ///< absolute; of the answer
  /// Of one that starts, as far as what an NPU runs depends on it; of an answer null.
  std::shared_ptr<const trace::Node> node;
  Picoseconds time = 0;  ///< of one that starts: what the trace and the roofline say
};

/// One thing that crossed.
struct RecordedEvent {
  Picoseconds at = 0;  ///< when it was told; what is told lies then or later
  uint32_t port = 0;
  bool into = false;  ///< into the block
  std::variant<fabric::Crossing, fabric::FlitCrossing, RecordedAccess, RecordedNode> what;
};

/// So that a difference can be told with the collective's name.
struct RecordedCollective {
  uint32_t stream = 0;
  std::string name;  ///< "all_reduce of 4194304 B, node 'layer3.mlp'"
};

struct Recording {
  RecordingHeader header;
  std::vector<RecordedEvent> events;
  std::vector<RecordedCollective> collectives;
};

class RecordingWriter {
 public:
  /// Errors: UserError(usage) when the file cannot be written, or a symlink has its name.
  RecordingWriter(std::string path, const RecordingHeader& header);
  RecordingWriter(const RecordingWriter&) = delete;
  RecordingWriter& operator=(const RecordingWriter&) = delete;
  ~RecordingWriter();

  /// In the order of time.
  void add(const RecordedEvent& event);
  /// Writes the end and closes the file.
  void finish(const std::vector<RecordedCollective>& collectives);
  uint64_t events() const { return events_; }
  uint64_t bytes() const { return written_ + buffer_.size(); }
  const std::string& path() const { return path_; }

 private:
  void flush();
  void number(uint64_t value);
  void append(const std::vector<uint8_t>& bytes);
  void add(const fabric::Crossing& crossing, Picoseconds at);
  void add(const fabric::FlitCrossing& crossing, Picoseconds at);
  void add(const RecordedAccess& access, Picoseconds at);
  void add(const RecordedNode& node, Picoseconds at);
  [[noreturn]] void fail() const;

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::vector<uint8_t> buffer_;
  uint64_t written_ = 0;
  uint64_t events_ = 0;
  uint64_t checksum_;
  Picoseconds last_ = 0;
};

/// Errors: UserError(usage) for a file that cannot be read or has more than 4 GiB, is no recording, is of
/// another version of the format, is cut short or damaged; each says where.
Recording read_recording(const std::string& path);
/// The same from memory; `origin` begins messages.
Recording parse_recording(const std::vector<uint8_t>& bytes, const std::string& origin);

/// FNV-1a.
uint64_t checksum(const void* bytes, size_t size, uint64_t so_far = 0xcbf29ce484222325ull);

/// Of the collective that a message's id says; "": none of these.
std::string name_of(uint64_t id_low, const std::vector<RecordedCollective>& names);
/// What crossed, in one line of text, without time and port.
std::string describe_event(const RecordedEvent& event, const std::vector<RecordedCollective>& names);

}  // namespace weft::cosim

#endif
