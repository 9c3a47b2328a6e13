// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The reduction unit of examples/rtl alone under Verilator: a clock, and frames at all ports that never end.
//
//     rtl_alone BEATS [bf16]     processor time of so many beats of contributions, as one line of JSON
//
// bench/rtl_speed.py compares it with the same unit in a job.

#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <systemc>

#include "reduction_unit.h"

namespace {

constexpr int kPorts = 8;
constexpr uint64_t kBeats = 128;  // of a frame: 4 KiB

double user_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

/// What a testbench needs at least.
struct Bench : sc_core::sc_module {
  Bench(sc_core::sc_module_name name, uint64_t beats_in_all, bool bf16_elements)
      : sc_core::sc_module(name),
        clock("clock", sc_core::sc_time(1, sc_core::SC_NS)),
        rtl("rtl"),
        left(beats_in_all) {
    rtl.clk(clock);
    rtl.rst_n(reset);
    rtl.bf16(bf16);
    bf16.write(bf16_elements);
    for (int p = 0; p < kPorts; ++p) {
      rtl.s_axis_tdata[p](data[p]);
      rtl.s_axis_tkeep[p](keep[p]);
      rtl.s_axis_tlast[p](last[p]);
      rtl.s_axis_tid[p](id[p]);
      rtl.s_axis_tuser[p](user[p]);
      rtl.s_axis_tvalid[p](valid[p]);
      rtl.s_axis_tready[p](ready[p]);
      keep[p].write(0xffffffff);
      user[p].write(255);
    }
    rtl.m_axis_tdata(sum);
    rtl.m_axis_tkeep(sum_keep);
    rtl.m_axis_tlast(sum_last);
    rtl.m_axis_tid(sum_id);
    rtl.m_axis_tvalid(sum_valid);
    rtl.m_axis_tready(sum_ready);
    rtl.qactive(qactive);
    SC_HAS_PROCESS(Bench);
    SC_METHOD(edge);
    sensitive << clock.posedge_event();
    dont_initialize();
  }

  void edge() {
    sum_ready.write(true);
    if (++edges < 5) return;
    reset.write(true);
    for (int p = 0; p < kPorts; ++p) {
      if (valid[p].read() && !ready[p].read()) continue;
      if (valid[p].read() && --left == 0) sc_core::sc_stop();
      const uint64_t beat = beats[p]++;
      value = value * 6364136223846793005ull + 1442695040888963407ull;
      for (int w = 0; w < 8; ++w)
        word.set_word(w, static_cast<uint32_t>(value >> 20) * (2 * static_cast<uint32_t>(w) + 1));
      data[p].write(word);
      id[p].write(static_cast<uint32_t>(beat / kBeats % 256));
      last[p].write(beat % kBeats == kBeats - 1);
      valid[p].write(true);
    }
  }

  sc_core::sc_clock clock;
  Vreduction_unit rtl;
  uint64_t left;
  uint64_t edges = 0;
  uint64_t value = 1;
  uint64_t beats[kPorts] = {};
  sc_dt::sc_bv<256> word;
  sc_core::sc_signal<bool> reset, bf16, last[kPorts], valid[kPorts], ready[kPorts];
  sc_core::sc_signal<sc_dt::sc_bv<256>> data[kPorts], sum;
  sc_core::sc_signal<uint32_t> keep[kPorts], id[kPorts], user[kPorts], sum_keep, sum_id;
  sc_core::sc_signal<bool> sum_last, sum_valid, sum_ready, qactive;
};

}  // namespace

int sc_main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: rtl_alone BEATS [bf16]\n");
    return 2;
  }
  Bench bench("bench", std::strtoull(argv[1], nullptr, 10), argc > 2 && std::string(argv[2]) == "bf16");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const double before = user_seconds();
  sc_core::sc_start();
  std::printf("{\"edges\": %llu, \"user_s\": %.3f}\n", static_cast<unsigned long long>(bench.edges),
              user_seconds() - before);
  return 0;
}
