// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "configs/algorithms.h"
#include "configs/dram_spec.h"
#include "configs/graph.h"
#include "configs/graph_routing.h"
#include "configs/notation.h"
#include "configs/tree_notation.h"
#include "configs/units.h"

namespace weft {
namespace {

[[noreturn]] void fail(const std::string& message) {
  throw UserError(ExitCode::usage, message);
}

constexpr const char* kMinBandwidth = "1 MB/s";
constexpr const char* kMaxBandwidth = "1000 PB/s";

/// The enumerator of a choice: enumerators are numbered 0, 1, 2 .. and named by `name`.
template <typename Enum>
Enum named(const std::string& text, const char* (*name)(Enum), int count) {
  for (int i = 0; i < count; ++i)
    if (text == name(static_cast<Enum>(i))) return static_cast<Enum>(i);
  fail(fmt::format("unknown name '{}'", text));
}

uint32_t as_u32(const Value& v) {
  return static_cast<uint32_t>(std::get<uint64_t>(v));
}

std::vector<KeySpec> make_keys() {
  std::vector<KeySpec> t;
  const auto add = [&t](const char* path, ValueType type) -> KeySpec& {
    t.emplace_back();
    t.back().path = path;
    t.back().type = type;
    return t.back();
  };

  {
    KeySpec& k = add("weft", ValueType::integer);
    k.required = true;
    k.min = k.max = std::to_string(kConfigVersion);
    k.description = "Version of the configuration format.";
    k.set = [](Config&, size_t, const Value&) {};
    k.get = [](const Config&, size_t) -> Value { return kConfigVersion; };
  }
  {
    KeySpec& k = add("topology.notation", ValueType::notation);
    k.optional = true;
    k.description =
        "The hierarchical topology, innermost dimension first: `Ring(n)`, `FullyConnected(n)`, `Switch(n)`, "
        "`Mesh(n)` "
        "(short `R`, `FC`, `SW`, `M`) joined by `_`. For machines of packages `Local(n)`, `Horizontal(n)` "
        "and "
        "`Vertical(n)` are rings and `Global(n)` is a switch. `FatTree(k=4,n=3)`, the k-ary n-tree, and "
        "`Clos(hosts=8,leaves=4,spines=2)`, every leaf joined to every spine, are trees of switches. Among "
        "other dimensions every line of NPUs has such a tree in place of a switch, with `levels` in the "
        "dimension's entry; for collectives it is a Switch. Alone a tree is a graph (routing `ecmp`, planned "
        "on as `Switch(npus)`), with one entry of `dimensions` for all links or one a level from the NPUs up "
        "(n; Clos: two). Either this or `graph` is required. At most " +
        std::to_string(kMaxNpus) + " NPUs and " + std::to_string(kMaxDimensions) + " dimensions.";
    // The dimensions' kinds and sizes are resolved by the loader, which also matches them with the entries.
    k.set = [](Config& c, size_t, const Value& v) { c.notation = std::get<std::string>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.notation; };
  }
  {
    KeySpec& k = add("topology.logical", ValueType::notation);
    k.optional = true;
    k.description =
        "The topology that collectives plan on, where it is not the physical one; the NPUs must be as many. "
        "Lists with one entry a dimension outside `topology` then mean its dimensions. Default: the "
        "notation; for a graph `Ring(npus)`, for a tree `Switch(npus)`.";
    k.set = [](Config& c, size_t, const Value& v) { c.logical = std::get<std::string>(v); };
  }
  {
    KeySpec& k = add("topology.mapping", ValueType::ranks);
    k.optional = true;
    k.description =
        "The physical NPU of rank 0, 1, ..: every NPU once. Ranges run up or down: `[0..3, 7..4]`. Default: "
        "rank r is NPU r.";
  }
  {
    KeySpec& k = add("topology.routing", ValueType::choice);
    k.optional = true;
    for (const RoutingPolicy& policy : routing_policies())
      k.choices.push_back({policy.name, true, policy.description});
    k.description =
        "How messages find their way through a `graph` (default `shortest_path`) or a tree (default `ecmp`); "
        "a notation of dimensions has its own, in "
        "their order.";
  }
  {
    KeySpec& k = add("topology.routes_file", ValueType::path);
    k.optional = true;
    k.description =
        "A YAML file with a list of routes, instead of `topology.routes`. Relative to the folder of the "
        "configuration file.";
  }
  {
    KeySpec& k = add("topology.graph.npus", ValueType::integer);
    k.required = true;
    k.min = "1";
    k.max = std::to_string(kMaxGraphNodes);
    k.description = "How many NPUs: `npu0`, `npu1`, ..";
  }
  {
    KeySpec& k = add("topology.graph.switches", ValueType::switches);
    k.fallback = "0";
    k.max = std::to_string(kMaxGraphNodes);
    k.description = "The switches: how many (`sw0`, `sw1`, ..), or a list of names and ranges of names.";
  }
  {
    KeySpec& k = add("topology.graph.fidelity", ValueType::choice);
    k.fallback = to_string(Fidelity::message);
    k.choices = {{to_string(Fidelity::analytical), true,
                  "latency of the way + bytes / its slowest link; only the ports of NPUs queue"},
                 {to_string(Fidelity::message), true, "one transfer a link, queueing per link"},
                 {to_string(Fidelity::packet), true, "packets, virtual channels and credits"}};
    k.description = "How a message crosses the graph.";
  }
  {
    KeySpec& k = add("topology.graph.switching", ValueType::choice);
    k.fallback = to_string(Switching::store_and_forward);
    k.choices = {
        {to_string(Switching::store_and_forward), true, "a node forwards a message when its tail is there"},
        {to_string(Switching::cut_through), true, "a node forwards a message when its head is there"}};
    k.description = "When switches and NPUs forward a message, at `message` fidelity.";
  }
  {
    KeySpec& k = add("topology.graph.npus_forward", ValueType::boolean);
    k.fallback = "true";
    k.description = "`true`: messages may pass through NPUs on their way; `false`: only through switches.";
  }
  {
    KeySpec& k = add("topology.graph.links[].from", ValueType::nodes);
    k.required = true;
    k.description = "One end: a node, a range or a list of them.";
  }
  {
    KeySpec& k = add("topology.graph.links[].to", ValueType::nodes);
    k.required = true;
    k.description = "The other end, likewise.";
  }
  {
    KeySpec& k = add("topology.graph.links[].pattern", ValueType::choice);
    k.fallback = "all";
    k.choices = {{"all", true, "every node of `from` with every node of `to`"},
                 {"one_to_one", true, "the first with the first, the second with the second, .."}};
    k.description =
        "Which of several nodes are joined. A group given on both sides is joined pair by pair, each pair "
        "once.";
  }
  {
    KeySpec& k = add("topology.graph.links[].bandwidth", ValueType::bandwidth);
    k.required = true;
    k.min = kMinBandwidth;
    k.max = kMaxBandwidth;
    k.description = "Per direction, of one of `count`.";
  }
  {
    KeySpec& k = add("topology.graph.links[].latency", ValueType::time);
    k.fallback = "500 ns";
    k.min = "0 ns";
    k.max = "1 s";
    k.description = "Of the link.";
  }
  {
    KeySpec& k = add("topology.graph.links[].count", ValueType::integer);
    k.fallback = "1";
    k.min = "1";
    k.max = "1024";
    k.description =
        "Parallel links that work as one: they multiply `bandwidth`. (Two entries that join the same nodes "
        "are "
        "two links, which only `ecmp` uses both.)";
  }
  {
    KeySpec& k = add("topology.graph.links[].bidirectional", ValueType::boolean);
    k.fallback = "true";
    k.description = "`false`: only from `from` to `to`.";
  }
  {
    KeySpec& k = add("topology.graph.links[].credit_latency", ValueType::time);
    k.fallback = "auto";
    k.min = "1 ps";
    k.max = "1 s";
    k.zero_word = "auto";
    k.description =
        "Of a credit on its way back, at `packet` fidelity (of a one-way link, too). `auto`: as `latency`.";
  }
  {
    KeySpec& k = add("topology.graph.links[].flit_error_rate", ValueType::number);
    k.fallback = "0";
    k.min = "0";
    k.max = "0.5";
    k.description =
        "Chance that a flit is damaged on this link, at `packet` fidelity; its burst is then sent again "
        "(link-level retry).";
  }
  {
    KeySpec& k = add("topology.graph.links[].replay", ValueType::time);
    k.fallback = "auto";
    k.min = "1 ps";
    k.max = "1 s";
    k.zero_word = "auto";
    k.description = "What a repetition costs. `auto`: a round trip of the link.";
  }
  {
    KeySpec& k = add("topology.routes[].at", ValueType::nodes);
    k.required = true;
    k.description = "The nodes this is for.";
  }
  {
    KeySpec& k = add("topology.routes[].to", ValueType::nodes);
    k.optional = true;
    k.description = "Destinations (NPUs). Absent: all that no other route of these nodes names.";
  }
  {
    KeySpec& k = add("topology.routes[].via", ValueType::nodes);
    k.required = true;
    k.description = "The next node, to which each of `at` has a link.";
  }
  {
    KeySpec& k = add("topology.dimensions[].bandwidth", ValueType::bandwidth);
    k.optional = true;
    k.min = kMinBandwidth;
    k.max = kMaxBandwidth;
    k.description =
        "Per link and direction. Ring and Mesh: a neighbour link; FullyConnected: a pair link; Switch: the "
        "NPU's port. "
        "Either this or `bandwidth_per_npu` is required.";
    k.set = [](Config& c, size_t i, const Value& v) { c.dimensions[i].bandwidth = std::get<Rate>(v); };
    k.get = [](const Config& c, size_t i) -> Value { return c.fabric_dimensions()[i].bandwidth; };
  }
  {
    KeySpec& k = add("topology.dimensions[].bandwidth_per_npu", ValueType::bandwidth);
    k.optional = true;
    k.min = kMinBandwidth;
    k.max = kMaxBandwidth;
    k.description =
        "Of all links of an NPU in the dimension together, instead of `bandwidth`: the link's bandwidth "
        "times "
        "`links_per_npu` times (Ring and Mesh: `collectives.queues_per_dimension`; FullyConnected(n): n-1; "
        "Switch: 1).";
  }
  {
    KeySpec& k = add("topology.dimensions[].latency", ValueType::time);
    k.fallback = "500 ns";
    k.min = "0 ns";
    k.max = "1 s";
    k.description = "Per hop. Ring, Mesh and FullyConnected: NPU to NPU is one hop; Switch: two.";
    k.set = [](Config& c, size_t i, const Value& v) { c.dimensions[i].latency = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t i) -> Value { return c.fabric_dimensions()[i].latency; };
  }
  {
    KeySpec& k = add("topology.dimensions[].links_per_npu", ValueType::integer);
    k.fallback = "1";
    k.min = "1";
    k.max = "1024";
    k.description = "Parallel links in place of each link: they multiply `bandwidth`.";
    k.set = [](Config& c, size_t i, const Value& v) { c.dimensions[i].links_per_npu = as_u32(v); };
    k.get = [](const Config& c, size_t i) -> Value {
      return uint64_t{c.fabric_dimensions()[i].links_per_npu};
    };
  }
  {
    KeySpec& k = add("topology.dimensions[].fidelity", ValueType::choice);
    k.fallback = to_string(Fidelity::message);
    k.choices = {{to_string(Fidelity::analytical), true, "hops x latency + bytes / bandwidth, no contention"},
                 {to_string(Fidelity::message), true, "one transfer a link, queueing per link"},
                 {to_string(Fidelity::packet), true, "packets, virtual channels and credits"}};
    k.description = "How a message crosses the dimension.";
    k.set = [](Config& c, size_t i, const Value& v) {
      c.dimensions[i].fidelity = named<Fidelity>(std::get<std::string>(v), to_string, 3);
    };
    k.get = [](const Config& c, size_t i) -> Value {
      return std::string(to_string(c.fabric_dimensions()[i].fidelity));
    };
  }
  {
    KeySpec& k = add("topology.dimensions[].switching", ValueType::choice);
    k.fallback = to_string(Switching::store_and_forward);
    k.choices = {
        {to_string(Switching::store_and_forward), true, "a hop forwards a message when its tail is there"},
        {to_string(Switching::cut_through), true, "a hop forwards a message when its head is there"}};
    k.description = "When a message is forwarded, at `message` fidelity.";
    k.set = [](Config& c, size_t i, const Value& v) {
      c.dimensions[i].switching = named<Switching>(std::get<std::string>(v), to_string, 4);
    };
    k.get = [](const Config& c, size_t i) -> Value {
      return std::string(to_string(c.fabric_dimensions()[i].switching));
    };
  }

  {
    KeySpec& k = add("topology.dimensions[].credit_latency", ValueType::time);
    k.fallback = "auto";
    k.min = "1 ps";
    k.max = "1 s";
    k.zero_word = "auto";
    k.description = "Of a credit on its way back, at `packet` fidelity. `auto`: as `latency`.";
    k.set = [](Config& c, size_t i, const Value& v) {
      c.dimensions[i].credit_latency = std::get<uint64_t>(v);
    };
    k.get = [](const Config& c, size_t i) -> Value { return c.fabric_dimensions()[i].credit_latency; };
  }
  {
    KeySpec& k = add("topology.dimensions[].flit_error_rate", ValueType::number);
    k.fallback = "0";
    k.min = "0";
    k.max = "0.5";
    k.description =
        "Chance that a flit is damaged on a link, at `packet` fidelity; its burst is then sent again "
        "(link-level retry).";
    k.set = [](Config& c, size_t i, const Value& v) {
      c.dimensions[i].flit_error_rate = std::get<double>(v);
    };
    k.get = [](const Config& c, size_t i) -> Value { return c.fabric_dimensions()[i].flit_error_rate; };
  }
  {
    KeySpec& k = add("topology.dimensions[].replay", ValueType::time);
    k.fallback = "auto";
    k.min = "1 ps";
    k.max = "1 s";
    k.zero_word = "auto";
    k.description = "What a repetition costs. `auto`: a round trip of the link.";
    k.set = [](Config& c, size_t i, const Value& v) { c.dimensions[i].replay = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t i) -> Value { return c.fabric_dimensions()[i].replay; };
  }
  {
    KeySpec& k = add("topology.dimensions[].flow_control", ValueType::choice);
    k.fallback = "auto";
    k.choices = {{"auto", true, "as `packet.flow_control`"},
                 {"credits", true, "a flit goes when there is room for it"},
                 {"pfc", true, "priority flow control, by the `pfc_` keys of `packet`"}};
    k.description = "How the dimension's links keep buffers from running over, at `packet` fidelity.";
    k.set = [](Config& c, size_t i, const Value& v) {
      c.dimensions[i].flow_control = named<FlowControl>(std::get<std::string>(v), to_string, 3);
    };
    k.get = [](const Config& c, size_t i) -> Value {
      return std::string(to_string(c.fabric_dimensions()[i].flow_control));
    };
  }
  {
    KeySpec& k = add("topology.dimensions[].collective_unit.ingress_bandwidth", ValueType::bandwidth);
    k.fallback = "unlimited";
    k.min = kMinBandwidth;
    k.max = kMaxBandwidth;
    k.zero_word = "unlimited";
    k.description =
        "Rate at which one input port feeds the unit, while a contribution is still arriving; `unlimited`: "
        "the port's own rate.";
    k.set = [](Config& c, size_t i, const Value& v) {
      c.dimensions[i].collective_unit.ingress_bandwidth = std::get<Rate>(v);
    };
    k.get = [](const Config& c, size_t i) -> Value {
      return c.fabric_dimensions()[i].collective_unit.ingress_bandwidth;
    };
  }
  {
    KeySpec& k = add("topology.dimensions[].collective_unit.reduction_bandwidth", ValueType::bandwidth);
    k.fallback = "unlimited";
    k.min = kMinBandwidth;
    k.max = kMaxBandwidth;
    k.zero_word = "unlimited";
    k.description =
        "Bytes of contributions that the unit reduces in a second, those of all ports together, one "
        "contribution after the other.";
    k.set = [](Config& c, size_t i, const Value& v) {
      c.dimensions[i].collective_unit.reduction_bandwidth = std::get<Rate>(v);
    };
    k.get = [](const Config& c, size_t i) -> Value {
      return c.fabric_dimensions()[i].collective_unit.reduction_bandwidth;
    };
  }
  {
    KeySpec& k = add("topology.dimensions[].collective_unit.latency", ValueType::time);
    k.fallback = "0 ns";
    k.min = "0 ns";
    k.max = "1 s";
    k.description = "From a block's last contribution to its result at the output ports.";
    k.set = [](Config& c, size_t i, const Value& v) {
      c.dimensions[i].collective_unit.latency = std::get<uint64_t>(v);
    };
    k.get = [](const Config& c, size_t i) -> Value {
      return c.fabric_dimensions()[i].collective_unit.latency;
    };
  }
  {
    KeySpec& k = add("topology.dimensions[].collective_unit.buffer", ValueType::size);
    k.fallback = "unlimited";
    k.min = "64 B";
    k.max = "1 PiB";
    k.zero_word = "unlimited";
    k.description =
        "Partial sums that the unit holds at once. A block's one is held from its first contribution until "
        "its result has left; without a place contributions wait at the inputs. At least `segment`, of which "
        "the last one is kept for blocks whose contributions are all there, so that nothing deadlocks.";
    k.set = [](Config& c, size_t i, const Value& v) {
      c.dimensions[i].collective_unit.buffer = std::get<uint64_t>(v);
    };
    k.get = [](const Config& c, size_t i) -> Value {
      return c.fabric_dimensions()[i].collective_unit.buffer;
    };
  }
  {
    KeySpec& k = add("topology.dimensions[].collective_unit.segment", ValueType::size);
    k.fallback = "64 KiB";
    k.min = "64 B";
    k.max = "1 TiB";
    k.description =
        "Blocks are cut into segments of at most this many bytes, each contributed, reduced and sent on its "
        "own. At packet fidelity the default is `packet.packet_size`, so that every packet is combined by "
        "itself; "
        "larger segments are put together at the unit.";
    k.set = [](Config& c, size_t i, const Value& v) {
      c.dimensions[i].collective_unit.segment = std::get<uint64_t>(v);
    };
    k.get = [](const Config& c, size_t i) -> Value {
      return c.fabric_dimensions()[i].collective_unit.segment;
    };
  }

  // Of trees: the loader gives what is absent the value of the NPUs' own links.
  {
    KeySpec& k = add("topology.dimensions[].levels[].bandwidth", ValueType::bandwidth);
    k.optional = true;
    k.min = kMinBandwidth;
    k.max = kMaxBandwidth;
    k.description = "Per direction, of one of `count`. Absent: as the NPUs' links.";
  }
  {
    KeySpec& k = add("topology.dimensions[].levels[].latency", ValueType::time);
    k.optional = true;
    k.min = "0 ns";
    k.max = "1 s";
    k.description = "Of the link. Absent: as the NPUs' links.";
  }
  {
    KeySpec& k = add("topology.dimensions[].levels[].count", ValueType::integer);
    k.optional = true;
    k.min = "1";
    k.max = "1024";
    k.description =
        "Parallel links that work as one: they multiply `bandwidth`. Absent: `links_per_npu`, and 1 where "
        "the "
        "level has a `bandwidth`.";
  }
  {
    KeySpec& k = add("topology.dimensions[].levels[].credit_latency", ValueType::time);
    k.optional = true;
    k.min = "1 ps";
    k.max = "1 s";
    k.zero_word = "auto";
    k.description =
        "Of a credit on its way back, at `packet` fidelity. `auto`: as `latency`. Absent: as the NPUs' "
        "links.";
  }
  {
    KeySpec& k = add("topology.dimensions[].levels[].flit_error_rate", ValueType::number);
    k.optional = true;
    k.min = "0";
    k.max = "0.5";
    k.description = "Chance that a flit is damaged, at `packet` fidelity. Absent: as the NPUs' links.";
  }
  {
    KeySpec& k = add("topology.dimensions[].levels[].replay", ValueType::time);
    k.optional = true;
    k.min = "1 ps";
    k.max = "1 s";
    k.zero_word = "auto";
    k.description = "What a repetition costs. `auto`: a round trip of the link. Absent: as the NPUs' links.";
  }
  {
    KeySpec& k = add("topology.fidelity_rules[].name", ValueType::text);
    k.optional = true;
    k.min = "1";  // characters
    k.description =
        "Only collectives and point-to-point messages whose trace nodes have such a name: `*` stands for any "
        "text, `?` for one character. Of a collective the node that starts first tells.";
  }
  {
    KeySpec& k = add("topology.fidelity_rules[].group", ValueType::text);
    k.optional = true;
    k.min = "1";  // characters
    k.description = "Only collectives of this communicator group; `0` is the group of all ranks.";
  }
  {
    KeySpec& k = add("topology.fidelity_rules[].operation", ValueType::choice);
    k.optional = true;
    for (int op = 0; op < kCollectiveOps; ++op)
      k.choices.push_back({to_string(static_cast<CollectiveOp>(op)), true, ""});
    k.choices.push_back({kPointToPoint, true, ""});
    k.description = "Only this operation, or only point-to-point messages.";
  }
  {
    KeySpec& k = add("topology.fidelity_rules[].iteration", ValueType::integer);
    k.optional = true;
    k.min = "0";
    k.max = "4294967295";
    k.description =
        "Only this iteration of the trace: the node's attribute `iteration`, else the number in its name "
        "after `iteration`, `iter` or `step`.";
  }
  {
    KeySpec& k = add("topology.fidelity_rules[].from", ValueType::time);
    k.optional = true;
    k.min = "0 ps";
    k.max = "10000000 s";
    k.description = "Only what starts at this time or later.";
  }
  {
    KeySpec& k = add("topology.fidelity_rules[].to", ValueType::time);
    k.optional = true;
    k.min = "1 ps";
    k.max = "10000000 s";
    k.description = "Only what starts before this time. It keeps its fidelity until it ends.";
  }
  {
    KeySpec& k = add("topology.fidelity_rules[].dimensions", ValueType::dimensions);
    k.optional = true;
    k.description = "The dimensions whose fidelity it is, by number; the others keep their own. Absent: all.";
  }
  {
    KeySpec& k = add("topology.fidelity_rules[].fidelity", ValueType::choice);
    k.required = true;
    for (const Fidelity f : {Fidelity::analytical, Fidelity::message, Fidelity::packet})
      k.choices.push_back({to_string(f), true, ""});
    k.description =
        "Their fidelity, finer or coarser than the dimensions' own, or the same: an exception from later "
        "rules.";
  }
  {
    KeySpec& k = add("npu.peak", ValueType::compute);
    k.fallback = "234 TFLOPS";
    k.min = "1 MFLOPS";
    k.max = "1000 EFLOPS";
    k.zero_word = "none";
    k.description =
        "Peak compute rate for the roofline (the default is an A100-class NPU in dense 16-bit "
        "arithmetic, as sustained); `none` leaves only the memory side.";
    k.set = [](Config& c, size_t, const Value& v) { c.npu.peak_flops = std::get<double>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.npu.peak_flops; };
  }
  {
    KeySpec& k = add("npu.memory_bandwidth", ValueType::bandwidth_value);
    k.fallback = "2 TB/s";
    k.min = kMinBandwidth;
    k.max = kMaxBandwidth;
    k.zero_word = "none";
    k.description = "Memory bandwidth for the roofline; `none` leaves only the compute side.";
    k.set = [](Config& c, size_t, const Value& v) { c.npu.memory_bandwidth = std::get<double>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.npu.memory_bandwidth; };
  }
  {
    KeySpec& k = add("npu.roofline", ValueType::boolean);
    k.fallback = "false";
    k.description =
        "`true`: the roofline times every compute node that has operations or bytes; `false`: recorded "
        "durations win, and only nodes without one use the roofline.";
    k.set = [](Config& c, size_t, const Value& v) { c.npu.roofline = std::get<bool>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.npu.roofline; };
  }
  {
    KeySpec& k = add("npu.cpu_slots", ValueType::integer);
    k.fallback = "1";
    k.min = "1";
    k.max = "4096";
    k.description = "CPU operations an NPU's host runs at once.";
    k.set = [](Config& c, size_t, const Value& v) { c.npu.cpu_slots = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.npu.cpu_slots}; };
  }
  {
    KeySpec& k = add("npu.compute_slots", ValueType::integer);
    k.fallback = "1";
    k.min = "1";
    k.max = "4096";
    k.description = "GPU compute operations an NPU runs at once.";
    k.set = [](Config& c, size_t, const Value& v) { c.npu.compute_slots = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.npu.compute_slots}; };
  }

