// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The training loops of ASTRA-sim 1.0 (workload/Workload.cc of its branch ASTRA-sim-1.0) as a graph of nodes:
// what the state machines there do step by step stands here as dependencies. All ranks have the same graph.

#ifndef WEFT_WORKLOAD_TEXT_TRAINING_LOOP_H
#define WEFT_WORKLOAD_TEXT_TRAINING_LOOP_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "configs/types.h"
#include "workload/text/text_file.h"
#include "workload/trace/node.h"

namespace weft::text {

/// Numbers of a run that the file does not hold.
struct LoopOptions {
  uint32_t passes = 1;
  double compute_scale = 1;     ///< of every compute time, the result cut to whole cycles
  double comm_scale = 1;        ///< of every size, the result cut to whole bytes
  double clock_hz = 1e9;        ///< of the cycles
  bool update_per_kib = false;  ///< update times are for each KiB of the collective; else they are totals
  uint64_t state_cycles = 0;    ///< after every compute
  bool file_priorities = true;  ///< LIFO and FIFO as the loops of 1.0 ask for; else as the machine has it
  /// Dimensions of input-gradient and forward communication, whatever the header says; the rest are those of
  /// weight gradients. Empty: by the header.
  std::vector<uint32_t> model_dimensions;
};

/// The members of a collective: a set of whole dimensions, or a block of ranks where a dimension is split.
struct Span {
  uint32_t dimensions = 0;  ///< bit d: dimension d; all of them: every rank
  uint64_t block = 0;       ///< not 0: ranks r with the same r / block ...
  bool across = false;      ///< ... or with the same r % block
  uint64_t members = 1;
};

struct LoopNode {
  enum class Kind : uint8_t { compute, collective, delay };
  Kind kind = Kind::compute;
  Pass pass = Pass::forward;
  uint32_t iteration = 0;
  uint32_t layer = 0;
  Picoseconds time = 0;  ///< of compute and delay
  CollectiveOp op = CollectiveOp::all_reduce;
  uint64_t bytes = 0;
  Span span;
  trace::IssueOrder order = trace::IssueOrder::system;
  std::vector<uint32_t> after;  ///< positions of nodes that finish before
};

/// A place where the program waits for a collective.
struct LoopWait {
  uint32_t done = 0;            ///< the node that ends it
  std::vector<uint32_t> since;  ///< the wait begins when these nodes are finished
};

struct TrainingLoop {
  std::vector<LoopNode> nodes;  ///< each after those it waits for
  std::vector<LoopWait> waits;
  bool split = false;  ///< some collectives are of blocks of ranks
};

/// `sizes`: NPUs of each dimension of the machine. Throws UserError(usage) for options that fit neither file
/// nor machine, and times that simulated time cannot hold.
TrainingLoop make_loop(const TextFile& file, const std::vector<uint32_t>& sizes, const LoopOptions& options);

/// "1 GHz", "1.41 GHz", "800 MHz" in Hz. Throws UserError(usage) that begins with `where`.
double parse_clock(const std::string& text, const std::string& where);

}  // namespace weft::text

#endif
