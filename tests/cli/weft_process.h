// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Runs the weft program as a user does, and reads what it leaves.

#ifndef WEFT_TESTS_CLI_WEFT_PROCESS_H
#define WEFT_TESTS_CLI_WEFT_PROCESS_H

#include <map>
#include <string>
#include <vector>

#include "tests/vcd/vcd_parser.h"

namespace weft::test {

struct Ran {
  int status = 0;  ///< exit status; 128 + n: killed by signal n
  std::string out, err;

  /// Every part is in the standard error.
  bool says(const std::vector<std::string>& parts) const;
};

/// weft with these arguments.
Ran weft(const std::vector<std::string>& arguments);
/// A shell's command line, in which $WEFT is the program.
Ran shell(const std::string& command);

/// weft that goes on while the test does, its output in files.
class RunningWeft {
 public:
  explicit RunningWeft(const std::vector<std::string>& arguments);
  ~RunningWeft();
  RunningWeft(const RunningWeft&) = delete;
  RunningWeft& operator=(const RunningWeft&) = delete;

  void signal(int number) const;
  bool running();
  /// Until it ends.
  Ran wait();

 private:
  vcd::test::TemporaryFolder folder_;
  int pid_ = -1;
  int status_ = 0;
  bool ended_ = false;
};

/// A file's text; fails the test if it cannot be read.
std::string read(const std::string& path);
void write(const std::string& path, const std::string& text);

/// A CSV file without quotes as rows of column -> cell.
std::vector<std::map<std::string, std::string>> read_csv(const std::string& path);

/// "1234.567" ns -> 1234567 ps; fails the test if it is no such number.
uint64_t picoseconds(const std::string& nanoseconds);

}  // namespace weft::test

#endif
