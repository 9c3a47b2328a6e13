// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Keys of the NPUs.

#include <string>

#include "configs/keys/key_table.h"

namespace weft {

void add_npu_keys(KeyTable& table) {
  const auto add = [&table](const std::string& path, ValueType type) -> KeySpec& {
    return table.add(path, type);
  };

  {
    KeySpec& k = add("npu.peak", ValueType::compute);
    k.fallback = "234 TFLOPS";
    k.min = "1 MFLOPS";
    k.max = "1000 EFLOPS";
    k.zero_word = "none";
    k.description =
        "Peak compute rate for the roofline. The default is an A100-class NPU in dense 16-bit arithmetic, "
        "as sustained. `none` leaves only the memory side.";
    k.set = [](Config& c, size_t, const Value& v) { c.npu.peak_flops = std::get<double>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.npu.peak_flops; };
  }
  {
    KeySpec& k = add("npu.memory_bandwidth", ValueType::bandwidth_value);
    k.fallback = "2 TB/s";
    k.min = kMinBandwidth;
    k.max = kMaxBandwidth;
    k.zero_word = "none";
    k.description = "Memory bandwidth for the roofline. `none` leaves only the compute side.";
    k.set = [](Config& c, size_t, const Value& v) { c.npu.memory_bandwidth = std::get<double>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.npu.memory_bandwidth; };
  }
  {
    KeySpec& k = add("npu.roofline", ValueType::boolean);
    k.fallback = "false";
    k.description =
        "`true`: the roofline times every compute node that has operations or bytes; `false`: the recorded "
        "duration counts, and the roofline times only nodes without one.";
    k.set = [](Config& c, size_t, const Value& v) { c.npu.roofline = std::get<bool>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.npu.roofline; };
  }
  {
    KeySpec& k = add("npu.cpu_slots", ValueType::integer);
    k.fallback = "1";
    k.min = "1";
    k.max = "4096";
    k.description = "CPU operations that an NPU's host runs at the same time.";
    k.set = [](Config& c, size_t, const Value& v) { c.npu.cpu_slots = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.npu.cpu_slots}; };
  }
  {
    KeySpec& k = add("npu.compute_slots", ValueType::integer);
    k.fallback = "1";
    k.min = "1";
    k.max = "4096";
    k.description = "GPU compute operations that an NPU runs at the same time.";
    k.set = [](Config& c, size_t, const Value& v) { c.npu.compute_slots = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.npu.compute_slots}; };
  }
}

}  // namespace weft
