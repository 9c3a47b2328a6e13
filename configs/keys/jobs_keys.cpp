// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Keys of jobs that share the machine. The loader resolves them (configs/loading/jobs.h).

#include "configs/keys/key_table.h"
#include "configs/npu_list.h"

namespace weft {
namespace {

/// The machine's NPUs are known to the loader only, which expands the ranges.
void leave_npus(JobConfig&, const Value&) {}
Value npus_of(const JobConfig& job) {
  return npu_items(job.workload.npus);
}

template <auto Member>
constexpr Field in_workload = field<&JobConfig::workload, Member>;

constexpr KeyRow kWorkloadNpus[] = {
    {"npus", Type::ranks, kOptional, kAny, no_field,
     "The machine's NPU of rank 0, 1, .. of the traces: a job on a part of the machine. Ranges run up or "
     "down: `[0..3, 7..4]`. Default: every NPU, rank r on NPU r."},
};

constexpr KeyRow kJobKeys[] = {
    {"name", Type::text, kOptional, at_least(1), field<&JobConfig::name>,
     "Name of the job, and of the folder of its results. Default: `job0`, `job1`, .."},
    {"trace", Type::path, kRequired, kAny, in_workload<&WorkloadConfig::trace>, "As `workload.trace`."},
    {"groups", Type::path, kOptional, kAny, in_workload<&WorkloadConfig::groups>, "As `workload.groups`."},
    {"strict", Type::boolean, kOptional, kAny, in_workload<&WorkloadConfig::strict>, "As `workload.strict`."},
    {"npus", Type::ranks, kRequired, kAny, custom_field<leave_npus, npus_of>,
     "As `workload.npus`. No NPU may have ranks of two jobs. NPUs without a job idle."},
};

}  // namespace

void add_jobs_keys(KeyTable& table) {
  table.add("workload", kWorkloadNpus);
  table.add("jobs[]", kJobKeys);
}

}  // namespace weft
