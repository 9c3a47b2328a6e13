// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Writes a trace that ui.perfetto.dev opens: Perfetto's TracePacket messages with TrackEvents, as described
// in https://perfetto.dev/docs/reference/synthetic-track-event and
// https://perfetto.dev/docs/reference/trace-packet-proto (protocol buffers, version 2 syntax). Only what a
// timeline needs of them.

#ifndef WEFT_SC_MAIN_TIMELINE_TRACE_FILE_H
#define WEFT_SC_MAIN_TIMELINE_TRACE_FILE_H

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "configs/types.h"

namespace weft::timeline {

using TrackId = uint32_t;

/// The arguments that events can have, as Perfetto shows them.
enum class Arg : uint8_t {
  ps,          ///< of the begin: picoseconds beyond the whole nanosecond
  end_ps,      ///< .. of the end
  bytes,       ///< of the message, the messages, the node or each rank's part of the collective
  collective,  ///< number of the collective (`stream` in collectives.csv, if there is one job)
  chunk,
  phase,
  round,
  from,         ///< NPU that has sent the message
  node,         ///< id in the trace
  queued_ps,    ///< time that the message waited for links
  endpoint_ps,  ///< endpoint delay
  reduce_ps,    ///< time of the reduction
  waited_ps,    ///< of a chunk: from when it was ready until it had a slot
  dimension,
  count,    ///< how many things the slice stands for
  busy_ps,  ///< their times, summed
  compute_ps,
  local_memory_ps,
  remote_memory_ps,
  communication_ps,
  unfinished,  ///< 1: the run ended before it did
  left_out     ///< how many things are not in the file
};
constexpr uint32_t kArgs = 22;

/// The arguments of one event.
class Arguments {
 public:
  struct One {
    Arg name;
    uint64_t value;
  };
  Arguments() = default;
  Arguments(std::initializer_list<One> list) {
    for (const One& one : list) add(one.name, one.value);
  }
  void add(Arg name, uint64_t value) { list_[size_++] = {name, value}; }
  /// Unless it is 0.
  void add_some(Arg name, uint64_t value) {
    if (value != 0) add(name, value);
  }
  const One* begin() const { return list_; }
  const One* end() const { return list_ + size_; }

 private:
  One list_[12];
  uint32_t size_ = 0;
};

/// A name of events. Most are written once, and are numbers from then on.
struct EventName {
  uint32_t number = 0;    ///< 0: `text` stands in each event
  std::string_view text;  ///< need not outlive the call if there is a number
};

/// A track as it is described once, before its first event.
struct TrackDescription {
  TrackId parent = 0;  ///< 0: none
  std::string name;
  uint32_t rank = 0;       ///< among its siblings, ascending
  bool counter = false;    ///< it has values, not slices
  std::string_view unit;   ///< of a counter
  std::string_view about;  ///< shown with the track
};

/// One file. Names of events are written once. A failure to write ends the recording and is kept: nothing is
/// thrown, so that a simulation goes on. What is on the disk then is whole packets.
class TraceFile {
 public:
  /// Opens `path` + kPartSuffix. Throws UserError(usage) with the reason and what to do.
  explicit TraceFile(std::string path);
  /// As close(), without a word.
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  TrackId add_track(const TrackDescription& track);
  /// The name of events, longer ones cut.
  EventName name(std::string_view text);

  /// Which way an arrow goes through an event.
  struct Flow {
    uint64_t id = 0;  ///< 0: no arrow
    bool ends = false;
  };
  /// A slice, an instant or a value of a counter; times are picoseconds. Perfetto counts in nanoseconds: what
  /// is left of the times are the arguments `ps` and `end_ps`.
  void slice(TrackId track, EventName name, Picoseconds begin, Picoseconds end, Flow flow,
             const Arguments& arguments);
  void instant(TrackId track, EventName name, Picoseconds at, Flow flow, const Arguments& arguments);
  void value(TrackId track, Picoseconds at, uint64_t value);
  void value(TrackId track, Picoseconds at, double value);

  /// Bytes written, or waiting to be.
  uint64_t bytes() const { return written_ + size_; }
  /// Of the packets, each.
  uint64_t packets() const { return packets_; }

  /// Writes what waits, and gives the file its name unless something has failed.
  void close();
  /// In words, with the file's name, the reason and what to do; empty: nothing has failed.
  const std::string& failure() const { return failure_; }
  /// The disk is full or broken: no mistake of the user's.
  bool of_disk() const { return of_disk_; }

 private:
  char* event(char* packet, uint32_t type, TrackId track, EventName name, Picoseconds at, Arg remainder,
              Flow flow, const Arguments* arguments);
  char* value_begins(TrackId track, Picoseconds at, char* packet) const;
  void value_ends(Picoseconds at, char* packet, char* end);
  void put(std::string_view content);
  char* room();
  void fill_to(const char* end);
  void flush();
  void fail(const char* what, int error);

  std::string path_;
  std::string part_;
  int file_ = -1;
  std::unique_ptr<char[]> buffer_;
  size_t size_ = 0;  ///< of what is in the buffer
  uint64_t written_ = 0;
  uint64_t packets_ = 0;
  TrackId tracks_ = 0;
  std::unordered_map<std::string, uint32_t> names_;
  std::string failure_;
  bool of_disk_ = false;
};

}  // namespace weft::timeline

#endif
