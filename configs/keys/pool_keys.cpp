// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Keys of `memory.pool`.

#include "configs/keys/key_table.h"

namespace weft {
namespace {

template <auto Member>
constexpr Field in_pool = field<&Config::memory_pool, Member>;

using Pool = MemoryPoolConfig;

constexpr KeyRow kPoolKeys[] = {
    {"design", Type::choice, "hierarchical",
     one_of({{"hierarchical", "NPUs, in-node switches, out-node switches, memory groups"},
             {"multi_level", "as hierarchical, with the levels of switches that `levels` names"},
             {"ring", "nodes and groups in turns on a ring of links in both directions"},
             {"mesh", "nodes and groups on a mesh or torus, X before Y"},
             {"graph", "the memory groups of `topology.graph`"}}),
     in_pool<&Pool::design>, "How NPUs and memory groups are joined."},
    {"nodes", Type::integer, "1", from(1, 65536), in_pool<&Pool::nodes>,
     "Compute nodes. The machine's NPUs are divided among them in order."},
    {"out_switches", Type::integer, "1", from(1, 4096), in_pool<&Pool::out_switches>,
     "Out-node switches of a hierarchical pool. Each has a link to every node and to every group."},
    {"groups", Type::integer, "1", from(1, 65536), in_pool<&Pool::groups>, "Memory groups."},
    {"group_bandwidth", Type::bandwidth, kRequired, kAnyBandwidth, in_pool<&Pool::group_bandwidth>,
     "Total bandwidth of a memory group, a direction. Its links share it in equal parts."},
    {"out_node_bandwidth", Type::bandwidth, kOptional, kAnyBandwidth, in_pool<&Pool::out_node_bandwidth>,
     "Bandwidth of a link between an out-node and an in-node switch, a direction; in a ring or mesh: between "
     "neighbours. Default: `in_node_bandwidth`."},
    {"in_node_bandwidth", Type::bandwidth, kOptional, kAnyBandwidth, in_pool<&Pool::in_node_bandwidth>,
     "Bandwidth of the link between an in-node switch and an NPU, a direction. Required, but with `share`, "
     "where it is the dimension's."},
    {"latency", Type::time, "0 ns", from("0 ns", "1 s"), in_pool<&Pool::latency>,
     "Latency of a link of the pool."},
    {"request_latency", Type::time, "0 ns", from("0 ns", "1 s"), in_pool<&Pool::request_latency>,
     "Time from an NPU's request to load until the groups have it."},
    {"chunk", Type::size, "64 KiB", from("1 B", "1 TiB"), in_pool<&Pool::chunk>,
     "Bytes of the largest chunk. A chunk goes from switch to switch as a whole."},
    {"split", Type::choice, "fluid",
     one_of({{"fluid", "a chunk is spread over all NPUs that load or store at the time"},
             {"whole", "a chunk is of one NPU"}}),
     in_pool<&Pool::split>, "What a chunk holds."},
    {"striping", Type::choice, "latin",
     one_of(
         {{"latin", "a Latin square: chunk j of NPU u in group (j + u) mod R, by switch (u + j / R) mod S"},
          {"hash", "group and switch by a hash of NPU and chunk"},
          {"offset", "group (j + u) mod R, by switch (j + u) mod S"}}),
     in_pool<&Pool::striping>,
     "Where the chunks of a tensor are, with `split: whole`. R: groups, S: out-node switches. `fluid` "
     "spreads "
     "every chunk evenly."},
    {"levels", Type::text, "\"\"", kAny, in_pool<&Pool::levels>,
     "Of a multi_level pool: the numbers of switches above the in-node switches, upwards, between commas. "
     "Every switch has a link to every switch of the next level, and the highest ones to every group. An "
     "entry may have the bandwidth of a link downwards: `8, 4 x 512 GB/s`. Default: `out_switches`."},
    {"shape", Type::text, "\"\"", kAny, in_pool<&Pool::shape>,
     "Width and height of a mesh, such as `8x4`. Default: the most square one for nodes and groups."},
    {"placement", Type::choice, "interleaved",
     one_of({{"interleaved", "nodes and groups like the fields of a chess-board"},
             {"edge", "nodes on the whole mesh, groups at the left and the right end of every row"}}),
     in_pool<&Pool::placement>, "Where the groups of a mesh are."},
    {"wraparound", Type::boolean, "false", kAny, in_pool<&Pool::wraparound>, "`true`: the mesh is a torus."},
    {"capacity", Type::size, "unlimited", from("1 KiB", "1 PiB").or_word("unlimited"),
     in_pool<&Pool::capacity>, "Bytes of a memory group."},
    {"group_memory", Type::implementation, kDefaultMemoryModel,
     one_of({{kDefaultMemoryModel, "none: a group is a server of `group_bandwidth`"},
             {"bandwidth", "bytes / `group_bandwidth`, behind a socket"},
             {"cxl", "a CXL link with a Type-3 device"}}),
     in_pool<&Pool::group_memory>,
     "The memory of a group, asked over a TLM-2.0 socket: loads are read from it chunk by chunk, and stores "
     "end when it has written them."},
    {"efficiency", Type::number, "1", from("0.001", "1"), in_pool<&Pool::efficiency>,
     "Fraction of `group_bandwidth` that transfers reach."},
    {"buffer", Type::integer, "unlimited", from(1, 1048576).or_word("unlimited"), in_pool<&Pool::buffer>,
     "Chunks of partial sums that a switch holds for scatter_store. Where it is full, senders wait."},
    {"fidelity", Type::choice, "message",
     one_of({{"analytical", "rates of all transfers under way, shared max-min fair; no chunks"},
             {"message", "every chunk, or a chunk's part of an NPU, is a message"},
             {"packet", "packets, virtual channels and credits"}}),
     in_pool<&Pool::fidelity>, "How chunks cross the pool."},
    {"share", Type::integer, kOptional, from(0, 15), in_pool<&Pool::share>,
     "The Switch dimension whose lines are the compute nodes: its links between NPUs and switches are the "
     "pool's too, and collectives and the pool slow each other down there. Default: the pool has links of "
     "its "
     "own."},
};

}  // namespace

void add_pool_keys(KeyTable& table) {
  table.add("memory.pool", kPoolKeys);
}

}  // namespace weft
