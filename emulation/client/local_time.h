// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A real rank's local time L, in ps. On the virtual clock it grows by compute time between two calls, and
// jumps to the end of what a call waited for. On the wall clock it is the time since the start.

#ifndef WEFT_EMULATION_CLIENT_LOCAL_TIME_H
#define WEFT_EMULATION_CLIENT_LOCAL_TIME_H

#include <cstdint>
#include <string>
#include <vector>

#include "emulation/protocol/messages.h"

namespace weft::emulation {

class LocalTime {
 public:
  /// What the server wants. Throws std::runtime_error for a table that cannot be read.
  void begin(const Welcome& welcome, uint32_t rank);

  /// A call begins: compute since the last one counts. `communicates`: with ComputeKind::fixed and table only
  /// such calls count.
  void enter(bool communicates);
  /// A call ends: compute begins.
  void leave();
  /// In place of what was measured since the last call.
  void compute(int64_t ps);
  /// The server says so.
  void set(int64_t t) {
    if (t > now_) now_ = t;
  }
  int64_t now() const { return now_; }

 private:
  int64_t measured() const;

  bool wall_ = false;
  ComputeKind kind_ = ComputeKind::cpu;
  double scale_ = 1;
  int64_t fixed_ = 0;
  int64_t epoch_ = 0;
  std::vector<int64_t> table_;  ///< ps before each call; the last one for all that follow
  uint64_t calls_ = 0;
  int64_t left_ = 0;  ///< clock at the last leave(), ns
  bool told_ = false;
  int64_t now_ = 0;
};

}  // namespace weft::emulation

#endif
