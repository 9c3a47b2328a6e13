// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/loading/jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "configs/job_name.h"
#include "configs/keys.h"
#include "configs/loading/plugins.h"
#include "configs/npu_list.h"

namespace weft::loading {
namespace {

class JobsResolver {
 public:
  JobsResolver(const RawConfig& raw, Config& config, Errors& errors)
      : raw_(raw), config_(config), errors_(errors), job_of_(config.npus(), kNone) {}

  void workload() {
    const auto it = raw_.values.find(find_key("workload.npus"));
    if (it == raw_.values.end()) return;
    config_.workload.npus = npus(it->second, "workload.npus");
    if (!raw_.jobs_origin.empty())
      errors_.add(it->second.origin, "workload.npus",
                  "is for the one job of `workload`; `jobs` have their own `npus`");
  }

  void jobs() {
    const RawConfig::Rules& list = raw_.jobs;
    if (!list.values.empty() && (!config_.workload.trace.empty() || !config_.workload.text.file.empty()))
      errors_.add(raw_.jobs_origin, kJobsPath,
                  config_.workload.trace.empty()
                      ? "and `workload.text` are both there; make the text of `workload` one of the jobs, or "
                        "remove one"
                      : "and `workload.trace` are both there; make the traces of `workload` one of the jobs, "
                        "or remove one");
    for (size_t i = 0; i < list.values.size(); ++i) {
      if (list.broken.count(i) == 0) add(i);
    }
  }

 private:
  static constexpr size_t kNone = ~size_t{0};

  void add(size_t i) {
    const std::string path = fmt::format("{}[{}]", kJobsPath, i);
    const auto get = [&](const char* name) -> const RawValue* {
      const auto it = raw_.jobs.values[i].find(find_key(std::string(kJobPrefix) + name));
      return it == raw_.jobs.values[i].end() ? nullptr : &it->second;
    };
    JobConfig job;
    job.name = fmt::format("job{}", i);
    if (get("npus") == nullptr)
      errors_.add(
          raw_.jobs.origins[i], path + ".npus",
          fmt::format("missing; add it: {}", allowed_values(*find_key(std::string(kJobPrefix) + "npus"))));
    check_source(i, path, get("trace"), get("text"));
    const RawValue* const name = get("name");
    if (name != nullptr) job.name = std::get<std::string>(name->value);
    check_name(job.name, i, name == nullptr ? raw_.jobs.origins[i] : name->origin, path + ".name");
    for (const auto& [key, written] : raw_.jobs.values[i]) {
      Value value = written.value;
      if (key->type == ValueType::path) value = absolute_path(std::get<std::string>(value), config_.file);
      key->set(job, value);
    }
    if (const RawValue* v = get("npus")) {
      job.workload.npus = npus(*v, path + ".npus");
      claim(job.workload.npus, i, *v, path + ".npus");
    }
    config_.jobs.push_back(std::move(job));
  }

  /// What runs: traces, or a text workload, whose keys mean nothing without it.
  void check_source(size_t i, const std::string& path, const RawValue* trace, const RawValue* text) {
    if (trace == nullptr && text == nullptr)
      errors_.add(raw_.jobs.origins[i], path + ".trace",
                  "missing; add it, the prefix of the job's traces, or `text`, a text workload");
    if (text != nullptr) {
      for (const char* const other : {"trace", "groups"}) {
        const auto at = raw_.jobs.values[i].find(find_key(std::string(kJobPrefix) + other));
        // effective.yaml writes `groups: ""` for none.
        if (at != raw_.jobs.values[i].end() && !std::get<std::string>(at->second.value).empty())
          errors_.add(at->second.origin, fmt::format("{}.{}", path, other),
                      fmt::format("given beside `text` (at {}); leave one of them out", text->origin));
      }
      return;
    }
    for (const char* const key : {"passes", "compute_scale", "comm_scale", "clock", "update", "state_cycles",
                                  "priorities", "model_parallel_dimensions"}) {
      const auto at = raw_.jobs.values[i].find(find_key(std::string(kJobPrefix) + key));
      if (at != raw_.jobs.values[i].end())
        errors_.add(at->second.origin, fmt::format("{}.{}", path, key),
                    "is for a job with `text`; remove it, or give the text workload");
    }
  }

  void check_name(const std::string& name, size_t job, const std::string& origin, const std::string& key) {
    if (const std::string why = job_name_error(name); !why.empty())
      errors_.add(origin, key, fmt::format("'{}' {}", name, why));
    const auto [other, fresh] = names_.emplace(name, job);
    if (!fresh)
      errors_.add(origin, key,
                  fmt::format("'{}' is the name of {}[{}]; give each job a name of its own", name, kJobsPath,
                              other->second));
  }

  std::vector<uint32_t> npus(const RawValue& value, const std::string& key) {
    try {
      return expand_npus(std::get<std::vector<std::string>>(value.value), config_.npus());
    } catch (const UserError& e) {
      errors_.add(value.origin, key,
                  fmt::format("{}; the machine's NPUs are 0 to {}", e.what(), config_.npus() - 1));
      return {};
    }
  }

  void claim(const std::vector<uint32_t>& npus, size_t job, const RawValue& value, const std::string& key) {
    for (const uint32_t npu : npus) {
      if (job_of_[npu] != kNone)
        return errors_.add(value.origin, key,
                           fmt::format("NPU {} has a rank of {}[{}] already; give the jobs different NPUs",
                                       npu, kJobsPath, job_of_[npu]));
    }
    for (const uint32_t npu : npus) job_of_[npu] = job;
  }

  const RawConfig& raw_;
  Config& config_;
  Errors& errors_;
  std::vector<size_t> job_of_;  ///< by NPU
  std::map<std::string, size_t> names_;
};

}  // namespace

void resolve_jobs(const RawConfig& raw, Config& config, Errors& errors) {
  JobsResolver resolver(raw, config, errors);
  resolver.workload();
  resolver.jobs();
}

}  // namespace weft::loading
