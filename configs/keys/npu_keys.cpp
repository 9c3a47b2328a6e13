// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Keys of the NPUs.

#include "configs/keys/key_table.h"

namespace weft {
namespace {

template <auto Member>
constexpr Field in_npu = field<&Config::npu, Member>;

constexpr KeyRow kNpuKeys[] = {
    {"peak", Type::compute, "234 TFLOPS", from("1 MFLOPS", "1000 EFLOPS").or_word("none"),
     in_npu<&NpuConfig::peak_flops>,
     "Peak compute rate for the roofline. The default is an A100-class NPU in dense 16-bit arithmetic, as "
     "sustained. `none` leaves only the memory side."},
    {"memory_bandwidth", Type::bandwidth_value, "2 TB/s", kAnyBandwidth.or_word("none"),
     in_npu<&NpuConfig::memory_bandwidth>,
     "Memory bandwidth for the roofline. `none` leaves only the compute side."},
    {"roofline", Type::boolean, "false", kAny, in_npu<&NpuConfig::roofline>,
     "`true`: the roofline times every compute node that has operations or bytes; `false`: the recorded "
     "duration counts, and the roofline times only nodes without one."},
    {"model", Type::choice, "roofline",
     one_of({{"roofline", "operations over `peak`, or bytes over `memory_bandwidth` if that is longer"},
             {"systolic",
              "a matrix product with the attributes `m`, `k` and `n` takes the cycles of a systolic array of "
              "`rows` x `cols`, or its bytes over `memory_bandwidth` if that is longer; other nodes as with "
              "`roofline`"}}),
     in_npu<&NpuConfig::model>, "What times compute nodes."},
    {"rows", Type::integer, "128", from(1, 65536), in_npu<&NpuConfig::rows>,
     "Rows of processing elements of the systolic array."},
    {"cols", Type::integer, "128", from(1, 65536), in_npu<&NpuConfig::cols>,
     "Columns of processing elements of the systolic array."},
    {"dataflow", Type::choice, "ws",
     one_of({{"os", "output stationary"},
             {"ws", "weight stationary"},
             {"is", "input stationary"},
             {"ws_tpu", "weight stationary, weights loaded ahead: as in the files of ASTRA-sim 1.0"}}),
     in_npu<&NpuConfig::dataflow>, "What stays in the processing elements of the systolic array."},
    {"clock", Type::text, "1 GHz", at_least(1), in_npu<&NpuConfig::clock>,
     "Clock of the systolic array, in Hz, kHz, MHz or GHz."},
    {"cpu_slots", Type::integer, "1", from(1, 4096), in_npu<&NpuConfig::cpu_slots>,
     "CPU operations that an NPU's host runs at the same time."},
    {"compute_slots", Type::integer, "1", from(1, 4096), in_npu<&NpuConfig::compute_slots>,
     "GPU compute operations that an NPU runs at the same time."},
    {"implementation", Type::implementation, kDefaultNpuModel,
     one_of({{kDefaultNpuModel, "runs the nodes of a trace on compute slots, memories and its NMU"}}),
     in_npu<&NpuConfig::implementation>,
     "Model of the NPUs, for example a plugin's. `implementations` chooses models for single NPUs."},
};

}  // namespace

void add_npu_keys(KeyTable& table) {
  table.add("npu", kNpuKeys);
}

}  // namespace weft
