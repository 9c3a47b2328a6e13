// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// An sc_main of one's own: two NPUs of Weft run traces, and the HBM of both is a memory of somebody else,
// which has b_transport only. A checker watches each hop.
//
//     weft generate llm --tp 2 --layers 2 --hidden 256 --batch 1 --out trace
//     two_npus trace/llm trace/llm.groups.json

#include <iostream>
#include <memory>
#include <systemc>
#include <vector>

#include "configs/loader.h"
#include "cosim/blocks/tlm_memory.h"
#include "cosim/tlm/base_protocol_checker.h"
#include "foreign_memory.h"
#include "sc_models/trace_job.h"

namespace {

constexpr const char* kMachine = R"(
weft: 1
topology: {notation: Ring(2), dimensions: [{bandwidth: 50 GB/s, latency: 300 ns}]}
hbm: {bandwidth: 1 TB/s, latency: 100 ns, capacity: 16 MiB}
collectives: {reduction: hbm}
)";

std::vector<ForeignMemory*> memories;
std::vector<weft::cosim::BaseProtocolChecker*> checkers;

/// Weft's side of it, the checker, and the memory itself.
class Foreign final : public weft::cosim::TlmMemory {
 public:
  Foreign(sc_core::sc_module_name name, const weft::MemoryContext& context)
      : TlmMemory(name, context, Options{16 << 20, true, 8}),
        checker_("checker"),
        memory_("memory", 16 << 20) {
    socket().bind(checker_.target);
    checker_.initiator.bind(memory_.socket);
    memories.push_back(&memory_);
    checkers.push_back(&checker_);
  }

 private:
  weft::cosim::BaseProtocolChecker checker_;
  ForeignMemory memory_;
};

}  // namespace

int sc_main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "two_npus TRACE_PREFIX GROUPS\n";
    return 2;
  }
  try {
    weft::memory_models().add({"foreign", "a memory of somebody else", "this program",
                               [](sc_core::sc_module_name name, const weft::MemoryContext& context,
                                  weft::Parameters&) { return std::make_unique<Foreign>(name, context); }});
    weft::Config config = weft::parse_config(kMachine, "two_npus");
    config.hbm.implementation = "foreign";  // which no configuration file can know
    const weft::trace::JobTrace traces = weft::trace::open_job(argv[1], 2, argv[2], false);
    weft::Machine machine("machine", config, weft::TraceJob::machine_options());
    weft::TraceJob job(machine, std::make_unique<weft::graph::CheckedJob>(
                                    config, traces, weft::graph::Folding(traces, "both are built"),
                                    weft::RankMap({0, 1}, 2)));
    job.start();
    do sc_core::sc_start();
    while (!job.finished() && machine.rescue());
    if (!job.finished()) {
      std::cerr << job.stall_report();
      return 1;
    }
    size_t wrong = 0;
    for (auto* checker : checkers) {
      checker->finish();
      for (const std::string& line : checker->violations()) std::cerr << line << "\n";
      wrong += checker->violations().size();
    }
    for (const std::string& line : machine.check_conservation()) {
      std::cerr << line << "\n";
      ++wrong;
    }
    for (const ForeignMemory* memory : memories)
      std::cout << memory->name() << ": " << memory->reads << " reads, " << memory->writes << " writes\n";
    std::cout << "finished at " << job.own_result().time << " ps\n";
    return wrong == 0 ? 0 : 1;
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
