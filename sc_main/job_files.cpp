// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/job_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "configs/document.h"
#include "configs/effective.h"
#include "configs/input_file.h"
#include "configs/job_name.h"
#include "configs/keys.h"
#include "configs/loader.h"
#include "configs/npu_list.h"
#include "sc_main/json_text.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& message) {
  throw UserError(ExitCode::usage, message);
}

/// The file holds nothing but its version and `workload`.
bool only_workload(const DocumentNode& root) {
  return root.kind == DocumentNode::Kind::map &&
         std::all_of(root.entries.begin(), root.entries.end(),
                     [](const DocumentEntry& e) { return e.key == "weft" || e.key == "workload"; });
}

/// A value as YAML in one line.
std::string one_line(const DocumentNode& node) {
  switch (node.kind) {
    case DocumentNode::Kind::null:
      return "null";
    case DocumentNode::Kind::scalar:
      return json_string(node.scalar);
    case DocumentNode::Kind::sequence: {
      std::string text;
      for (const DocumentNode& item : node.items) text += (text.empty() ? "" : ", ") + one_line(item);
      return "[" + text + "]";
    }
    case DocumentNode::Kind::map: {
      std::string text;
      for (const DocumentEntry& e : node.entries)
        text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", json_string(e.key), one_line(e.value));
      return "{" + text + "}";
    }
  }
  return "null";
}

/// The keys of the file as overrides of the machine's. Paths are relative to the file's folder.
std::vector<Override> as_overrides(const DocumentNode& root, const std::string& file) {
  std::vector<Override> overrides;
  for (const DocumentEntry& section : root.entries) {
    if (section.key != "workload") {
      overrides.push_back({section.key, one_line(section.value), section.origin});
      continue;
    }
    for (const DocumentEntry& e : section.value.entries) {
      DocumentNode value = e.value;
      const KeySpec* key = find_key("workload." + e.key);
      if (key != nullptr && key->type == ValueType::path && value.kind == DocumentNode::Kind::scalar &&
          !value.scalar.empty())
        value.scalar = fs::absolute(fs::path(file).parent_path() / value.scalar).lexically_normal().string();
      const bool scalar = value.kind == DocumentNode::Kind::scalar;
      overrides.push_back({"workload." + e.key, scalar ? value.scalar : one_line(value), e.origin});
    }
  }
  return overrides;
}

/// What two jobs on one machine must agree on.
std::string machine_text(Config config) {
  config.workload = {};
  config.jobs.clear();
  config.expect.clear();
  return effective_yaml(config);
}

void check_same_machine(const Config& first, const Config& other, const std::string& file) {
  std::istringstream one(machine_text(first));
  std::istringstream two(machine_text(other));
  std::string a;
  std::string b;
  while (true) {
    const bool more_a = static_cast<bool>(std::getline(one, a));
    const bool more_b = static_cast<bool>(std::getline(two, b));
    if (!more_a && !more_b) return;
    if (more_a && more_b && a == b) continue;
    const auto said = [](bool more, const std::string& line) {
      const size_t begin = line.find_first_not_of(' ');
      return more && begin != std::string::npos ? line.substr(begin) : std::string("nothing");
    };
    fail(fmt::format(
        "--job {}: describes another machine than {}: `{}` here, `{}` there; jobs share one machine, so "
        "let both files say the same, or keep only `workload` in the jobs' files and give the machine as "
        "CONFIG",
        file, first.file, said(more_b, b), said(more_a, a)));
  }
}

class Loader {
 public:
  explicit Loader(const WorkloadOptions& options) : options_(options) {
    if (!options.trace.empty() || options.has_groups)
      fail("--trace and --groups are for one job; with --job each file's `workload` names its traces");
    if (!options.text.empty() || options.passes != 0)
      fail("--text and --passes are for one job; leave them out, or --job");
    if (options.config.empty()) return;
    text_ = read_input(options.config, kConfigurationInput);
    machine_ = load_config(options.config, options.sets);
    if (!machine_.jobs.empty() || !machine_.workload.trace.empty() || !machine_.workload.text.file.empty())
      fail(fmt::format("{}: names traces itself; leave them out of the machine's file, or leave --job out",
                       options.config));
  }

