// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What a sweep keeps on disk: the journal's lines, whatever becomes of them; locks; what makes two sweeps the
// same.

#include "sc_main/sweep/journal.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "configs/types.h"
#include "sc_main/sweep/session.h"
#include "sc_main/sweep/slurm.h"
#include "tests/vcd/vcd_parser.h"

namespace weft::sweep {
namespace {

namespace fs = std::filesystem;

const Identity kIdentity = {{"the program", "weft 1"}, {"the file m.yaml", "contents 12"}};

PointResult result(size_t point, const std::string& text) {
  return {point, static_cast<int>(point % 2), {{"time_ns", text}, {"b\n\"c\"", "\xff\t"}}, "why, \"so\""};
}

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

template <typename Function>
std::string message(const Function& function) {
  try {
    function();
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST(Journal, ReadsWhatItWrites) {
  const std::string text =
      identity_line(kIdentity) + result_line(result(3, "1.5")) + result_line(result(0, "2"));
  const JournalContents contents = parse_journal(text);
  ASSERT_TRUE(contents.identity);
  EXPECT_EQ(*contents.identity, kIdentity);
  EXPECT_EQ(contents.whole_bytes, text.size());
  ASSERT_EQ(contents.results.size(), 2u);
  EXPECT_EQ(contents.results[0].point, 3u);
  EXPECT_EQ(contents.results[0].exit_code, 1);
  EXPECT_EQ(contents.results[0].error, "why, \"so\"");
  EXPECT_EQ(contents.results[0].values[0], std::make_pair(std::string("time_ns"), std::string("1.5")));
  EXPECT_EQ(contents.results[0].values[1].first, "b\n\"c\"");
  EXPECT_EQ(contents.results[1].point, 0u);
}

/// A kill may come at any byte.
TEST(Journal, EveryBeginningOfItCanBeGoneOnWith) {
  const vcd::test::TemporaryFolder folder;
  const std::string path = folder.file("journal");
  const std::string head = identity_line(kIdentity);
  const std::string one = result_line(result(0, "1"));
  const std::string whole = head + one + result_line(result(1, "2"));
  for (size_t bytes = 0; bytes <= whole.size(); ++bytes) {
    write(path, whole.substr(0, bytes));
    const JournalContents contents = read_journal(path);
    const size_t points = bytes == whole.size() ? 2 : bytes >= head.size() + one.size() ? 1 : 0;
    ASSERT_EQ(contents.results.size(), points) << bytes;
    JournalWriter(path, contents, kIdentity).append(result(7, "8"));
    const JournalContents after = read_journal(path);
    ASSERT_TRUE(after.identity) << bytes;
    EXPECT_EQ(*after.identity, kIdentity);
    ASSERT_EQ(after.results.size(), points + 1) << bytes;
    EXPECT_EQ(after.results.back().point, 7u);
  }
}

TEST(Journal, DamagedLinesDoNotCount) {
  const std::string head = identity_line(kIdentity);
  const std::string one = result_line(result(0, "1"));
  const std::string two = result_line(result(1, "2"));
  for (size_t at = 0; at + 1 < one.size(); ++at) {
    std::string damaged = one;
    damaged[at] = damaged[at] == '#' ? '%' : '#';
    const JournalContents contents = parse_journal(head + damaged + two);
    ASSERT_EQ(contents.results.size(), 1u) << at;
    EXPECT_EQ(contents.results[0].point, 1u);
  }
  // Right checksums, but of something else.
  for (const std::string body :
       {"[]", "{}", "5", "null", "{\"point\":-1,\"exit\":0,\"error\":\"\",\"values\":[]}",
        "{\"point\":1,\"exit\":0,\"error\":\"\",\"values\":[[1,2]]}",
        "{\"point\":1,\"exit\":0,\"error\":\"\",\"values\":[[\"a\"]]}", "{\"sweep\":[1]}", "{\"sweep\":5}",
        "{"}) {
    const std::string line = fingerprint(body) + " " + body + "\n";
    EXPECT_EQ(parse_journal(head + line + two).results.size(), 1u) << body;
    EXPECT_FALSE(parse_journal(line).identity) << body;
  }
  EXPECT_FALSE(parse_journal("").any);
  EXPECT_FALSE(parse_journal("no line break").any);
  EXPECT_TRUE(parse_journal("\n\n").any);
}

TEST(Journal, OneProcessAtATime) {
  const vcd::test::TemporaryFolder folder;
  const std::string path = folder.file("lock");
  EXPECT_EQ(FileLock::holder(path), "") << "there is no file";
  {
    const FileLock lock(path);
    const std::string mine = "process " + std::to_string(getpid());
    EXPECT_NE(FileLock::holder(path).find(mine), std::string::npos);
    EXPECT_NE(message([&] { const FileLock again(path); }).find("running already: " + mine),
              std::string::npos);
  }
  EXPECT_EQ(FileLock::holder(path), "");
  const FileLock free_again(path);
}

TEST(Journal, DifferencesAreNamed) {
  EXPECT_TRUE(differences(kIdentity, {kIdentity[1], kIdentity[0]}).empty()) << "in any order";
  const auto lines = differences(kIdentity, {{"the program", "weft 2"}, {"the file n.yaml", "contents 13"}});
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], "the program has changed: was weft 1; is weft 2");
  EXPECT_EQ(lines[1], "the file n.yaml was not part of it");
  EXPECT_EQ(lines[2], "the file m.yaml was part of it and is not now");
}

TEST(Journal, FilesAreKnownByTheirContents) {
  const vcd::test::TemporaryFolder folder;
  const auto identity = [&] {
    FilesIdentity files;
    files.add_if_files(folder.file("a.yaml"));
    files.add_if_files(folder.file("t"));
    files.add_if_files(folder.file("nothing"));
    files.add_if_files("");
    Identity all;
    files.append_to(all);
    return all;
  };
  write(folder.file("a.yaml"), "one");
  write(folder.file("t.0.et"), "trace");
  write(folder.file("t.12.et"), "trace");
  write(folder.file("t.x.et"), "no trace");
  const Identity before = identity();
  ASSERT_EQ(before.size(), 2u);
  EXPECT_NE(before[1].second.find("2 files"), std::string::npos);
  write(folder.file("a.yaml"), "one");
  EXPECT_TRUE(differences(before, identity()).empty()) << "written again with the same contents";
  write(folder.file("a.yaml"), "two");
  EXPECT_EQ(differences(before, identity()).size(), 1u);
  write(folder.file("t.12.et"), "longer trace");
  EXPECT_EQ(differences(before, identity()).size(), 2u);
  EXPECT_NE(program_identity().find("weft "), std::string::npos);
}

TEST(PointResults, JsonBecomesColumns) {
  const Values values = flatten_json(
      "{\"a\": 1, \"b\": {\"c\": [1.50, -2, {\"d\": true}], \"e\": null}, \"f\": \"x\", \"t\": "
      "12345678901234567.125, "
      "\"u\": 18446744073709551615, \"a\": 2, \"empty\": {}, \"none\": [], \"two\": [[1],[2]]}");
  const Values expected = {{"a", "1"},
                           {"b.c[0]", "1.50"},
                           {"b.c[1]", "-2"},
                           {"b.c[2].d", "true"},
                           {"b.e", ""},
                           {"f", "x"},
                           {"t", "12345678901234567.125"},
                           {"u", "18446744073709551615"},
                           {"two[0][0]", "1"},
                           {"two[1][0]", "2"}};
  EXPECT_EQ(values, expected);
  EXPECT_EQ(flatten_json("5"), (Values{{"value", "5"}}));
  EXPECT_NE(message([] { flatten_json("{\"a\": 1,"); }).find("no JSON"), std::string::npos);
  EXPECT_NE(message([] { flatten_json(""); }).find("no JSON"), std::string::npos);
}

TEST(PointResults, ErrorsBecomeOneLine) {
  EXPECT_EQ(error_text("weft: warning: w\nweft: error: stalled at 1 ns\n  rank 0: waits\n\n  rank 1\n"),
            "stalled at 1 ns / rank 0: waits / / rank 1");
  EXPECT_EQ(error_text("Segmentation fault\n"), "Segmentation fault");
  EXPECT_EQ(error_text(""), "");
  EXPECT_LE(error_text(std::string(100000, 'x')).size(), 2010u);
  EXPECT_TRUE(differs_by_run("results[0].wall_s"));
  EXPECT_TRUE(differs_by_run("peak_rss_MiB"));
  EXPECT_FALSE(differs_by_run("not_wall_s"));
}

class Sessions : public ::testing::Test {
 protected:
  std::string out() const { return folder_.file("r.csv"); }
  Session::Options with(bool restart) const {
    Session::Options options;
    options.restart = restart;
    return options;
  }
  vcd::test::TemporaryFolder folder_;
};

TEST_F(Sessions, GoOnWhereTheyWere) {
  {
    Session session(out(), kIdentity, 4, {});
    EXPECT_EQ(session.done(), 0u);
    session.add(result(2, "5"));
    EXPECT_NE(message([&] { const Session other(out(), kIdentity, 4, {}); }).find("running already"),
              std::string::npos);
  }
  {
    const Session session(out(), kIdentity, 4, {});
    EXPECT_EQ(session.done(), 1u);
    EXPECT_TRUE(session.results()[2].has_value());
  }
  const Identity other = {{"the program", "weft 2"}};
  EXPECT_NE(message([&] { const Session s(out(), other, 4, {}); }).find("was weft 1; is weft 2"),
            std::string::npos);
  const Session session(out(), other, 4, with(true));
  EXPECT_EQ(session.done(), 0u);
}

TEST_F(Sessions, FailedPointsCanBeTriedAgain) {
  Session::Options retry;
  retry.retry_failed = true;
  {
    Session session(out(), kIdentity, 4, {});
    session.add(result(1, "failed"));
    session.add(result(2, "5"));
  }
  {
    Session session(out(), kIdentity, 4, retry);
    EXPECT_EQ(session.done(), 1u);
    PointResult good = result(1, "6");
    good.exit_code = 0;
    session.add(good);
  }
  const Session session(out(), kIdentity, 4, {});
  EXPECT_TRUE(session.results()[1]->done());
}

TEST_F(Sessions, TasksHaveJournalsOfTheirOwn) {
  Session::Options task;
  task.kind = Session::Kind::task;
  task.task = 3;
  EXPECT_NE(message([&] { const Session s(out(), kIdentity, 4, task); }).find("no such sweep"),
            std::string::npos);
  { const Session submitted(out(), kIdentity, 4, {}); }
  {
    Session session(out(), kIdentity, 4, task);
    session.add(result(0, "1"));
    EXPECT_NE(
        message([&] { const Session s(out(), kIdentity, 4, {}); }).find("a task of this sweep is running"),
        std::string::npos);
  }
  const Session gathered(out(), kIdentity, 4, {});
  EXPECT_EQ(gathered.done(), 1u);
  const std::string damaged = read(gathered.folder().task_journal(3));
  EXPECT_NE(damaged.find("time_ns"), std::string::npos);
}

TEST_F(Sessions, OtherFilesAreLeftAlone) {
  write(out(), "precious data\n");
  EXPECT_NE(message([&] { const Session s(out(), kIdentity, 1, {}); }).find("not the results of a sweep"),
            std::string::npos);
  EXPECT_EQ(read(out()), "precious data\n");
  fs::remove(out());
  fs::create_symlink(folder_.file("elsewhere"), out());
  EXPECT_NE(message([&] { const Session s(out(), kIdentity, 1, {}); }), "");
  fs::remove(out());
  write(out() + ".sweep", "a file");
  EXPECT_NE(message([&] { const Session s(out(), kIdentity, 1, {}); }).find("cannot be made"),
            std::string::npos);
  fs::remove(out() + ".sweep");
  fs::create_directory(out() + ".sweep");
  write(out() + ".sweep/journal", "something else\n");
  EXPECT_NE(message([&] { const Session s(out(), kIdentity, 1, {}); }).find("damaged or not of a sweep"),
            std::string::npos);
}

TEST(Slurm, Scripts) {
  EXPECT_EQ(number_list({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  EXPECT_EQ(number_list({}), "");
  SlurmJob job;
  job.options = " --partition=long --time=1:00 ";
  job.tasks = {0, 1, 3};
  job.of = 4;
  job.command = {"sweep", "my machine.yaml", "--vary", "a='1 $x'"};
  job.further = {"--size", "1 MiB"};
  const std::string text = slurm_script(job, SweepFolder("/tmp/100 %.csv"));
  for (const char* part :
       {"#!/bin/bash\n", "#SBATCH --array=0-1,3\n", "#SBATCH --partition=long --time=1:00\n",
        "#SBATCH --output=\"/tmp/100 %%.csv.sweep/task-%a.log\"\n",
        " sweep 'my machine.yaml' --vary 'a='\\''1 $x'\\''' --task \"${SLURM_ARRAY_TASK_ID}/4\" -- --size '1 "
        "MiB'\n"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  job.options = "--x\nrm -rf";
  EXPECT_NE(message([&] { slurm_script(job, SweepFolder("a")); }).find("one line"), std::string::npos);
}

}  // namespace
}  // namespace weft::sweep
