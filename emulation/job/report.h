// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What an emulated job has done: a row a call and an iteration, sums a rank.

#ifndef WEFT_EMULATION_JOB_REPORT_H
#define WEFT_EMULATION_JOB_REPORT_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "configs/types.h"

namespace weft::emulation {

/// A collective, send or receive of a real rank. Times in ps.
struct CallRow {
  uint32_t rank = 0;
  uint64_t number = 0;  ///< of the rank, from 0
  const char* call = "";
  std::string operation;  ///< of a collective
  std::string name;
  uint32_t comm = 0;
  int64_t peer = -1;  ///< of a message: its number in the communicator
  int64_t tag = -1;
  int64_t sequence = -1;  ///< of a collective
  uint64_t bytes = 0;
  Picoseconds issued = 0;
  Picoseconds finished = kNever;  ///< kNever: never
  Picoseconds injected = 0;
};

struct IterationRow {
  uint32_t rank = 0;
  int64_t number = 0;
  std::string name;
  Picoseconds begin = 0;
  Picoseconds end = kNever;
};

struct RankTotals {
  uint64_t calls = 0;
  uint64_t bytes = 0;
  Picoseconds compute = 0;  ///< local time that was not waiting
  Picoseconds waiting = 0;  ///< blocked: exposed communication
  Picoseconds injected = 0;
  Picoseconds end = 0;
  uint64_t late = 0;  ///< wall clock: answers that came late
  std::string shim;
};

struct Report {
  std::vector<CallRow> calls;
  std::vector<IterationRow> iterations;
  std::map<uint32_t, RankTotals> ranks;
  std::map<uint32_t, uint64_t> communicators;  ///< collectives and messages by communicator
  std::vector<Picoseconds> lateness;           ///< wall clock: of every answer that had to wait
  std::vector<std::string> warnings;
  uint64_t collectives = 0;
  uint64_t messages = 0;
  uint64_t guessed = 0;  ///< messages of emulated ranks that do as their real ones
  uint64_t guessed_unmatched = 0;
  Picoseconds time = 0;
};

}  // namespace weft::emulation

#endif
