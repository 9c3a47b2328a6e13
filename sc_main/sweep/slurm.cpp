// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/sweep/slurm.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "configs/types.h"
#include "sc_main/sweep/point_result.h"
#include "sc_main/sweep/words.h"

extern char** environ;

namespace weft::sweep {
namespace {

namespace fs = std::filesystem;

struct Said {
  int code = 0;  ///< 127: there is no such program
  std::string text;
};

/// Runs a program of PATH and takes both of its streams.
Said ask(const std::vector<std::string>& words) {
  std::array<int, 2> fds{};
  if (::pipe2(fds.data(), O_CLOEXEC) != 0)
    throw UserError(ExitCode::internal, fmt::format("pipe: {}", std::strerror(errno)));
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fds[1], 1);
  posix_spawn_file_actions_adddup2(&actions, fds[1], 2);
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(fds[1]);
  Said said;
  if (failed != 0) {
    ::close(fds[0]);
    said.code = failed == ENOENT ? 127 : 126;
    said.text = std::strerror(failed);
    return said;
  }
  std::array<char, 4096> block{};
  while (true) {
    const ssize_t n = ::read(fds[0], block.data(), block.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    said.text.append(block.data(), static_cast<size_t>(n));
  }
  ::close(fds[0]);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  said.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return said;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  }
  return lines;
}

/// A path in a directive: % and quotes mean something there.
std::string directive_path(const std::string& path) {
  std::string out;
  for (const char c : path) {
    if (c == '"' || c == '\n' || c == '\\')
      throw UserError(ExitCode::usage,
                      fmt::format("--out {}: Slurm's script cannot hold this name; choose one without "
                                  "quotes, backslashes and line breaks",
                                  shell_word(path)));
    if (c == '%') out += '%';
    out += c;
  }
  return "\"" + out;
}

}  // namespace

std::string number_list(const std::vector<size_t>& numbers) {
  std::string out;
  for (size_t i = 0; i < numbers.size();) {
    size_t j = i;
    while (j + 1 < numbers.size() && numbers[j + 1] == numbers[j] + 1) ++j;
    out += fmt::format("{}{}", out.empty() ? "" : ",", numbers[i]);
    if (j > i) out += fmt::format("-{}", numbers[j]);
    i = j + 1;
  }
  return out;
}

std::string slurm_script(const SlurmJob& job, const SweepFolder& folder) {
  if (job.options.find('\n') != job.options.npos)
    throw UserError(ExitCode::usage, "--slurm-options: the options must be in one line");
  const std::string here = fs::current_path().string();
  const std::string logs = directive_path(fs::absolute(folder.path()).lexically_normal().string());
  std::string text =
      "#!/bin/bash\n"
      "# Written by weft sweep --slurm. Each task runs its share of the points and keeps them in a journal; "
      "what has\n"
      "# run is not run again.\n"
      "#SBATCH --job-name=weft-sweep\n"
      "#SBATCH --requeue\n"
      "#SBATCH --open-mode=append\n";
  text += fmt::format("#SBATCH --array={}\n", number_list(job.tasks));
  text += fmt::format("#SBATCH --output={}/task-%a.log\"\n", logs);
  if (!trimmed(job.options).empty()) text += fmt::format("#SBATCH {}\n", trimmed(job.options));
  text += fmt::format("cd {} || exit 1\n", shell_word(here));
  text += "exec " + shell_word(fs::read_symlink("/proc/self/exe").string());
  for (const std::string& word : job.command) text += " " + shell_word(word);
  text += fmt::format(" --task \"${{SLURM_ARRAY_TASK_ID}}/{}\"", job.of);
  if (!job.further.empty()) text += " --";
  for (const std::string& word : job.further) text += " " + shell_word(word);
  return text + "\n";
}

std::string submit(const std::string& script) {
  const Said said = ask({"sbatch", "--parsable", script});
  if (said.code == 127)
    throw UserError(
        ExitCode::usage,
        "--slurm: sbatch was not found in PATH; run this on a machine that submits to Slurm, leave --slurm "
        "out to use the processors of this machine, or give --dry-run to write the script only");
  if (said.code != 0)
    throw UserError(ExitCode::usage, fmt::format("--slurm: sbatch {} failed with exit code {}: {}; mend "
                                                 "--slurm-options, or ask the cluster's administrator",
                                                 script, said.code, error_text(said.text)));
  // Warnings may stand before it, and the cluster's name behind it.
  for (const std::string& line : split_lines(said.text))
    if (!line.empty() && line.front() >= '0' && line.front() <= '9') return line.substr(0, line.find(';'));
  throw UserError(ExitCode::usage, fmt::format("--slurm: sbatch named no job: {}; look for it with squeue",
                                               error_text(said.text)));
}

bool job_active(const std::string& job) {
  if (job.empty()) return false;
  const Said said = ask({"squeue", "--noheader", "--jobs", job});
  if (said.code == 0) return !trimmed(said.text).empty();
  // A job that ended long ago is not known any more.
  if (said.text.find("Invalid job id") != said.text.npos) return false;
  throw UserError(
      ExitCode::usage,
      fmt::format("--slurm: squeue could not say whether job {} is still there: {}; try again later, or give "
                  "--restart to forget the job and what it has run",
                  job, said.code == 127 ? "it was not found in PATH" : error_text(said.text)));
}

}  // namespace weft::sweep
