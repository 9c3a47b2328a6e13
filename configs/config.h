// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The resolved configuration: immutable, complete and checked. Code that reads it checks no value again.
// configs/loader.h makes it from YAML.

#ifndef WEFT_CONFIGS_CONFIG_H
#define WEFT_CONFIGS_CONFIG_H

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "configs/library_config.h"
#include "configs/loggp.h"
#include "configs/memory_pool.h"
#include "configs/memory_tiers.h"
#include "configs/types.h"

namespace weft {

class Graph;  // configs/graph.h
class Tree;   // configs/tree.h

inline constexpr const char* kDefaultSwitchModel = "crossbar";
inline constexpr const char* kDefaultMemoryModel = "auto";  ///< what the section's other keys say
inline constexpr const char* kDefaultUnitModel = "model";   ///< this library's own
inline constexpr const char* kDefaultNpuModel = "model";    ///< this library's own
inline constexpr const char* kDefaultNmuModel = "model";    ///< the same

/// What a switch of a Switch dimension has for the `in_switch` algorithm.
struct CollectiveUnitConfig {
  Rate ingress_bandwidth;       ///< into the unit, per input port; 0: as fast as the bytes arrive
  Rate reduction_bandwidth;     ///< of contributions, all ports together; 0: reducing takes no time
  Picoseconds latency = 0;      ///< from a block's last contribution to its result
  uint64_t buffer = 0;          ///< bytes of partial sums; 0: unlimited
  uint64_t segment = 64 << 10;  ///< bytes of the largest block
  std::string implementation = kDefaultUnitModel;
};

/// What keeps buffers from running over, at packet fidelity: credits alone, or priority flow control above
/// them. `automatic`: as PacketFabricConfig.
enum class FlowControl : uint8_t { credits, pfc, automatic };

const char* to_string(FlowControl control);

/// Which ways round the queues of a Ring or Mesh go: every second one down, or all up.
enum class RingDirection : uint8_t { both, one_way };
/// Which queues the phases of a dimension use: all of them, or one half for the all-gathers and the other
/// half for the rest.
enum class PhaseQueues : uint8_t { shared, split };

const char* to_string(RingDirection direction);
const char* to_string(PhaseQueues queues);

/// The defaults of `implementation`.
/// One dimension of the hierarchical topology. Dimension 0 is the innermost; rank r has coordinate
/// (r / product of the inner sizes) % size.
struct DimensionConfig {
  DimensionKind kind = DimensionKind::ring;
  uint32_t size = 1;           ///< NPUs along the dimension
  Rate bandwidth;              ///< per link and direction
  Picoseconds latency = 0;     ///< per hop (Switch: NPU to NPU is two hops; tree: of the NPUs' own links)
  uint32_t links_per_npu = 1;  ///< parallel links: multiplies `bandwidth`
  Picoseconds nic_latency =
      0;  ///< of a network interface: a message pays two, in the last dimension it crosses
  Picoseconds endpoint_delay = kNever;  ///< of messages in this dimension; kNever: as nmu.endpoint_delay
  uint32_t queues = 0;                  ///< of chunks; 0: as collectives.queues_per_dimension says
  RingDirection direction = RingDirection::both;
  PhaseQueues phase_queues = PhaseQueues::shared;
  Fidelity fidelity = Fidelity::message;
  Switching switching = Switching::cut_through;
  CollectiveUnitConfig collective_unit;  ///< of a Switch dimension
  std::shared_ptr<const Tree> tree;  ///< of a Switch dimension whose lines are trees of switches; else null
  // At packet fidelity:
  Picoseconds credit_latency = 0;  ///< of the way back; 0: as `latency`
  double flit_error_rate = 0;      ///< chance that a flit is damaged and its burst sent again
  Picoseconds replay = 0;          ///< what a repetition costs; 0: a round trip
  FlowControl flow_control = FlowControl::automatic;
  uint64_t packet_bytes = 0;  ///< 0: as PacketFabricConfig; so are the next two
  uint64_t phit_bytes = 0;
  double header_efficiency = 0;
  std::string implementation =
      kDefaultSwitchModel;  ///< of a Switch's or a tree's switches, at message fidelity

