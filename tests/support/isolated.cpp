// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tests/support/isolated.h"

#include <sys/wait.h>
#include <unistd.h>

#include <exception>

#include "tests/support/kernel_warnings.h"

namespace weft::test {

Isolated isolated(const std::function<std::string()>& function) {
  int ends[2];
  if (pipe(ends) != 0) return {"pipe failed", 98};
  const pid_t child = fork();
  if (child < 0) return {"fork failed", 98};
  if (child == 0) {
    close(ends[0]);
    take_kernel_warnings();
    std::string text;
    int status = 0;
    try {
      text = function();
    } catch (const std::exception& e) {
      text = e.what();
      status = 99;
    }
    const std::string warnings = take_kernel_warnings();
    if (!warnings.empty()) {
      text += warnings;
      if (status == 0) status = 97;
    }
    size_t done = 0;
    while (done < text.size()) {
      const ssize_t n = write(ends[1], text.data() + done, text.size() - done);
      if (n <= 0) break;
      done += static_cast<size_t>(n);
    }
    close(ends[1]);
    _exit(status);
  }
  close(ends[1]);
  Isolated result;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;) {
    result.text.append(buffer, static_cast<size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace weft::test
