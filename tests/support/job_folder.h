// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A test of the `weft` program with a folder of its own: a machine, and a trace of few nodes for each rank.

#ifndef WEFT_TESTS_SUPPORT_JOB_FOLDER_H
#define WEFT_TESTS_SUPPORT_JOB_FOLDER_H

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/cli/weft_process.h"
#include "tests/trace/trace_files.h"
#include "tests/vcd/vcd_parser.h"

namespace weft::test {

class JobFolder : public ::testing::Test {
 protected:
  using Nodes = std::vector<trace::test::PbNode>;

  std::string at(const std::string& name) const { return folder_.file(name); }

  /// machine.yaml with this text; its path.
  std::string config(const std::string& text) const {
    write(at("machine.yaml"), text);
    return at("machine.yaml");
  }
  /// t.<rank>.et with these nodes.
  void traces(const std::vector<Nodes>& ranks) const {
    for (size_t r = 0; r < ranks.size(); ++r)
      trace::test::write_trace(at("t." + std::to_string(r) + ".et"), ranks[r]);
  }
  /// `weft run` of the traces on that machine, results in out.
  Ran run_traces(const std::string& machine, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"run", config(machine), "--trace", at("t"), "--out", at("out")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return weft(arguments);
  }

  vcd::test::TemporaryFolder folder_;
};

}  // namespace weft::test

#endif
