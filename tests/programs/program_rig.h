// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Programs on a machine whose links take what a test says: no SystemC.

#ifndef WEFT_TESTS_PROGRAMS_PROGRAM_RIG_H
#define WEFT_TESTS_PROGRAMS_PROGRAM_RIG_H

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "configs/config.h"
#include "tests/relations/random.h"
#include "workload/collectives/data_check.h"
#include "workload/library/communication_library.h"
#include "workload/programs/program_engine.h"

namespace weft::test {

/// A communicator on a machine, and a call of it.
struct ProgramCase {
  library::LibraryMachine machine;
  std::string algorithm = "-1";  ///< as overrides write it
  std::string protocol = "-1";
  CollectiveOp op = CollectiveOp::all_reduce;
  uint64_t bytes = 0;  ///< Chakra's comm_size
  uint32_t root = 0;
  LibraryParameters parameters{0, 1, 1};
  bool small_chunks = false;  ///< chunks of a few elements, so that little data goes in many loops

  std::string text() const;
};

struct ProgramOutcome {
  Picoseconds time = 0;   ///< of the program
  double work_us = 0;     ///< of the closed form: what moves data
  std::string wrong;      ///< with data: the first wrong element; empty: all is right
  uint64_t elements = 0;  ///< compared
  uint64_t sends = 0;
};

/// How long the links take for a message.
using LinkTime = std::function<Picoseconds(const Message& message)>;

/// Runs the call from 0 on. `starts`: by member, empty: all at 0. `data`: with elements, which are compared.
/// Throws UserError when the library has no such plan.
ProgramOutcome run_program(const ProgramCase& of, const LinkTime& link, bool data,
                           const std::vector<Picoseconds>& starts = {});

}  // namespace weft::test

#endif
