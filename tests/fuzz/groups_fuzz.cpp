// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A groups file for eight NPUs.

#include "tests/fuzz/fuzz.h"
#include "workload/trace/groups.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace weft;
  using weft::fuzz::expect;
  const std::string text(reinterpret_cast<const char*>(data), size);
  fuzz::tolerate([&] {
    const trace::Groups groups = trace::Groups::parse(text, "groups.json", 8);
    for (trace::GroupId g = 1; g < groups.size(); ++g) {
      expect(groups.find(groups.name(g)) == std::optional<trace::GroupId>(g),
             "a group is not found by its name");
      expect(!groups.ranks(g).empty(), "a group is empty");
      for (const uint32_t rank : groups.ranks(g)) {
        expect(rank < 8 && groups.contains(g, rank), "a member is none");
        const auto& of = groups.of_rank(rank);
        expect(std::find(of.begin(), of.end(), g) != of.end(), "a rank does not know its group");
      }
    }
    expect(!groups.known_names().empty(), "no names");
  });
  return 0;
}
