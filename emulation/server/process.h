// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The process of a real rank, with all that it starts: one process group, which ends with this object.

#ifndef WEFT_EMULATION_SERVER_PROCESS_H
#define WEFT_EMULATION_SERVER_PROCESS_H

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft::emulation {

using Variables = std::vector<std::pair<std::string, std::string>>;

class Process {
 public:
  /// Starts `command` with these environment variables beside the own ones. Throws UserError(usage) when it
  /// cannot be executed. `quiet`: its standard output is dropped.
  Process(uint32_t rank, const std::vector<std::string>& command, const Variables& variables, bool quiet);
  /// Kills what is left of the group, and reaps it.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  uint32_t rank() const { return rank_; }
  /// Descriptors to poll; -1: closed. Of its end: -1 where the system has none.
  int out() const { return out_; }
  int err() const { return err_; }
  int end() const { return end_; }

  /// Copies whole lines to the standard output and error, each with "[rank] " before it. False: nothing came.
  bool forward_output();
  /// Looks whether it has ended; true once it has.
  bool ended();
  /// "has exited with status 3", "was killed by signal 9 (Killed)".
  std::string how() const;
  /// As a shell tells it: 0, the status, or 128 and the signal.
  int status() const;
  void signal(int number) const;

 private:
  bool forward(int& from, std::string& line, int to);

  uint32_t rank_;
  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  int end_ = -1;
  bool ended_ = false;
  bool quiet_;
  int status_ = 0;
  std::string out_line_, err_line_;
};

}  // namespace weft::emulation

#endif