  /// Rate of one link after links_per_npu.
  Rate link_rate() const { return {bandwidth.bytes_per_second * links_per_npu, bandwidth.divisor}; }
};

/// Links to neighbours that the queues of a Ring or Mesh use: what Shape::links_at_once() wants.
uint32_t neighbour_links_used(const DimensionConfig& dimension, uint32_t queues_per_dimension);

/// As the notation writes it: "Ring(4)", "Clos(hosts=4,leaves=4,spines=2)".
std::string print_dimension(const DimensionConfig& dimension);

struct NpuConfig {
  double peak_flops = 0;           ///< FLOP/s; 0: the roofline's compute side is off
  double memory_bandwidth = 0;     ///< B/s for the roofline; 0: the memory side is off
  bool roofline = false;           ///< true: num_ops and tensor_size replace recorded durations
  uint32_t cpu_slots = 1;          ///< CPU operations at once
  uint32_t compute_slots = 1;      ///< GPU compute operations at once
  std::string model = "roofline";  ///< roofline | systolic: what times matrix products
  uint32_t rows = 128;             ///< systolic: of the array of processing elements
  uint32_t cols = 128;
  std::string dataflow = "ws";  ///< systolic: os | ws | is | ws_tpu
  std::string clock = "1 GHz";  ///< systolic
  double clock_hz = 1e9;        ///< `clock` as a number
  std::string implementation = kDefaultNpuModel;
};

struct HbmConfig {
  std::string model = "bandwidth";
  std::string preset = "HBM3";       ///< banked
  uint32_t stacks = 5;               ///< banked
  std::string refresh = "all_bank";  ///< banked
  Rate bandwidth;                    ///< banked: of the preset's stacks
  Picoseconds latency = 0;           ///< banked: of a column command to an open row
  uint64_t capacity = 0;             ///< bytes; 0: unlimited
  double efficiency = 1.0;
  uint32_t outstanding = 8;                          ///< requests that an NPU has in flight
  std::string over_capacity = "warn";                ///< warn | error | ignore
  std::string implementation = kDefaultMemoryModel;  ///< `auto`: what `model` says
  // banked: what its controllers do
  std::string address_map = "interleaved";
  std::string scheduler = "first_ready";
  uint32_t window = 64;  ///< requests of a pseudo-channel among which the controller chooses
  std::string grouping = "watermarks";
  std::string page_policy = "open";
  std::string streams = "shortcut";  ///< shortcut | detailed

