// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Keys of the machine: dimensions, graphs, trees, fidelity rules.

#include <string>

#include "configs/graph.h"
#include "configs/graph_routing.h"
#include "configs/keys/key_table.h"
#include "configs/notation.h"
#include "configs/tree.h"

namespace weft {

namespace {

/// The models of switches that need no plugin.
std::vector<Choice> switch_choices() {
  return {{kDefaultSwitchModel, true, "a non-blocking crossbar whose outputs are first come, first served"}};
}

}  // namespace

void add_topology_keys(KeyTable& table) {
  const auto add = [&table](const std::string& path, ValueType type) -> KeySpec& {
    return table.add(path, type);
  };

  {
    KeySpec& k = add("topology.notation", ValueType::notation);
    k.optional = true;
    k.description =
        "The hierarchical topology, innermost dimension first: `Ring(n)`, `FullyConnected(n)`, `Switch(n)`, "
        "`Mesh(n)` (short `R`, `FC`, `SW`, `M`) joined by `_`. For machines of packages `Local(n)`, "
        "`Horizontal(n)` and `Vertical(n)` are rings and `Global(n)` is a switch. `FatTree(k=4,n=3)`, the "
        "k-ary n-tree, and `Clos(hosts=8,leaves=4,spines=2)`, every leaf joined to every spine, are trees "
        "of switches. Among other dimensions every line of NPUs has such a tree in place of a switch, with "
        "`levels` in the dimension's entry; collectives see it as a Switch. Alone a tree is a graph: its "
        "routing is `ecmp`, collectives plan on `Switch(npus)`, and `dimensions` has one entry for all "
        "links or one for each level from the NPUs up (n; Clos: two). Either this or `graph` is required. "
        "At most " +
        std::to_string(kMaxNpus) + " NPUs and " + std::to_string(kMaxDimensions) + " dimensions.";
    // The dimensions' kinds and sizes are resolved by the loader, which also matches them with the entries.
    k.set = [](Config& c, size_t, const Value& v) { c.notation = std::get<std::string>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.notation; };
  }
  {
    KeySpec& k = add("topology.logical", ValueType::notation);
    k.optional = true;
    k.description =
        "Topology that collectives plan on, where it is not the physical one. It must have as many NPUs. "
        "Lists outside `topology` with one entry for each dimension then mean its dimensions. Default: the "
        "notation; for a graph `Ring(npus)`, for a tree `Switch(npus)`.";
    k.set = [](Config& c, size_t, const Value& v) { c.logical = std::get<std::string>(v); };
  }
  {
    KeySpec& k = add("topology.mapping", ValueType::ranks);
    k.optional = true;
    k.description =
        "Physical NPU of rank 0, 1, ..: every NPU once. Ranges run up or down: `[0..3, 7..4]`. Default: "
        "rank r is NPU r.";
  }
  {
    KeySpec& k = add("topology.routing", ValueType::choice);
    k.optional = true;
    for (const RoutingPolicy& policy : routing_policies())
      k.choices.push_back({policy.name, true, policy.description});
    k.description =
        "How messages find their way through a `graph` (default `shortest_path`) or a tree (default "
        "`ecmp`). Through a notation of dimensions they take the dimensions in order.";
  }
  {
    KeySpec& k = add("topology.routes_file", ValueType::path);
    k.optional = true;
    k.description =
        "YAML file with a list of routes, instead of `topology.routes`. The path is relative to the folder "
        "of the configuration file.";
  }
  {
    KeySpec& k = add("topology.graph.npus", ValueType::integer);
    k.required = true;
    k.min = "1";
    k.max = std::to_string(kMaxGraphNodes);
    k.description = "Number of NPUs: `npu0`, `npu1`, ..";
  }
  {
    KeySpec& k = add("topology.graph.switches", ValueType::switches);
    k.fallback = "0";
    k.max = std::to_string(kMaxGraphNodes);
    k.description = "Number of switches (`sw0`, `sw1`, ..), or a list of names and ranges of names.";
  }
  {
    KeySpec& k = add("topology.graph.fidelity", ValueType::choice);
    k.fallback = to_string(Fidelity::message);
    k.choices = {{to_string(Fidelity::analytical), true,
                  "latency of the way + bytes / its slowest link; only the ports of NPUs queue"},
                 {to_string(Fidelity::message), true, "one transfer over each link, with queueing"},
                 {to_string(Fidelity::packet), true, "packets, virtual channels and credits"}};
    k.description = "How a message crosses the graph.";
  }
  {
    KeySpec& k = add("topology.graph.switching", ValueType::choice);
    k.fallback = to_string(Switching::cut_through);
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
    KeySpec& k = add("topology.graph.implementation", ValueType::implementation);
    k.fallback = kDefaultSwitchModel;
    k.choices = switch_choices();
    k.description = "The model of the switches, at `message` fidelity.";
  }
  {
    KeySpec& k = add("topology.graph.links[].from", ValueType::nodes);
    k.required = true;
    k.description = "One end: a node, a range or a list of them.";
  }
  {
    KeySpec& k = add("topology.graph.links[].to", ValueType::nodes);
    k.required = true;
    k.description = "The other end: a node, a range or a list of them.";
  }
  {
    KeySpec& k = add("topology.graph.links[].pattern", ValueType::choice);
    k.fallback = "all";
    k.choices = {{"all", true, "every node of `from` with every node of `to`"},
                 {"one_to_one", true, "the first with the first, the second with the second, .."}};
    k.description =
        "Which nodes of two groups are joined. A group that is on both sides is joined pair by pair, each "
        "pair once.";
  }
  {
    KeySpec& k = add("topology.graph.links[].bandwidth", ValueType::bandwidth);
    k.required = true;
    k.min = kMinBandwidth;
    k.max = kMaxBandwidth;
    k.description = "Bandwidth of one of the `count` links, in each direction.";
  }
  {
    KeySpec& k = add("topology.graph.links[].latency", ValueType::time);
    k.fallback = "500 ns";
    k.min = "0 ns";
    k.max = "1 s";
    k.description = "Latency of the link.";
  }
  {
    KeySpec& k = add("topology.graph.links[].count", ValueType::integer);
    k.fallback = "1";
    k.min = "1";
    k.max = "1024";
    k.description =
        "Parallel links that work as one. They multiply `bandwidth`. Two entries that join the same nodes "
        "are two links instead, and only `ecmp` uses both.";
  }
  {
    KeySpec& k = add("topology.graph.links[].bidirectional", ValueType::boolean);
    k.fallback = "true";
    k.description = "`false`: the link leads only from `from` to `to`.";
  }
  {
    KeySpec& k = add("topology.graph.links[].credit_latency", ValueType::time);
    k.fallback = "auto";
    k.min = "1 ps";
    k.max = "1 s";
    k.zero_word = "auto";
    k.description =
        "Latency of a credit on its way back, at `packet` fidelity (of a one-way link, too). `auto`: as "
        "`latency`.";
  }
  {
    KeySpec& k = add("topology.graph.links[].flit_error_rate", ValueType::number);
    k.fallback = "0";
    k.min = "0";
    k.max = "0.5";
    k.description =
        "Chance that a flit is damaged on this link, at `packet` fidelity. The link then sends its burst "
        "again (link-level retry).";
  }
  {
    KeySpec& k = add("topology.graph.links[].replay", ValueType::time);
    k.fallback = "auto";
    k.min = "1 ps";
    k.max = "1 s";
    k.zero_word = "auto";
    k.description = "Time that a repetition costs. `auto`: a round trip of the link.";
  }
  {
    KeySpec& k = add("topology.routes[].at", ValueType::nodes);
    k.required = true;
    k.description = "Nodes that the route applies to.";
  }
  {
    KeySpec& k = add("topology.routes[].to", ValueType::nodes);
    k.optional = true;
    k.description = "Destinations (NPUs). Absent: all that no other route of these nodes names.";
  }
  {
    KeySpec& k = add("topology.routes[].via", ValueType::nodes);
    k.required = true;
    k.description = "Next node. Each node of `at` has a link to it.";
  }
  {
    KeySpec& k = add("topology.dimensions[].bandwidth", ValueType::bandwidth);
    k.optional = true;
    k.min = kMinBandwidth;
    k.max = kMaxBandwidth;
    k.description =
        "Bandwidth of a link in each direction. Ring and Mesh: a neighbour link; FullyConnected: a pair "
        "link; Switch: the NPU's port. Either this or `bandwidth_per_npu` is required.";
    k.set = [](Config& c, size_t i, const Value& v) { c.dimensions[i].bandwidth = std::get<Rate>(v); };
    k.get = [](const Config& c, size_t i) -> Value { return c.fabric_dimensions()[i].bandwidth; };
  }
  {
    KeySpec& k = add("topology.dimensions[].bandwidth_per_npu", ValueType::bandwidth);
    k.optional = true;
    k.min = kMinBandwidth;
    k.max = kMaxBandwidth;
    k.description =
        "Bandwidth of all links of an NPU in the dimension together, instead of `bandwidth`. It is the "
        "link's bandwidth times `links_per_npu` times (Ring and Mesh: `collectives.queues_per_dimension`; "
        "FullyConnected(n): n-1; Switch: 1).";
  }
  {
    KeySpec& k = add("topology.dimensions[].latency", ValueType::time);
    k.fallback = "500 ns";
    k.min = "0 ns";
    k.max = "1 s";
    k.description = "Latency of a hop. From NPU to NPU: Ring, Mesh and FullyConnected one hop; Switch two.";
    k.set = [](Config& c, size_t i, const Value& v) { c.dimensions[i].latency = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t i) -> Value { return c.fabric_dimensions()[i].latency; };
  }
  {
    KeySpec& k = add("topology.dimensions[].links_per_npu", ValueType::integer);
    k.fallback = "1";
    k.min = "1";
    k.max = "1024";
    k.description = "Parallel links in place of each link. They multiply `bandwidth`.";
    k.set = [](Config& c, size_t i, const Value& v) { c.dimensions[i].links_per_npu = as_u32(v); };
    k.get = [](const Config& c, size_t i) -> Value {
      return uint64_t{c.fabric_dimensions()[i].links_per_npu};
    };
  }
  {
    KeySpec& k = add("topology.dimensions[].fidelity", ValueType::choice);
    k.fallback = to_string(Fidelity::message);
    k.choices = {{to_string(Fidelity::analytical), true,
                  "latency of the way + bytes / its slowest link; only the first and the last link of the "
                  "way queue"},
                 {to_string(Fidelity::message), true, "one transfer over each link, with queueing"},
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
    k.fallback = to_string(Switching::cut_through);
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
    KeySpec& k = add("topology.dimensions[].implementation", ValueType::implementation);
    k.fallback = kDefaultSwitchModel;
    k.choices = switch_choices();
    k.description = "The model of a Switch's or a tree's switches, at `message` fidelity.";
    k.set = [](Config& c, size_t i, const Value& v) {
      c.dimensions[i].implementation = std::get<std::string>(v);
    };
    k.get = [](const Config& c, size_t i) -> Value { return c.fabric_dimensions()[i].implementation; };
  }
  {
    KeySpec& k = add("topology.dimensions[].credit_latency", ValueType::time);
    k.fallback = "auto";
    k.min = "1 ps";
    k.max = "1 s";
    k.zero_word = "auto";
    k.description = "Latency of a credit on its way back, at `packet` fidelity. `auto`: as `latency`.";
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
        "Chance that a flit is damaged on a link, at `packet` fidelity. The link then sends its burst again "
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
    k.description = "Time that a repetition costs. `auto`: a round trip of the link.";
    k.set = [](Config& c, size_t i, const Value& v) { c.dimensions[i].replay = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t i) -> Value { return c.fabric_dimensions()[i].replay; };
  }
  {
    KeySpec& k = add("topology.dimensions[].flow_control", ValueType::choice);
    k.fallback = "auto";
    k.choices = {{"auto", true, "as `packet.flow_control`"},
                 {"credits", true, "a flit leaves when the receiver has room for it"},
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
        "Rate at which one input port feeds the unit, while a contribution is still arriving. `unlimited`: "
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
        "Bytes of contributions that the unit reduces in a second, from all ports together. It reduces one "
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
    k.description = "Time from a block's last contribution to its result at the output ports.";
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
        "Bytes of partial sums that the unit holds at once. It holds a block's partial sum from its first "
        "contribution until its result has left. Without a place contributions wait at the inputs. At least "
        "`segment`: the last segment is kept for blocks whose contributions are all there, so that nothing "
        "deadlocks.";
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
        "Blocks are cut into segments of at most this many bytes. Each is contributed, reduced and sent on "
        "its own. At packet fidelity the default is `packet.packet_size`, so that every packet is combined "
        "by itself. The unit puts larger segments together first.";
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
    k.description = "Bandwidth of one of the `count` links, in each direction. Absent: as the NPUs' links.";
  }
  {
    KeySpec& k = add("topology.dimensions[].levels[].latency", ValueType::time);
    k.optional = true;
    k.min = "0 ns";
    k.max = "1 s";
    k.description = "Latency of the link. Absent: as the NPUs' links.";
  }
  {
    KeySpec& k = add("topology.dimensions[].levels[].count", ValueType::integer);
    k.optional = true;
    k.min = "1";
    k.max = "1024";
    k.description =
        "Parallel links that work as one. They multiply `bandwidth`. Absent: `links_per_npu`, and 1 where "
        "the level has a `bandwidth`.";
  }
  {
    KeySpec& k = add("topology.dimensions[].levels[].credit_latency", ValueType::time);
    k.optional = true;
    k.min = "1 ps";
    k.max = "1 s";
    k.zero_word = "auto";
    k.description =
        "Latency of a credit on its way back, at `packet` fidelity. `auto`: as `latency`. Absent: as the "
        "NPUs' links.";
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
    k.description =
        "Time that a repetition costs. `auto`: a round trip of the link. Absent: as the NPUs' links.";
  }
  {
    KeySpec& k = add("topology.fidelity_rules[].name", ValueType::text);
    k.optional = true;
    k.min = "1";  // characters
    k.description =
        "The rule matches collectives and point-to-point messages whose trace nodes have such a name. `*` "
        "stands for any text, `?` for one character. All members' nodes of a collective must match the same "
        "rules.";
  }
  {
    KeySpec& k = add("topology.fidelity_rules[].group", ValueType::text);
    k.optional = true;
    k.min = "1";  // characters
    k.description = "The rule matches collectives of this communicator group. `0` is the group of all ranks.";
  }
  {
    KeySpec& k = add("topology.fidelity_rules[].operation", ValueType::choice);
    k.optional = true;
    for (int op = 0; op < kCollectiveOps; ++op)
      k.choices.push_back({to_string(static_cast<CollectiveOp>(op)), true, ""});
    k.choices.push_back({kPointToPoint, true, ""});
    k.description = "The rule matches this operation, or point-to-point messages.";
  }
  {
    KeySpec& k = add("topology.fidelity_rules[].iteration", ValueType::integer);
    k.optional = true;
    k.min = "0";
    k.max = "4294967295";
    k.description =
        "The rule matches this iteration of the trace: the node's attribute `iteration`, or else the number "
        "in its name after `iteration`, `iter` or `step`.";
  }
  {
    KeySpec& k = add("topology.fidelity_rules[].from", ValueType::time);
    k.optional = true;
    k.min = "0 ps";
    k.max = "10000000 s";
    k.description = "The rule matches what starts at this time or later.";
  }
  {
    KeySpec& k = add("topology.fidelity_rules[].to", ValueType::time);
    k.optional = true;
    k.min = "1 ps";
    k.max = "10000000 s";
    k.description = "The rule matches what starts before this time. It keeps its fidelity until it ends.";
  }
  {
    KeySpec& k = add("topology.fidelity_rules[].dimensions", ValueType::dimensions);
    k.optional = true;
    k.description =
        "Numbers of the dimensions whose fidelity changes. The others keep their own. Absent: all.";
  }
  {
    KeySpec& k = add("topology.fidelity_rules[].fidelity", ValueType::choice);
    k.required = true;
    for (const Fidelity f : {Fidelity::analytical, Fidelity::message, Fidelity::packet})
      k.choices.push_back({to_string(f), true, ""});
    k.description =
        "New fidelity: finer or coarser than the dimensions' own, or the same as an exception from later "
        "rules.";
  }
}

}  // namespace weft
