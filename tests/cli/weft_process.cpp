// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tests/cli/weft_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <sstream>

#include "tests/vcd/vcd_parser.h"

namespace weft::test {
namespace {

pid_t launch(const std::vector<std::string>& words, const std::string& out, const std::string& err) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const int nothing = open("/dev/null", O_RDONLY);
    const int o = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int e = open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(nothing, 0);
    dup2(o, 1);
    dup2(e, 2);
    setenv("WEFT", WEFT_BINARY, 1);
    unsetenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE");
    execvp(argv[0], argv.data());
    _exit(127);
  }
  return child;
}

Ran result(int status, const std::string& out, const std::string& err) {
  Ran ran;
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ran.out = read(out);
  ran.err = read(err);
  return ran;
}

Ran execute(const std::vector<std::string>& words) {
  const vcd::test::TemporaryFolder folder;
  const std::string out = folder.file("out");
  const std::string err = folder.file("err");
  const pid_t child = launch(words, out, err);
  int status = 0;
  waitpid(child, &status, 0);
  return result(status, out, err);
}

}  // namespace

RunningWeft::RunningWeft(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {WEFT_BINARY};
  words.insert(words.end(), arguments.begin(), arguments.end());
  // There from the beginning: a signal may come before the program has opened them.
  write(folder_.file("out"), "");
  write(folder_.file("err"), "");
  pid_ = launch(words, folder_.file("out"), folder_.file("err"));
}

RunningWeft::~RunningWeft() {
  if (ended_) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, &status_, 0);
}

void RunningWeft::signal(int number) const {
  if (!ended_) kill(pid_, number);
}

bool RunningWeft::running() {
  if (!ended_) ended_ = waitpid(pid_, &status_, WNOHANG) == pid_;
  return !ended_;
}

Ran RunningWeft::wait() {
  if (!ended_) waitpid(pid_, &status_, 0);
  ended_ = true;
  return result(status_, folder_.file("out"), folder_.file("err"));
}

bool Ran::says(const std::vector<std::string>& parts) const {
  return std::all_of(parts.begin(), parts.end(),
                     [this](const std::string& part) { return err.find(part) != std::string::npos; });
}

Ran weft(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {WEFT_BINARY};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return execute(words);
}

Ran shell(const std::string& command) {
  return execute({"/bin/sh", "-c", command});
}

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path << " cannot be read";
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::vector<std::map<std::string, std::string>> read_csv(const std::string& path) {
  const auto cells = [](const std::string& line) {
    std::vector<std::string> out(1);
    for (const char c : line)
      if (c == ',')
        out.emplace_back();
      else
        out.back() += c;
    return out;
  };
  std::istringstream in(read(path));
  std::string line;
  std::getline(in, line);
  const auto head = cells(line);
  std::vector<std::map<std::string, std::string>> rows;
  while (std::getline(in, line)) {
    const auto values = cells(line);
    EXPECT_EQ(values.size(), head.size()) << path << ": " << line;
    rows.emplace_back();
    for (size_t i = 0; i < std::min(head.size(), values.size()); ++i) rows.back()[head[i]] = values[i];
  }
  return rows;
}

uint64_t picoseconds(const std::string& nanoseconds) {
  const size_t dot = nanoseconds.find('.');
  std::string decimals = dot == std::string::npos ? "" : nanoseconds.substr(dot + 1);
  EXPECT_LE(decimals.size(), 3u) << nanoseconds;
  decimals.resize(3, '0');
  const std::string digits = nanoseconds.substr(0, dot) + decimals;
  EXPECT_EQ(digits.find_first_not_of("0123456789"), std::string::npos) << nanoseconds;
  return std::stoull(digits);
}

}  // namespace weft::test
