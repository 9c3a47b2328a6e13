// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The two forms of GOAL files. Private to this folder, its tests and its fuzz target.

#ifndef WEFT_WORKLOAD_GOAL_READERS_H
#define WEFT_WORKLOAD_GOAL_READERS_H

#include "configs/input_file.h"
#include "workload/goal/program.h"

namespace weft::goal {

/// "check the path; a GOAL file is ..".
extern const InputKind kGoalInput;

constexpr uint64_t kMagic = 4223;          ///< the first eight bytes of a binary file
constexpr uint32_t kMostRanks = 1u << 20;  ///< a larger number is a mistake or a broken file

/// The file begins with kMagic.
bool is_binary(const InputFile& file);

/// Without the checks of check_program(). Throw UserError(trace).
Program read_text(const InputFile& file);
Program read_binary(const InputFile& file);

}  // namespace weft::goal

#endif
