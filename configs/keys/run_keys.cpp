// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Keys of workload, run and output.

#include <string>

#include "configs/keys/key_table.h"

namespace weft {

void add_run_keys(KeyTable& table) {
  const auto add = [&table](const std::string& path, ValueType type) -> KeySpec& {
    return table.add(path, type);
  };

  {
    KeySpec& k = add("workload.trace", ValueType::path);
    k.fallback = "\"\"";
    k.description =
        "Prefix of the Chakra execution traces: rank r reads `<prefix>.<r>.et`. The path is relative to the "
        "folder of the configuration file. Empty: no trace.";
    k.set = [](Config& c, size_t, const Value& v) { c.workload.trace = std::get<std::string>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.workload.trace; };
  }
  {
    KeySpec& k = add("workload.groups", ValueType::path);
    k.fallback = "\"\"";
    k.description =
        "JSON file of the communicator groups, `{\"name\": [rank, ..], ..}`. The path is relative to the "
        "folder of the configuration file. Empty: none.";
    k.set = [](Config& c, size_t, const Value& v) { c.workload.groups = std::get<std::string>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.workload.groups; };
  }
  {
    KeySpec& k = add("workload.strict", ValueType::boolean);
    k.fallback = "false";
    k.description =
        "`true`: a dependency on a node that the trace does not have is an error; `false`: it counts as "
        "met, and a warning says so.";
    k.set = [](Config& c, size_t, const Value& v) { c.workload.strict = std::get<bool>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.workload.strict; };
  }
  {
    KeySpec& k = add("run.seed", ValueType::integer);
    k.fallback = "1";
    k.min = "0";
    k.description = "Seed of every random number of the run.";
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
        "multiple of the type's size.";
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
    k.description = "Pattern of the signals to record as a waveform. Empty: none.";
    k.set = [](Config& c, size_t, const Value& v) { c.output.waves = std::get<std::string>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.output.waves; };
  }
  {
    KeySpec& k = add("output.waves_from", ValueType::time);
    k.fallback = "0 ps";
    k.description = "Simulated time at which the waveform begins.";
    k.set = [](Config& c, size_t, const Value& v) { c.output.waves_from = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.output.waves_from; };
  }
  {
    KeySpec& k = add("output.waves_to", ValueType::time);
    k.fallback = "end";
    k.zero_word = "end";
    k.description = "Simulated time at which the waveform ends. `end`: with the run.";
    k.set = [](Config& c, size_t, const Value& v) { c.output.waves_to = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.output.waves_to; };
  }
  {
    KeySpec& k = add("output.waves_budget", ValueType::size);
    k.fallback = "2 GiB";
    k.min = "1 KiB";
    k.max = "1 PiB";
    k.description =
        "Size that the waveform file never exceeds. The recording stops there, and the run says so.";
    k.set = [](Config& c, size_t, const Value& v) { c.output.waves_budget = std::get<uint64_t>(v); };
    k.get = [](const Config& c, size_t) -> Value { return c.output.waves_budget; };
  }
}

}  // namespace weft
