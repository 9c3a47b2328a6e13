// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A small strict reader of the VCD files the tests write, independent of the writer.

#ifndef WEFT_TESTS_VCD_VCD_PARSER_H
#define WEFT_TESTS_VCD_VCD_PARSER_H

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace weft::vcd::test {

struct Change {
  uint64_t time;
  std::string
      value;  ///< vectors without leading zeros, as "b101"; reals "r..."; text "s..."; bits "0", "1", "x"
  bool operator==(const Change& o) const { return time == o.time && value == o.value; }
};

struct ParsedVcd {
  std::map<std::string, std::vector<Change>> changes;  ///< by full name, the initial dump included
  std::map<std::string, std::string> declared;         ///< full name -> "wire 8", "real 64"
  std::map<std::string, std::string> codes;            ///< full name -> identifier code
  std::vector<uint64_t> times;                         ///< every '#', in order
  std::vector<std::string> comments;
  uint64_t dump_time = 0;  ///< of $dumpvars
  bool dumped = false;
};

/// Throws std::runtime_error with the line where the text is not what IEEE 1364 allows or time goes back.
ParsedVcd parse_vcd(const std::string& text);

std::string read_file(const std::string& path);

/// A fresh folder that is removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace weft::vcd::test

#endif