  bool banked() const { return model == "banked"; }
};

/// A remote memory that every NPU reaches over its own link. Without it remote accesses are errors.
struct RemoteMemoryConfig {
  Rate bandwidth;
  Picoseconds latency = 0;
  std::string implementation = kDefaultMemoryModel;  ///< `auto`: latency + bytes / bandwidth
};

enum class FlitSwitchingKind : uint8_t { packet_held, flit_interleaved };
enum class PacketForwarding : uint8_t { hardware, software };
enum class PacketInjection : uint8_t { normal, aggressive };

const char* to_string(FlitSwitchingKind kind);
const char* to_string(PacketForwarding forwarding);
const char* to_string(PacketInjection injection);

/// ECN marking at the outputs of routers.
struct PacketEcnConfig {
  bool enabled = false;
  uint64_t k_min = 5000;  ///< bytes
  uint64_t k_max = 200000;
  double p_max = 0.01;
};

/// Rates of senders (DCQCN).
struct PacketDcqcnConfig {
  bool enabled = false;
  Picoseconds cnp_interval = 50000000;
  Picoseconds alpha_timer = 55000000;
  Picoseconds rate_timer = 55000000;
  uint64_t byte_counter = 10000000;
  uint32_t fast_recovery = 5;
  double g = 0.00390625;
  Rate rate_ai{5000000};
  Rate rate_hai{50000000};
  Rate min_rate{625000};
};

/// Collectives that take the time of others of their kind (sc_models/sampled_collectives.h).
struct PacketSamplingConfig {
  bool enabled = false;
  double share = 0.1;  ///< of the collectives that could be left out and are simulated
};

/// What dimensions at `packet` fidelity have in common (configs/packet_timing.h resolves what is `auto`).
struct PacketFabricConfig {
  uint64_t packet_bytes = 256;   ///< payload of a full packet
  uint64_t flit_bytes = 16;      ///< payload and header bytes a flit carries
  uint64_t phit_bytes = 0;       ///< what a link moves at once; 0: a flit
  uint64_t header_bytes = 0;     ///< per packet
  double header_efficiency = 1;  ///< share of the link's rate that flits get
  Picoseconds cycle = 0;         ///< clock of routers; 0: a flit's time on the fastest link
  uint32_t vcs = 4;              ///< per virtual network; 0: as few as the routing allows
  uint32_t virtual_networks = 1;
  bool strict_priority = false;      ///< of virtual networks, the highest number first
  uint32_t collectives_network = 0;  ///< virtual network of the messages of collectives
  uint32_t point_to_point_network = 0;
  uint32_t buffer_flits = 0;  ///< per VC; 0: what covers the longest credit round trip
  uint32_t route_cycles = 0;
  uint32_t vc_alloc_cycles = 1;
  uint32_t switch_alloc_cycles = 1;
  uint32_t traversal_cycles = 1;
  uint32_t credit_cycles = 1;
  FlitSwitchingKind switching = FlitSwitchingKind::packet_held;
  bool strict_cut_through = false;
  bool release_on_credit = false;
  uint32_t quantum = 0;  ///< flits; 0: unlimited
  uint32_t allocator_iterations = 1;
  std::string switch_allocator = "islip";
  std::string vc_allocator = "islip";
  std::string routing = "auto";
  std::string selection = "auto";
  std::string vc_classes = "dateline";
  PacketForwarding forwarding = PacketForwarding::hardware;
  PacketInjection injection = PacketInjection::normal;
  PacketEcnConfig ecn;
  PacketDcqcnConfig dcqcn;
  PacketSamplingConfig sampling;
  FlowControl flow_control = FlowControl::credits;  ///< of links with FlowControl::automatic
  // Priority flow control:
  std::vector<uint32_t> pfc_networks;  ///< virtual networks that are paused; empty: all
  uint32_t pfc_xoff = 0;               ///< flits; 0: the buffer less the headroom
  uint32_t pfc_xon = 0;                ///< flits; 0: a packet below XOFF
  Picoseconds pfc_delay = 0;           ///< of a pause, on top of a credit's

