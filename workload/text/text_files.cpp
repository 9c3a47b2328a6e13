// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/text/text_files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "configs/stop.h"

namespace weft::text {
namespace {

namespace fs = std::filesystem;

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file) return;
  const std::string reason = std::strerror(errno);
  std::error_code ignored;
  fs::remove(path, ignored);
  throw UserError(
      ExitCode::internal,
      fmt::format("{}: cannot be written: {}. Make room, or give --out another folder.", path, reason));
}

}  // namespace

WrittenTraces write_traces(const TextJob& job, const std::string& out, const std::string& name) {
  if (name.empty() || name.find('/') != std::string::npos)
    throw UserError(
        ExitCode::usage,
        fmt::format("--name is \"{}\"; give the name of a file without folders, for example \"text\"", name));
  std::error_code error;
  fs::create_directories(out, error);
  if (error || !fs::is_directory(out, error))
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: the folder cannot be created: {}; give --out a folder that can be written", out,
                    error ? error.message() : "a file of that name is in the way"));
  WrittenTraces written;
  written.prefix = (fs::path(out) / name).string();
  written.ranks = static_cast<uint32_t>(job.traces.of_rank.size());
  written.nodes_a_rank = job.loop.nodes.size();
  const std::string beyond = fmt::format("{}.{}.et", written.prefix, written.ranks);
  if (fs::exists(beyond, error))
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: is there already, but this job has only ranks 0 to {}; remove the older traces, or "
                    "choose another --out or --name",
                    beyond, written.ranks - 1));
  for (uint32_t r = 0; r < written.ranks; ++r) {
    check_stop();
    write_file(fmt::format("{}.{}.et", written.prefix, r), *job.traces.of_rank[r]);
    written.bytes += job.traces.of_rank[r]->size();
  }
  if (job.traces.groups.empty()) return written;
  written.groups = written.prefix + ".groups.json";
  write_file(written.groups, job.traces.groups);
  return written;
}

}  // namespace weft::text
