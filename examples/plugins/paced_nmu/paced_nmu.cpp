// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// An NMU that takes `processing` for every message it sends, and starts messages at `rate` at most: after a
// message of b bytes the next one waits b / rate.

#include <algorithm>
#include <memory>

#include "sc_models/plugin.h"

namespace {

class PacedNmu final : public weft::Nmu {
 public:
  PacedNmu(sc_core::sc_module_name name, weft::NpuId rank, const weft::NmuContext& context,
           weft::Parameters& parameters)
      : Nmu(name, rank, context),
        processing_(parameters.time("processing", "100 ns")),
        limited_(parameters.text("rate", "none") != "none") {
    if (limited_) rate_ = parameters.bandwidth("rate", "");
    shape_departures();
  }

 private:
  weft::Picoseconds departs(const Departing& message) override {
    const weft::Picoseconds at = std::max(weft::later(message.ready, processing_), next_);
    next_ = limited_ ? weft::later(at, weft::transfer_time(message.bytes, rate_)) : at;
    return at;
  }

  weft::Picoseconds processing_;
  bool limited_;
  weft::Rate rate_;
  weft::Picoseconds next_ = 0;  ///< when the next message may leave
};

}  // namespace

WEFT_PLUGIN(registry) {
  registry.add_nmu("paced", "every message takes a processing time, and messages leave at a rate at most",
                   [](sc_core::sc_module_name name, weft::NpuId rank, const weft::NmuContext& context,
                      weft::Parameters& parameters) {
                     return std::make_unique<PacedNmu>(name, rank, context, parameters);
                   });
}
