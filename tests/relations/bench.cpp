// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tests/relations/bench.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "sc_main/command_line.h"
#include "sc_main/console.h"

namespace weft::relations {
namespace {

constexpr rlim_t kProcessorSeconds = 60;

/// What a child writes to one of its standard files.
class Capture {
 public:
  Capture() : file_(memfd_create("weft", 0)) {
    if (file_ < 0) throw std::runtime_error("memfd_create failed");
  }
  ~Capture() { close(file_); }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  void become(int descriptor) const { dup2(file_, descriptor); }
  std::string text() const {
    std::string text(static_cast<size_t>(lseek(file_, 0, SEEK_END)), '\0');
    const ssize_t n = pread(file_, text.data(), text.size(), 0);
    text.resize(n < 0 ? 0 : static_cast<size_t>(n));
    return text;
  }

 private:
  int file_;
};

[[noreturn]] void be_weft(const std::vector<std::string>& words) {
  const rlimit limit{kProcessorSeconds, kProcessorSeconds};
  setrlimit(RLIMIT_CPU, &limit);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  cli::leave(cli::run_command_line(static_cast<int>(words.size()), argv.data()));
}

std::string quoted(const std::string& word) {
  const std::string plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string first_difference(const std::string& a, const std::string& b) {
  std::istringstream left(a), right(b);
  std::string x, y;
  for (int line = 1;; ++line) {
    const bool has_x = static_cast<bool>(std::getline(left, x));
    const bool has_y = static_cast<bool>(std::getline(right, y));
    if (!has_x && !has_y) return "the same lines";
    if (!has_x) x = "(no line)";
    if (!has_y) y = "(no line)";
    if (x != y) return fmt::format("line {}: `{}` and `{}`", line, x, y);
  }
}

}  // namespace

void require(bool holds, const std::string& kind, const std::string& what) {
  if (!holds) throw Broken{kind, what};
}

void require_equal(const std::string& a, const std::string& b, const std::string& kind,
                   const std::string& what) {
  if (a != b) throw Broken{kind, what + ": " + first_difference(a, b)};
}

void require_same_time(uint64_t a, uint64_t b, const std::string& kind, const std::string& what) {
  if (a != b) throw Broken{kind, fmt::format("{}: {} ps and {} ps", what, a, b)};
}

Rows parse_csv(const std::string& text) {
  const auto cells = [](const std::string& line) {
    std::vector<std::string> out(1);
    for (const char c : line) {
      if (c == ',')
        out.emplace_back();
      else
        out.back() += c;
    }
    return out;
  };
  std::istringstream in(text);
  std::string line;
  std::getline(in, line);
  const auto head = cells(line);
  Rows rows;
  while (std::getline(in, line)) {
    const auto values = cells(line);
    rows.emplace_back();
    for (size_t i = 0; i < std::min(head.size(), values.size()); ++i) rows.back()[head[i]] = values[i];
  }
  return rows;
}

uint64_t picoseconds(const std::string& nanoseconds) {
  const size_t dot = nanoseconds.find('.');
  std::string decimals = dot == std::string::npos ? "" : nanoseconds.substr(dot + 1);
  decimals.resize(3, '0');
  const std::string digits = nanoseconds.substr(0, dot) + decimals;
  return digits.find_first_not_of("0123456789") == std::string::npos ? std::stoull(digits) : 0;
}

uint64_t picoseconds(const nlohmann::json& nanoseconds) {
  return static_cast<uint64_t>(std::llround(nanoseconds.get<double>() * 1000));
}

std::string Ran::error() const {
  const size_t at = err.rfind("weft: error:");
  return at == std::string::npos ? err : err.substr(at, err.find('\n', at) - at);
}

bool RunResults::folded() const {
  return summary.at("folding").at("simulated_ranks") != summary.at("npus") ||
         summary.at("folding").at("collectives") != 0;
}

void Bench::write(const std::string& name, const std::string& text) {
  std::ofstream out(folder_ + "/" + name, std::ios::binary);
  out << text;
  if (!out.flush()) throw std::runtime_error(folder_ + "/" + name + " cannot be written");
}

std::string Bench::read(const std::string& name) const {
  std::ifstream in(folder_ + "/" + name, std::ios::binary);
  if (!in) throw Broken{"no " + name, name + " was not written"};
  return {std::istreambuf_iterator<char>(in), {}};
}

void Bench::check(const Ran& ran) {
  const std::string where = ran.command + ": " + ran.error();
  require(ran.status != 1, "exit status 1", where);
  require(ran.status != 128 + SIGXCPU && ran.status != 128 + SIGKILL, "over a minute of processor time",
          where);
  require(ran.status < 128, fmt::format("killed by signal {}", ran.status - 128), where);
}

Ran Bench::weft(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "weft");
  Ran ran;
  for (const std::string& word : arguments) ran.command += (ran.command.empty() ? "" : " ") + quoted(word);
  commands_.push_back(ran.command);
  const Capture out, err;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    out.become(1);
    err.become(2);
    if (chdir(folder_.c_str()) != 0) _exit(97);
    be_weft(arguments);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ran.out = out.text();
  ran.err = err.text();
  check(ran);
  return ran;
}

CollectiveResult Bench::collective(const Machine& machine, const Collective& collective,
                                   const std::string& name, const std::vector<std::string>& more) {
  write(name + ".yaml", machine.yaml());
  return collective_file(name + ".yaml", collective, more);
}

CollectiveResult Bench::collective_file(const std::string& config, const Collective& collective,
                                        const std::vector<std::string>& more) {
  std::vector<std::string> words = {"collective", "--config", config, "--op", collective.op};
  const auto sizes = std::find(more.begin(), more.end(), "--sizes");
  if (sizes == more.end() && collective.op != "barrier") {
    words.insert(words.end(), {"--size", fmt::format("{} B", collective.bytes)});
  }
  if (rooted(collective.op)) words.insert(words.end(), {"--root", std::to_string(collective.root)});
  words.insert(words.end(), more.begin(), more.end());
  words.push_back("--json");
  const Ran ran = weft(words);
  if (ran.status == 2 || ran.status == 3) throw Skipped{"refused: " + ran.error()};
  require(ran.status == 0, fmt::format("exit status {}", ran.status), ran.command + ": " + ran.error());
  CollectiveResult result;
  result.json = nlohmann::json::parse(ran.out);
  result.time = picoseconds(result.json.at("results").back().at("time_ns"));
  result.messages = result.json.at("results").back().at("messages");
  result.folded = ran.err.find("weft: folded:") != std::string::npos;
  result.err = ran.err;
  return result;
}

RunResults Bench::run(const Machine& machine, const Job& job, const std::string& name,
                      const std::vector<std::string>& more, const std::string& traces) {
  write(name + ".yaml", machine.yaml());
  job.write(folder_ + "/" + traces, machine.npus());
  return run_files(name + ".yaml", traces, "out_" + name, more);
}

RunResults Bench::run_files(const std::string& config, const std::string& traces, const std::string& out,
                            const std::vector<std::string>& more) {
  std::vector<std::string> words = {"run", config, "--out", out, "--json"};
  if (!traces.empty()) words.insert(words.end(), {"--trace", traces, "--groups", traces + ".groups.json"});
  words.insert(words.end(), more.begin(), more.end());
  const Ran ran = weft(words);
  if (ran.status == 2 || ran.status == 3) throw Skipped{"refused: " + ran.error()};
  require(ran.status == 0, fmt::format("exit status {}", ran.status), ran.command + ": " + ran.error());
  RunResults result;
  result.summary = nlohmann::json::parse(ran.out);
  result.time = picoseconds(result.summary.at("time_ns"));
  result.folder = out;
  return result;
}

}  // namespace weft::relations
