// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Keys of packet fidelity.

#include <string>

#include "configs/keys/key_table.h"

namespace weft {

void add_packet_keys(KeyTable& table) {
  const auto add = [&table](const std::string& path, ValueType type) -> KeySpec& {
    return table.add(path, type);
  };

  {
    KeySpec& k = add("packet.packet_size", ValueType::size);
    k.fallback = "256 B";
    k.min = "1 B";
    k.max = "1 MiB";
    k.description = "Payload of a full packet. The last packet of a message carries the rest.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.packet_bytes = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.packet_bytes; };
  }
  {
    KeySpec& k = add("packet.flit_size", ValueType::size);
    k.fallback = "16 B";
    k.min = "1 B";
    k.max = "64 KiB";
    k.description = "Bytes of a flit, for payload and header. Buffers, credits and arbitration count flits.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.flit_bytes = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.flit_bytes; };
  }
  {
    KeySpec& k = add("packet.phit_size", ValueType::size);
    k.fallback = "flit";
    k.min = "1 B";
    k.max = "64 KiB";
    k.zero_word = "flit";
    k.description = "Bytes that a link moves at once. A flit takes whole phits.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.phit_bytes = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.phit_bytes; };
  }
  {
    KeySpec& k = add("packet.header", ValueType::size);
    k.fallback = "0 B";
    k.min = "0 B";
    k.max = "64 KiB";
    k.description = "Header bytes of every packet. They share its flits with the payload.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.header_bytes = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.header_bytes; };
  }
  {
    KeySpec& k = add("packet.header_efficiency", ValueType::number);
    k.fallback = "1";
    k.min = "0.01";
    k.max = "1";
    k.description =
        "Share of a link's bandwidth that is left for flits. Use it where headers are not modelled byte by "
        "byte.";
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
        "Clock period of routers. A port moves at most one flit a cycle. `auto`: the time of a flit on the "
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
        "Virtual channels (VCs) of each virtual network. Rings need two: their two dateline classes share "
        "the VCs equally.";
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
        "`true`: of several virtual networks that ask, the one with the highest number goes first; `false`: "
        "they take turns.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.strict_priority = std::get<bool>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.strict_priority; };
  }
  {
    KeySpec& k = add("packet.collectives_network", ValueType::integer);
    k.fallback = "0";
    k.min = "0";
    k.max = "31";
    k.description = "Virtual network of the messages of collectives.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.collectives_network = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.packet.collectives_network}; };
  }
  {
    KeySpec& k = add("packet.point_to_point_network", ValueType::integer);
    k.fallback = "0";
    k.min = "0";
    k.max = "31";
    k.description = "Virtual network of point-to-point messages.";
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
    k.description = "The same in bytes, instead of `buffer_flits`. It is rounded down to whole flits.";
  }
  {
    KeySpec& k = add("packet.route_cycles", ValueType::integer);
    k.fallback = "0";
    k.min = "0";
    k.max = "1000000";
    k.description = "Router stage: routing of a head. 0: the router before has done it ahead.";
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
    k.description = "Cycles from the arrival of a credit to its use.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.credit_cycles = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.packet.credit_cycles}; };
  }
  {
    KeySpec& k = add("packet.switching", ValueType::choice);
    k.fallback = "packet_held";
    k.choices = {{"packet_held", true, "a packet keeps its path through a crossbar while its flits come"},
                 {"flit_interleaved", true, "every flit is arbitrated anew"}};
    k.description = "How long a packet holds an output.";
    k.set = [](Config& c, size_t, const Value& v) {
      c.packet.switching = named<FlitSwitchingKind>(std::get<std::string>(v), to_string, 2);
    };
    k.get = [](const Config& c, size_t) -> Value { return std::string(to_string(c.packet.switching)); };
  }
  {
    KeySpec& k = add("packet.strict_cut_through", ValueType::boolean);
    k.fallback = "false";
    k.description = "`true`: a head moves only when there is credit for its whole packet.";
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
    k.description = "Which flits cross the crossbar.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.switch_allocator = std::get<std::string>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.switch_allocator; };
  }
  {
    KeySpec& k = add("packet.vc_allocator", ValueType::choice);
    k.fallback = "islip";
    k.choices = {{"islip", true, "round-robin pointers that move on when a grant is taken"}};
    k.description = "Which packet gets an output VC.";
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
                 {"none", true, "no protection, to study deadlock"}};
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
    k.description = "Which part passes on messages for another NPU.";
    k.set = [](Config& c, size_t, const Value& v) {
      c.packet.forwarding = named<PacketForwarding>(std::get<std::string>(v), to_string, 2);
    };
    k.get = [](const Config& c, size_t) -> Value { return std::string(to_string(c.packet.forwarding)); };
  }
  {
    KeySpec& k = add("packet.flow_control", ValueType::choice);
    k.fallback = "credits";
    k.choices = {
        {"credits", true, "a flit leaves when the receiver has room for it"},
        {"pfc", true,
         "priority flow control: a receiver whose buffers fill up pauses the virtual network, and no "
         "packet of it begins"}};
    k.description = "How links keep buffers from running over. A dimension's own `flow_control` replaces it.";
    k.set = [](Config& c, size_t, const Value& v) {
      c.packet.flow_control = named<FlowControl>(std::get<std::string>(v), to_string, 2);
    };
    k.get = [](const Config& c, size_t) -> Value { return std::string(to_string(c.packet.flow_control)); };
  }
  {
    KeySpec& k = add("packet.pfc_networks", ValueType::dimensions);
    k.optional = true;
    k.description =
        "Virtual networks (priorities) that priority flow control pauses. The others use credits. Absent: "
        "all.";
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
        "Level at which an input pauses its sender: flits of a virtual network in the input's buffers, all "
        "its VCs together. `auto`: a VC's buffer less the headroom for what can still come.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.pfc_xoff = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.packet.pfc_xoff}; };
  }
  {
    KeySpec& k = add("packet.pfc_xon", ValueType::integer);
    k.fallback = "auto";
    k.min = "1";
    k.max = "16777215";
    k.zero_word = "auto";
    k.description =
        "Level at which a paused sender resumes, below `pfc_xoff`. `auto`: a packet below, or half.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.pfc_xon = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.packet.pfc_xon}; };
  }
  {
    KeySpec& k = add("packet.pfc_delay", ValueType::time);
    k.fallback = "0 ps";
    k.min = "0 ps";
    k.max = "1 ms";
    k.description =
        "Delay of a pause or resume, on top of the time of a credit. It stands for the end of a frame on "
        "the way back, and for processing.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.pfc_delay = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.pfc_delay; };
  }
  {
    KeySpec& k = add("packet.injection", ValueType::choice);
    k.fallback = "normal";
    k.choices = {{"normal", true, "one after the other"},
                 {"aggressive", true, "all at once: they take turns, packet by packet"}};
    k.description =
        "How the messages that wait for one link are injected, in each virtual network by itself. With "
        "`aggressive` the message whose last turn is longest ago sends its next packet. A new message goes "
        "behind all others, but before the one whose packet begins in that very cycle. There are no packet "
        "trains then.";
    k.set = [](Config& c, size_t, const Value& v) {
      c.packet.injection = named<PacketInjection>(std::get<std::string>(v), to_string, 2);
    };
    k.get = [](const Config& c, size_t) -> Value { return std::string(to_string(c.packet.injection)); };
  }
  {
    KeySpec& k = add("packet.ecn.enabled", ValueType::boolean);
    k.fallback = "false";
    k.description =
        "`true`: routers mark packets where queues are long (explicit congestion notification, RFC 3168). A "
        "packet is marked when it starts on an output whose queue is long. The queue is the bytes in the "
        "flits that wait in the router for this output, in the same virtual network. There are no packet "
        "trains then.";
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
        "Queue above which every packet is marked. From `k_min` to `k_max` the chance rises in a straight "
        "line from 0 to `p_max`. Default: as `k_min`.";
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
        "`true`: the receiver of marked packets notifies the sender, and the sender slows that flow down "
        "(DCQCN, Zhu et al., \"Congestion Control for Large-Scale RDMA Deployments\", SIGCOMM 2015). Needs "
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
        "Shortest time between two notifications (CNPs, congestion notification packets) from a receiver to "
        "a sender. Default: the paper.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.dcqcn.cnp_interval = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.dcqcn.cnp_interval; };
  }
  {
    KeySpec& k = add("packet.dcqcn.alpha_timer", ValueType::time);
    k.fallback = "55 us";
    k.min = "1 ns";
    k.max = "1 s";
    k.description =
        "Time without a notification after which a flow lowers its estimate of the congestion, alpha, to (1 "
        "- g) alpha. It does so again after every further one. Default: the paper.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.dcqcn.alpha_timer = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.dcqcn.alpha_timer; };
  }
  {
    KeySpec& k = add("packet.dcqcn.rate_timer", ValueType::time);
    k.fallback = "55 us";
    k.min = "1 ns";
    k.max = "1 s";
    k.description = "Time after which a slowed flow raises its rate, again and again. Default: the paper.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.dcqcn.rate_timer = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.dcqcn.rate_timer; };
  }
  {
    KeySpec& k = add("packet.dcqcn.byte_counter", ValueType::size);
    k.fallback = "10 MB";
    k.min = "1 B";
    k.max = "1 TiB";
    k.description =
        "Bytes on the wire after which a slowed flow raises its rate, again and again. Default: the paper.";
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
        "the notification. Additive increase follows. Hyper increase follows when both have had so many. "
        "Default: the paper.";
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
    k.description = "Rate that additive increase adds to the target rate. Default: the paper, for 40 Gb/s.";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.dcqcn.rate_ai = std::get<Rate>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.dcqcn.rate_ai; };
  }
  {
    KeySpec& k = add("packet.dcqcn.rate_hai", ValueType::bandwidth);
    k.fallback = "400 Mb/s";
    k.min = "1 kb/s";
    k.max = "1000 PB/s";
    k.description =
        "Rate that hyper increase adds. The paper does not say. Default: ten times `rate_ai`, as in IEEE "
        "802.1Qau (50 and 5 Mb/s).";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.dcqcn.rate_hai = std::get<Rate>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.dcqcn.rate_hai; };
  }
  {
    KeySpec& k = add("packet.dcqcn.min_rate", ValueType::bandwidth);
    k.fallback = "5 Mb/s";
    k.min = "1 kb/s";
    k.max = "1000 PB/s";
    k.description = "Lowest rate of a flow. Default: IEEE 802.1Qau (ieee8021CnRpgMinRate).";
    k.set = [](Config& c, size_t, const Value& v) { c.packet.dcqcn.min_rate = std::get<Rate>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.packet.dcqcn.min_rate; };
  }
}

}  // namespace weft
