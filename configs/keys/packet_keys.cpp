// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Keys of packet fidelity.

#include "configs/keys/key_table.h"

namespace weft {
namespace {

template <auto Member>
constexpr Field in_packet = field<&Config::packet, Member>;

template <auto Member>
constexpr Field in_ecn = field<&Config::packet, &PacketFabricConfig::ecn, Member>;

template <auto Member>
constexpr Field in_dcqcn = field<&Config::packet, &PacketFabricConfig::dcqcn, Member>;

template <auto Member>
constexpr Field in_sampling = field<&Config::packet, &PacketFabricConfig::sampling, Member>;

/// Packets, links, virtual channels and their buffers.
constexpr KeyRow kPacketKeys[] = {
    {"packet_size", Type::size, "256 B", from("1 B", "1 MiB"), in_packet<&PacketFabricConfig::packet_bytes>,
     "Payload of a full packet. The last packet of a message carries the rest."},
    {"flit_size", Type::size, "16 B", from("1 B", "64 KiB"), in_packet<&PacketFabricConfig::flit_bytes>,
     "Bytes of a flit, for payload and header. Buffers, credits and arbitration count flits."},
    {"phit_size", Type::size, "flit", from("1 B", "64 KiB").or_word("flit"),
     in_packet<&PacketFabricConfig::phit_bytes>,
     "Bytes that a link moves at once. A flit takes whole phits."},
    {"header", Type::size, "0 B", from("0 B", "64 KiB"), in_packet<&PacketFabricConfig::header_bytes>,
     "Header bytes of every packet. They share its flits with the payload."},
    {"header_efficiency", Type::number, "1", from("0.01", "1"),
     in_packet<&PacketFabricConfig::header_efficiency>,
     "Share of a link's bandwidth that is left for flits. Use it where headers are not modelled byte by "
     "byte."},
    {"cycle", Type::time, "auto", from("1 ps", "1 ms").or_word("auto"), in_packet<&PacketFabricConfig::cycle>,
     "Clock period of routers. A port moves at most one flit a cycle. `auto`: the time of a flit on the "
     "fastest of the adjacent packet dimensions."},
    {"vcs", Type::integer, "4", from(1, 64).or_word("auto"), in_packet<&PacketFabricConfig::vcs>,
     "Virtual channels (VCs) of each virtual network. Rings need two: their two dateline classes share the "
     "VCs equally. `auto`: the fewest that the routing allows, which is one where there is no ring."},
    {"virtual_networks", Type::integer, "1", from(1, 32), in_packet<&PacketFabricConfig::virtual_networks>,
     "Sets of VCs that never wait for each other. `vcs` x `virtual_networks` is at most 64."},
    {"strict_priority", Type::boolean, "false", kAny, in_packet<&PacketFabricConfig::strict_priority>,
     "`true`: of several virtual networks that ask, the one with the highest number goes first; `false`: "
     "they take turns."},
    {"collectives_network", Type::integer, "0", from(0, 31),
     in_packet<&PacketFabricConfig::collectives_network>, "Virtual network of the messages of collectives."},
    {"point_to_point_network", Type::integer, "0", from(0, 31),
     in_packet<&PacketFabricConfig::point_to_point_network>, "Virtual network of point-to-point messages."},
    {"buffer_flits", Type::integer, "auto", from(1, 16777216).or_word("auto"),
     in_packet<&PacketFabricConfig::buffer_flits>,
     "Buffer of a VC at every input, in flits. `auto`: one VC alone covers the longest credit round trip."},
    {"buffer", Type::size, kOptional, from("1 B", "1 TiB"), no_field,
     "The same in bytes, instead of `buffer_flits`. It is rounded down to whole flits."},
};

constexpr KeyRow kRouterKeys[] = {
    {"route_cycles", Type::integer, "0", from(0, 1000000), in_packet<&PacketFabricConfig::route_cycles>,
     "Router stage: routing of a head. 0: the router before has done it ahead."},
    {"vc_alloc_cycles", Type::integer, "1", from(0, 1000000), in_packet<&PacketFabricConfig::vc_alloc_cycles>,
     "Router stage: VC allocation of a head."},
    {"switch_alloc_cycles", Type::integer, "1", from(1, 1000000),
     in_packet<&PacketFabricConfig::switch_alloc_cycles>, "Router stage: switch allocation of a flit."},
    {"traversal_cycles", Type::integer, "1", from(0, 1000000),
     in_packet<&PacketFabricConfig::traversal_cycles>, "Router stage: crossbar traversal of a flit."},
    {"credit_cycles", Type::integer, "1", from(0, 1000000), in_packet<&PacketFabricConfig::credit_cycles>,
     "Cycles from the arrival of a credit to its use."},
    {"switching", Type::choice, "packet_held",
     one_of({{"packet_held", "a packet keeps its path through a crossbar while its flits come"},
             {"flit_interleaved", "every flit is arbitrated anew"}}),
     in_packet<&PacketFabricConfig::switching>, "How long a packet holds an output."},
    {"strict_cut_through", Type::boolean, "false", kAny, in_packet<&PacketFabricConfig::strict_cut_through>,
     "`true`: a head moves only when there is credit for its whole packet."},
    {"release_on_credit", Type::boolean, "false", kAny, in_packet<&PacketFabricConfig::release_on_credit>,
     "`true`: an output VC is free again only when all its credits are back."},
    {"quantum", Type::integer, "unlimited", from(1, 16777216).or_word("unlimited"),
     in_packet<&PacketFabricConfig::quantum>, "Longest burst of flits before an output is arbitrated again."},
    {"allocator_iterations", Type::integer, "1", from(1, 16),
     in_packet<&PacketFabricConfig::allocator_iterations>, "Iterations of the switch allocator."},
    {"switch_allocator", Type::choice, "islip",
     one_of({{"islip", "round-robin pointers that move on when a grant is taken"},
             {"round_robin", "separable, input first"}}),
     in_packet<&PacketFabricConfig::switch_allocator>, "Which flits cross the crossbar."},
    {"vc_allocator", Type::choice, "islip",
     one_of({{"islip", "round-robin pointers that move on when a grant is taken"}}),
     in_packet<&PacketFabricConfig::vc_allocator>, "Which packet gets an output VC."},
};

/// Routes, flow control and injection.
constexpr KeyRow kTrafficKeys[] = {
    {"routing", Type::choice, "auto",
     one_of({{"auto", "dimension_order; a graph: its own `topology.routing`"},
             {"dimension_order", "the dimensions in order, the shorter way round a ring"},
             {"minimal_adaptive", "any shortest way, by credits, with escape VCs; no Switch dimensions"},
             {"shortest_path", "fewest hops"},
             {"up_down", "up a spanning tree, then down: no deadlock on any topology"}}),
     in_packet<&PacketFabricConfig::routing>, "How packets find their way."},
    {"selection", Type::choice, "auto",
     one_of({{"auto",
              "most_credits for adaptive routing, hash where a graph or a tree has several ways, else first"},
             {"first", "the first, in a fixed order"},
             {"random", "at random"},
             {"hash", "by source and destination"},
             {"spray", "in turn"},
             {"most_credits", "where most credits are"}}),
     in_packet<&PacketFabricConfig::selection>, "Which of several equal routes a packet takes."},
    {"vc_classes", Type::choice, "dateline",
     one_of({{"dateline", "two classes of VCs, chosen on entering the ring"},
             {"switched_dateline", "two classes, changed at the dateline"},
             {"bubble",
              "one class; a packet enters a ring only if room for another stays free (needs "
              "`strict_cut_through` and buffers of two packets)"},
             {"none", "no protection, to study deadlock"}}),
     in_packet<&PacketFabricConfig::vc_classes>, "What keeps rings free of deadlock."},
    {"forwarding", Type::choice, "hardware",
     one_of({{"hardware", "routers, packet by packet"},
             {"software",
              "the NMU of every NPU on the way: it receives the whole message and sends it again after "
              "`nmu.endpoint_delay`"}}),
     in_packet<&PacketFabricConfig::forwarding>, "Which part passes on messages for another NPU."},
    {"flow_control", Type::choice, "credits",
     one_of({{"credits", "a flit leaves when the receiver has room for it"},
             {"pfc",
              "priority flow control: a receiver whose buffers fill up pauses the virtual network, and no "
              "packet of it begins"}}),
     in_packet<&PacketFabricConfig::flow_control>,
     "How links keep buffers from running over. A dimension's own `flow_control` replaces it."},
    {"pfc_networks", Type::dimensions, kOptional, kAny, in_packet<&PacketFabricConfig::pfc_networks>,
     "Virtual networks (priorities) that priority flow control pauses. The others use credits. Absent: all."},
    {"pfc_xoff", Type::integer, "auto", from(1, 16777216).or_word("auto"),
     in_packet<&PacketFabricConfig::pfc_xoff>,
     "Level at which an input pauses its sender: flits of a virtual network in the input's buffers, all its "
     "VCs together. `auto`: a VC's buffer less the headroom for what can still come."},
    {"pfc_xon", Type::integer, "auto", from(1, 16777215).or_word("auto"),
     in_packet<&PacketFabricConfig::pfc_xon>,
     "Level at which a paused sender resumes, below `pfc_xoff`. `auto`: a packet below, or half."},
    {"pfc_delay", Type::time, "0 ps", from("0 ps", "1 ms"), in_packet<&PacketFabricConfig::pfc_delay>,
     "Delay of a pause or resume, on top of the time of a credit. It stands for the end of a frame on the "
     "way back, and for processing."},
    {"injection", Type::choice, "normal",
     one_of({{"normal", "one after the other"},
             {"aggressive", "all at once: they take turns, packet by packet"}}),
     in_packet<&PacketFabricConfig::injection>,
     "How the messages that wait for one link are injected, in each virtual network by itself. With "
     "`aggressive` the message whose last turn is longest ago sends its next packet. A new message goes "
     "behind all others, but before the one whose packet begins in that very cycle. There are no packet "
     "trains then."},
};

constexpr KeyRow kEcnKeys[] = {
    {"enabled", Type::boolean, "false", kAny, in_ecn<&PacketEcnConfig::enabled>,
     "`true`: routers mark packets where queues are long (explicit congestion notification, RFC 3168). A "
     "packet is marked when it starts on an output whose queue is long. The queue is the bytes in the flits "
     "that wait in the router for this output, in the same virtual network. There are no packet trains "
     "then."},
    {"k_min", Type::size, "5 kB", from("0 B", "1 TiB"), in_ecn<&PacketEcnConfig::k_min>,
     "Queue up to which no packet is marked. Default: DCQCN (Zhu et al., \"Congestion Control for "
     "Large-Scale RDMA Deployments\", SIGCOMM 2015), for 40 Gb/s."},
    {"k_max", Type::size, "200 kB", from("0 B", "1 TiB"), in_ecn<&PacketEcnConfig::k_max>,
     "Queue above which every packet is marked. From `k_min` to `k_max` the chance rises in a straight line "
     "from 0 to `p_max`. Default: as `k_min`."},
    {"p_max", Type::number, "0.01", from("0", "1"), in_ecn<&PacketEcnConfig::p_max>,
     "Chance that a packet is marked at a queue of `k_max`. Default: as `k_min`."},
};

constexpr KeyRow kSamplingKeys[] = {
    {"enabled", Type::boolean, "false", kAny, in_sampling<&PacketSamplingConfig::enabled>,
     "`true`: of collectives that a job repeats most are not simulated. They take the time of others of "
     "their "
     "kind, and the run tells by how much such times were off (docs/guide/sampled_collectives.md). Needs a "
     "dimension at `packet` fidelity. `weft collective` simulates all."},
    {"share", Type::number, "0.1", from("0.001", "1"), in_sampling<&PacketSamplingConfig::share>,
     "Share of collectives that is simulated although its time is known, to see whether it still is."},
};

constexpr KeyRow kDcqcnKeys[] = {
    {"enabled", Type::boolean, "false", kAny, in_dcqcn<&PacketDcqcnConfig::enabled>,
     "`true`: the receiver of marked packets notifies the sender, and the sender slows that flow down "
     "(DCQCN, Zhu et al., \"Congestion Control for Large-Scale RDMA Deployments\", SIGCOMM 2015). Needs "
     "`packet.ecn.enabled`. A flow is what one interface sends to one NPU."},
    {"cnp_interval", Type::time, "50 us", from("1 ps", "1 s"), in_dcqcn<&PacketDcqcnConfig::cnp_interval>,
     "Shortest time between two notifications (CNPs, congestion notification packets) from a receiver to a "
     "sender. Default: the paper."},
    {"alpha_timer", Type::time, "55 us", from("1 ns", "1 s"), in_dcqcn<&PacketDcqcnConfig::alpha_timer>,
     "Time without a notification after which a flow lowers its estimate of the congestion, alpha, to (1 - "
     "g) alpha. It does so again after every further one. Default: the paper."},
    {"rate_timer", Type::time, "55 us", from("1 ns", "1 s"), in_dcqcn<&PacketDcqcnConfig::rate_timer>,
     "Time after which a slowed flow raises its rate, again and again. Default: the paper."},
    {"byte_counter", Type::size, "10 MB", from("1 B", "1 TiB"), in_dcqcn<&PacketDcqcnConfig::byte_counter>,
     "Bytes on the wire after which a slowed flow raises its rate, again and again. Default: the paper."},
    {"fast_recovery", Type::integer, "5", from(0, 1000000), in_dcqcn<&PacketDcqcnConfig::fast_recovery>,
     "Increases by the timer, and by the byte counter, that only halve the distance to the rate before the "
     "notification. Additive increase follows. Hyper increase follows when both have had so many. Default: "
     "the paper."},
    {"g", Type::number, "0.00390625", from("0.000001", "1"), in_dcqcn<&PacketDcqcnConfig::g>,
     "Weight of a notification in alpha. Default: 1/256, the paper."},
    {"rate_ai", Type::bandwidth, "40 Mb/s", from("1 kb/s", "1000 PB/s"),
     in_dcqcn<&PacketDcqcnConfig::rate_ai>,
     "Rate that additive increase adds to the target rate. Default: the paper, for 40 Gb/s."},
    {"rate_hai", Type::bandwidth, "400 Mb/s", from("1 kb/s", "1000 PB/s"),
     in_dcqcn<&PacketDcqcnConfig::rate_hai>,
     "Rate that hyper increase adds. The paper does not say. Default: ten times `rate_ai`, as in IEEE "
     "802.1Qau (50 and 5 Mb/s)."},
    {"min_rate", Type::bandwidth, "5 Mb/s", from("1 kb/s", "1000 PB/s"),
     in_dcqcn<&PacketDcqcnConfig::min_rate>,
     "Lowest rate of a flow. Default: IEEE 802.1Qau (ieee8021CnRpgMinRate)."},
};

}  // namespace

void add_packet_keys(KeyTable& table) {
  table.add("packet", kPacketKeys);
  table.add("packet", kRouterKeys);
  table.add("packet", kTrafficKeys);
  table.add("packet.ecn", kEcnKeys);
  table.add("packet.dcqcn", kDcqcnKeys);
  table.add("packet.sampling", kSamplingKeys);
}

}  // namespace weft
