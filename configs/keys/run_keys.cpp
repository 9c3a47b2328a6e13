// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Keys of workload, run and output.

#include "configs/keys/key_table.h"

namespace weft {
namespace {

/// Another word for `implementation`, which prints it.
void bind(ModuleChoice& choice, const Value& value) {
  choice.implementation = std::get<std::string>(value);
}
Value not_printed(const ModuleChoice&) {
  return std::monostate{};
}

constexpr KeyRow kImplementationKeys[] = {
    {"modules", Type::text, kRequired, at_least(1), field<&ModuleChoice::modules>,
     "The modules' names: `npu3`, `nmu3`, `hbm3`, `remote3`, `switch0_1` (as in the column `to` of "
     "links.csv), `switch0_1.unit`, routers (`packet0_0.router5`) and links (`nmu3.d0_plus`); memories of "
     "hosts and of pool groups (`host0.memory`, `host0.nvme`, `pool.group3.memory`), and at `packet` "
     "fidelity "
     "the pool's switches (`pool.in0`, `pool.out1`). "
     "`*`, `?`, `[0-3]` and `{a,b}` are wildcards; commas separate patterns."},
    {"implementation", Type::implementation, kOptional, kAny, field<&ModuleChoice::implementation>,
     "Their model, needed unless there is a `binding`; `rtl:NAME` is one that a plugin has registered as "
     "RTL. Modules that match and are of a "
     "kind without such a model are left as they are."},
    {"binding", Type::implementation, kOptional, kAny, custom_field<bind, not_printed>,
     "In place of `implementation`: `remote(socket=host{rank}.sock, latency=500 ns)` for NPUs whose program "
     "is a simulator in another process (docs/guide/network_interface.md). Only `libweft_net` can run such "
     "machines."},
};

template <auto Member>
constexpr Field in_workload = field<&Config::workload, Member>;

template <auto Member>
constexpr Field in_loggp = field<&Config::loggp, Member>;

template <auto Member>
constexpr Field in_run = field<&Config::run, Member>;

template <auto Member>
constexpr Field in_output = field<&Config::output, Member>;

constexpr KeyRow kWorkloadKeys[] = {
    {"trace", Type::path, "\"\"", kAny, in_workload<&WorkloadConfig::trace>,
     "Prefix of the Chakra execution traces: rank r reads `<prefix>.<r>.et`. The path is relative to the "
     "folder of the configuration file. Empty: no trace."},
    {"groups", Type::path, "\"\"", kAny, in_workload<&WorkloadConfig::groups>,
     "JSON file of the communicator groups, `{\"name\": [rank, ..], ..}`. The path is relative to the folder "
     "of the configuration file. Empty: none."},
    {"goal", Type::path, "\"\"", kAny, field_if_set<&Config::workload, &WorkloadConfig::goal>,
     "GOAL file, text or binary, in place of traces. With `loggp` it gives the times of LogGOPSim; without, "
     "it "
     "runs on the machine. The path is relative to the folder of the configuration file. Empty: none."},
    {"strict", Type::boolean, "false", kAny, in_workload<&WorkloadConfig::strict>,
     "`true`: a dependency on a node that the trace does not have is an error; `false`: it counts as met, "
     "and a warning says so."},
};

constexpr KeyRow kLogGpKeys[] = {
    {"L", Type::time, "3700 ns", from("0 ns", "1 s"), in_loggp<&LogGpConfig::L>, "Latency of a message."},
    {"o", Type::time, "200 ns", from("0 ns", "1 s"), in_loggp<&LogGpConfig::o>,
     "Overhead: time that a send or receive takes on its processor."},
    {"g", Type::time, "5 ns", from("0 ns", "1 s"), in_loggp<&LogGpConfig::g>,
     "Gap: least time between two messages of a network interface."},
    {"G", Type::text, "0.04 ns/B", at_least(1), in_loggp<&LogGpConfig::G>,
     "Gap per byte after the first: `0.04 ns/B`, or as a bandwidth, `25 GB/s`."},
    {"O", Type::text, "0 ns/B", at_least(1), in_loggp<&LogGpConfig::O>,
     "Overhead per byte after the first, on the processor, as `G`."},
    {"S", Type::size, "0 B", from("0 B", "1 TiB"), in_loggp<&LogGpConfig::S>,
     "Largest message that is sent eagerly; the send of a larger one ends with its receive (rendezvous)."},
    {"resolution", Type::time, "1 ns", from("1 ps", "1 us"), in_loggp<&LogGpConfig::resolution>,
     "`G` and `O` times a size are rounded down to a multiple of it. LogGOPSim counts whole nanoseconds."},
};

template <auto Member>
constexpr Field in_text = field<&Config::workload, &WorkloadConfig::text, Member>;

constexpr KeyRow kTextKeys[] = {
    {"text", Type::path, "\"\"", kAny, in_text<&TextWorkloadConfig::file>,
     "Text workload of ASTRA-sim 1.0, which runs in place of traces. The path is relative to the folder of "
     "the "
     "configuration file. Empty: none. The keys below are for it."},
    {"passes", Type::integer, "1", from(1, 1000000), in_text<&TextWorkloadConfig::passes>,
     "How often the training loop of `workload.text` is run."},
    {"compute_scale", Type::number, "1", from("0", "1000000000"), in_text<&TextWorkloadConfig::compute_scale>,
     "Factor of every compute time of `workload.text`. The result is cut to whole cycles."},
    {"comm_scale", Type::number, "1", from("0", "1000000000"), in_text<&TextWorkloadConfig::comm_scale>,
     "Factor of every communication size of `workload.text`. The result is cut to whole bytes."},
    {"clock", Type::text, "1 GHz", at_least(1), in_text<&TextWorkloadConfig::clock>,
     "Clock of the cycles in `workload.text`, a number with Hz, kHz, MHz or GHz."},
    {"update", Type::choice, "total",
     one_of({{"total", "the number in the file, as ASTRA-sim 1.0 runs it"},
             {"per_kib", "that number for each KiB of the collective, as its paper says"}}),
     in_text<&TextWorkloadConfig::update>, "What the update times of `workload.text` mean."},
    {"state_cycles", Type::integer, "0", from(0, 1000000000), in_text<&TextWorkloadConfig::state_cycles>,
     "Cycles that pass after every computation of `workload.text`. ASTRA-sim 1.0 takes 1 for a change of "
     "state."},
    {"priorities", Type::choice, "file_1.0",
     one_of(
         {{"file_1.0", "input gradients first and weight gradients last, as ASTRA-sim 1.0's loops ask for"},
          {"system", "as `collectives.scheduling` says, as its first public code did"}}),
     in_text<&TextWorkloadConfig::priorities>,
     "How the collectives of `workload.text` are put among those issued before. With "
     "`collectives.scheduling: "
     "priority` the key has no effect."},
    {"model_parallel_dimensions", Type::dimensions, kOptional, kAny,
     in_text<&TextWorkloadConfig::model_dimensions>,
     "Dimensions over which `workload.text` communicates activations and their gradients, whatever its type "
     "says; weight gradients go over the others. Left out: by the type."},
};

constexpr KeyRow kRunKeys[] = {
    {"seed", Type::integer, "1", at_least(0), in_run<&RunConfig::seed>,
     "Seed of every random number of the run."},
    {"data", Type::choice, "none",
     one_of(
         {{"none", "messages carry sizes only"},
          {"functional", "collectives carry real elements; every result is checked against its definition"}}),
     in_run<&RunConfig::data>, "What messages carry."},
    {"element", Type::choice, "fp32",
     one_of({{"fp32", "32-bit floating point"},
             {"bf16", "bfloat16, accumulated in fp32"},
             {"int32", "32-bit integers; sums wrap"}}),
     in_run<&RunConfig::element>,
     "Type of the elements that `run.data: functional` carries. The bytes of every collective must be a "
     "multiple of the type's size."},
    {"reduce", Type::choice, "sum", one_of({{"sum", "add"}, {"max", "the largest"}, {"min", "the smallest"}}),
     in_run<&RunConfig::reduce>, "How `run.data: functional` combines elements in reductions."},
    {"footprint", Type::choice, "auto",
     one_of({{"auto", "for traces that name tensors"},
             {"on", "for all traces; where no tensors are named it is an estimate"},
             {"off", "never"}}),
     in_run<&RunConfig::footprint>,
     "Whether the run follows the bytes that each rank's tensors take in its HBM: `footprint.csv`, the "
     "signal "
     "`footprint` and `hbm.over_capacity`."},
    {"split", Type::choice, "auto",
     one_of(
         {{"auto", "where that saves much"}, {"always", "wherever it can be done"}, {"never", "not at all"}}),
     in_run<&RunConfig::split>,
     "Whether Weft simulates one data-parallel replica for all others for as long as they do the same. "
     "Results do not change."},
    {"cut_links", Type::text, "\"\"", kAny, in_run<&RunConfig::cut_links>,
     "Pattern of links at `message` or `packet` fidelity, by their names in `links.csv`, that a border cuts "
     "in two: what crosses one leaves the fabric as plain bytes and comes in again. Results do not change. "
     "For tests of what is to stand at a border. Empty: none."},
};

constexpr KeyRow kOutputKeys[] = {
    {"dir", Type::text, "out", at_least(1), in_output<&OutputConfig::dir>,
     "Folder of the results, relative to the working directory."},
    {"waves", Type::text, "\"\"", kAny, in_output<&OutputConfig::waves>,
     "Pattern of the signals to record as a waveform. Empty: none."},
    {"waves_from", Type::time, "0 ps", kAny, in_output<&OutputConfig::waves_from>,
     "Simulated time at which the waveform begins."},
    {"waves_to", Type::time, "end", kAny.or_word("end"), in_output<&OutputConfig::waves_to>,
     "Simulated time at which the waveform ends. `end`: with the run."},
    {"waves_budget", Type::size, "2 GiB", from("1 KiB", "1 PiB"), in_output<&OutputConfig::waves_budget>,
     "Size that the waveform file never exceeds. The recording stops there, and the run says so."},
    {"timeline", Type::boolean, "false", kAny, in_output<&OutputConfig::timeline>,
     "Whether the run writes `timeline.pftrace`, which ui.perfetto.dev opens."},
    {"timeline_from", Type::time, "0 ps", kAny, in_output<&OutputConfig::timeline_from>,
     "Simulated time at which the timeline begins."},
    {"timeline_to", Type::time, "end", kAny.or_word("end"), in_output<&OutputConfig::timeline_to>,
     "Simulated time at which the timeline ends. `end`: with the run."},
    {"timeline_budget", Type::size, "64 MiB", from("64 KiB", "1 PiB"),
     in_output<&OutputConfig::timeline_budget>,
     "Size that the timeline's file never exceeds. What comes later is summed up over longer and longer "
     "times, and the run says so."},
};

}  // namespace

void add_run_keys(KeyTable& table) {
  table.add("workload", kWorkloadKeys);
  table.add("workload", kTextKeys);
  table.add("run", kRunKeys);
  table.add("loggp", kLogGpKeys);
  table.add("implementations[]", kImplementationKeys);
  table.add("output", kOutputKeys);
}

}  // namespace weft
