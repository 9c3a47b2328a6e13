// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "source_rules.h"
#include "tests/support/paths.h"

namespace weft::test {
namespace {

const char kTag[] = "// SPDX-License-Identifier: Apache-2.0\n// Copyright the Weft authors\n";

std::string header(const std::string& guard, const std::string& body = "") {
  return std::string(kTag) + "#ifndef " + guard + "\n#define " + guard + "\n" + body + "\n#endif\n";
}

size_t count(const std::string& path, const std::string& text) {
  return violations({{path, text}}).size();
}
size_t including(const std::string& path, const std::string& target) {
  return count(path, kTag + std::string("#include ") + target + "\n");
}

TEST(Rooms, TheProjectKeepsItsRules) {
  const Sources sources = read_sources(weft::test::source_dir());
  ASSERT_GT(sources.size(), 20u);
  ASSERT_EQ(sources.count("vcd/vcd_writer.h"), 1u);
  for (const std::string& violation : violations(sources)) ADD_FAILURE() << violation;
}

// The checker must see each rule broken.

TEST(Rooms, TheDirectionOfIncludes) {
  const std::vector<std::string> rooms = {"sc_main",  "emulation",        "parts",   "cosim", "sc_models",
                                          "workload", "tlm_interconnect", "insight", "vcd",   "configs"};
  // Row: from; column: to; in the order above.
  const bool allowed[10][10] = {{true, true, true, true, true, true, true, true, true, true},
                                {false, true, false, false, true, true, false, true, false, true},
                                {false, false, true, false, true, false, false, false, false, true},
                                {false, false, false, true, true, true, true, true, true, true},
                                {false, false, false, false, true, true, true, true, true, true},
                                {false, false, false, false, false, true, false, true, false, true},
                                {false, false, false, false, false, false, true, false, true, true},
                                {false, false, false, false, false, false, false, true, false, true},
                                {false, false, false, false, false, false, false, false, true, false},
                                {false, false, false, false, false, false, false, false, false, true}};
  for (size_t from = 0; from < rooms.size(); ++from) {
    for (size_t to = 0; to < rooms.size(); ++to) {
      const std::string target = rooms[to] + "/any.h";
      EXPECT_EQ(including(rooms[from] + "/deep/x.cpp", "\"" + target + "\"") == 0, allowed[from][to])
          << rooms[from] << " to " << rooms[to];
      EXPECT_EQ(including(rooms[from] + "/x.cpp", "<" + target + ">") == 0, allowed[from][to]);
    }
    EXPECT_EQ(including(rooms[from] + "/x.cpp", "\"tests/any.h\""), 1u);
    EXPECT_EQ(including(rooms[from] + "/x.cpp", "\"bench/any.h\""), 1u);
    EXPECT_EQ(including(rooms[from] + "/x.cpp", "\"../vcd/any.h\""), 1u);
    EXPECT_EQ(including(rooms[from] + "/x.cpp", "\"fmt/format.h\""), 0u);
    EXPECT_EQ(including(rooms[from] + "/x.cpp", "<vector>"), 0u);
  }
  EXPECT_EQ(including("bench/x.cpp", "\"tests/any.h\""), 1u);
  EXPECT_EQ(including("tests/a/x.cpp", "\"sc_main/any.h\""), 0u);
}

TEST(Rooms, IncludesAreSeenHoweverTheyAreSpaced) {
  EXPECT_EQ(count("vcd/x.cpp", kTag + std::string("  #  include\t\"configs/types.h\"\n")), 1u);
  EXPECT_EQ(count("vcd/x.cpp", kTag + std::string("// #include \"configs/types.h\"\n")), 0u);
}

TEST(Rooms, IncludesBeginAtTheRoot) {
  const Sources sources = {{"vcd/x.cpp", kTag + std::string("#include \"y.h\"\n")},
                           {"vcd/y.h", header("WEFT_VCD_Y_H")}};
  EXPECT_EQ(violations(sources).size(), 1u);
}

TEST(Rooms, TheKernelStaysOutOfFourRooms) {
  for (const char* target :
       {"<systemc>", "<tlm>", "<tlm_utils/simple_target_socket.h>", "<sysc/kernel/sc_time.h>"}) {
    for (const char* room : {"workload", "insight", "vcd", "configs"}) {
      EXPECT_EQ(including(std::string(room) + "/x.h.cpp", target), 1u) << room << " " << target;
    }
    EXPECT_EQ(including("tlm_interconnect/x.cpp", target), 0u);
    EXPECT_EQ(including("sc_models/x.cpp", target), 0u);
  }
  EXPECT_EQ(including("sc_models/x.cpp", "<systemc.h>"), 1u);
  EXPECT_EQ(including("tests/x.cpp", "\"systemc.h\""), 1u);
}

TEST(Rooms, HeadersDoNotOpenNamespaces) {
  EXPECT_EQ(count("vcd/x.h", header("WEFT_VCD_X_H", "  using  namespace std;")), 1u);
  EXPECT_EQ(count("vcd/x.h", header("WEFT_VCD_X_H", "using std::swap;")), 0u);
  EXPECT_EQ(count("vcd/x.cpp", kTag + std::string("using namespace std;\n")), 0u);
}

TEST(Rooms, FidelityIsAskedForWhereCarriersAreChosen) {
  for (const char* asks : {"if (d.fidelity == Fidelity::packet) x();\n", "bool b = Fidelity::message != f;\n",
                           "    case Fidelity::analytical:\n"}) {
    const std::string text = kTag + std::string(asks);
    for (const char* path :
         {"sc_models/x.cpp", "sc_main/x.cpp", "workload/graph/x.cpp", "tlm_interconnect/x.h"})
      EXPECT_GE(count(path, text), 1u) << path << ": " << asks;
    for (const char* path : {"configs/blueprint/x.cpp", "configs/x.cpp", "tests/a/x.cpp"})
      EXPECT_EQ(count(path, text), 0u) << path << ": " << asks;
    EXPECT_EQ(count("sc_models/link_report.h", header("WEFT_SC_MODELS_LINK_REPORT_H", asks)), 0u) << asks;
  }
  EXPECT_EQ(count("sc_models/x.cpp", kTag + std::string("report.fidelity = Fidelity::packet;\n")), 0u);
}

TEST(Rooms, OnlyTheBlueprintKnowsKindsOfDimensions) {
  const std::string names = kTag + std::string("bool b = d.kind == weft::DimensionKind::ring;\n");
  for (const char* path : {"sc_models/x.cpp", "tlm_interconnect/packet/x.cpp", "workload/collectives/x.cpp",
                           "sc_main/x.cpp", "configs/x.cpp", "configs/describe.cpp", "examples/x/y.cpp"})
    EXPECT_EQ(count(path, names), 1u) << path;
  for (const char* path : {"configs/blueprint/x.cpp", "configs/notation.cpp", "configs/loading/x.cpp",
                           "configs/types.cpp", "tests/a/x.cpp", "bench/x.cpp"})
    EXPECT_EQ(count(path, names), 0u) << path;
  EXPECT_EQ(count("sc_models/x.cpp", kTag + std::string("// as DimensionKind::ring\nint DimensionKinds;\n")),
            0u);
}

TEST(Rooms, IncludeGuards) {
  EXPECT_EQ(count("vcd/x.h", header("WEFT_VCD_X_H")), 0u);
  EXPECT_EQ(count("vcd/x.h", header("VCD_X_H")), 1u);
  EXPECT_EQ(count("vcd/x.h", std::string(kTag) + "#pragma once\n"), 1u);
  EXPECT_EQ(count("vcd/x.h", std::string(kTag) + "#ifndef WEFT_VCD_X_H\n#define WEFT_VCD_Y_H\n#endif\n"), 1u);
  EXPECT_EQ(violations({{"vcd/x.h", header("WEFT_VCD_X_H")}, {"vcd/y.h", header("WEFT_VCD_X_H")}}).size(),
            1u);
}

TEST(Rooms, LicenceTags) {
  EXPECT_EQ(count("vcd/x.cpp", "int x;\n"), 1u);
  EXPECT_EQ(count("vcd/x.cpp", "// SPDX-License-Identifier: Apache-2.0\nint x;\n"), 1u);
  EXPECT_EQ(count("vcd/x.cpp", "\n\n\n" + std::string(kTag)), 1u);
  EXPECT_EQ(count("scripts/x.sh", "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n"), 0u);
  EXPECT_EQ(count("scripts/x.sh", "#!/bin/sh\n"), 1u);
  EXPECT_EQ(count("vcd/CMakeLists.txt", "project(x)\n"), 1u);
}

}  // namespace
}  // namespace weft::test