  {
    KeySpec& k = add("hbm.model", ValueType::choice);
    k.fallback = "bandwidth";
    k.choices = {{"bandwidth", true, "latency + bytes / (efficiency x bandwidth)"},
                 {"banked", true, "channels, banks, rows and refresh of `hbm.preset`"}};
    k.description = "The memory model of an NPU's HBM.";
    k.set = [](Config& c, size_t, const Value& v) { c.hbm.model = std::get<std::string>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.hbm.model; };
  }
  {
    KeySpec& k = add("hbm.preset", ValueType::choice);
    k.fallback = "HBM3";
    for (const DramSpec& spec : dram_specs()) {
      k.choices.push_back({spec.name, true, fmt::format("{:.6g} GB/s a stack", spec.stack_peak() * 1e-9)});
    }
    k.description =
        "The device of model `banked`: geometry and timing (configs/dram_spec.cpp has them with their "
        "sources).";
    k.set = [](Config& c, size_t, const Value& v) { c.hbm.preset = std::get<std::string>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.hbm.preset; };
  }
  {
    KeySpec& k = add("hbm.stacks", ValueType::integer);
    k.fallback = "5";
    k.min = "1";
    k.max = "64";
    k.description = "Stacks an NPU has, of model `banked`.";
    k.set = [](Config& c, size_t, const Value& v) { c.hbm.stacks = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.hbm.stacks}; };
  }
  {
    KeySpec& k = add("hbm.refresh", ValueType::choice);
    k.fallback = "all_bank";
    k.choices = {{"all_bank", true, "every tREFI all banks of a pseudo-channel for tRFC"},
                 {"per_bank", true, "one bank after the other, while the others go on"},
                 {"none", true, "never: to see what it costs"}};
    k.description = "Refresh of model `banked`.";
    k.set = [](Config& c, size_t, const Value& v) { c.hbm.refresh = std::get<std::string>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.hbm.refresh; };
  }
  {
    KeySpec& k = add("hbm.bandwidth", ValueType::bandwidth);
    k.fallback = "2 TB/s";
    k.min = kMinBandwidth;
    k.max = kMaxBandwidth;
    k.description = "Peak bandwidth of an NPU's HBM. Model `banked`: that of its stacks; leave it out.";
    k.set = [](Config& c, size_t, const Value& v) { c.hbm.bandwidth = std::get<Rate>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.hbm.bandwidth; };
  }
  {
    KeySpec& k = add("hbm.latency", ValueType::time);
    k.fallback = "100 ns";
    k.min = "0 ns";
    k.max = "1 s";
    k.description = "Of one access. Model `banked`: follows from the device; leave it out.";
    k.set = [](Config& c, size_t, const Value& v) { c.hbm.latency = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.hbm.latency; };
  }
  {
    KeySpec& k = add("hbm.capacity", ValueType::size);
    k.fallback = "80 GiB";
    k.min = "1 MiB";
    k.max = "1 PiB";
    k.zero_word = "unlimited";
    k.description = "Bytes of an NPU's HBM.";
    k.set = [](Config& c, size_t, const Value& v) { c.hbm.capacity = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.hbm.capacity; };
  }
  {
    KeySpec& k = add("hbm.efficiency", ValueType::number);
    k.fallback = "1";
    k.min = "0.001";
    k.max = "1";
    k.description = "Fraction of the peak bandwidth that is reached, by model `bandwidth`.";
    k.set = [](Config& c, size_t, const Value& v) { c.hbm.efficiency = std::get<double>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.hbm.efficiency; };
  }
  {
    KeySpec& k = add("hbm.outstanding", ValueType::integer);
    k.fallback = "8";
    k.min = "1";
    k.max = "65536";
    k.description = "Requests an NPU has in flight.";
    k.set = [](Config& c, size_t, const Value& v) { c.hbm.outstanding = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.hbm.outstanding}; };
  }

  {
    KeySpec& k = add("remote_memory.bandwidth", ValueType::bandwidth);
    k.required = true;
    k.min = kMinBandwidth;
    k.max = kMaxBandwidth;
    k.description = "Of an NPU's link to the remote memory.";
    k.set = [](Config& c, size_t, const Value& v) { c.remote_memory->bandwidth = std::get<Rate>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.remote_memory->bandwidth; };
  }
  {
    KeySpec& k = add("remote_memory.latency", ValueType::time);
    k.fallback = "1 us";
    k.min = "0 ns";
    k.max = "1 s";
    k.description = "Of one remote access.";
    k.set = [](Config& c, size_t, const Value& v) { c.remote_memory->latency = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.remote_memory->latency; };
  }

  {
    KeySpec& k = add("nmu.endpoint_delay", ValueType::time);
    k.fallback = "0 ns";
    k.min = "0 ns";
    k.max = "1 s";
    k.description = "Before the first send and after every receive of a collective's step.";
    k.set = [](Config& c, size_t, const Value& v) { c.nmu.endpoint_delay = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.nmu.endpoint_delay; };
  }
  {
    KeySpec& k = add("nmu.injection_queue", ValueType::integer);
    k.fallback = "unlimited";
    k.min = "1";
    k.max = "1048576";
    k.zero_word = "unlimited";
    k.description =
        "Own messages a fabric port may hold, waiting or being sent. While the port of the next message is "
        "full, the "
        "NMU injects nothing (messages leave in order).";
    k.set = [](Config& c, size_t, const Value& v) { c.nmu.injection_queue = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.nmu.injection_queue}; };
  }
  {
    KeySpec& k = add("nmu.injection_bandwidth", ValueType::bandwidth);
    k.fallback = "unlimited";
    k.min = kMinBandwidth;
    k.max = kMaxBandwidth;
    k.zero_word = "unlimited";
    k.description =
        "Rate at which the NMU's DMA feeds all its ports together (a NIC's or a memory's limit). Messages "
        "pass through it "
        "in order, and their ports send while they are still arriving.";
    k.set = [](Config& c, size_t, const Value& v) { c.nmu.injection_bandwidth = std::get<Rate>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.nmu.injection_bandwidth; };
  }

  {
    KeySpec& k = add("packet.packet_size", ValueType::size);
    k.fallback = "256 B";
    k.min = "1 B";
    k.max = "1 MiB";
    k.description = "Payload of a full packet; the last packet of a message carries the rest.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.packet_bytes = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.packet_bytes; };
  }
  {
    KeySpec& k = add("packet.flit_size", ValueType::size);
    k.fallback = "16 B";
    k.min = "1 B";
    k.max = "64 KiB";
    k.description =
        "What a flit carries of payload and header. A flit is what buffers, credits and arbitration count.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.flit_bytes = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.flit_bytes; };
  }
  {
    KeySpec& k = add("packet.phit_size", ValueType::size);
    k.fallback = "flit";
    k.min = "1 B";
    k.max = "64 KiB";
    k.zero_word = "flit";
    k.description = "What a link moves at once: a flit takes whole phits.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.phit_bytes = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.phit_bytes; };
  }
  {
    KeySpec& k = add("packet.header", ValueType::size);
    k.fallback = "0 B";
    k.min = "0 B";
    k.max = "64 KiB";
    k.description = "Header bytes of every packet, in its flits with the payload.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.header_bytes = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.header_bytes; };
  }
  {
    KeySpec& k = add("packet.header_efficiency", ValueType::number);
    k.fallback = "1";
    k.min = "0.01";
    k.max = "1";
    k.description =
        "Share of a link's bandwidth that is left for flits, where headers are not modelled byte by byte.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.header_efficiency = std::get<double>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.header_efficiency; };
  }
  {
    KeySpec& k = add("packet.cycle", ValueType::time);
    k.fallback = "auto";
    k.min = "1 ps";
    k.max = "1 ms";
    k.zero_word = "auto";
    k.description =
        "Clock period of routers: a port moves at most one flit a cycle. `auto`: the time of a flit on the "
        "fastest of the adjacent packet dimensions.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.cycle = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.cycle; };
  }
  {
    KeySpec& k = add("packet.vcs", ValueType::integer);
    k.fallback = "4";
    k.min = "1";
    k.max = "32";
    k.description =
        "Virtual channels per virtual network. Rings need two for their dateline classes, which share them "
        "equally.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.vcs = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.packet.vcs}; };
  }
  {
    KeySpec& k = add("packet.virtual_networks", ValueType::integer);
    k.fallback = "1";
    k.min = "1";
    k.max = "32";
    k.description = "Sets of VCs that never wait for each other. `vcs` x `virtual_networks` is at most 32.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.virtual_networks = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.packet.virtual_networks}; };
  }
  {
    KeySpec& k = add("packet.strict_priority", ValueType::boolean);
    k.fallback = "false";
    k.description =
        "`true`: the virtual network with the highest number goes first wherever several ask; `false`: they "
        "take turns.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.strict_priority = std::get<bool>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.strict_priority; };
  }
  {
    KeySpec& k = add("packet.collectives_network", ValueType::integer);
    k.fallback = "0";
    k.min = "0";
    k.max = "31";
    k.description = "Virtual network that messages of collectives take.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.collectives_network = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.packet.collectives_network}; };
  }
  {
    KeySpec& k = add("packet.point_to_point_network", ValueType::integer);
    k.fallback = "0";
    k.min = "0";
    k.max = "31";
    k.description = "Virtual network that point-to-point messages take.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.point_to_point_network = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.packet.point_to_point_network}; };
  }
  {
    KeySpec& k = add("packet.buffer_flits", ValueType::integer);
    k.fallback = "auto";
    k.min = "1";
    k.max = "16777216";
    k.zero_word = "auto";
    k.description =
        "Buffer of a VC at every input, in flits. `auto`: one VC alone covers the longest credit round trip.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.buffer_flits = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.packet.buffer_flits}; };
  }
  {
    KeySpec& k = add("packet.buffer", ValueType::size);
    k.optional = true;
    k.min = "1 B";
    k.max = "1 TiB";
    k.description = "The same in bytes, in whole flits (rounded down), instead of `buffer_flits`.";
  }
  {
    KeySpec& k = add("packet.route_cycles", ValueType::integer);
    k.fallback = "0";
    k.min = "0";
    k.max = "1000000";
    k.description = "Router stage: routing of a head; 0: done ahead by the router before.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.route_cycles = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.packet.route_cycles}; };
  }
  {
    KeySpec& k = add("packet.vc_alloc_cycles", ValueType::integer);
    k.fallback = "1";
    k.min = "0";
    k.max = "1000000";
    k.description = "Router stage: VC allocation of a head.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.vc_alloc_cycles = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.packet.vc_alloc_cycles}; };
  }
  {
    KeySpec& k = add("packet.switch_alloc_cycles", ValueType::integer);
    k.fallback = "1";
    k.min = "1";
    k.max = "1000000";
    k.description = "Router stage: switch allocation of a flit.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.switch_alloc_cycles = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.packet.switch_alloc_cycles}; };
  }
  {
    KeySpec& k = add("packet.traversal_cycles", ValueType::integer);
    k.fallback = "1";
    k.min = "0";
    k.max = "1000000";
    k.description = "Router stage: crossbar traversal of a flit.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.traversal_cycles = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.packet.traversal_cycles}; };
  }
  {
    KeySpec& k = add("packet.credit_cycles", ValueType::integer);
    k.fallback = "1";
    k.min = "0";
    k.max = "1000000";
    k.description = "From the arrival of a credit to its use.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.credit_cycles = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.packet.credit_cycles}; };
  }
  {
    KeySpec& k = add("packet.switching", ValueType::choice);
    k.fallback = "packet_held";
    k.choices = {{"packet_held", true, "a packet keeps its path through a crossbar while its flits come"},
                 {"flit_interleaved", true, "every flit is arbitrated anew"}};
    k.description = "What holds an output.";
    k.set = [](Config& c, size_t, const Value& v) {
      c.packet.switching = named<FlitSwitchingKind>(std::get<std::string>(v), to_string, 2);
    };
    k.get = [](const Config& c, size_t) -> Value { return std::string(to_string(c.packet.switching)); };
  }
  {
    KeySpec& k = add("packet.strict_cut_through", ValueType::boolean);
    k.fallback = "false";
    k.description = "`true`: a head moves only with credit for its whole packet.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.strict_cut_through = std::get<bool>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.strict_cut_through; };
  }
  {
    KeySpec& k = add("packet.release_on_credit", ValueType::boolean);
    k.fallback = "false";
    k.description = "`true`: an output VC is free again only when all its credits are back.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.release_on_credit = std::get<bool>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.release_on_credit; };
  }
  {
    KeySpec& k = add("packet.quantum", ValueType::integer);
    k.fallback = "unlimited";
    k.min = "1";
    k.max = "16777216";
    k.zero_word = "unlimited";
    k.description = "Longest burst of flits before an output is arbitrated again.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.quantum = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.packet.quantum}; };
  }
  {
    KeySpec& k = add("packet.allocator_iterations", ValueType::integer);
    k.fallback = "1";
    k.min = "1";
    k.max = "16";
    k.description = "Iterations of the switch allocator.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.allocator_iterations = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.packet.allocator_iterations}; };
  }
  {
    KeySpec& k = add("packet.switch_allocator", ValueType::choice);
    k.fallback = "islip";
    k.choices = {{"islip", true, "round-robin pointers that move on when a grant is taken"},
                 {"round_robin", true, "separable, input first"}};
    k.description = "Who crosses the crossbar.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.switch_allocator = std::get<std::string>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.switch_allocator; };
  }
  {
    KeySpec& k = add("packet.vc_allocator", ValueType::choice);
    k.fallback = "islip";
    k.choices = {{"islip", true, "round-robin pointers that move on when a grant is taken"}};
    k.description = "Who gets an output VC.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.vc_allocator = std::get<std::string>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.vc_allocator; };
  }
  {
    KeySpec& k = add("packet.routing", ValueType::choice);
    k.fallback = "auto";
    k.choices = {
        {"auto", true, "dimension_order; a graph: its own `topology.routing`"},
        {"dimension_order", true, "the dimensions in order, the shorter way round a ring"},
        {"minimal_adaptive", true, "any shortest way, by credits, with escape VCs; no Switch dimensions"},
        {"shortest_path", true, "fewest hops"},
        {"up_down", true, "up a spanning tree, then down: no deadlock on any topology"}};
    k.description = "How packets find their way.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.routing = std::get<std::string>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.routing; };
  }
  {
    KeySpec& k = add("packet.selection", ValueType::choice);
    k.fallback = "auto";
    k.choices = {
        {"auto", true,
         "most_credits for adaptive routing, hash where a graph or a tree has several ways, else first"},
        {"first", true, "the first, in a fixed order"},
        {"random", true, "at random"},
        {"hash", true, "by source and destination"},
        {"spray", true, "in turn"},
        {"most_credits", true, "where most credits are"}};
    k.description = "Which of several equal routes a packet takes.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.selection = std::get<std::string>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.selection; };
  }
  {
    KeySpec& k = add("packet.vc_classes", ValueType::choice);
    k.fallback = "dateline";
    k.choices = {{"dateline", true, "two classes of VCs, chosen on entering the ring"},
                 {"switched_dateline", true, "two classes, changed at the dateline"},
                 {"bubble", true,
                  "one class; a packet enters a ring only if room for another stays free (needs "
                  "`strict_cut_through` and buffers of two packets)"},
                 {"none", true, "nothing: to study deadlock"}};
    k.description = "What keeps rings free of deadlock.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.vc_classes = std::get<std::string>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.vc_classes; };
  }
  {
    KeySpec& k = add("packet.forwarding", ValueType::choice);
    k.fallback = "hardware";
    k.choices = {{"hardware", true, "routers, packet by packet"},
                 {"software", true,
                  "the NMU of every NPU on the way: it receives the whole message and sends it again after "
                  "`nmu.endpoint_delay`"}};
    k.description = "Who passes on what is for another NPU.";
    k.set = [](Config& c, size_t, const Value& v) {
      c.packet.forwarding = named<PacketForwarding>(std::get<std::string>(v), to_string, 2);
    };
    k.get = [](const Config& c, size_t) -> Value { return std::string(to_string(c.packet.forwarding)); };
  }
  {
    KeySpec& k = add("packet.flow_control", ValueType::choice);
    k.fallback = "credits";
    k.choices = {
        {"credits", true, "a flit goes when there is room for it"},
        {"pfc", true,
         "priority flow control: a receiver whose buffers fill up pauses the virtual network, and no "
         "packet of it begins"}};
    k.description = "How links keep buffers from running over, where a dimension does not say.";
    k.set = [](Config& c, size_t, const Value& v) {
      c.packet.flow_control = named<FlowControl>(std::get<std::string>(v), to_string, 2);
    };
    k.get = [](const Config& c, size_t) -> Value { return std::string(to_string(c.packet.flow_control)); };
  }
  {
    KeySpec& k = add("packet.pfc_networks", ValueType::dimensions);
    k.optional = true;
    k.description =
        "With priority flow control: the virtual networks (priorities) that are paused; the others go by "
        "credits. Absent: all.";
    k.set = [](Config& c, size_t, const Value& v) {
      c.packet.pfc_networks.clear();
      for (const std::string& n : std::get<std::vector<std::string>>(v))
        c.packet.pfc_networks.push_back(static_cast<uint32_t>(std::stoul(n)));
    };
    k.get = [](const Config& c, size_t) -> Value {
      std::vector<std::string> numbers;
      for (const uint32_t n : c.packet.pfc_networks) numbers.push_back(std::to_string(n));
      return numbers;
    };
  }
  {
    KeySpec& k = add("packet.pfc_xoff", ValueType::integer);
    k.fallback = "auto";
    k.min = "1";
    k.max = "16777216";
    k.zero_word = "auto";
    k.description =
        "Flits of a virtual network in the buffers of an input, all its VCs together, at which the sender is "
        "paused. `auto`: a VC's buffer less the headroom for what can still come.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.pfc_xoff = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.packet.pfc_xoff}; };
  }
  {
    KeySpec& k = add("packet.pfc_xon", ValueType::integer);
    k.fallback = "auto";
    k.min = "1";
    k.max = "16777215";
    k.zero_word = "auto";
    k.description = ".. and at which it resumes, below `pfc_xoff`. `auto`: a packet below, or half.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.pfc_xon = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.packet.pfc_xon}; };
  }
  {
    KeySpec& k = add("packet.pfc_delay", ValueType::time);
    k.fallback = "0 ps";
    k.min = "0 ps";
    k.max = "1 ms";
    k.description =
        "Of a pause or resume, besides the time of a credit: it waits for the end of a frame on the way "
        "back, "
        "and is processed.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.pfc_delay = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.pfc_delay; };
  }
  {
    KeySpec& k = add("packet.injection", ValueType::choice);
    k.fallback = "normal";
    k.choices = {{"normal", true, "one after the other"},
                 {"aggressive", true, "all at once: they take turns, packet by packet"}};
    k.description =
        "How the messages that wait for one link are injected (each virtual network by itself). With "
        "`aggressive` "
        "the one whose last turn is longest ago sends its next packet; one that comes is behind all others, "
        "but "
        "before the one whose packet begins in that very cycle. No packet trains.";
    k.set = [](Config& c, size_t, const Value& v) {
      c.packet.injection = named<PacketInjection>(std::get<std::string>(v), to_string, 2);
    };
    k.get = [](const Config& c, size_t) -> Value { return std::string(to_string(c.packet.injection)); };
  }
  {
    KeySpec& k = add("packet.ecn.enabled", ValueType::boolean);
    k.fallback = "false";
    k.description =
        "`true`: a packet that starts on an output of a router whose queue is long is marked (explicit "
        "congestion notification, RFC 3168). The queue: bytes in the flits that wait in the router for this "
        "output, in the same virtual network. There are no packet trains then.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.ecn.enabled = std::get<bool>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.ecn.enabled; };
  }
  {
    KeySpec& k = add("packet.ecn.k_min", ValueType::size);
    k.fallback = "5 kB";
    k.min = "0 B";
    k.max = "1 TiB";
    k.description =
        "Queue up to which no packet is marked. Default: DCQCN (Zhu et al., \"Congestion Control for "
        "Large-Scale RDMA Deployments\", SIGCOMM 2015), for 40 Gb/s.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.ecn.k_min = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.ecn.k_min; };
  }
  {
    KeySpec& k = add("packet.ecn.k_max", ValueType::size);
    k.fallback = "200 kB";
    k.min = "0 B";
    k.max = "1 TiB";
    k.description =
        "Queue above which every packet is marked; from `k_min` to here the chance rises in a straight line "
        "from 0 to `p_max`. Default: as `k_min`.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.ecn.k_max = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.ecn.k_max; };
  }
  {
    KeySpec& k = add("packet.ecn.p_max", ValueType::number);
    k.fallback = "0.01";
    k.min = "0";
    k.max = "1";
    k.description = "Chance that a packet is marked at a queue of `k_max`. Default: as `k_min`.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.ecn.p_max = std::get<double>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.ecn.p_max; };
  }
  {
    KeySpec& k = add("packet.dcqcn.enabled", ValueType::boolean);
    k.fallback = "false";
    k.description =
        "`true`: the receiver of marked packets notifies the sender, which slows that flow down (DCQCN, Zhu "
        "et al., \"Congestion Control for Large-Scale RDMA Deployments\", SIGCOMM 2015). Needs "
        "`packet.ecn.enabled`. A flow is what one interface sends to one NPU.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.dcqcn.enabled = std::get<bool>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.dcqcn.enabled; };
  }
  {
    KeySpec& k = add("packet.dcqcn.cnp_interval", ValueType::time);
    k.fallback = "50 us";
    k.min = "1 ps";
    k.max = "1 s";
    k.description =
        "A receiver notifies a sender (by a CNP, a congestion notification packet) at most once in this "
        "time. Default: the paper.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.dcqcn.cnp_interval = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.dcqcn.cnp_interval; };
  }
  {
    KeySpec& k = add("packet.dcqcn.alpha_timer", ValueType::time);
    k.fallback = "55 us";
    k.min = "1 ns";
    k.max = "1 s";
    k.description =
        "A flow without a notification for this long lowers its estimate of the congestion, alpha, to (1 - "
        "g) alpha, and again after every further one. Default: the paper.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.dcqcn.alpha_timer = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.dcqcn.alpha_timer; };
  }
  {
    KeySpec& k = add("packet.dcqcn.rate_timer", ValueType::time);
    k.fallback = "55 us";
    k.min = "1 ns";
    k.max = "1 s";
    k.description = "A flow that has been slowed down raises its rate once in this time. Default: the paper.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.dcqcn.rate_timer = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.dcqcn.rate_timer; };
  }
  {
    KeySpec& k = add("packet.dcqcn.byte_counter", ValueType::size);
    k.fallback = "10 MB";
    k.min = "1 B";
    k.max = "1 TiB";
    k.description = ".. and once for every so many bytes on the wire. Default: the paper.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.dcqcn.byte_counter = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.dcqcn.byte_counter; };
  }
  {
    KeySpec& k = add("packet.dcqcn.fast_recovery", ValueType::integer);
    k.fallback = "5";
    k.min = "0";
    k.max = "1000000";
    k.description =
        "Increases by the timer, and by the byte counter, that only halve the distance to the rate before "
        "the notification; then additive increase, and hyper increase when both have had so many. Default: "
        "the paper.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.dcqcn.fast_recovery = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.packet.dcqcn.fast_recovery}; };
  }
  {
    KeySpec& k = add("packet.dcqcn.g", ValueType::number);
    k.fallback = "0.00390625";
    k.min = "0.000001";
    k.max = "1";
    k.description = "Weight of a notification in alpha. Default: 1/256, the paper.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.dcqcn.g = std::get<double>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.dcqcn.g; };
  }
  {
    KeySpec& k = add("packet.dcqcn.rate_ai", ValueType::bandwidth);
    k.fallback = "40 Mb/s";
    k.min = "1 kb/s";
    k.max = "1000 PB/s";
    k.description = "What additive increase adds to the target rate. Default: the paper, for 40 Gb/s.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.dcqcn.rate_ai = std::get<Rate>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.dcqcn.rate_ai; };
  }
  {
    KeySpec& k = add("packet.dcqcn.rate_hai", ValueType::bandwidth);
    k.fallback = "400 Mb/s";
    k.min = "1 kb/s";
    k.max = "1000 PB/s";
    k.description =
        "What hyper increase adds. Default: ten times `rate_ai`, as in IEEE 802.1Qau (50 and 5 Mb/s), since "
        "the paper does not say.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.dcqcn.rate_hai = std::get<Rate>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.dcqcn.rate_hai; };
  }
  {
    KeySpec& k = add("packet.dcqcn.min_rate", ValueType::bandwidth);
    k.fallback = "5 Mb/s";
    k.min = "1 kb/s";
    k.max = "1000 PB/s";
    k.description = "No flow is made slower. Default: IEEE 802.1Qau (ieee8021CnRpgMinRate).";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.dcqcn.min_rate = std::get<Rate>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.dcqcn.min_rate; };
  }

  {
    KeySpec& k = add("collectives.chunks", ValueType::integer);
    k.fallback = "4";
    k.min = "1";
    k.max = "65535";
    k.description = "Chunks a collective's data is split into: the unit of pipelining over dimensions.";
    k.set = [](Config& c, size_t, const Value& v) { c.collectives.chunks = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.collectives.chunks}; };
  }
  {
    KeySpec& k = add("collectives.active_chunks_per_dimension", ValueType::integer);
    k.fallback = "1";
    k.min = "1";
    k.max = "1048576";
    k.description = "Chunks of a collective that run at once in one dimension; they share its links.";
    k.set = [](Config& c, size_t, const Value& v) { c.collectives.active_chunks_per_dimension = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value {
      return uint64_t{c.collectives.active_chunks_per_dimension};
    };
  }
  {
    KeySpec& k = add("collectives.queues_per_dimension", ValueType::integer);
    k.fallback = "1";
    k.min = "1";
    k.max = "64";
    k.description =
        "Scheduling queues of a dimension. On a ring each is a ring of one direction, so 1 uses one "
        "direction and 2 use both.";
    k.set = [](Config& c, size_t, const Value& v) { c.collectives.queues_per_dimension = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.collectives.queues_per_dimension}; };
  }
  {
    KeySpec& k = add("collectives.direct_window", ValueType::integer);
    k.fallback = "unlimited";
    k.min = "1";
    k.max = std::to_string(kMaxNpus);
    k.zero_word = "unlimited";
    k.description = "Messages of one round of the direct algorithm that an NPU has in flight.";
    k.set = [](Config& c, size_t, const Value& v) { c.collectives.direct_window = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.collectives.direct_window}; };
  }
  {
    KeySpec& k = add("collectives.order", ValueType::choice);
    k.fallback = to_string(CollectiveOrder::local_bw_aware);
    k.choices = {
        {to_string(CollectiveOrder::baseline), true,
         "an all-reduce of the full size in every dimension in turn"},
        {to_string(CollectiveOrder::local_bw_aware), true,
         "reduce-scatter inwards to outwards, all-reduce on the last dimension, all-gather back"},
        {to_string(CollectiveOrder::round_robin), true,
         "as local_bw_aware, chunk c beginning with dimension c"},
        {to_string(CollectiveOrder::themis), true,
         "greedy, per chunk: the least loaded dimension takes the largest part (all-reduce, reduce-scatter, "
         "all-gather)"},
        {to_string(CollectiveOrder::themis_flex), true,
         "as themis, the all-gathers of an all-reduce in a greedy order of their own instead of the "
         "reduce-scatters' backwards (chunks that divide evenly over the members)"}};
    k.description = "Order of a collective's phases over the dimensions.";
    k.set = [](Config& c, size_t, const Value& v) {
      c.collectives.order = named<CollectiveOrder>(std::get<std::string>(v), to_string, kCollectiveOrders);
    };
    k.get = [](const Config& c, size_t) -> Value { return std::string(to_string(c.collectives.order)); };
  }
  {
    KeySpec& k = add("collectives.scheduling", ValueType::choice);
    k.fallback = to_string(CollectiveScheduling::lifo);
    k.choices = {{to_string(CollectiveScheduling::lifo), true, "the newest collective first"},
                 {to_string(CollectiveScheduling::fifo), true, "the oldest collective first"},
                 {to_string(CollectiveScheduling::priority), true, "by the trace's priority"}};
    k.description = "Which of several waiting collectives runs first.";
    k.set = [](Config& c, size_t, const Value& v) {
      c.collectives.scheduling = named<CollectiveScheduling>(std::get<std::string>(v), to_string, 3);
    };
    k.get = [](const Config& c, size_t) -> Value { return std::string(to_string(c.collectives.scheduling)); };
  }
  {
    KeySpec& k = add("collectives.dimension_scheduling", ValueType::choice);
    k.fallback = to_string(DimensionScheduling::fifo);
    k.choices = {{to_string(DimensionScheduling::fifo), true, "in the order of arrival"},
                 {to_string(DimensionScheduling::rg), true, "reduce-scatter and all-gather in turn"},
                 {to_string(DimensionScheduling::smallest_first), true, "the shortest phase first"},
                 {to_string(DimensionScheduling::less_remaining_phase_first), true,
                  "the chunk with the fewest phases to go first"}};
    k.description = "Which of the chunks that wait for a dimension runs first (within one collective).";
    k.set = [](Config& c, size_t, const Value& v) {
      c.collectives.dimension_scheduling = named<DimensionScheduling>(std::get<std::string>(v), to_string, 4);
    };
    k.get = [](const Config& c, size_t) -> Value {
      return std::string(to_string(c.collectives.dimension_scheduling));
    };
  }
  {
    KeySpec& k = add("collectives.dispatch_threshold", ValueType::integer);
    k.fallback = "unlimited";
    k.min = "1";
    k.max = "65535";
    k.zero_word = "unlimited";
    k.description =
        "The dispatcher's T: while fewer chunks than this are in their first phase, waiting collectives "
        "issue new ones.";
    k.set = [](Config& c, size_t, const Value& v) { c.collectives.dispatch_threshold = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.collectives.dispatch_threshold}; };
  }
  {
    KeySpec& k = add("collectives.dispatch_batch", ValueType::integer);
    k.fallback = "1";
    k.min = "1";
    k.max = "65535";
    k.description = "The dispatcher's P: chunks issued at once.";
    k.set = [](Config& c, size_t, const Value& v) { c.collectives.dispatch_batch = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.collectives.dispatch_batch}; };
  }
  {
    KeySpec& k = add("collectives.reduction", ValueType::reduction);
    k.fallback = "none";
    k.min = kMinBandwidth;
    k.max = kMaxBandwidth;
    k.description =
        "Cost of reducing a received block (2 reads, 1 write): `none`; `{bandwidth: X}`, a delay of "
        "3 x bytes / X; `hbm`, real accesses that contend in the HBM.";
    k.set = [](Config& c, size_t, const Value& v) {
      const auto& r = std::get<ReductionSetting>(v);
      c.collectives.reduction = r.kind;
      c.collectives.reduction_bandwidth = r.bandwidth;
    };
    k.get = [](const Config& c, size_t) -> Value {
      return ReductionSetting{c.collectives.reduction, c.collectives.reduction_bandwidth};
    };
  }
  for (int op = 0; op < kCollectiveOps; ++op) {
    const std::string name = to_string(static_cast<CollectiveOp>(op));
    KeySpec& k = add(("collectives." + name).c_str(), ValueType::algorithms);
    k.fallback = kDefaultAlgorithm;
    k.index = static_cast<size_t>(op);
    std::string words = name;
    std::replace(words.begin(), words.end(), '_', '-');
    k.description =
        "Algorithm of " + words +
        ": a list with one name a dimension, or one name for all. `custom` and the `one_` algorithms run the "
        "whole operation and are named for all dimensions.";
    k.set = [](Config& c, size_t i, const Value& v) {
      c.collectives.algorithms[i] = std::get<std::vector<std::string>>(v);
    };
    k.get = [](const Config& c, size_t i) -> Value { return c.collectives.algorithms[i]; };
  }
  {
    KeySpec& k = add("collectives.rules[].group", ValueType::text);
    k.optional = true;
    k.min = "1";  // characters
    k.description = "Only collectives of this communicator group; `0` is the group of all ranks.";
  }
  {
    KeySpec& k = add("collectives.rules[].name", ValueType::text);
    k.optional = true;
    k.min = "1";  // characters
    k.description =
        "Only collectives whose trace nodes have such a name: `*` stands for any text, `?` for one "
        "character. "
        "The nodes of all members must match the same rule.";
  }
  {
    KeySpec& k = add("collectives.rules[].operation", ValueType::choice);
    k.optional = true;
    for (int op = 0; op < kCollectiveOps; ++op)
      k.choices.push_back({to_string(static_cast<CollectiveOp>(op)), true, ""});
    k.description = "Only this operation.";
  }
  {
    KeySpec& k = add("collectives.rules[].algorithms", ValueType::algorithms);
    k.optional = true;
    k.description =
        "Their algorithms, as for `collectives.all_reduce`: a list with one name a dimension, or one name "
        "for "
        "all.";
  }
  {
    KeySpec& k = add("collectives.rules[].order", ValueType::choice);
    k.optional = true;
    for (int order = 0; order < kCollectiveOrders; ++order)
      k.choices.push_back({to_string(static_cast<CollectiveOrder>(order)), true, ""});
    k.description = "Their order of phases, as `collectives.order`.";
  }
  {
    KeySpec& k = add("collectives.rules[].chunks", ValueType::integer);
    k.optional = true;
    k.min = "1";
    k.max = "65535";
    k.description = "Their chunks, as `collectives.chunks`.";
  }
  {
    KeySpec& k = add("collectives.rules[].priority", ValueType::integer);
    k.optional = true;
    k.min = "0";
    k.max = "2147483647";
    k.description = "Their priority in place of the trace's; for `scheduling: priority`.";
  }

  {
    KeySpec& k = add("workload.trace", ValueType::path);
    k.fallback = "\"\"";
    k.description =
        "Prefix of the Chakra execution traces: rank r reads `<prefix>.<r>.et`. Relative to the folder of "
        "the configuration file. Empty: no trace.";
    k.set = [](Config& c, size_t, const Value& v) { c.workload.trace = std::get<std::string>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.workload.trace; };
  }
  {
    KeySpec& k = add("workload.groups", ValueType::path);
    k.fallback = "\"\"";
    k.description =
        "JSON file of the communicator groups, `{\"name\": [rank, ..], ..}`. Relative to the folder of the "
        "configuration file. Empty: none.";
    k.set = [](Config& c, size_t, const Value& v) { c.workload.groups = std::get<std::string>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.workload.groups; };
  }
  {
    KeySpec& k = add("workload.strict", ValueType::boolean);
    k.fallback = "false";
    k.description =
        "`true`: a dependency on a node that the trace does not hold is an error; `false`: it counts as "
        "met, with a warning.";
    k.set = [](Config& c, size_t, const Value& v) { c.workload.strict = std::get<bool>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.workload.strict; };
  }

  {
    KeySpec& k = add("run.seed", ValueType::integer);
    k.fallback = "1";
    k.min = "0";
    k.description = "Of every random number of the run.";
    k.set = [](Config& c, size_t, const Value& v) { c.run.seed = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.run.seed; };
  }
  {
    KeySpec& k = add("run.data", ValueType::choice);
    k.fallback = "none";
    k.choices = {{"none", true, "messages carry sizes only"},
                 {"functional", true,
                  "collectives carry real elements; every result is checked against its definition"}};
    k.description = "What messages carry.";
    k.set = [](Config& c, size_t, const Value& v) { c.run.data = std::get<std::string>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.run.data; };
  }
  {
    KeySpec& k = add("run.element", ValueType::choice);
    k.fallback = "fp32";
    k.choices = {{"fp32", true, "32-bit floating point"},
                 {"bf16", true, "bfloat16, accumulated in fp32"},
                 {"int32", true, "32-bit integers; sums wrap"}};
    k.description =
        "Type of the elements that `run.data: functional` carries. The bytes of every collective must be a "
        "multiple of its size.";
    k.set = [](Config& c, size_t, const Value& v) { c.run.element = std::get<std::string>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.run.element; };
  }
  {
    KeySpec& k = add("run.reduce", ValueType::choice);
    k.fallback = "sum";
    k.choices = {{"sum", true, "add"}, {"max", true, "the largest"}, {"min", true, "the smallest"}};
    k.description = "How `run.data: functional` combines elements in reductions.";
    k.set = [](Config& c, size_t, const Value& v) { c.run.reduce = std::get<std::string>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.run.reduce; };
  }

  {
    KeySpec& k = add("output.dir", ValueType::text);
    k.fallback = "out";
    k.min = "1";  // characters
    k.description = "Folder of the results, relative to the working directory.";
    k.set = [](Config& c, size_t, const Value& v) { c.output.dir = std::get<std::string>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.output.dir; };
  }
  {
    KeySpec& k = add("output.waves", ValueType::text);
    k.fallback = "\"\"";
    k.description = "Glob of the signals to record as a waveform. Empty: none.";
    k.set = [](Config& c, size_t, const Value& v) { c.output.waves = std::get<std::string>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.output.waves; };
  }
  return t;
}

