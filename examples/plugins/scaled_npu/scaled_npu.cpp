// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// An NPU whose compute takes `factor` times as long as the trace says, and up to `jitter` (a fraction) more
// or less from node to node. What a node takes follows from the seed, the NPU and the node alone.

#include <cmath>
#include <memory>
#include <stdexcept>

#include "sc_models/plugin.h"

namespace {

/// A number in [0, 1) that looks random (splitmix64).
double drawn(uint64_t seed, uint64_t npu, uint64_t node) {
  uint64_t x = seed * 0x9e3779b97f4a7c15ull + (npu << 40) + node;
  for (int i = 0; i < 2; ++i) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ull;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebull;
    x ^= x >> 31;
  }
  return static_cast<double>(x >> 11) * 0x1.0p-53;
}

class ScaledNpu final : public weft::Npu {
 public:
  ScaledNpu(sc_core::sc_module_name name, const weft::NpuContext& context, weft::Parameters& parameters)
      : Npu(name, context),
        factor_(parameters.number("factor", "1")),
        jitter_(parameters.number("jitter", "0")) {
    if (!(factor_ > 0) || jitter_ < 0 || jitter_ >= 1)
      throw std::invalid_argument("`factor` is above 0, and `jitter` from 0 up to less than 1");
  }

 private:
  weft::Picoseconds compute_time(const weft::trace::Node& node, weft::Picoseconds time) override {
    const double varied = 1 + jitter_ * (2 * drawn(config().run.seed, weft::index(npu()), node.id) - 1);
    return static_cast<weft::Picoseconds>(std::llround(static_cast<double>(time) * factor_ * varied));
  }

  double factor_;
  double jitter_;
};

}  // namespace

WEFT_PLUGIN(registry) {
  registry.add_npu(
      "scaled", "compute takes a factor of its time, with jitter from node to node",
      [](sc_core::sc_module_name name, const weft::NpuContext& context, weft::Parameters& parameters) {
        return std::make_unique<ScaledNpu>(name, context, parameters);
      });
}
