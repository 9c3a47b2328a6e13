// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The options of a run in parts: `--parts N` makes the processes, `--part-of K/N --join HOST:PORT` makes this
// process one of them.

#ifndef WEFT_SC_MAIN_PARTS_PARTS_OPTIONS_H
#define WEFT_SC_MAIN_PARTS_PARTS_OPTIONS_H

#include <cstdint>
#include <optional>
#include <string>

#include "parts/connection.h"
#include "sc_main/text_options.h"

namespace weft::cli {

/// As they were written; an empty one was not given.
struct PartsOptions {
  std::string parts, cut, part_of, join, join_wait;
  bool asked() const {
    return !parts.empty() || !cut.empty() || !part_of.empty() || !join.empty() || !join_wait.empty();
  }
};

void add_parts_options(TextOptions& add, PartsOptions& options);

/// What they mean.
struct PartsAsked {
  uint32_t parts = 1;
  bool automatic = false;        ///< `--parts auto`: one process if nothing else is possible
  std::optional<uint32_t> self;  ///< of `--part-of`: this process is that part
  parts::Address at;             ///< .. and part 0 listens there
  double wait_seconds = 0;       ///< .. so long for the others
  std::string cut;               ///< of `--parts-cut`; empty: Weft chooses
  std::string text;              ///< "--parts 4", "--part-of 1/4", for messages
};

/// `--parts`: a number, or `auto`, as many as there are processors, at most 8 and at most `npus`.
/// `--part-of`: K/N, or `auto`: as the launcher's environment says (Open MPI, MPICH and other PMI, Slurm).
/// Throws UserError.
PartsAsked parts_asked_for(const PartsOptions& options, uint32_t npus);

}  // namespace weft::cli

#endif
