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

template <auto Member>
constexpr Field in_workload_if_set = field_if_set<&JobConfig::workload, Member>;

template <auto Member>
constexpr Field in_text = field_if_set<&JobConfig::workload, &WorkloadConfig::text, Member>;

constexpr KeyRow kWorkloadNpus[] = {
    {"npus", Type::ranks, kOptional, kAny, no_field,
     "The machine's NPU of rank 0, 1, .. of the traces: a job on a part of the machine. Ranges run up or "
     "down: `[0..3, 7..4]`. Default: every NPU, rank r on NPU r."},
};

constexpr KeyRow kJobKeys[] = {
    {"name", Type::text, kOptional, at_least(1), field<&JobConfig::name>,
     "Name of the job, and of the folder of its results. Default: `job0`, `job1`, .."},
    {"trace", Type::path, kOptional, kAny, in_workload_if_set<&WorkloadConfig::trace>,
     "As `workload.trace`. Either this or `text` is required."},
    {"text", Type::path, kOptional, kAny, in_text<&TextWorkloadConfig::file>,
     "As `workload.text`: a text workload in place of traces. The keys from `passes` to "
     "`model_parallel_dimensions` are for it."},
    {"passes", Type::integer, kOptional, from(1, 1000000), in_text<&TextWorkloadConfig::passes>,
     "As `workload.passes`."},
    {"compute_scale", Type::number, kOptional, from("0", "1000000000"),
     in_text<&TextWorkloadConfig::compute_scale>, "As `workload.compute_scale`."},
    {"comm_scale", Type::number, kOptional, from("0", "1000000000"), in_text<&TextWorkloadConfig::comm_scale>,
     "As `workload.comm_scale`."},
    {"clock", Type::text, kOptional, at_least(1), in_text<&TextWorkloadConfig::clock>,
     "As `workload.clock`."},
    {"update", Type::choice, kOptional, one_of({{"total", ""}, {"per_kib", ""}}),
     in_text<&TextWorkloadConfig::update>, "As `workload.update`."},
    {"state_cycles", Type::integer, kOptional, from(0, 1000000000),
     in_text<&TextWorkloadConfig::state_cycles>, "As `workload.state_cycles`."},
    {"priorities", Type::choice, kOptional, one_of({{"file_1.0", ""}, {"system", ""}}),
     in_text<&TextWorkloadConfig::priorities>, "As `workload.priorities`."},
    {"model_parallel_dimensions", Type::dimensions, kOptional, kAny,
     in_text<&TextWorkloadConfig::model_dimensions>, "As `workload.model_parallel_dimensions`."},
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
