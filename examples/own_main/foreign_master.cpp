// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Somebody else's simulator is the master: it has sc_main, its own clock and modules, and decides how far
// time goes. A fabric of Weft with a job stands beside them, and one of its modules works in the HBM of NPU
// 3, through the fabric, while the job runs.
//
//     weft generate llm --tp 4 --layers 2 --hidden 256 --batch 1 --out trace
//     foreign_master trace/llm trace/llm.groups.json

#include <tlm_utils/simple_initiator_socket.h>
#include <iostream>
#include <memory>
#include <systemc>
#include <vector>

#include "configs/loader.h"
#include "cosim/tlm/mm_to_link.h"
#include "sc_models/trace_job.h"

namespace {

constexpr const char* kMachine = R"(
weft: 1
topology: {notation: Ring(4), dimensions: [{bandwidth: 50 GB/s, latency: 300 ns}]}
hbm: {bandwidth: 1 TB/s, latency: 100 ns, capacity: 16 MiB}
)";

/// A module of the other simulator: on its own clock it writes a word, and reads it back.
class Controller : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Controller);
  explicit Controller(const sc_core::sc_module_name& name)
      : sc_module(name), socket("socket"), clock("clock") {
    SC_THREAD(run);
    sensitive << clock.pos();
  }
  tlm_utils::simple_initiator_socket<Controller, 32> socket;
  sc_core::sc_in<bool> clock;
  uint64_t rounds = 0;
  uint64_t wrong = 0;

 private:
  void run() {
    for (uint64_t i = 0; i < 100; ++i) {
      for (int edge = 0; edge < 20; ++edge) wait();
      uint64_t word = i * 0x0101'0101'0101'0101ull;
      access(tlm::TLM_WRITE_COMMAND, 0x8000'0000 + 8 * i, word);
      uint64_t back = 0;
      access(tlm::TLM_READ_COMMAND, 0x8000'0000 + 8 * i, back);
      if (back != word) ++wrong;
      ++rounds;
    }
  }
  void access(tlm::tlm_command command, uint64_t address, uint64_t& word) {
    tlm::tlm_generic_payload p;
    p.set_command(command);
    p.set_address(address);
    p.set_data_ptr(reinterpret_cast<unsigned char*>(&word));
    p.set_data_length(8);
    p.set_streaming_width(8);
    sc_core::sc_time delay;
    socket->b_transport(p, delay);
    wait(delay);
    if (p.is_response_error()) ++wrong;
  }
};

}  // namespace

int sc_main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "foreign_master TRACE_PREFIX GROUPS\n";
    return 2;
  }
  try {
    sc_core::sc_clock clock("clock", 3, sc_core::SC_NS);
    Controller controller("controller");
    controller.clock(clock);

    // The fabric is one more module.
    const weft::Config config = weft::parse_config(kMachine, "foreign_master");
    const weft::trace::JobTrace traces = weft::trace::open_job(argv[1], 4, argv[2], false);
    weft::Machine::Options options = weft::TraceJob::machine_options();
    options.external.nmus = {0, 3};
    options.external.hbms = {3};
    weft::Machine fabric("fabric", config, options);
    weft::TraceJob job(fabric, std::make_unique<weft::graph::CheckedJob>(
                                   config, traces, weft::graph::Folding(traces, "all are built"),
                                   weft::RankMap({0, 1, 2, 3}, 4)));
    weft::cosim::AddressMap map;
    map.add(0x8000'0000, 16 << 20, weft::cosim::MappedMemory::of_rank(3));
    weft::cosim::LinkToMm out("out", fabric, 3);
    weft::cosim::MmToLink in("in", fabric, 0, map);
    controller.socket.bind(in.target());

    job.start();
    // The master goes on in steps of its own. Its clock never stops, so rescue() is asked when nothing else
    // moves.
    uint64_t last = 0;
    while (!job.finished() || controller.rounds < 100) {
      sc_core::sc_start(10, sc_core::SC_US);
      const uint64_t now = job.done_count() + controller.rounds;
      if (now == last && sc_core::sc_time_stamp() > sc_core::sc_time(1, sc_core::SC_SEC) &&
          !fabric.rescue()) {
        std::cerr << job.stall_report();
        return 1;
      }
      last = now;
    }
    const weft::RunResult result = job.own_result();
    size_t wrong = controller.wrong + result.broken_invariants.size();
    for (const std::string& line : fabric.check_conservation()) {
      std::cerr << line << "\n";
      ++wrong;
    }
    std::cout << "the job finished at " << result.time << " ps; the controller did " << controller.rounds
              << " rounds\n";
    return wrong == 0 ? 0 : 1;
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
