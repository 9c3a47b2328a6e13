// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/console.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "configs/printable.h"
#include "cosim/clock/rtl_trace.h"
#include "vcd/vcd_writer.h"

namespace weft::cli {
namespace {

const auto kBegin = std::chrono::steady_clock::now();

int output_error = 0;  ///< errno of the first failure to write the standard output

/// A name from a file must not steer the terminal: of control characters only the line's end and the tab
/// pass.
void write_printable(std::string_view text, std::FILE* file) {
  const std::string shown = printable(text, "\n\t");
  errno = 0;
  if (std::fwrite(shown.data(), 1, shown.size(), file) != shown.size() && file == stdout && output_error == 0)
    output_error = errno;
}

}  // namespace

void print(std::string_view text) {
  write_printable(text, stdout);
}

void note(std::string_view text) {
  write_printable(text, stderr);
  if (text.empty() || text.back() != '\n') std::fputc('\n', stderr);
}

void warn(std::string_view text) {
  note(fmt::format("weft: warning: {}", text));
}

void print_results(const std::string& table, bool json, const std::function<std::string()>& summary) {
  if (json) {
    print(summary());
    note(table);
  } else {
    print(table);
  }
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - kBegin).count();
}

double peak_rss_MiB() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void leave(ExitCode code) {
  vcd::VcdWriter::flush_all();
  cosim::close_traces();
  errno = 0;
  if (std::fflush(stdout) != 0 && output_error == 0) output_error = errno;
  if (output_error != 0 || std::ferror(stdout) != 0) {
    note(fmt::format(
        "weft: error: the standard output cannot be written: {}; free some space or redirect it elsewhere",
        std::strerror(output_error)));
    if (code == ExitCode::done) code = ExitCode::internal;
  }
  std::fflush(stderr);
  std::_Exit(static_cast<int>(code));
}

}  // namespace weft::cli
