// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Runs an emulated job: starts the real ranks' processes, talks with them over a Unix socket in a private
// folder, and lets the job's simulated time go on. Whatever happens, no process, socket or folder stays.

#ifndef WEFT_EMULATION_SERVER_SERVER_H
#define WEFT_EMULATION_SERVER_SERVER_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "emulation/job/job.h"
#include "emulation/server/process.h"

namespace weft::emulation {

struct ServerSettings {
  std::vector<std::string> command;
  Variables variables;  ///< of every process, beside those of the ranks
  uint32_t ranks_per_node = 1;
  double time_limit = 0;                   ///< of the wall clock, s; 0: none
  double hello_limit = 10;                 ///< from connection to HELLO, s
  bool quiet = false;                      ///< what processes print to the standard output is dropped
  std::function<bool(const Job&)> enough;  ///< true: the job is over, its processes are killed. May be empty
};

/// How the job ended.
struct Outcome {
  ExitCode code = ExitCode::done;
  std::string error;  ///< "": all is well
};

class Server {
 public:
  /// Makes the folder and the socket. `notify`: messages for people. Throws UserError.
  Server(const JobSettings& job, ServerSettings settings, std::function<void(const std::string&)> notify);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// What the job sends its ranks.
  void send(uint32_t rank, const std::vector<uint8_t>& bytes);
  /// ps of the wall clock since run() began.
  Picoseconds wall_clock() const;
  /// CLOCK_MONOTONIC of that, ns.
  int64_t epoch() const { return epoch_; }

  /// Until all ranks have ended, or something is wrong.
  Outcome run(Job& job);

 private:
  struct Peer {
    int fd = -1;
    int64_t rank = -1;  ///< -1: no HELLO yet
    double since = 0;
    FrameBuffer in;
    std::vector<uint8_t> out;
    int shared = -1;  ///< descriptor that came with the first frame
    bool closed = false;
  };

  void start();
  void remove_socket();
  void poll_once(Job& job);
  void accept_peer();
  void read_from(Peer& peer, Job& job);
  void handle(Peer& peer, const Frame& frame, Job& job);
  void greet(Peer& peer, const Frame& frame, Job& job);
  void flush(Peer& peer);
  void watch(Job& job);
  void check_limits();
  int timeout(const Job& job) const;
  void spin(const Job& job) const;
  void tell_end(const std::vector<uint32_t>& wrong, const std::string& text);
  void end_processes();
  std::string name_of(const Peer& peer) const;

  JobSettings job_settings_;
  ServerSettings settings_;
  std::function<void(const std::string&)> notify_;
  std::string folder_, path_;
  int listener_ = -1;
  int64_t epoch_ = 0;
  std::vector<std::unique_ptr<Process>> processes_;
  std::vector<bool> told_end_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::map<uint32_t, Peer*> by_rank_;
};

}  // namespace weft::emulation

#endif