  bool pfc(FlowControl of_link) const {
    return (of_link == FlowControl::automatic ? flow_control : of_link) == FlowControl::pfc;
  }
};

struct NmuConfig {
  Picoseconds endpoint_delay = 0;  ///< before the first send and after every receive
  uint32_t injection_queue =
      0;                     ///< own messages a port may hold; 0: unlimited. Full: the NMU's injection waits
  Rate injection_bandwidth;  ///< of the NMU's DMA, over all its ports; 0: unlimited
  std::string implementation = kDefaultNmuModel;
};

/// An entry of `implementations`: the model of some modules, in place of what their own section says.
struct ModuleChoice {
  std::string modules;  ///< patterns of their names: "nmu3", "switch0_*"
  std::string implementation;
  std::string origin;  ///< where it stands, for messages: "machine.yaml:12: key `implementations[0]`"
};

/// An entry of `expect`, as it is written (configs/expectation.h reads it).
struct ExpectConfig {
  std::string name;    ///< for people; empty: made from the others
  std::string job;     ///< pattern of the names of `jobs`; empty: all, or the machine
  std::string metric;  ///< one of metrics()
  std::string of;      ///< pattern of the rows; empty: all
  std::string statistic = "every";
  std::optional<std::string> at_most, at_least, equals, tolerance;
  std::string origin;  ///< where it stands, for messages: "machine.yaml:12: key `expect[0]`"
};

enum class ReductionKind : uint8_t { none, fixed_bandwidth, hbm };
enum class CollectiveOrder : uint8_t { baseline, local_bw_aware, round_robin, themis, themis_flex, enhanced };
constexpr int kCollectiveOrders = 6;
enum class CollectiveScheduling : uint8_t { lifo, fifo, priority };
/// Where collectives.scheduling decides: when chunks leave the ready queue, or in every queue of every phase.
enum class SchedulingScope : uint8_t { every_phase, issue };
enum class DimensionScheduling : uint8_t { fifo, rg, smallest_first, less_remaining_phase_first };

const char* to_string(ReductionKind kind);  ///< as the configuration writes it; fixed_bandwidth: "bandwidth"
const char* to_string(CollectiveOrder order);
const char* to_string(CollectiveScheduling scheduling);
const char* to_string(SchedulingScope scope);
const char* to_string(DimensionScheduling scheduling);

/// The value of `chunks: auto`: the plan chooses the number (workload/collectives/auto_chunks.h).
constexpr uint32_t kAutoChunks = 0;

/// An entry of `collectives.rules`: replaces the general settings of the collectives that it matches, or
/// delays them (`delay`; such a rule has no settings).
struct CollectiveRule {
  // The conditions. An empty one always holds.
  std::string group;  ///< a communicator group's name; "0": all ranks
  std::string name;   ///< of the trace node; `*` and `?` are wildcards
  std::optional<CollectiveOp> operation;
  std::optional<uint64_t> min_bytes;  ///< of CollectiveRequest::bytes
  std::optional<uint64_t> max_bytes;
  std::optional<uint64_t> iteration;   ///< with `delay` only
  std::optional<uint64_t> occurrence;  ///< with `delay` only; from 1
  // The settings. An empty one keeps the general setting.
  std::vector<std::string> algorithms;  ///< one for each dimension
  std::optional<CollectiveOrder> order;
  std::optional<uint32_t> chunks;  ///< empty: the general setting
  std::optional<int32_t> priority;
  std::optional<Picoseconds> delay;  ///< before the first message, on every member
  std::string origin;  ///< where it stands, for messages: "machine.yaml:12: key `collectives.rules[0]`"
};

/// An entry of `topology.fidelity_rules`: replaces the dimensions' fidelity for the messages that it matches.
struct FidelityRule {
  // The conditions, which must all hold. An empty one always holds.
  std::string name;   ///< of the trace node; `*` and `?` are wildcards
  std::string group;  ///< a communicator group's name; "0": all ranks
  std::optional<CollectiveOp> operation;
  bool point_to_point = false;  ///< only point-to-point messages
  std::optional<uint64_t> iteration;
  Picoseconds from = 0;     ///< started at or after
  Picoseconds to = kNever;  ///< started before
  // The new fidelity.
  std::vector<uint32_t> dimensions;  ///< of the fabric, ascending; empty: all
  Fidelity fidelity = Fidelity::packet;
  std::string origin;  ///< where it stands, for messages: "machine.yaml:12: key `topology.fidelity_rules[0]`"
};

struct CollectivesConfig {
  uint32_t chunks = kAutoChunks;
  uint32_t active_chunks_per_dimension = 1;
  uint32_t queues_per_dimension = 1;
  uint32_t direct_window = 0;  ///< messages of a direct round in flight; 0: all
  CollectiveOrder order = CollectiveOrder::local_bw_aware;
  uint32_t scatter_dimensions = 1;  ///< order enhanced: dimensions, from 0 on, that reduce-scatter
  CollectiveScheduling scheduling = CollectiveScheduling::lifo;  ///< between collectives
  SchedulingScope scheduling_scope = SchedulingScope::every_phase;
  DimensionScheduling dimension_scheduling =
      DimensionScheduling::fifo;  ///< between the chunks of a dimension's queue
  uint32_t dispatch_threshold =
      0;  ///< T: new chunks are issued while fewer are in their first phase; 0: all at once
  uint32_t dispatch_batch = 1;  ///< P: how many are then issued
  ReductionKind reduction = ReductionKind::none;
  Rate reduction_bandwidth;  ///< with fixed_bandwidth
  /// Algorithm names per operation and dimension; empty string: the default of the dimension. The loader
  /// always fills one name a dimension; a program may leave a vector empty for "all defaults".
  std::array<std::vector<std::string>, kCollectiveOps> algorithms;
  std::vector<CollectiveRule> rules;  ///< the first that matches a collective applies
  LibraryConfig library;              ///< what runs collectives in place of algorithms and chunks
};

/// `workload.text`: a text workload of ASTRA-sim 1.0 in place of traces.
struct TextWorkloadConfig {
  std::string file;  ///< absolute; empty: none
  uint32_t passes = 1;
  double compute_scale = 1;
  double comm_scale = 1;
  std::string clock = "1 GHz";
  std::string update = "total";  ///< total | per_kib
  uint64_t state_cycles = 0;
  std::string priorities = "file_1.0";     ///< file_1.0 | system
  std::vector<uint32_t> model_dimensions;  ///< empty: those of the file's type
};

struct WorkloadConfig {
  std::string goal;  ///< GOAL file in place of traces; empty: none. Absolute.
  TextWorkloadConfig text;
  std::string trace;    ///< prefix; rank r reads <prefix>.<r>.et. Empty: none. Absolute.
  std::string groups;   ///< JSON file of communicator groups; empty: none. Absolute.
  bool strict = false;  ///< dangling dependencies are errors
  /// The machine's NPU of each rank of the traces, no NPU twice. Empty: every NPU, rank r on NPU r.
  std::vector<uint32_t> npus;
};

/// An entry of `jobs`: one of several jobs that share the machine.
struct JobConfig {
  std::string name;  ///< of the folder of its results; unique
  WorkloadConfig workload;
};

struct RunConfig {
  uint64_t seed = 1;
  std::string data = "none";       ///< none | functional
  std::string element = "fp32";    ///< fp32 | bf16 | int32: what messages carry when data is functional
  std::string reduce = "sum";      ///< sum | max | min: how reductions combine elements
  std::string footprint = "auto";  ///< auto | on | off: bytes that tensors take
  std::string split = "auto";      ///< auto | always | never: replicas that are alike at first
  std::string cut_links;           ///< glob of links that a loop-back border cuts in two; empty: none
};

struct OutputConfig {
  std::string dir = "out";
  std::string waves;  ///< glob of signals to record; empty: none
  Picoseconds waves_from = 0;
  Picoseconds waves_to = 0;  ///< 0: the end of the run
  uint64_t waves_budget = uint64_t{2} << 30;
  bool timeline = false;
  Picoseconds timeline_from = 0;
  Picoseconds timeline_to = 0;  ///< 0: the end of the run
  uint64_t timeline_budget = uint64_t{64} << 20;
};

/// An entry of `environment.classes`: these emulated ranks do as a real one does.
struct EmulatedClass {
  uint32_t real = 0;
  std::vector<uint32_t> ranks;
  std::string origin;  ///< where it stands, for messages: "machine.yaml:12: key `environment.classes[0]`"
};

/// An entry of `environment.communicators`: the members of communicators whose splitting only real ranks
/// know.
struct CommunicatorRule {
  uint32_t call = 0;  ///< n-th creation of its kind by a rank, from 1; 0: all
  uint32_t stride = 1;
  uint32_t count = 0;
  std::string origin;
};

/// An entry of `environment.peers`: when an emulated rank sends what a real one receives.
struct PeerRule {
  std::optional<uint32_t> rank;  ///< emulated; empty: all
  std::optional<uint64_t> tag;   ///< empty: all
  std::string when = "ready";    ///< ready | echo | delay
  Picoseconds delay = 0;
  std::string origin;
};

/// `environment`: the ranks of `weft emulate` that no process runs.
struct EnvironmentConfig {
  std::vector<uint32_t> real;  ///< empty: the command line says
  std::vector<EmulatedClass> classes;
  std::string detail;
  std::string delay = "model";
  std::string delay_table;   ///< absolute path
  std::string delay_plugin;  ///< absolute path
  std::vector<CommunicatorRule> communicators;
  std::vector<PeerRule> peers;
  Picoseconds skew = 0;
  std::string skew_distribution = "uniform";
  Picoseconds poll_cost = 100000;
};

struct Config {
  std::string file;                  ///< where it was read from; "" when built by a program
  std::vector<std::string> plugins;  ///< shared libraries, absolute paths
  std::string notation;              ///< of the physical machine; "" for an explicit graph
  /// The logical topology, on which collectives plan. It is the physical one, too, unless there is a
  /// `logical` or a graph. Then its rates and latencies are nominal (the slowest link's rate, the shortest
  /// link's latency), and messages travel on `fabric_dimensions()` or on `graph`.
  std::vector<DimensionConfig> dimensions;
  NpuConfig npu;
  HbmConfig hbm;
  std::optional<RemoteMemoryConfig> remote_memory;
  std::optional<MemoryPoolConfig> memory_pool;  ///< what remote accesses go to, in place of remote_memory
  std::optional<HostMemoryConfig> host_memory;
  std::optional<NvmeConfig> nvme;  ///< only with host_memory
  NmuConfig nmu;
  PacketFabricConfig packet;
  CollectivesConfig collectives;
  WorkloadConfig workload;
  std::vector<JobConfig> jobs;  ///< empty: `workload` is the one job
  RunConfig run;
  OutputConfig output;
  std::optional<LogGpConfig> loggp;       ///< how `workload.goal` communicates; absent: over the machine
  std::string logical;                    ///< notation of the logical topology; "": that of the physical one
  std::vector<DimensionConfig> physical;  ///< with `logical` on a notation machine; empty: `dimensions`
  std::shared_ptr<const Graph> graph;     ///< the physical machine as an explicit graph; null: dimensions
  std::vector<DimensionConfig> levels;    ///< of a tree: its links from the NPUs up, as they were given
  std::vector<FidelityRule> fidelity_rules;  ///< the first that matches applies
  std::vector<uint32_t> mapping;  ///< physical NPU of each rank, a bijection; empty: the same number
  std::vector<ModuleChoice> implementations;     ///< the first that matches a module applies
  std::optional<EnvironmentConfig> environment;  ///< of `weft emulate`
  std::vector<ExpectConfig> expect;              ///< what `weft run --check` compares the results with

  /// NPUs, NMUs or other single modules are of other models than this library's: ranks are then not alike,
  /// and what is known of NPUs' times does not hold.
  bool replaces_modules() const {
    return !implementations.empty() || npu.implementation != kDefaultNpuModel ||
           nmu.implementation != kDefaultNmuModel;
  }

  /// True if messages travel on another topology than collectives plan on.
  bool remapped() const { return graph != nullptr || !physical.empty() || !mapping.empty(); }
  /// The dimensions of the links; none of a graph.
  const std::vector<DimensionConfig>& fabric_dimensions() const {
    return graph != nullptr || !physical.empty() ? physical : dimensions;
  }
  uint32_t npus() const {
    uint64_t n = 1;
    for (const auto& d : dimensions) n *= d.size;
    return static_cast<uint32_t>(n);
  }
};

}  // namespace weft

#endif
