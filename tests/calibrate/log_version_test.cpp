// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/calibrate/log_version.h"

#include <gtest/gtest.h>

namespace weft::calibrate {
namespace {

LogVersion of(const std::vector<std::string>& versions, LibraryKind kind = LibraryKind::nccl) {
  std::vector<Measurement> tables(versions.size());
  for (size_t i = 0; i < versions.size(); ++i) tables[i].version = versions[i];
  return version_of(tables, kind);
}

TEST(LogVersion, AsLogsWriteThem) {
  for (const char* text : {"2.26.2+cuda12.8", "2.26", "2.26.6-1", "22602", "NCCL 2.26.2"}) {
    EXPECT_EQ(of({text}).version, "2.26") << text;
    EXPECT_EQ(of({text}).note, "") << text;
  }
  EXPECT_EQ(of({"21903"}).version, "2.19");
  EXPECT_EQ(of({"2.20.5+hip6.2"}, LibraryKind::rccl).version, "2.20");
}

TEST(LogVersion, LogsThatNameNone) {
  EXPECT_EQ(of({}).version, "");
  EXPECT_EQ(of({"", "git", "2.", "2.x"}).version, "");
  EXPECT_EQ(of({"", "2.26.2"}).version, "2.26");
}

TEST(LogVersion, VersionsWithoutTablesAndSeveral) {
  const LogVersion old = of({"2.4.8"});
  EXPECT_NE(old.version, "2.4");
  EXPECT_NE(old.note.find("2.4.8"), std::string::npos) << old.note;
  EXPECT_NE(old.note.find(old.version), std::string::npos) << old.note;
  EXPECT_EQ(of({"2804"}).version, old.version) << "2.8.4";
  EXPECT_NE(of({"99.1"}).note, "");
  const LogVersion both = of({"2.26.2", "2.27.3"});
  EXPECT_EQ(both.version, "");
  EXPECT_NE(both.note.find("2.26.2 and 2.27.3"), std::string::npos) << both.note;
  EXPECT_EQ(of({"2.26.2", "2.26.6"}).note, "");
}

}  // namespace
}  // namespace weft::calibrate
