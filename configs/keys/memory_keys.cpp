// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Keys of HBM and remote memory.

#include <fmt/format.h>

#include "configs/dram_spec.h"
#include "configs/keys/key_table.h"

namespace weft {
namespace {

template <auto Member>
constexpr Field in_hbm = field<&Config::hbm, Member>;

template <auto Member>
constexpr Field in_remote_memory = field<&Config::remote_memory, Member>;

std::vector<Choice> presets() {
  std::vector<Choice> choices;
  for (const DramSpec& spec : dram_specs())
    choices.push_back(
        {std::string(spec.name), true, fmt::format("{:.6g} GB/s a stack", spec.stack_peak() * 1e-9)});
  return choices;
}

constexpr KeyRow kHbmKeys[] = {
    {"model", Type::choice, "bandwidth",
     one_of({{"bandwidth", "latency + bytes / (efficiency x bandwidth)"},
             {"banked", "channels, banks, rows and refresh of `hbm.preset`"}}),
     in_hbm<&HbmConfig::model>, "Model of an NPU's HBM."},
    {"implementation", Type::implementation, kDefaultMemoryModel,
     one_of({{kDefaultMemoryModel, "what `hbm.model` says"},
             {"bandwidth", "latency + bytes / bandwidth"},
             {"cxl", "a CXL link with a Type-3 device"}}),
     in_hbm<&HbmConfig::implementation>, "The model in place of `hbm.model`, for example a plugin's."},
    {"preset", Type::choice, "HBM3", one_of(presets), in_hbm<&HbmConfig::preset>,
     "Device of model `banked`: geometry and timing. configs/dram_spec.cpp has them with their sources."},
    {"stacks", Type::integer, "5", from(1, 64), in_hbm<&HbmConfig::stacks>,
     "Stacks of an NPU, for model `banked`."},
    {"refresh", Type::implementation, "all_bank",
     one_of({{"all_bank", "every tREFI (`interval`) all banks of a pseudo-channel for tRFC (`duration`)"},
             {"per_bank", "one bank after the other, while the others go on; `interval`, `duration`"},
             {"none", "never, to see what refresh costs"}}),
     in_hbm<&HbmConfig::refresh>, "Refresh of model `banked`."},
    {"address_map", Type::implementation, "interleaved",
     one_of({{"interleaved", "row, bank, column, group, pseudo-channel, channel, burst; highest bits first"},
             {"bank_interleaved", "row, column, bank, group, pseudo-channel, channel, burst"},
             {"row_blocks", "row, bank, group, pseudo-channel, channel, column, burst"},
             {"permuted", "`interleaved`, with bank and group moved on with the row"},
             {"fields", "any other: `fields(order=row-bank-column-group-pseudo_channel-channel)`"}}),
     in_hbm<&HbmConfig::address_map>, "Where addresses lie, for model `banked`."},
    {"scheduler", Type::implementation, "first_ready",
     one_of({{"first_ready", "hits of open rows first, the earliest command first; `bank_queue`"},
             {"bank_order", "each bank in the order of arrival, the earliest command first"},
             {"in_order", "a pseudo-channel in the order of arrival"}}),
     in_hbm<&HbmConfig::scheduler>, "Which command goes next, for model `banked`."},
    {"window", Type::integer, "64", from(1, 1024), in_hbm<&HbmConfig::window>,
     "Requests of a pseudo-channel from which the scheduler chooses, for model `banked`."},
    {"grouping", Type::implementation, "watermarks",
     one_of({{"watermarks", "reads first; writes from `high` waiting ones on, down to `low`"},
             {"none", "reads and writes in any order"}}),
     in_hbm<&HbmConfig::grouping>, "Whether reads and writes are kept apart, for model `banked`."},
    {"page_policy", Type::implementation, "open",
     one_of({{"open", "a row stays open until another one is wanted"},
             {"closed", "a row is closed when no waiting request wants it"},
             {"capped", "a row is closed after `columns` column commands, 4 unless given"}}),
     in_hbm<&HbmConfig::page_policy>, "When a row is closed, for model `banked`."},
    {"streams", Type::choice, "shortcut",
     one_of({{"shortcut", "by formula while they are alone in the memory"},
             {"detailed", "burst by burst, always"}}),
     in_hbm<&HbmConfig::streams>, "How long sequential accesses are simulated, for model `banked`."},
    {"bandwidth", Type::bandwidth, "2 TB/s", kAnyBandwidth, in_hbm<&HbmConfig::bandwidth>,
     "Peak bandwidth of an NPU's HBM. Leave it out with model `banked`: there it follows from the stacks."},
    {"latency", Type::time, "100 ns", from("0 ns", "1 s"), in_hbm<&HbmConfig::latency>,
     "Latency of one access. Leave it out with model `banked`: there it follows from the device."},
    {"capacity", Type::size, "80 GiB", from("1 MiB", "1 PiB").or_word("unlimited"),
     in_hbm<&HbmConfig::capacity>, "Bytes of an NPU's HBM."},
    {"over_capacity", Type::choice, "warn",
     one_of({{"warn", "the run says by how much, when and which tensors"},
             {"error", "the same, and the run ends with exit code 2"},
             {"ignore", "nothing is said; footprint.csv has the figures"}}),
     in_hbm<&HbmConfig::over_capacity>,
     "What happens when a rank's tensors take more than `hbm.capacity` (`run.footprint`)."},
    {"efficiency", Type::number, "1", from("0.001", "1"), in_hbm<&HbmConfig::efficiency>,
     "Fraction of the peak bandwidth that accesses reach, for model `bandwidth`."},
    {"outstanding", Type::integer, "8", from(1, 65536), in_hbm<&HbmConfig::outstanding>,
     "Requests that an NPU has in flight."},
};

constexpr KeyRow kRemoteMemoryKeys[] = {
    {"bandwidth", Type::bandwidth, kRequired, kAnyBandwidth, in_remote_memory<&RemoteMemoryConfig::bandwidth>,
     "Bandwidth of an NPU's link to the remote memory."},
    {"latency", Type::time, "1 us", from("0 ns", "1 s"), in_remote_memory<&RemoteMemoryConfig::latency>,
     "Latency of one remote access."},
    {"implementation", Type::implementation, kDefaultMemoryModel,
     one_of({{kDefaultMemoryModel, "`bandwidth`"},
             {"bandwidth", "latency + bytes / bandwidth"},
             {"cxl", "a CXL link with a Type-3 device"}}),
     in_remote_memory<&RemoteMemoryConfig::implementation>, "The model of the remote memory."},
};

}  // namespace

void add_memory_keys(KeyTable& table) {
  table.add("hbm", kHbmKeys);
  table.add("remote_memory", kRemoteMemoryKeys);
}

}  // namespace weft
