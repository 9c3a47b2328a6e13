// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Two queues in shared memory between Weft and another simulator, as SimBricks lays them out (version 1, its
// public headers base/proto.h and network/proto.h). No kernel: times come from whoever asks.
//
// Every message has a time stamp: when it was sent, and the link's latency. A message counts from its stamp
// on. Stamps never fall. So whoever has seen a stamp knows everything that comes before it.

#ifndef WEFT_NETWORK_INTERFACE_REMOTE_CHANNEL_H
#define WEFT_NETWORK_INTERFACE_REMOTE_CHANNEL_H

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "configs/types.h"

namespace weft::network_interface {

struct ChannelOptions {
  std::string socket;                         ///< path of the Unix socket
  bool connects = false;                      ///< the other side listens
  Picoseconds latency = 500000;               ///< of the link, each way; > 0
  Picoseconds sync_interval = 0;              ///< 1 to `latency`; 0: `latency`
  std::chrono::milliseconds patience{10000};  ///< for each answer, in wall-clock time
};

/// A frame that has come.
struct Arrival {
  Picoseconds at = 0;  ///< its stamp
  std::vector<uint8_t> bytes;
};

class Channel {
 public:
  /// Waits for the other side and agrees with it on the queues. `rank` is for messages. Throws
  /// UserError(usage) for options that cannot be, and for a peer that does not come or does not fit; the
  /// socket's file is gone then, too.
  Channel(uint32_t rank, const ChannelOptions& options);
  /// Says the other side that it may run freely.
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Takes what has come off the queue. Throws UserError(stall) for a peer that has died without a word, and
  /// for messages that break the protocol. False: nothing was there.
  bool take();
  /// Frames that have come and nobody has had, in the order of their stamps.
  std::deque<Arrival>& arrivals() { return arrivals_; }
  /// Everything before this time is known. kNever: the other side has ended.
  Picoseconds known() const { return ended_ ? kNever : last_stamp_; }
  bool ended() const { return ended_; }
  /// For messages: rank and socket.
  std::string name() const;

  /// Sends a frame at the time `now` (>= the last one). Frames to a peer that has ended are dropped.
  /// Throws UserError(usage) for one that is longer than an entry.
  void send(Picoseconds now, const std::vector<uint8_t>& frame);
  /// When the next sync message is due. kNever: the other side has ended.
  Picoseconds sync_due() const { return ended_ ? kNever : last_sent_ + options_.sync_interval; }
  /// Says what time it is, if it has not been said.
  void sync(Picoseconds now);
  /// Throws UserError(stall) when nothing has come for too long; waits a moment otherwise.
  void wait();

 private:
  struct Queue {
    uint8_t* base = nullptr;
    uint64_t entry = 0;  ///< bytes
    uint64_t entries = 0;
    uint64_t next = 0;
    uint8_t* head() const { return base + next * entry; }
  };
  int listen_and_accept();
  int connect_to();
  void open_as_listener();
  void open_as_connector();
  void map(int file, uint64_t bytes);
  void send_all(const void* data, size_t bytes, int file);
  void receive_all(void* data, size_t bytes, int* file);
  void agree(uint64_t version, uint64_t flags, uint64_t upper) const;
  void wait_for(int file, short events, std::chrono::steady_clock::time_point until, const char* what) const;
  void put(Picoseconds now, uint8_t type, const std::vector<uint8_t>& data);
  bool alive() const;
  void release();
  [[noreturn]] void refuse(const std::string& why) const;
  [[noreturn]] void lost(const std::string& why) const;

  const uint32_t rank_;
  ChannelOptions options_;
  int socket_ = -1;
  uint8_t* memory_ = nullptr;
  uint64_t mapped_ = 0;
  Queue in_, out_;
  std::deque<Arrival> arrivals_;
  Picoseconds last_stamp_ = 0;
  Picoseconds last_sent_ = 0;
  bool has_sent_ = false;
  bool ended_ = false;
  uint32_t idle_ = 0;  ///< waits since something has come
  std::chrono::steady_clock::time_point heard_;
};

}  // namespace weft::network_interface

#endif
