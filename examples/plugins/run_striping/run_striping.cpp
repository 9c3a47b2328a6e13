// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Striping of a memory pool in runs: four chunks of a tensor follow each other in one group, by different
// switches, before the next group has its turn. Memories with pages like that; an access of few chunks uses
// fewer groups than with `latin`.

#include <memory>

#include "sc_models/plugin.h"

namespace {

using namespace weft::pool;

class Runs final : public StripingPolicy {
 public:
  explicit Runs(const StripingContext& context) : context_(context) {}

  Place place(uint32_t u, uint64_t j) const override {
    return {static_cast<uint32_t>((j / kRun + u) % context_.groups),
            static_cast<uint32_t>((j + u) % context_.ways)};
  }

 private:
  static constexpr uint64_t kRun = 4;
  StripingContext context_;
};

}  // namespace

WEFT_PLUGIN(registry) {
  registry.add_striping("runs", "four chunks in a row in one group",
                        [](const StripingContext& context) -> std::unique_ptr<StripingPolicy> {
                          return std::make_unique<Runs>(context);
                        });
}