template <typename T>
bool less(const T& a, const T& b) {
  return a < b;
}

bool less(const Rate& a, const Rate& b) {
  return static_cast<Wide>(a.bytes_per_second) * b.divisor <
         static_cast<Wide>(b.bytes_per_second) * a.divisor;
}

/// The scalar by type, without range and choices. Strings pass as they are.
Value parse_plain(ValueType type, const std::string& text) {
  switch (type) {
    case ValueType::integer:
      return parse_integer(text);
    case ValueType::number:
      return parse_number(text);
    case ValueType::size:
      return parse_size(text);
    case ValueType::time:
      return parse_time(text);
    case ValueType::bandwidth:
    case ValueType::reduction:
      return parse_bandwidth(text);
    case ValueType::bandwidth_value:
      return parse_bandwidth_value(text);
    case ValueType::compute:
      return parse_compute(text);
    default:
      return text;
  }
}

/// 0 inside, -1 below the minimum, 1 above the maximum.
int range(const KeySpec& key, const Value& value) {
  return std::visit(
      [&](const auto& v) -> int {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, uint64_t> || std::is_same_v<T, double> || std::is_same_v<T, Rate>) {
          if (!key.min.empty() && less(v, std::get<T>(parse_plain(key.type, key.min)))) return -1;
          if (!key.max.empty() && less(std::get<T>(parse_plain(key.type, key.max)), v)) return 1;
        }
        return 0;
      },
      value);
}

