// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/graphviz.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "configs/types.h"
#include "sc_main/shell_word.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

/// A file with this text, gone at the end.
class TemporaryText {
 public:
  explicit TemporaryText(const std::string& text) : name_((folder() / "weft_dot_XXXXXX").string()) {
    const int file = mkstemp(name_.data());
    size_t written = 0;
    while (file >= 0 && written < text.size()) {
      const ssize_t more = ::write(file, text.data() + written, text.size() - written);
      if (more <= 0) break;
      written += static_cast<size_t>(more);
    }
    if (file >= 0) ::close(file);
    if (written != text.size()) {
      remove();
      throw UserError(ExitCode::internal,
                      fmt::format("{}: a temporary file cannot be written; free some space there, or set "
                                  "TMPDIR",
                                  name_));
    }
  }
  ~TemporaryText() { remove(); }
  TemporaryText(const TemporaryText&) = delete;
  TemporaryText& operator=(const TemporaryText&) = delete;

  const std::string& name() const { return name_; }

 private:
  /// /tmp, or what TMPDIR names, whether it is there or not.
  static fs::path folder() {
    std::error_code error;
    const fs::path path = fs::temp_directory_path(error);
    if (!error) return path;
    const char* const named = std::getenv("TMPDIR");
    return named != nullptr ? named : "/tmp";
  }
  void remove() const {
    std::error_code ignored;
    fs::remove(name_, ignored);
  }

  std::string name_;
};

}  // namespace

std::string svg_of(const std::string& dot) {
  const TemporaryText input(dot);
  std::FILE* const pipe = ::popen(("dot -Tsvg " + shell_word(input.name()) + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw UserError(ExitCode::internal, "no process can be started for Graphviz");
  std::string output;
  char buffer[65536];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, n);
  const int status = ::pclose(pipe);
  constexpr int kNotFound = 127;  // by a shell
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotFound)
    throw UserError(ExitCode::usage,
                    "--svg needs Graphviz, and there is no program `dot`; install Debian's package graphviz "
                    "(scripts/setup.sh does), or use --dot and draw it elsewhere");
  const size_t begin = output.find("<?xml");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || begin == output.npos)
    throw UserError(ExitCode::internal, fmt::format("Graphviz failed: {}", output.substr(0, 400)));
  return output.substr(begin);
}

}  // namespace weft::cli
