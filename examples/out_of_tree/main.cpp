// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// An sc_main of one's own on Weft's libraries: a module sends a burst every nanosecond over a link whose
// timing comes from weft::Rate, and its probes go to a waveform file.

#include <cstdint>
#include <iostream>
#include <string>
#include <systemc>

#include "configs/types.h"
#include "vcd/waves.h"

namespace {

class Sender : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Sender);
  Sender(const sc_core::sc_module_name& name, weft::Rate rate, weft::vcd::ProbeHub& probes)
      : sc_module(name),
        rate_(rate),
        busy_(probes.bit(std::string(this->name()) + ".busy")),
        bytes_(probes.number(std::string(this->name()) + ".bytes", 64)) {
    SC_METHOD(send);
  }

  uint64_t sent() const { return sent_; }

 private:
  void send() {
    constexpr uint64_t kBurst = 64;
    const weft::Picoseconds now = sc_core::sc_time_stamp().value();
    sent_ += kBurst;
    if (bytes_) bytes_.set(now, sent_);
    if (busy_) {
      busy_.set(now, true);
      busy_.set(now + weft::transfer_time(kBurst, rate_),
                false);  // known now, written when its time has come
    }
    next_trigger(1, sc_core::SC_NS);
  }

  weft::Rate rate_;
  weft::vcd::Probe busy_;
  weft::vcd::Probe bytes_;
  uint64_t sent_ = 0;
};

}  // namespace

int sc_main(int argc, char* argv[]) {
  weft::vcd::WavesOptions options;
  options.selection = "*";
  options.writer.path = argc > 1 ? argv[1] : "traffic.vcd";
  options.writer.clock = [] { return sc_core::sc_time_stamp().value(); };
  try {
    weft::vcd::ProbeHub probes;
    weft::vcd::Waves waves(options);
    waves.listen(probes);
    Sender sender("sender", weft::Rate{100'000'000'000, 1}, probes);
    waves.begin();
    sc_core::sc_start(100, sc_core::SC_NS);
    waves.close(sc_core::sc_time_stamp().value());
    std::cout << "sent " << sender.sent() << " bytes; waveform in " << options.writer.path << "\n";
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
  return 0;
}
