// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Keys of jobs that share the machine. The loader resolves them (configs/loading/jobs.h).

#include <string>

#include "configs/keys/key_table.h"

namespace weft {

void add_jobs_keys(KeyTable& table) {
  const auto add = [&table](const std::string& path, ValueType type, const char* description) -> KeySpec& {
    KeySpec& k = table.add(path, type);
    k.optional = true;
    k.description = description;
    return k;
  };
  add("workload.npus", ValueType::ranks,
      "The machine's NPU of rank 0, 1, .. of the traces: a job on a part of the machine. Ranges run up or "
      "down: "
      "`[0..3, 7..4]`. Default: every NPU, rank r on NPU r.");
  add("jobs[].name", ValueType::text,
      "Name of the job, and of the folder of its results. Default: `job0`, `job1`, ..")
      .min = "1";
  KeySpec& trace = add("jobs[].trace", ValueType::path, "As `workload.trace`.");
  trace.optional = false;
  trace.required = true;
  add("jobs[].groups", ValueType::path, "As `workload.groups`.");
  add("jobs[].strict", ValueType::boolean, "As `workload.strict`.");
  KeySpec& npus = add("jobs[].npus", ValueType::ranks,
                      "As `workload.npus`. No NPU may have ranks of two jobs. NPUs without a job idle.");
  npus.optional = false;
  npus.required = true;
}

}  // namespace weft
