// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A relation between runs: something that must be so whatever the right numbers are. To add one, write a file
// in checks/ with one function that returns it, and add the function to the table in relations.cpp.

#ifndef WEFT_TESTS_RELATIONS_RELATION_H
#define WEFT_TESTS_RELATIONS_RELATION_H

#include <string>
#include <vector>

#include "tests/relations/bench.h"
#include "tests/relations/case.h"
#include "tests/relations/draw.h"

namespace weft::relations {

struct Relation {
  std::string name;  ///< of the option --relation and of the test
  std::string what;  ///< one line
  /// Draws a case on which the relation says something.
  Case (*draw)(Random&);
  /// Runs weft and compares. Throws Broken, or Skipped if nothing can be said.
  void (*check)(const Case&, Bench&);
};

const std::vector<Relation>& relations();

}  // namespace weft::relations

#endif
