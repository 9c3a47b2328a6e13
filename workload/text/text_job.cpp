// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/text/text_job.h"

#include <fmt/format.h>

#include "workload/text/text_trace.h"

namespace weft::text {

TextJob make_text_job(const TextWorkloadConfig& text, const std::vector<uint32_t>& sizes,
                      const std::string& where) {
  LoopOptions options;
  options.passes = text.passes;
  options.compute_scale = text.compute_scale;
  options.comm_scale = text.comm_scale;
  options.clock_hz = parse_clock(text.clock, fmt::format("{}: key `workload.clock`", where));
  options.update_per_kib = text.update == "per_kib";
  options.state_cycles = text.state_cycles;
  options.file_priorities = text.priorities != "system";
  options.model_dimensions = text.model_dimensions;
  TextJob job;
  job.file = read_text_file(text.file);
  job.loop = make_loop(job.file, sizes, options);
  job.traces = encode(job.file, job.loop, sizes);
  return job;
}

namespace {

/// Rank r is NPU r, so that the machine's dimensions are the ranks'.
bool on_whole_machine(const Config& config, const WorkloadConfig& workload) {
  if (workload.npus.empty()) return true;
  if (workload.npus.size() != config.npus()) return false;
  for (size_t r = 0; r < workload.npus.size(); ++r)
    if (workload.npus[r] != r) return false;
  return true;
}

}  // namespace

TextJob make_text_job(const Config& config, const WorkloadConfig& workload) {
  std::vector<uint32_t> sizes;
  for (const DimensionConfig& dimension : config.dimensions) sizes.push_back(dimension.size);
  if (on_whole_machine(config, workload)) return make_text_job(workload.text, sizes, config.file);
  // Dimensions are the machine's. Some of its NPUs have none of their own: all ranks are one, which a
  // `model_parallel_NPU_group` splits.
  const TextFile file = read_text_file(workload.text.file);
  if ((file.loop != Loop::data && file.loop != Loop::model && file.loop != Loop::distributed_inference &&
       file.loop != Loop::micro && !file.model_group) ||
      !workload.text.model_dimensions.empty())
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: {} communicates over some of the machine's dimensions, but `workload.npus` puts the "
                    "job on a part of its NPUs; run it on the whole machine",
                    workload.text.file, to_string(file.loop)));
  return make_text_job(workload.text, {static_cast<uint32_t>(workload.npus.size())}, config.file);
}

}  // namespace weft::text
