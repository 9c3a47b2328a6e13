// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Tries a relation on a case, makes a failing case smaller, and writes it down.

#ifndef WEFT_TESTS_RELATIONS_TRIAL_H
#define WEFT_TESTS_RELATIONS_TRIAL_H

#include <cstdint>
#include <string>
#include <vector>

#include "tests/relations/relation.h"

namespace weft::relations {

struct Outcome {
  enum class State { held, skipped, broken };
  State state = State::held;
  std::string kind;  ///< of what is broken
  std::string what;  ///< what is broken, or why it was skipped
  std::vector<std::string> commands;
};

/// Runs the case in a temporary folder; with `keep` in that folder, which then holds its files.
Outcome try_case(const Relation& relation, const Case& c, const std::string& keep = "");

/// A smaller case on which the same is broken, after at most `tries` runs.
Case shrink(const Relation& relation, const Case& c, const Outcome& broken, uint32_t tries);

/// Writes the case into `folder`: the configuration, the traces and cmd.txt. Gives what is to be printed.
std::string write_down(const Relation& relation, const Case& c, const std::string& folder,
                       const std::string& origin);

}  // namespace weft::relations

#endif