bool is_zero(const Value& value) {
  if (const auto* i = std::get_if<uint64_t>(&value)) return *i == 0;
  if (const auto* d = std::get_if<double>(&value)) return *d == 0;
  if (const auto* r = std::get_if<Rate>(&value)) return r->bytes_per_second == 0;
  return false;
}

/// Text as a YAML scalar: plain where that is safe, else in double quotes.
std::string quoted(const std::string& text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '/' || c == '.' || c == '-' || c == '(' || c == ')';
  };
  static const char* const reserved[] = {"null", "true", "false", "yes", "no", "on", "off", "."};
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '/' || c == '.';
  };
  bool safe = !text.empty() && letter(text.front()) && std::all_of(text.begin(), text.end(), plain);
  for (const char* word : reserved)
    if (text == word) safe = false;
  if (safe) return text;
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace

const std::vector<KeySpec>& keys() {
  static const std::vector<KeySpec> table = make_keys();
  return table;
}

const std::vector<SectionSpec>& sections() {
  static const std::vector<SectionSpec> table = {
      {"topology", false, "The machine's NPUs and how they are joined."},
      {"topology.dimensions[]", false,
       "A list of mappings, one a dimension of the notation in the same order, or one for all dimensions."},
      {"topology.dimensions[].collective_unit", false,
       "What the switches of a Switch dimension do collectives with: the algorithm `in_switch` (other "
       "dimensions and algorithms ignore it)."},
      {"topology.dimensions[].levels[]", true,
       "A list of mappings: the links between the switches of a tree that is a dimension among others, from "
       "the leaf switches up to the roots, one a level or one for all. Absent: like the NPUs' links, which "
       "the "
       "dimension's own keys describe. In the one entry for all dimensions it is for those that are trees."},
      {"topology.fidelity_rules[]", true,
       "A list of mappings: another fidelity for some messages. The first rule all of whose conditions hold "
       "is for a collective, or a point-to-point message, when it starts; one that is for none is warned of. "
       "Links of one dimension at two fidelities are models of their own: messages at one do not wait for "
       "those at the other. Not for graphs."},
      {"topology.graph", true,
       "The machine as an explicit graph, instead of `notation` and `dimensions`: NPUs and switches are "
       "nodes, any of which may be joined. Nodes are named `npu3`; a range is `npu0..npu3`, a list "
       "`[npu0, sw1]`. Collectives plan on `topology.logical`."},
      {"topology.graph.links[]", true, "A list of mappings, one a link or a group of like links."},
      {"topology.routes[]", true,
       "The next hops of `routing: table`: a list of mappings. Every node that a message comes to needs one "
       "for its destination."},
      {"npu", false, "The computing part of every NPU."},
      {"hbm", false, "The memory of every NPU."},
      {"remote_memory", true,
       "A memory that every NPU reaches over a link of its own. Absent: remote accesses in a trace are "
       "errors."},
      {"nmu", false, "The network messaging unit of every NPU."},
      {"packet", false,
       "What dimensions at `packet` fidelity have in common: packets, flits, virtual channels, credits, "
       "routers."},
      {"packet.ecn", false, "Marks that routers put on packets where queues are long."},
      {"packet.dcqcn", false, "Rates of senders whose packets are marked."},
      {"collectives", false, "How collectives become chunks, phases and messages."},
      {"collectives.rules[]", true,
       "A list of mappings: settings of some collectives in place of those above. The first rule that "
       "matches a "
       "collective holds; one that none matches is warned of. In a trace a node's string attribute "
       "`algorithm` "
       "(one name, or one a dimension between commas) comes before the rules' and all other algorithms."},
      {"workload", false, "What the machine runs."},
      {"run", false, "How it is run."},
      {"output", false, "What is written where."},
  };
  return table;
}

