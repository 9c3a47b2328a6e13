// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Keys of the NMUs.

#include "configs/keys/key_table.h"

namespace weft {
namespace {

template <auto Member>
constexpr Field in_nmu = field<&Config::nmu, Member>;

constexpr KeyRow kNmuKeys[] = {
    {"endpoint_delay", Type::time, "0 ns", from("0 ns", "1 s"), in_nmu<&NmuConfig::endpoint_delay>,
     "Delay before the first send and after every receive of a collective's step."},
    {"injection_queue", Type::integer, "unlimited", from(1, 1048576).or_word("unlimited"),
     in_nmu<&NmuConfig::injection_queue>,
     "Own messages that a fabric port may hold, waiting or being sent. Messages leave in order: while the "
     "port of the next message is full, the NMU injects nothing."},
    {"injection_bandwidth", Type::bandwidth, "unlimited", kAnyBandwidth.or_word("unlimited"),
     in_nmu<&NmuConfig::injection_bandwidth>,
     "Rate at which the NMU's DMA feeds all its ports together, such as the limit of a NIC or a memory. "
     "Messages pass through the DMA in order. A port sends a message while it is still arriving."},
    {"implementation", Type::implementation, kDefaultNmuModel,
     one_of({{kDefaultNmuModel, "ports, routes, forwarding and the collective engine of its NPU"}}),
     in_nmu<&NmuConfig::implementation>,
     "Model of the NMUs, for example a plugin's. `implementations` chooses models for single NMUs."},
};

}  // namespace

void add_nmu_keys(KeyTable& table) {
  table.add("nmu", kNmuKeys);
}

}  // namespace weft
