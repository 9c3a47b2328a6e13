// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Keys of HBM and remote memory.

#include <fmt/format.h>

#include <string>

#include "configs/dram_spec.h"
#include "configs/keys/key_table.h"

namespace weft {

void add_memory_keys(KeyTable& table) {
  const auto add = [&table](const std::string& path, ValueType type) -> KeySpec& {
    return table.add(path, type);
  };

  {
    KeySpec& k = add("hbm.model", ValueType::choice);
    k.fallback = "bandwidth";
    k.choices = {{"bandwidth", true, "latency + bytes / (efficiency x bandwidth)"},
                 {"banked", true, "channels, banks, rows and refresh of `hbm.preset`"}};
    k.description = "Model of an NPU's HBM.";
    k.set = [](Config& c, size_t, const Value& v) { c.hbm.model = std::get<std::string>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.hbm.model; };
  }
  {
    KeySpec& k = add("hbm.implementation", ValueType::implementation);
    k.fallback = kDefaultMemoryModel;
    k.choices = {{kDefaultMemoryModel, true, "what `hbm.model` says"}};
    k.description = "The model in place of `hbm.model`, for example a plugin's.";
    k.set = [](Config& c, size_t, const Value& v) { c.hbm.implementation = std::get<std::string>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.hbm.implementation; };
  }
  {
    KeySpec& k = add("hbm.preset", ValueType::choice);
    k.fallback = "HBM3";
    for (const DramSpec& spec : dram_specs()) {
      k.choices.push_back(
          {std::string(spec.name), true, fmt::format("{:.6g} GB/s a stack", spec.stack_peak() * 1e-9)});
    }
    k.description =
        "Device of model `banked`: geometry and timing. configs/dram_spec.cpp has them with their sources.";
    k.set = [](Config& c, size_t, const Value& v) { c.hbm.preset = std::get<std::string>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.hbm.preset; };
  }
  {
    KeySpec& k = add("hbm.stacks", ValueType::integer);
    k.fallback = "5";
    k.min = "1";
    k.max = "64";
    k.description = "Stacks of an NPU, for model `banked`.";
    k.set = [](Config& c, size_t, const Value& v) { c.hbm.stacks = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.hbm.stacks}; };
  }
  {
    KeySpec& k = add("hbm.refresh", ValueType::choice);
    k.fallback = "all_bank";
    k.choices = {{"all_bank", true, "every tREFI all banks of a pseudo-channel for tRFC"},
                 {"per_bank", true, "one bank after the other, while the others go on"},
                 {"none", true, "never, to see what refresh costs"}};
    k.description = "Refresh of model `banked`.";
    k.set = [](Config& c, size_t, const Value& v) { c.hbm.refresh = std::get<std::string>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.hbm.refresh; };
  }
  {
    KeySpec& k = add("hbm.bandwidth", ValueType::bandwidth);
    k.fallback = "2 TB/s";
    k.min = kMinBandwidth;
    k.max = kMaxBandwidth;
    k.description =
        "Peak bandwidth of an NPU's HBM. Leave it out with model `banked`: there it follows from the stacks.";
    k.set = [](Config& c, size_t, const Value& v) { c.hbm.bandwidth = std::get<Rate>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.hbm.bandwidth; };
  }
  {
    KeySpec& k = add("hbm.latency", ValueType::time);
    k.fallback = "100 ns";
    k.min = "0 ns";
    k.max = "1 s";
    k.description =
        "Latency of one access. Leave it out with model `banked`: there it follows from the device.";
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
    k.description = "Fraction of the peak bandwidth that accesses reach, for model `bandwidth`.";
    k.set = [](Config& c, size_t, const Value& v) { c.hbm.efficiency = std::get<double>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.hbm.efficiency; };
  }
  {
    KeySpec& k = add("hbm.outstanding", ValueType::integer);
    k.fallback = "8";
    k.min = "1";
    k.max = "65536";
    k.description = "Requests that an NPU has in flight.";
    k.set = [](Config& c, size_t, const Value& v) { c.hbm.outstanding = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.hbm.outstanding}; };
  }
  {
    KeySpec& k = add("remote_memory.bandwidth", ValueType::bandwidth);
    k.required = true;
    k.min = kMinBandwidth;
    k.max = kMaxBandwidth;
    k.description = "Bandwidth of an NPU's link to the remote memory.";
    k.set = [](Config& c, size_t, const Value& v) { c.remote_memory->bandwidth = std::get<Rate>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.remote_memory->bandwidth; };
  }
  {
    KeySpec& k = add("remote_memory.latency", ValueType::time);
    k.fallback = "1 us";
    k.min = "0 ns";
    k.max = "1 s";
    k.description = "Latency of one remote access.";
    k.set = [](Config& c, size_t, const Value& v) { c.remote_memory->latency = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.remote_memory->latency; };
  }

  {
    KeySpec& k = add("remote_memory.implementation", ValueType::implementation);
    k.fallback = kDefaultMemoryModel;
    k.choices = {{kDefaultMemoryModel, true, "latency + bytes / bandwidth"}};
    k.description = "The model of the remote memory.";
    k.set = [](Config& c, size_t, const Value& v) {
      c.remote_memory->implementation = std::get<std::string>(v);
    };
    k.get = [](const Config& c, size_t) -> Value { return c.remote_memory->implementation; };
  }
}

}  // namespace weft
