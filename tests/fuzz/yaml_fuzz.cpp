// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A whole configuration: what is accepted must read back to the same from its effective form, and can be
// validated and described.

#include "configs/describe.h"
#include "configs/effective.h"
#include "configs/loader.h"
#include "sc_models/packet_region.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/large_machine.h"
#include "workload/graph/fidelity_rules.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace weft;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (fuzz::large_machine(text)) return 0;
  Config config;
  if (!fuzz::tolerate([&] { config = parse_config(text, "machine.yaml"); })) return 0;
  const std::string effective = effective_yaml(config);
  std::string again;
  const bool read = fuzz::tolerate([&] { again = effective_yaml(parse_config(effective, "machine.yaml")); });
  fuzz::expect(read, "the effective form of an accepted configuration is refused:\n" + effective);
  fuzz::expect(again == effective,
               "the effective form reads back as another:\n" + effective + "\nand then\n" + again);
  // As `weft validate` and `weft describe` do; what is costly by its size is not what is looked for here.
  if (config.npus() > 64) return 0;
  fuzz::tolerate([&] {
    static_cast<void>(packet_warnings(config, packet_regions_of(config)));
    const graph::FidelityRules rules(config);
    for (uint32_t p = 1; p < rules.planes(); ++p)
      static_cast<void>(packet_warnings(rules.plane(p), packet_regions_of(rules.plane(p))));
  });
  fuzz::tolerate([&] {
    fuzz::expect(!describe_text(config).empty(), "no description");
    fuzz::expect(!describe_dot(config).empty(), "no drawing");
  });
  return 0;
}
