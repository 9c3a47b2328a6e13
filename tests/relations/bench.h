// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Where a relation runs weft: a folder, and the command line as a user gives it in that folder. Each run is a
// forked child of this process, so no program is loaded, and each elaborates a machine of its own.

#ifndef WEFT_TESTS_RELATIONS_BENCH_H
#define WEFT_TESTS_RELATIONS_BENCH_H

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/relations/case.h"

namespace weft::relations {

/// The relation says nothing about this case. Rare: a relation draws cases on which it says something.
struct Skipped {
  std::string why;
};

/// The relation does not hold. `kind` says what is wrong without numbers: a case is made smaller only as long
/// as the same is wrong.
struct Broken {
  std::string kind;
  std::string what;
};

/// Throws Broken unless `holds`.
void require(bool holds, const std::string& kind, const std::string& what);
/// Equal texts; the message shows the first line that differs.
void require_equal(const std::string& a, const std::string& b, const std::string& kind,
                   const std::string& what);
/// Equal times in picoseconds.
void require_same_time(uint64_t a, uint64_t b, const std::string& kind, const std::string& what);

/// Rows of a CSV file: column -> cell.
using Rows = std::vector<std::map<std::string, std::string>>;
Rows parse_csv(const std::string& text);
/// "1234.567" ns -> 1234567 ps.
uint64_t picoseconds(const std::string& nanoseconds);
uint64_t picoseconds(const nlohmann::json& nanoseconds);

struct Ran {
  int status = 0;  ///< exit status; 128 + n: killed by signal n
  std::string out, err;
  std::string command;

  /// The last line that says `error`, or all of the standard error.
  std::string error() const;
};

/// `weft collective --json`, done.
struct CollectiveResult {
  uint64_t time = 0;  ///< ps, of the last size
  uint64_t messages = 0;
  bool folded = false;
  nlohmann::json json;
  std::string err;
};

/// `weft run`, done.
struct RunResults {
  uint64_t time = 0;  ///< ps
  nlohmann::json summary;
  std::string folder;  ///< relative to the bench

  bool folded() const;
};

class Bench {
 public:
  explicit Bench(std::string folder) : folder_(std::move(folder)) {}

  const std::string& folder() const { return folder_; }
  const std::vector<std::string>& commands() const { return commands_; }

  void write(const std::string& name, const std::string& text);
  std::string read(const std::string& name) const;
  Rows csv(const std::string& name) const { return parse_csv(read(name)); }

  /// Any command. Broken: an internal error (exit status 1), a crash or more than a minute of processor time.
  Ran weft(std::vector<std::string> arguments);

  /// weft collective on `machine`, which is written to `name`.yaml. Throws Skipped if the configuration is
  /// refused, Broken if it does not end with status 0.
  CollectiveResult collective(const Machine& machine, const Collective& collective,
                              const std::string& name = "machine", const std::vector<std::string>& more = {});
  /// The same with a configuration that is there.
  CollectiveResult collective_file(const std::string& config, const Collective& collective,
                                   const std::vector<std::string>& more = {});
  /// weft run; the machine is written to `name`.yaml, the traces to `traces`, and the results to out_`name`.
  RunResults run(const Machine& machine, const Job& job, const std::string& name = "machine",
                 const std::vector<std::string>& more = {}, const std::string& traces = "job");
  /// The same with files that are there.
  RunResults run_files(const std::string& config, const std::string& traces, const std::string& out,
                       const std::vector<std::string>& more = {});

 private:
  void check(const Ran& ran);

  std::string folder_;
  std::vector<std::string> commands_;
};

}  // namespace weft::relations

#endif
