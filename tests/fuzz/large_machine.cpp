// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tests/fuzz/large_machine.h"

#include "configs/document.h"
#include "configs/tree_notation.h"
#include "configs/units.h"
#include "tests/fuzz/fuzz.h"

namespace weft::fuzz {

namespace {

constexpr uint64_t kMostNpus = 256;

}  // namespace

bool large_tree(const std::string& notation) {
  uint64_t npus = 0;
  if (is_tree_notation(notation)) tolerate([&] { npus = parse_tree_notation(notation).npus(); });
  return npus > kMostNpus;
}

bool large_machine(const std::string& text) {
  bool large = false;
  tolerate([&] {
    const DocumentNode document = read_document(text, "machine.yaml");
    const DocumentNode* const topology = document.find("topology");
    if (topology == nullptr) return;
    for (const DocumentEntry& entry : topology->entries) {  // all of them: a key may be written twice
      if (entry.key == "graph") {
        for (const DocumentEntry& key : entry.value.entries)
          if (key.key == "npus")
            tolerate([&] { large = large || parse_integer(key.value.scalar) > kMostNpus; });
      }
      if (entry.key == "notation") large = large || large_tree(entry.value.scalar);
    }
  });
  return large;
}

}  // namespace weft::fuzz