  Config load() {
    for (const std::string& file : options_.jobs) add(file);
    for (JobConfig& job : machine_.jobs) job.workload.strict = job.workload.strict || options_.strict;
    machine_.workload = {};
    check_npus();
    return std::move(machine_);
  }

 private:
  void add(const std::string& file) {
    const DocumentNode root = read_document(read_input(file, kConfigurationInput), file);
    Config config;
    if (!only_workload(root)) {
      config = load_config(file, options_.sets);
      if (!config.jobs.empty())
        fail(fmt::format("--job {}: has `jobs` of its own; a job's file has one `workload`", file));
      if (machine_.dimensions.empty()) {
        machine_ = config;
      } else {
        check_same_machine(machine_, config, file);
      }
    } else if (options_.config.empty()) {
      fail(fmt::format(
          "--job {}: describes no machine; give the machine's configuration too: weft run MACHINE --job "
          "{} ..",
          file, file));
    } else {
      std::vector<Override> overrides = as_overrides(root, file);
      for (const std::string& set : options_.sets) overrides.push_back(parse_override(set));
      config = build_config(text_, options_.config, overrides);
    }
    const bool text = !config.workload.text.file.empty();
    if (text && !(config.workload.trace.empty() && config.workload.groups.empty()))
      fail(fmt::format("{}: `workload.text` and `workload.{}` are both set; leave one of them out", file,
                       config.workload.trace.empty() ? "groups" : "trace"));
    if (!text && config.workload.trace.empty())
      fail(fmt::format(
          "{}: key `workload.trace` is not set, so the job has nothing to run; set it to the prefix of its "
          "traces, or `workload.text` to a text workload",
          file));
    JobConfig job{fs::path(file).stem().string(), config.workload};
    if (const std::string why = job_name_error(job.name); !why.empty())
      fail(fmt::format("--job {}: the job's name '{}' {}; it is that of its file", file, job.name, why));
    for (const JobConfig& other : machine_.jobs)
      if (other.name == job.name)
        fail(fmt::format(
            "--job {}: another job's file is called `{}` too, and results are in folders of these names; "
            "rename one",
            file, job.name));
    machine_.jobs.push_back(std::move(job));
  }

  void check_npus() const {
    std::vector<const JobConfig*> job_of(machine_.npus(), nullptr);
    for (const JobConfig& job : machine_.jobs) {
      std::vector<uint32_t> npus = job.workload.npus;
      for (uint32_t n = 0; job.workload.npus.empty() && n < machine_.npus(); ++n) npus.push_back(n);
      for (const uint32_t n : npus) {
        if (job_of[n] != nullptr)
          fail(fmt::format(
              "jobs `{}` and `{}` both have a rank on NPU {}; give them different NPUs with "
              "`workload.npus`, for example `npus: [0..{}]`{}",
              job_of[n]->name, job.name, n, machine_.npus() / 2 - (machine_.npus() > 1 ? 1 : 0),
              job.workload.npus.empty() || job_of[n]->workload.npus.empty() ? " (a job without it has all)"
                                                                            : ""));
        job_of[n] = &job;
      }
    }
  }

  const WorkloadOptions& options_;
  std::string text_;  ///< of the machine's file
  Config machine_;
};

}  // namespace

Config load_jobs(const WorkloadOptions& options) {
  Config config = Loader(options).load();
  for (JobConfig& job : config.jobs) {
    if (!job.workload.npus.empty()) continue;
    for (uint32_t n = 0; n < config.npus(); ++n) job.workload.npus.push_back(n);
  }
  return config;
}

}  // namespace weft::cli
