// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Keys of the NMUs.

#include <string>

#include "configs/keys/key_table.h"

namespace weft {

void add_nmu_keys(KeyTable& table) {
  const auto add = [&table](const std::string& path, ValueType type) -> KeySpec& {
    return table.add(path, type);
  };

  {
    KeySpec& k = add("nmu.endpoint_delay", ValueType::time);
    k.fallback = "0 ns";
    k.min = "0 ns";
    k.max = "1 s";
    k.description = "Delay before the first send and after every receive of a collective's step.";
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
        "Own messages that a fabric port may hold, waiting or being sent. Messages leave in order: while "
        "the port of the next message is full, the NMU injects nothing.";
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
        "Rate at which the NMU's DMA feeds all its ports together, such as the limit of a NIC or a memory. "
        "Messages pass through the DMA in order. A port sends a message while it is still arriving.";
    k.set = [](Config& c, size_t, const Value& v) { c.nmu.injection_bandwidth = std::get<Rate>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.nmu.injection_bandwidth; };
  }
}

}  // namespace weft