const std::vector<UnavailableKey>& unavailable_keys() {
  static const std::vector<UnavailableKey> table;
  return table;
}

const KeySpec* find_key(std::string_view path) {
  static const std::map<std::string, const KeySpec*, std::less<>> by_path = [] {
    std::map<std::string, const KeySpec*, std::less<>> m;
    for (const KeySpec& key : keys()) m.emplace(key.path, &key);
    return m;
  }();
  const auto it = by_path.find(path);
  return it == by_path.end() ? nullptr : it->second;
}

const SectionSpec* find_section(std::string_view path) {
  for (const SectionSpec& section : sections())
    if (section.path == path) return &section;
  return nullptr;
}

std::vector<std::string> available_algorithms() {
  std::vector<std::string> names = {kDefaultAlgorithm};
  for (const AlgorithmInfo& info : algorithm_table())
    if (info.available)
      names.push_back(info.argument == nullptr ? std::string(info.name)
                                               : std::string(info.name) + ":" + info.argument);
  return names;
}

std::string allowed_values(const KeySpec& key) {
  const auto bounds = [&key](const std::string& what) {
    std::string out = what;
    if (!key.min.empty() && !key.max.empty())
      out += key.min == key.max ? fmt::format(": {}", key.min)
                                : fmt::format(", from {} to {}", key.min, key.max);
    else if (!key.min.empty())
      out += fmt::format(", from {}", key.min);
    if (!key.zero_word.empty()) out += fmt::format(", or `{}`", key.zero_word);
    return out;
  };
  const auto unit = [](UnitKind kind) { return fmt::format("{}", fmt::join(unit_names(kind), ", ")); };
  switch (key.type) {
    case ValueType::integer:
      return bounds("a whole number");
    case ValueType::number:
      return bounds("a number");
    case ValueType::boolean:
      return "`true` or `false`";
    case ValueType::text:
      return key.min.empty() ? "a text" : "a text that is not empty";
    case ValueType::path:
      return "a path";
    case ValueType::choice: {
      std::vector<std::string> names;
      for (const Choice& c : key.choices)
        if (c.available) names.push_back("`" + c.name + "`");
      return fmt::format("{}", fmt::join(names, ", "));
    }
    case ValueType::size:
      return bounds("a size with a unit (" + unit(UnitKind::size) + ")");
    case ValueType::time:
      return bounds("a time with a unit (" + unit(UnitKind::time) + ")");
    case ValueType::bandwidth:
    case ValueType::bandwidth_value:
      return bounds("a bandwidth with a unit (" + unit(UnitKind::bandwidth) + ")");
    case ValueType::compute:
      return bounds("a compute rate with a unit (" + unit(UnitKind::compute) + ")");
    case ValueType::notation:
      return "a notation such as `Ring(4)_FullyConnected(8)_Switch(4)`";
    case ValueType::algorithms:
      return fmt::format("one of `{}`, or a list of them with one a dimension",
                         fmt::join(available_algorithms(), "`, `"));
    case ValueType::nodes:
      return "a node (`npu3`), a range (`npu0..npu3`) or a list of them";
    case ValueType::switches:
      return fmt::format("a number up to {}, or a list of names", key.max);
    case ValueType::dimensions:
      return fmt::format("`all`, or a list of {}' numbers, such as `[0, 1]`",
                         key.path == "packet.pfc_networks" ? "virtual networks" : "dimensions");
    case ValueType::ranks:
      return "a list of numbers and ranges, such as `[0, 2, 4..7]`";
    case ValueType::reduction:
      return fmt::format("`none`, `hbm` or `{{bandwidth: X}}` with X from {} to {}", key.min, key.max);
  }
  return "";
}

