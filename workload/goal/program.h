// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A GOAL program: for each rank operations (send, receive, calc) and what they wait for.
// Format: T. Hoefler, C. Siebert, A. Lumsdaine, "Group Operation Assembly Language" (ICPP 2009), and the
// public repositories of LogGOPSim and ATLAHS.

#ifndef WEFT_WORKLOAD_GOAL_PROGRAM_H
#define WEFT_WORKLOAD_GOAL_PROGRAM_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::goal {

enum class Kind : uint8_t { send = 1, receive = 2, calc = 3 };  ///< the numbers of the binary format

const char* to_string(Kind kind);  ///< "send", "recv", "calc"

/// Of a receive: any rank, any tag.
constexpr uint32_t kAny = ~0u;

struct Operation {
  uint64_t size = 0;   ///< bytes; of a calc nanoseconds
  uint64_t place = 0;  ///< line of a text, byte of a binary file
  uint32_t peer = 0;
  uint32_t tag = 0;
  Kind kind = Kind::calc;
  uint8_t cpu = 0;
  uint8_t nic = 0;
};

/// `after` waits for the end of `before`, or with `start` only for its start.
struct Dependency {
  uint32_t before = 0;
  uint32_t after = 0;
  bool start = false;
};

/// The operations of one rank, in the order of the file.
struct RankProgram {
  std::vector<Operation> operations;
  std::vector<Dependency> dependencies;
  /// What the file calls each operation: label i is names[name_ends[i-1] .. name_ends[i]]. Empty in binary
  /// files, which have no labels.
  std::string names;
  std::vector<uint64_t> name_ends;

  /// "" where the file has none.
  std::string_view label(uint32_t operation) const;
};

struct Program {
  std::string path;
  bool binary = false;
  std::vector<RankProgram> ranks;

  uint64_t operations() const;
  /// Processors and network interfaces that a rank has: one more than the highest number of any operation.
  uint32_t cpus() const;
  uint32_t nics() const;
  /// "ring.goal, line 12: rank 3, label l4 (recv 8 B from rank 2, tag 5)", to begin a message with.
  std::string where(uint32_t rank, uint32_t operation) const;
};

/// Reads a file of either form: a binary one begins with the number 4223. Checks everything that
/// check_program() checks. Throws UserError(trace) that names the file, its line or byte, the rank and the
/// label.
Program read_program(const std::string& path);

/// Throws UserError(trace) for what can never end: dependencies in a circle, a send without its receive or a
/// receive without its send (with wildcards: as many messages as receives at each rank, and enough of each
/// source and tag), a receive that is smaller than its message. `warnings` gets a line for receives that
/// are larger than their messages, which is no error in MPI.
void check_program(const Program& program, std::vector<std::string>* warnings = nullptr);

}  // namespace weft::goal

#endif
