// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What makes two runs of `weft sweep` the same sweep, so that one may go on where the other was.

#ifndef WEFT_SC_MAIN_SWEEP_IDENTITY_H
#define WEFT_SC_MAIN_SWEEP_IDENTITY_H

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sc_main/sweep/axis.h"

namespace weft::sweep {

/// What it depends on, by name: a text that says what it is, or a fingerprint of it.
using Identity = std::vector<std::pair<std::string, std::string>>;

/// A hash of a text (FNV-1a, 64 bits) as 16 digits.
std::string fingerprint(std::string_view text);

/// Of the program that runs: its version and the id of its build, if the linker gave it one.
std::string program_identity();

/// "12 points of `npu.peak`, `--size`", with a fingerprint of all values.
std::string points_identity(const Grid& grid);

/// Collects files, each once.
class FilesIdentity {
 public:
  /// By contents if the file is small, else by size and time of change.
  void add_file(const std::string& path);
  /// Files PREFIX.<number>.et: names, sizes and times of change.
  void add_traces(const std::string& prefix);
  /// An argument of a command that names a file or the prefix of traces; any other text is left out.
  void add_if_files(const std::string& argument);

  void append_to(Identity& identity) const;

 private:
  std::set<std::pair<std::string, std::string>> found_;
};

/// What is not the same, one line each; empty if all is.
std::vector<std::string> differences(const Identity& then, const Identity& now);

}  // namespace weft::sweep

#endif