Value parse_value(const KeySpec& key, const std::string& text) {
  if (!key.zero_word.empty() && text == key.zero_word && key.type == ValueType::bandwidth) return Rate{};
  if (!key.zero_word.empty() && text == key.zero_word)
    return key.type == ValueType::compute || key.type == ValueType::bandwidth_value ? Value(0.0)
                                                                                    : Value(uint64_t{0});
  const std::string shown = text.size() > 60 ? text.substr(0, 60) + "..." : text;
  switch (key.type) {
    case ValueType::boolean:
      if (text == "true" || text == "True" || text == "TRUE") return true;
      if (text == "false" || text == "False" || text == "FALSE") return false;
      fail(fmt::format("'{}' is neither true nor false; allowed: {}", shown, allowed_values(key)));
    case ValueType::choice: {
      std::vector<std::string> names;
      for (const Choice& c : key.choices) {
        if (c.name == text) {
          if (c.available) return text;
          fail(fmt::format("'{}' is not available in this version; allowed: {}", text, allowed_values(key)));
        }
        names.push_back(c.name);
      }
      const std::string near = nearest_name(text, names);
      fail(fmt::format("'{}' is unknown{}; allowed: {}", shown,
                       near.empty() ? "" : fmt::format(" (did you mean `{}`?)", near), allowed_values(key)));
    }
    case ValueType::text:
    case ValueType::path:
      if (text.find('\0') != std::string::npos) fail("the text holds a zero byte; remove it");
      if (!key.min.empty() && text.empty())
        fail(fmt::format("'' is empty; allowed: {}", allowed_values(key)));
      return text;
    case ValueType::notation:
      if (key.path == "topology.notation" && is_tree_notation(text))
        return print_tree_notation(parse_tree_notation(text));
      return print_notation(parse_notation(text));
    default:
      break;
  }
  const Value value = parse_plain(key.type, text);
  const int where = range(key, value);
  if (where != 0) {
    if (key.path == "weft")
      fail(fmt::format("'{}' is a version of the format that this program does not know; write `weft: {}`",
                       shown, kConfigVersion));
    const char* const what = is_zero(value) ? "is zero" : where < 0 ? "is too small" : "is too large";
    const std::string hint = is_zero(value) && !key.zero_word.empty()
                                 ? fmt::format(" (write `{}` if that is meant)", key.zero_word)
                                 : "";
    fail(fmt::format("'{}' {}{}; allowed: {}", shown, what, hint, allowed_values(key)));
  }
  return value;
}

