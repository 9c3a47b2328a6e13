// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Keys of the machine: dimensions, graphs, trees, fidelity rules.

#include "configs/graph.h"
#include "configs/graph_routing.h"
#include "configs/keys/key_table.h"
#include "configs/notation.h"
#include "configs/tree.h"

namespace weft {
namespace {

template <auto Member>
constexpr Field in_unit = field<&DimensionConfig::collective_unit, Member>;

/// The models of switches that need no plugin.
constexpr Allowed kSwitchModels =
    one_of({{kDefaultSwitchModel, "a non-blocking crossbar whose outputs are first come, first served"}});

std::vector<Choice> routing_choices() {
  std::vector<Choice> choices;
  for (const GraphRouting& policy : graph_routings())
    choices.push_back({policy.name, true, policy.description});
  return choices;
}

std::vector<Choice> operations_of_a_rule() {
  std::vector<Choice> choices;
  for (int op = 0; op < kCollectiveOps; ++op)
    choices.push_back({to_string(static_cast<CollectiveOp>(op)), true, ""});
  choices.push_back({kPointToPoint, true, ""});
  return choices;
}

void set_rule_operation(FidelityRule& rule, const Value& value) {
  const auto& name = std::get<std::string>(value);
  rule.point_to_point = name == kPointToPoint;
  if (!rule.point_to_point) rule.operation = key_field::named<CollectiveOp>(name);
}

Value rule_operation(const FidelityRule& rule) {
  if (rule.point_to_point) return std::string(kPointToPoint);
  return rule.operation ? Value(std::string(to_string(*rule.operation))) : Value();
}

static_assert(kMaxNpus == 16777216 && kMaxDimensions == 16, "the description of `notation` names the limits");

constexpr KeyRow kTopologyKeys[] = {
    {"notation", Type::notation, kOptional, kAny, field<&Config::notation>,
     "The hierarchical topology, innermost dimension first: `Ring(n)`, `FullyConnected(n)`, `Switch(n)`, "
     "`Mesh(n)` (short `R`, `FC`, `SW`, `M`) joined by `_`. For machines of packages `Local(n)`, "
     "`Horizontal(n)` and `Vertical(n)` are rings and `Global(n)` is a switch. `FatTree(k=4,n=3)`, the k-ary "
     "n-tree, and `Clos(hosts=8,leaves=4,spines=2)`, every leaf joined to every spine, are trees of "
     "switches. Among other dimensions every line of NPUs has such a tree in place of a switch, with "
     "`levels` in the dimension's entry; collectives see it as a Switch. Alone a tree is a graph: its "
     "routing is `ecmp`, collectives plan on `Switch(npus)`, and `dimensions` has one entry for all links or "
     "one for each level from the NPUs up (n; Clos: two). Either this or `graph` is required. At most "
     "16777216 NPUs and 16 dimensions."},
    {"logical", Type::notation, kOptional, kAny, unprinted_field<&Config::logical>,
     "Topology that collectives plan on, where it is not the physical one. It must have as many NPUs. Lists "
     "outside `topology` with one entry for each dimension then mean its dimensions. Default: the notation; "
     "for a graph `Ring(npus)`, for a tree `Switch(npus)`."},
    {"mapping", Type::ranks, kOptional, kAny, no_field,
     "Physical NPU of rank 0, 1, ..: every NPU once. Ranges run up or down: `[0..3, 7..4]`. Default: rank r "
     "is NPU r."},
    {"routing", Type::choice, kOptional, one_of(routing_choices), no_field,
     "How messages find their way through a `graph` (default `shortest_path`) or a tree (default `ecmp`). "
     "Through a notation of dimensions they take the dimensions in order."},
    {"routes_file", Type::path, kOptional, kAny, no_field,
     "YAML file with a list of routes, instead of `topology.routes`. The path is relative to the folder of "
     "the configuration file."},
};

constexpr KeyRow kGraphKeys[] = {
    {"npus", Type::integer, kRequired, from(1, kMaxGraphNodes), field<&GraphSpec::npus>,
     "Number of NPUs: `npu0`, `npu1`, .."},
    {"switches", Type::switches, "0", up_to(kMaxGraphNodes), field_if_set<&GraphSpec::switches>,
     "Number of switches (`sw0`, `sw1`, ..), or a list of names and ranges of names."},
    {"fidelity", Type::choice, "message",
     one_of({{"analytical", "latency of the way + bytes / its slowest link; only the ports of NPUs queue"},
             {"message", "one transfer over each link, with queueing"},
             {"packet", "packets, virtual channels and credits"}}),
     field<&GraphSpec::fidelity>, "How a message crosses the graph."},
    {"switching", Type::choice, "cut_through",
     one_of({{"store_and_forward", "a node forwards a message when its tail is there"},
             {"cut_through", "a node forwards a message when its head is there"}}),
     field<&GraphSpec::switching>, "When switches and NPUs forward a message, at `message` fidelity."},
    {"npus_forward", Type::boolean, "true", kAny, field<&GraphSpec::npus_forward>,
     "`true`: messages may pass through NPUs on their way; `false`: only through switches."},
    {"implementation", Type::implementation, kDefaultSwitchModel, kSwitchModels,
     field<&GraphSpec::implementation>, "The model of the switches, at `message` fidelity."},
};

constexpr KeyRow kGraphLinkKeys[] = {
    {"from", Type::nodes, kRequired, kAny, no_field, "One end: a node, a range or a list of them."},
    {"to", Type::nodes, kRequired, kAny, no_field, "The other end: a node, a range or a list of them."},
    {"pattern", Type::choice, "all",
     one_of({{"all", "every node of `from` with every node of `to`"},
             {"one_to_one", "the first with the first, the second with the second, .."}}),
     no_field,
     "Which nodes of two groups are joined. A group that is on both sides is joined pair by pair, each pair "
     "once."},
    {"bandwidth", Type::bandwidth, kRequired, kAnyBandwidth, field<&GraphLink::bandwidth>,
     "Bandwidth of one of the `count` links, in each direction."},
    {"latency", Type::time, "500 ns", from("0 ns", "1 s"), field<&GraphLink::latency>,
     "Latency of the link."},
    {"count", Type::integer, "1", from(1, 1024), field<&GraphLink::count>,
     "Parallel links that work as one. They multiply `bandwidth`. Two entries that join the same nodes are "
     "two links instead, and only `ecmp` uses both."},
    {"bidirectional", Type::boolean, "true", kAny, field<&GraphLink::bidirectional>,
     "`false`: the link leads only from `from` to `to`."},
    {"credit_latency", Type::time, "auto", from("1 ps", "1 s").or_word("auto"),
     field<&GraphLink::credit_latency>,
     "Latency of a credit on its way back, at `packet` fidelity (of a one-way link, too). `auto`: as "
     "`latency`."},
    {"flit_error_rate", Type::number, "0", from("0", "0.5"), field<&GraphLink::flit_error_rate>,
     "Chance that a flit is damaged on this link, at `packet` fidelity. The link then sends its burst again "
     "(link-level retry)."},
    {"replay", Type::time, "auto", from("1 ps", "1 s").or_word("auto"), field<&GraphLink::replay>,
     "Time that a repetition costs. `auto`: a round trip of the link."},
};

constexpr KeyRow kRouteKeys[] = {
    {"at", Type::nodes, kRequired, kAny, no_field, "Nodes that the route applies to."},
    {"to", Type::nodes, kOptional, kAny, no_field,
     "Destinations (NPUs). Absent: all that no other route of these nodes names."},
    {"via", Type::nodes, kRequired, kAny, no_field, "Next node. Each node of `at` has a link to it."},
};

constexpr KeyRow kDimensionKeys[] = {
    {"bandwidth", Type::bandwidth, kOptional, kAnyBandwidth, field<&DimensionConfig::bandwidth>,
     "Bandwidth of a link in each direction. Ring and Mesh: a neighbour link; FullyConnected: a pair link; "
     "Switch: the NPU's port. Either this or `bandwidth_per_npu` is required."},
    {"bandwidth_per_npu", Type::bandwidth, kOptional, kAnyBandwidth, no_field,
     "Bandwidth of all links of an NPU in the dimension together, instead of `bandwidth`. It is the link's "
     "bandwidth times `links_per_npu` times (Ring and Mesh: the queues, 1 with `direction: one_way`; "
     "FullyConnected(n): n-1; Switch: 1)."},
    {"latency", Type::time, "500 ns", from("0 ns", "1 s"), field<&DimensionConfig::latency>,
     "Latency of a hop. From NPU to NPU: Ring, Mesh and FullyConnected one hop; Switch two."},
    {"router_latency", Type::time, kOptional, from("0 ns", "1 s"), no_field,
     "Latency of a Switch itself, paid by every message that it passes on. Half of it is added to the "
     "`latency` "
     "of each of the two hops, also at `packet` fidelity, beside the stages of `packet`. Not for other kinds "
     "of "
     "dimensions, whose `latency` has it."},
    {"nic_latency", Type::time, "0 ns", from("0 ns", "1 s"), field_if_set<&DimensionConfig::nic_latency>,
     "Latency of a network interface. A message pays two, its sender's and its receiver's, in the last "
     "dimension that it crosses, however many hops it takes there."},
    {"endpoint_delay", Type::time, kOptional, from("0 ns", "1 s"),
     field_if_set<&DimensionConfig::endpoint_delay>,
     "In place of `nmu.endpoint_delay` for this dimension: before the first send of a phase in it, and after "
     "every receive of a message whose last dimension it is."},
    {"links_per_npu", Type::integer, "1", from(1, 1024), field<&DimensionConfig::links_per_npu>,
     "Parallel links in place of each link. They multiply `bandwidth`."},
    {"queues", Type::integer, "auto", from(1, 64).or_word("auto"), field_if_set<&DimensionConfig::queues>,
     "Scheduling queues of the dimension. A chunk stays in one queue. `auto`: "
     "`collectives.queues_per_dimension` on a Ring or Mesh, else 1."},
    {"direction", Type::choice, "both",
     one_of(
         {{"both", "every second queue goes down, to lower coordinates"}, {"one_way", "all queues go up"}}),
     field_if_set<&DimensionConfig::direction>, "Which ways the queues of a Ring or Mesh go."},
    {"phase_queues", Type::choice, "shared",
     one_of({{"shared", "every phase uses all queues"},
             {"split", "all-gathers use the second half of the queues, other phases the first half"}}),
     field_if_set<&DimensionConfig::phase_queues>,
     "Which queues of the dimension a phase uses. `split` needs an even number of queues."},
    {"fidelity", Type::choice, "message",
     one_of({{"analytical",
              "latency of the way + bytes / its slowest link; only the first and the last link of the way "
              "queue"},
             {"message", "one transfer over each link, with queueing"},
             {"packet", "packets, virtual channels and credits"}}),
     field<&DimensionConfig::fidelity>, "How a message crosses the dimension."},
    {"switching", Type::choice, "cut_through",
     one_of({{"store_and_forward", "a hop forwards a message when its tail is there"},
             {"cut_through", "a hop forwards a message when its head is there"}}),
     field<&DimensionConfig::switching>, "When a message is forwarded, at `message` fidelity."},
    {"implementation", Type::implementation, kDefaultSwitchModel, kSwitchModels,
     field<&DimensionConfig::implementation>,
     "The model of a Switch's or a tree's switches, at `message` fidelity."},
    {"credit_latency", Type::time, "auto", from("1 ps", "1 s").or_word("auto"),
     field<&DimensionConfig::credit_latency>,
     "Latency of a credit on its way back, at `packet` fidelity. `auto`: as `latency`."},
    {"flit_error_rate", Type::number, "0", from("0", "0.5"), field<&DimensionConfig::flit_error_rate>,
     "Chance that a flit is damaged on a link, at `packet` fidelity. The link then sends its burst again "
     "(link-level retry)."},
    {"replay", Type::time, "auto", from("1 ps", "1 s").or_word("auto"), field<&DimensionConfig::replay>,
     "Time that a repetition costs. `auto`: a round trip of the link."},
    {"flow_control", Type::choice, "auto",
     one_of({{"auto", "as `packet.flow_control`"},
             {"credits", "a flit leaves when the receiver has room for it"},
             {"pfc", "priority flow control, by the `pfc_` keys of `packet`"}}),
     field<&DimensionConfig::flow_control>,
     "How the dimension's links keep buffers from running over, at `packet` fidelity."},
    {"packet_size", Type::size, kOptional, from("1 B", "1 MiB"), field_if_set<&DimensionConfig::packet_bytes>,
     "In place of `packet.packet_size` for this dimension, at `packet` fidelity. Adjacent dimensions at "
     "packet fidelity are one network, whose packets have one size."},
    {"phit_size", Type::size, kOptional, from("1 B", "64 KiB"), field_if_set<&DimensionConfig::phit_bytes>,
     "In place of `packet.phit_size` for the links of this dimension."},
    {"header_efficiency", Type::number, kOptional, from("0.01", "1"),
     field_if_set<&DimensionConfig::header_efficiency>,
     "In place of `packet.header_efficiency` for the links of this dimension."},
};

constexpr KeyRow kUnitKeys[] = {
    {"ingress_bandwidth", Type::bandwidth, "unlimited", kAnyBandwidth.or_word("unlimited"),
     in_unit<&CollectiveUnitConfig::ingress_bandwidth>,
     "Rate at which one input port feeds the unit, while a contribution is still arriving. `unlimited`: the "
     "port's own rate."},
    {"reduction_bandwidth", Type::bandwidth, "unlimited", kAnyBandwidth.or_word("unlimited"),
     in_unit<&CollectiveUnitConfig::reduction_bandwidth>,
     "Bytes of contributions that the unit reduces in a second, from all ports together. It reduces one "
     "contribution after the other."},
    {"latency", Type::time, "0 ns", from("0 ns", "1 s"), in_unit<&CollectiveUnitConfig::latency>,
     "Time from a block's last contribution to its result at the output ports."},
    {"buffer", Type::size, "unlimited", from("64 B", "1 PiB").or_word("unlimited"),
     in_unit<&CollectiveUnitConfig::buffer>,
     "Bytes of partial sums that the unit holds at once. It holds a block's partial sum from its first "
     "contribution until its result has left. Without a place contributions wait at the inputs. At least "
     "`segment`: the last segment is kept for blocks whose contributions are all there, so that nothing "
     "deadlocks."},
    {"implementation", Type::implementation, kDefaultUnitModel,
     one_of({{kDefaultUnitModel,
              "buffers partial sums of blocks, and sends a block's result with its last "
              "contribution"}}),
     in_unit<&CollectiveUnitConfig::implementation>, "Model of the units, for example a plugin's."},
    {"segment", Type::size, "64 KiB", from("64 B", "1 TiB"), in_unit<&CollectiveUnitConfig::segment>,
     "Blocks are cut into segments of at most this many bytes. Each is contributed, reduced and sent on its "
     "own. At packet fidelity the default is `packet.packet_size`, so that every packet is combined by "
     "itself. The unit puts larger segments together first."},
};

/// The loader gives an absent value that of the NPUs' own links.
constexpr KeyRow kLevelKeys[] = {
    {"bandwidth", Type::bandwidth, kOptional, kAnyBandwidth, field<&TreeLevel::bandwidth>,
     "Bandwidth of one of the `count` links, in each direction. Absent: as the NPUs' links."},
    {"latency", Type::time, kOptional, from("0 ns", "1 s"), field<&TreeLevel::latency>,
     "Latency of the link. Absent: as the NPUs' links."},
    {"count", Type::integer, kOptional, from(1, 1024), field<&TreeLevel::count>,
     "Parallel links that work as one. They multiply `bandwidth`. Absent: `links_per_npu`, and 1 where the "
     "level has a `bandwidth`."},
    {"credit_latency", Type::time, kOptional, from("1 ps", "1 s").or_word("auto"),
     field<&TreeLevel::credit_latency>,
     "Latency of a credit on its way back, at `packet` fidelity. `auto`: as `latency`. Absent: as the NPUs' "
     "links."},
    {"flit_error_rate", Type::number, kOptional, from("0", "0.5"), field<&TreeLevel::flit_error_rate>,
     "Chance that a flit is damaged, at `packet` fidelity. Absent: as the NPUs' links."},
    {"replay", Type::time, kOptional, from("1 ps", "1 s").or_word("auto"), field<&TreeLevel::replay>,
     "Time that a repetition costs. `auto`: a round trip of the link. Absent: as the NPUs' links."},
};

constexpr KeyRow kFidelityRuleKeys[] = {
    {"name", Type::text, kOptional, at_least(1), field_if_set<&FidelityRule::name>,
     "The rule matches collectives and point-to-point messages whose trace nodes have such a name. `*` "
     "stands for any text, `?` for one character. All members' nodes of a collective must match the same "
     "rules."},
    {"group", Type::text, kOptional, at_least(1), field_if_set<&FidelityRule::group>,
     "The rule matches collectives of this communicator group. `0` is the group of all ranks."},
    {"operation", Type::choice, kOptional, one_of(operations_of_a_rule),
     custom_field<set_rule_operation, rule_operation>,
     "The rule matches this operation, or point-to-point messages."},
    {"iteration", Type::integer, kOptional, from(0, 4294967295), field<&FidelityRule::iteration>,
     "The rule matches this iteration of the trace: the node's attribute `iteration`, or else the number in "
     "its name after `iteration`, `iter` or `step`."},
    {"from", Type::time, kOptional, from("0 ps", "10000000 s"), field_if_set<&FidelityRule::from>,
     "The rule matches what starts at this time or later."},
    {"to", Type::time, kOptional, from("1 ps", "10000000 s"), field_if_set<&FidelityRule::to>,
     "The rule matches what starts before this time. It keeps its fidelity until it ends."},
    {"dimensions", Type::dimensions, kOptional, kAny, field<&FidelityRule::dimensions>,
     "Numbers of the dimensions whose fidelity changes. The others keep their own. Absent: all."},
    {"fidelity", Type::choice, kRequired, one_of({{"analytical"}, {"message"}, {"packet"}}),
     field<&FidelityRule::fidelity>,
     "New fidelity: finer or coarser than the dimensions' own, or the same as an exception from later "
     "rules."},
};

}  // namespace

void add_topology_keys(KeyTable& table) {
  table.add("topology", kTopologyKeys);
  table.add("topology.graph", kGraphKeys);
  table.add("topology.graph.links[]", kGraphLinkKeys);
  table.add("topology.routes[]", kRouteKeys);
  table.add("topology.dimensions[]", kDimensionKeys);
  table.add("topology.dimensions[].collective_unit", kUnitKeys);
  table.add("topology.dimensions[].levels[]", kLevelKeys);
  table.add("topology.fidelity_rules[]", kFidelityRuleKeys);
}

}  // namespace weft
