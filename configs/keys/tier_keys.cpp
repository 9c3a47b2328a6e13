// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Keys of `memory.host` and `memory.nvme`.

#include "configs/keys/key_table.h"

namespace weft {
namespace {

template <auto Member>
constexpr Field in_host = field<&Config::host_memory, Member>;

template <auto Member>
constexpr Field in_nvme = field<&Config::nvme, Member>;

using Host = HostMemoryConfig;
using Nvme = NvmeConfig;

constexpr Allowed kCapacity = from("1 KiB", "1 PiB").or_word("unlimited");
constexpr Allowed kLatency = from("0 ns", "1 s");
constexpr Allowed kChunk = from("1 KiB", "1 TiB");
constexpr Allowed kWindow = from(1, 1048576).or_word("auto");
constexpr Allowed kOverCapacity =
    one_of({{"warn", "the run names the tensors, and by how much they are too large"},
            {"error", "the same, and nothing runs"},
            {"ignore", "nothing is said"}});
constexpr Allowed kOrder = one_of({{"shared", "the accesses under way in turns, a chunk each"},
                                   {"in_order", "all chunks of the oldest access first"}});
constexpr Allowed kModels = one_of({{kDefaultMemoryModel, "latency + bytes / bandwidth"},
                                    {"bandwidth", "the same"},
                                    {"cxl", "a CXL link with a Type-3 device"}});

constexpr KeyRow kHostKeys[] = {
    {"per", Type::choice, "node",
     one_of({{"node", "the NPUs of a node share a host"}, {"npu", "every NPU has a host of its own"}}),
     in_host<&Host::per>, "Who shares a host's memory and links."},
    {"nodes", Type::integer, "1", from(1, 1048576), in_host<&Host::nodes>,
     "With `per: node`: nodes, each with one host. The machine's NPUs are divided among them in order."},
    {"bandwidth", Type::bandwidth, kRequired, kAnyBandwidth.or_word("unlimited"), in_host<&Host::bandwidth>,
     "Bandwidth of a host's memory, reads and writes together. `unlimited`: only the links limit accesses."},
    {"latency", Type::time, "100 ns", kLatency, in_host<&Host::latency>, "Latency of the memory."},
    {"efficiency", Type::number, "1", from("0.001", "1"), in_host<&Host::efficiency>,
     "Fraction of `bandwidth` that transfers reach."},
    {"capacity", Type::size, "unlimited", kCapacity, in_host<&Host::capacity>, "Bytes of a host's memory."},
    {"over_capacity", Type::choice, "warn", kOverCapacity, in_host<&Host::over_capacity>,
     "What happens when the tensors that traces keep in a host's memory are more than its `capacity`."},
    {"implementation", Type::implementation, kDefaultMemoryModel, kModels, in_host<&Host::implementation>,
     "The model of the memory."},
    {"links", Type::integer, kOptional, from(1, 65536), in_host<&Host::links>,
     "PCIe links of a host. NPU i of the host uses link i modulo `links`. Default: one for each NPU."},
    {"link_bandwidth", Type::bandwidth, kRequired, kAnyBandwidth, in_host<&Host::link_bandwidth>,
     "Bandwidth of a PCIe link, a direction."},
    {"link_latency", Type::time, "500 ns", kLatency, in_host<&Host::link_latency>,
     "Latency of a PCIe link, a direction."},
    {"chunk", Type::size, "1 MiB", kChunk, in_host<&Host::chunk>,
     "Bytes of the largest piece that goes from stage to stage as a whole."},
    {"window", Type::integer, "auto", kWindow, in_host<&Host::window>,
     "Chunks that the loads of an NPU have under way at most, and its stores. `auto`: as many as an NPU "
     "alone "
     "needs for the full bandwidth."},
    {"order", Type::choice, "shared", kOrder, in_host<&Host::order>,
     "Which chunk an NPU's loads, or its stores, issue next."},
};

constexpr KeyRow kNvmeKeys[] = {
    {"bandwidth", Type::bandwidth, kRequired, kAnyBandwidth, in_nvme<&Nvme::bandwidth>,
     "Bandwidth of all drives of a host, reads and writes together."},
    {"latency", Type::time, "80 us", kLatency, in_nvme<&Nvme::latency>, "Latency of the drives."},
    {"efficiency", Type::number, "1", from("0.001", "1"), in_nvme<&Nvme::efficiency>,
     "Fraction of `bandwidth` that transfers reach."},
    {"capacity", Type::size, "unlimited", kCapacity, in_nvme<&Nvme::capacity>, "Bytes of a host's drives."},
    {"over_capacity", Type::choice, "warn", kOverCapacity, in_nvme<&Nvme::over_capacity>,
     "What happens when the tensors that traces keep on a host's drives are more than their `capacity`."},
    {"implementation", Type::implementation, kDefaultMemoryModel, kModels, in_nvme<&Nvme::implementation>,
     "The model of the drives."},
    {"link_bandwidth", Type::bandwidth, kOptional, kAnyBandwidth, in_nvme<&Nvme::link_bandwidth>,
     "Bandwidth between the drives and their host, a direction. Default: `bandwidth`."},
    {"link_latency", Type::time, "500 ns", kLatency, in_nvme<&Nvme::link_latency>,
     "Latency between the drives and their host, a direction."},
    {"path", Type::choice, "staged",
     one_of({{"staged", "chunks are written to the host's memory and read again"},
             {"direct", "chunks go past the host's memory"}}),
     in_nvme<&Nvme::path>, "The way between drives and NPUs."},
    {"chunk", Type::size, "1 MiB", kChunk, in_nvme<&Nvme::chunk>,
     "Bytes of the largest piece that goes from stage to stage as a whole."},
    {"window", Type::integer, "auto", kWindow, in_nvme<&Nvme::window>,
     "As `memory.host.window`. With `path: staged` the chunks of the window are what is staged at a time."},
    {"order", Type::choice, "shared", kOrder, in_nvme<&Nvme::order>,
     "Which chunk an NPU's loads, or its stores, issue next."},
};

}  // namespace

void add_tier_keys(KeyTable& table) {
  table.add("memory.host", kHostKeys);
  table.add("memory.nvme", kNvmeKeys);
}

}  // namespace weft
