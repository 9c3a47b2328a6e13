// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A real rank's connection to `weft emulate`, behind the C functions of weft_comm.h: its local time, frames,
// communicators, and the data of its buffers.

#ifndef WEFT_EMULATION_CLIENT_SESSION_H
#define WEFT_EMULATION_CLIENT_SESSION_H

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulation/client/local_time.h"
#include "emulation/client/shared_memory.h"
#include "emulation/client/weft_comm.h"
#include "emulation/protocol/messages.h"

namespace weft::emulation {

/// A call that did not do what it should: the code of weft_error that it returns.
class CallError : public std::runtime_error {
 public:
  CallError(int number, const std::string& text) : std::runtime_error(text), code(number) {}
  const int code;
};

/// A communicator as its members see it.
struct CommView {
  uint32_t my_rank = 0;
  uint32_t start = 0;
  uint32_t stride = 1;
  uint32_t count = 0;
  std::vector<uint32_t> ranks;  ///< of the world; empty: start, start + stride, ..
  uint32_t collectives = 0;     ///< joined so far

  uint32_t world_rank(uint32_t member) const {
    return ranks.empty() ? start + member * stride : ranks[member];
  }
  int member(uint32_t world_rank) const;
};

/// A collective's buffers, or those of a message.
struct BufferUse {
  bool collective = false;
  uint32_t operation = 0;
  uint32_t type = 0;
  uint32_t reduction = 0;
  uint32_t element_bytes = 1;
  uint32_t me = 0;
  uint32_t members = 1;
  bool root = false;
  uint64_t count = 0;
  std::vector<uint64_t> counts, receive_counts;
  const void* send = nullptr;
  void* receive = nullptr;
  uint64_t room = 0;                 ///< of a receive, bytes
  uint64_t send_offset = kNoBuffer;  ///< in shared memory
  uint64_t receive_offset = kNoBuffer;
  bool local = false;  ///< over at once, without the server
};

class Session {
 public:
  explicit Session(const weft_options& options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Connects and says HELLO. Throws CallError.
  void open();

  // What the C functions do; they hold mutex(). Throw CallError.
  void bye(int status);
  void compute(int64_t ps);
  void compute_work(uint64_t flops, uint64_t bytes, const char* region);
  void mark(weft_mark_kind kind, int64_t number, bool begin, const char* name);
  weft_comm comm_new(const CommNew& message);
  void comm_free(weft_comm comm);
  weft_request coll(const weft_coll_args& args);
  weft_request send(weft_comm comm, int peer, int tag, const void* buffer, uint64_t bytes, uint32_t mode,
                    const char* name);
  weft_request recv(weft_comm comm, int peer, int tag, void* buffer, uint64_t bytes, const char* name);
  bool probe(weft_comm comm, int peer, int tag, bool blocking, weft_status* status);
  /// The finished ones, as the server answers; those of the program's list that needed no server first.
  std::vector<Finished> complete(WaitHow how, bool blocking, const std::vector<uint64_t>& requests);
  int64_t now();

  std::mutex& mutex() const { return mutex_; }
  const CommView* comm(weft_comm id) const;
  int rank() const { return rank_; }
  int world() const { return world_; }
  const Welcome& welcome() const { return welcome_; }
  const std::string& node_name(uint32_t node);

  /// Keeps the text; a code that ends the session stays.
  int failed(const CallError& error);
  int dead() const { return dead_; }
  std::string last_error;

 private:
  const CommView& known_comm(weft_comm id) const;
  void connect_socket();
  template <typename Message>
  uint64_t tell(const Message& message);
  template <typename Message>
  Frame ask(const Message& message);
  void flush();
  Frame answer(uint64_t request);
  void receive_more();
  [[noreturn]] void end(int code, const std::string& text);
  void take(const Finished& finished);
  uint64_t share(const void* data, uint64_t bytes);
  /// The data of the buffer travel with the message.
  bool moves(const void* buffer, uint64_t bytes) const;
  /// A message to or from WEFT_NOBODY: it is over at once.
  weft_request with_nobody(BufferUse& use);

  weft_options options_;
  std::string socket_, version_;
  int rank_ = -1;
  int world_ = -1;
  int local_rank_ = 0;
  mutable std::mutex mutex_;
  int fd_ = -1;
  int dead_ = 0;
  std::vector<uint8_t> out_;
  FrameBuffer in_;
  Welcome welcome_;
  LocalTime time_;
  uint64_t next_request_ = 1;
  std::unordered_map<uint32_t, CommView> comms_;
  std::unordered_map<uint64_t, BufferUse> uses_;  ///< by request
  std::unique_ptr<SharedMemory> memory_;
  std::map<uint32_t, std::string> node_names_;
};

}  // namespace weft::emulation

#endif
