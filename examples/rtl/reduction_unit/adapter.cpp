// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Puts reduction_unit.sv into a switch: `collective_unit.implementation: rtl:reduction_unit`.

#include <memory>
#include <string>
#include <utility>

#include "configs/units.h"
#include "cosim/blocks/rtl_unit.h"
#include "reduction_unit.h"
#include "sc_models/plugin.h"

namespace {

using weft::cosim::BlockClock;

class ReductionUnit final : public weft::cosim::RtlUnit {
 public:
  ReductionUnit(sc_core::sc_module_name name, const weft::UnitPlace& place, weft::Parameters& parameters)
      : RtlUnit(name, place, weft::cosim::read_clock(parameters, clock_defaults())),
        trace_("trace", parameters.text("trace", "none") == "none" ? "" : parameters.text("trace", "none")),
        rtl_("rtl") {
    if (element_type() != weft::ElementType::int32 && element_type() != weft::ElementType::bf16) {
      throw weft::UserError(
          weft::ExitCode::usage,
          std::string(this->name()) + " sums int32 and bf16; set `run.element` to one of them");
    }
    clock().clock(rtl_.clk);
    clock().reset(rtl_.rst_n);
    clock().qactive(rtl_.qactive);
    ties_.constant(rtl_.bf16, element_type() == weft::ElementType::bf16 ? 1 : 0);
    for (uint32_t port = 0; port < 8; ++port) add_input(WEFT_STREAM_PINS_AT(rtl_, s_axis, port));
    set_output(WEFT_STREAM_PINS(rtl_, m_axis));
    trace_.of(rtl_);
    // When each result came out of the RTL, and when it would have come out of the model.
    const std::string times = parameters.text("times", "none");
    if (times != "none") log_times(times);
  }

 private:
  static BlockClock::Options clock_defaults() {
    BlockClock::Options options;
    options.period = weft::parse_time(kreduction_unit_period);
    return options;
  }

  weft::cosim::RtlTrace<Vreduction_unit> trace_;
  Vreduction_unit rtl_;
  weft::cosim::PinTies ties_;
};

}  // namespace

WEFT_PLUGIN(registry) {
  registry.rtl().add_unit(
      "reduction_unit", "RTL: sums int32 and bf16 of up to 8 ports, one beat of one port an edge",
      [](sc_core::sc_module_name name, const weft::UnitPlace& place, weft::Parameters& parameters) {
        return std::make_unique<ReductionUnit>(name, place, parameters);
      });
}
