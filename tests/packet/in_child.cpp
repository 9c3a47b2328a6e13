// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "in_child.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <systemc>

#include "tests/support/paths.h"

// libsystemc refers to it; the tests have gtest's main.
int sc_main(int, char*[]) {
  return 0;
}

namespace weft::test {

std::string in_child(const std::function<std::string()>& body) {
  int fds[2];
  if (pipe(fds) != 0) return "died: no pipe";
  const pid_t pid = fork();
  if (pid < 0) return "died: no fork";
  if (pid == 0) {
    close(fds[0]);
    std::string text;
    try {
      text = body();
    } catch (const std::exception& e) {
      text = std::string("exception: ") + e.what();
    }
    size_t at = 0;
    while (at < text.size()) {
      const ssize_t n = write(fds[1], text.data() + at, text.size() - at);
      if (n <= 0) break;
      at += static_cast<size_t>(n);
    }
    _exit(0);
  }
  close(fds[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(fds[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(n));
  close(fds[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return "died: status " + std::to_string(status) + " " + text;
  return text;
}

void advance(Picoseconds t) {
  sc_core::sc_start(sc_core::sc_time::from_value(t));
}

std::string golden_root() {
  struct stat info;
  if (stat((data_dir() + "/golden").c_str(), &info) == 0) return data_dir();
  if (in_ci()) ADD_FAILURE() << "no golden data in " << data_dir();
  return {};
}

}  // namespace weft::test