std::string print_value(const KeySpec& key, const Value& value) {
  if (!key.zero_word.empty() && is_zero(value)) return key.zero_word;
  switch (key.type) {
    case ValueType::integer:
      return std::to_string(std::get<uint64_t>(value));
    case ValueType::number:
      return print_number(std::get<double>(value));
    case ValueType::boolean:
      return std::get<bool>(value) ? "true" : "false";
    case ValueType::size:
      return print_size(std::get<uint64_t>(value));
    case ValueType::time:
      return print_time(std::get<uint64_t>(value));
    case ValueType::bandwidth:
      return print_bandwidth(std::get<Rate>(value));
    case ValueType::bandwidth_value:
      return print_bandwidth_value(std::get<double>(value));
    case ValueType::compute:
      return print_compute(std::get<double>(value));
    case ValueType::algorithms: {
      const auto& names = std::get<std::vector<std::string>>(value);
      if (std::all_of(names.begin(), names.end(), [](const std::string& n) { return n.empty(); }))
        return kDefaultAlgorithm;
      std::string out;
      for (const std::string& n : names)
        out += (out.empty() ? "[" : ", ") + (n.empty() ? std::string(kDefaultAlgorithm) : quoted(n));
      return out + "]";
    }
    case ValueType::dimensions: {
      std::string out;
      for (const std::string& n : std::get<std::vector<std::string>>(value))
        out += (out.empty() ? "[" : ", ") + n;
      return out.empty() ? "all" : out + "]";
    }
    case ValueType::reduction: {
      const auto& r = std::get<ReductionSetting>(value);
      if (r.kind == ReductionKind::fixed_bandwidth)
        return "{bandwidth: " + print_bandwidth(r.bandwidth) + "}";
      return to_string(r.kind);
    }
    default:
      return quoted(std::get<std::string>(value));
  }
}

std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() > 64) return "";
  std::string best;
  size_t best_distance = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    std::vector<size_t> row(candidate.size() + 1);
    for (size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= word.size(); ++i) {
      size_t diagonal = row[0];
      row[0] = i;
      for (size_t j = 1; j < row.size(); ++j) {
        const size_t substitute = diagonal + (word[i - 1] == candidate[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

}  // namespace weft
