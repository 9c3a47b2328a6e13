// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Keys that make collectives run as a communication library does: `collectives.library` and what goes with
// it.

#include "configs/keys/key_table.h"

namespace weft {
namespace {

using Library = LibraryConfig;

template <auto... Members>
constexpr Field in_library = field<&Config::collectives, &CollectivesConfig::library, Members...>;
template <auto... Members>
constexpr Field in_library_if_set =
    field_if_set<&Config::collectives, &CollectivesConfig::library, Members...>;

constexpr Allowed kScale = from("0.001", "1000");
constexpr Allowed kSpeed = kAnyBandwidth.or_word("auto");
constexpr Allowed kChannels = from(1, 64).or_word("auto");

void set_launch(Config& config, const Value& value) {
  const auto* time = std::get_if<uint64_t>(&value);
  config.collectives.library.launch = time != nullptr ? *time : kNever;
}

Value launch(const Config& config) {
  const Picoseconds time = config.collectives.library.launch;
  return time == kNever ? Value{} : Value{time};
}

constexpr KeyRow kLibraryKeys[] = {
    {"library", Type::choice, "none",
     one_of({{"none", "algorithms, chunks and phases as the other keys say"},
             {"nccl", "plans of NVIDIA's NCCL"},
             {"rccl", "plans of AMD's RCCL"}}),
     in_library_if_set<&Library::kind>,
     "The communication library that plans collectives (docs/libraries.md). Algorithm, protocol, channels "
     "and chunks of each call are then the library's, and the keys of algorithms, chunks and order are not "
     "used. At `analytical` fidelity calls take closed forms, at others they send messages."},
    {"library_version", Type::text, kOptional, at_least(1), in_library_if_set<&Library::version>,
     "Version of the library, for example `2.27`. Default: the newest that the tables have."},
    {"gpu", Type::text, kOptional, at_least(1), in_library_if_set<&Library::gpu>,
     "Name of the GPU in the library's tables, for example `H100`. Needed with `library`."},
    {"gpus_per_node", Type::integer, "auto", from(1, 1024).or_word("auto"),
     in_library<&Library::gpus_per_node>,
     "GPUs that reach each other without NICs. `auto`: the size of dimension 0 (of a graph: all)."},
    {"node_links", Type::choice, "auto",
     one_of({{"auto", "what dimension 0 says: Switch is switched, FullyConnected fully_connected"},
             {"none", "one GPU a node"},
             {"switched", "all links of a GPU lead to switches (NVSwitch)"},
             {"cube_mesh", "the hybrid cube mesh of eight V100"},
             {"fully_connected", "a bundle of links between each two"},
             {"pcie", "PCIe alone"}}),
     in_library<&Library::node_links>, "How the GPUs of a node are joined, as the library sees it."},
    {"links_per_gpu", Type::integer, "auto", from(1, 1024).or_word("auto"),
     in_library<&Library::links_per_gpu>, "Links of a GPU inside the node. `auto`: as the tables say."},
    {"link_bandwidth", Type::bandwidth, "auto", kSpeed, in_library<&Library::link_bandwidth>,
     "Bandwidth of such a link and direction that the library reckons with. `auto`: as the tables say."},
    {"nics_per_node", Type::integer, "auto", from(1, 1024).or_word("auto"),
     in_library<&Library::nics_per_node>, "NICs of a node. `auto`: one a GPU."},
    {"nic_bandwidth", Type::bandwidth, "auto", kSpeed, in_library<&Library::nic_bandwidth>,
     "Bandwidth of a NIC and direction. `auto`: the GPUs' links in the dimension that joins the nodes, "
     "divided "
     "among the NICs."},
    {"host", Type::choice, "intel",
     one_of({{"intel", "and others that NCCL has no values of its own for"}, {"amd", ""}, {"arm", ""}}),
     in_library<&Library::host>, "CPU of the hosts. NCCL's tuner has values of its own for AMD."},
    {"network", Type::choice, "rdma",
     one_of({{"rdma", "NICs reach the GPUs' memory: InfiniBand, RoCE"},
             {"sockets", "through host memory; only the protocol Simple"}}),
     in_library<&Library::network>, "How NICs move data."},
    {"collnet", Type::boolean, "false", kAny, in_library<&Library::collnet>,
     "The switches between the nodes reduce (SHARP), as with `NCCL_COLLNET_ENABLE=1`: the library may run "
     "CollNet, and NVLS over several nodes. Only with `library: nccl`, and a Switch that joins the nodes."},
    {"overrides", Type::path, kOptional, at_least(1), in_library_if_set<&Library::overrides>,
     "A CSV file in the form of NCCL's example tuner plugin, whose lines replace the tuner's choice for some "
     "calls (docs/libraries.md)."},
};

constexpr KeyRow kLibraryGraphKeys[] = {
    {"channels", Type::integer, "auto", kChannels, in_library<&Library::ring, &LibraryGraph::channels>,
     "Channels of the rings that the search finds, before connections double them. `auto`: searched. With "
     "it, "
     "`speed` is needed."},
    {"speed", Type::bandwidth, "auto", kSpeed, in_library<&Library::ring, &LibraryGraph::speed>,
     "Bandwidth of such a channel in a node."},
    {"inter_speed", Type::bandwidth, "auto", kSpeed, in_library<&Library::ring, &LibraryGraph::inter_speed>,
     "Bandwidth of such a channel between nodes. `auto`: as `speed`."},
    {"tree_channels", Type::integer, "auto", kChannels, in_library<&Library::tree, &LibraryGraph::channels>,
     "Channels of the trees. `auto`: as the rings."},
    {"tree_speed", Type::bandwidth, "auto", kSpeed, in_library<&Library::tree, &LibraryGraph::speed>,
     "Bandwidth of a tree's channel in a node. Needed with `tree_channels`."},
    {"tree_inter_speed", Type::bandwidth, "auto", kSpeed,
     in_library<&Library::tree, &LibraryGraph::inter_speed>, "Bandwidth of a tree's channel between nodes."},
    {"nvls_channels", Type::integer, "auto", kChannels, in_library<&Library::nvls, &LibraryGraph::channels>,
     "Heads of NVLS. `auto`: one a GPU of the node."},
    {"nvls_speed", Type::bandwidth, "auto", kSpeed, in_library<&Library::nvls, &LibraryGraph::speed>,
     "Bandwidth of a head in a node. Needed with `nvls_channels`."},
    {"nvls_inter_speed", Type::bandwidth, "auto", kSpeed,
     in_library<&Library::nvls, &LibraryGraph::inter_speed>, "Bandwidth of a head between nodes."},
};

constexpr KeyRow kParameterKeys[] = {
    {"launch", Type::time, kOptional, from("0 ns", "1 s"), custom_field<set_launch, launch>,
     "Time of a call before its first message, on the NPU. Default: the tables' (before a calibration)."},
    {"latency_scale", Type::number, "1", kScale, in_library<&Library::latency_scale>,
     "Factor of all latencies of the tables."},
    {"bandwidth_scale", Type::number, "1", kScale, in_library<&Library::bandwidth_scale>,
     "Factor of all bandwidths of the tables and the search."},
};

}  // namespace

void add_library_keys(KeyTable& table) {
  table.add("collectives", kLibraryKeys);
  table.add("collectives.graph", kLibraryGraphKeys);
  table.add("collectives.parameters", kParameterKeys);
}

}  // namespace weft
