// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Logs of several versions of nccl-tests and rccl-tests, written by hand after the sources of their printing
// functions; times and bandwidths are made up and agree with each other.

#include "sc_main/calibrate/nccl_log.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/calibrate/messages.h"

namespace weft::calibrate {
namespace {

std::vector<Measurement> read(const std::string& text, const ReadOptions& options = {}) {
  return parse_nccl_log(text, "run.log", options);
}

/// Version 2.13 and later, eight ranks on two hosts.
const std::string kHeader =
    R"(# nThread 1 nGpus 1 minBytes 1024 maxBytes 1048576 step: 4(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#
# Using devices
#  Rank  0 Group  0 Pid  70211 on  ip-10-0-1 device  0 [0x53] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid  70212 on  ip-10-0-1 device  1 [0x64] NVIDIA H100 80GB HBM3
#  Rank  2 Group  0 Pid   9921 on  ip-10-0-2 device  0 [0x53] NVIDIA H100 80GB HBM3
#  Rank  3 Group  0 Pid   9922 on  ip-10-0-2 device  1 [0x64] NVIDIA H100 80GB HBM3
NCCL version 2.21.5+cuda12.4
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
)";
const std::string kRows =
    R"(        1024           256     float     sum      -1    30.12    0.03    0.05      0    29.80    0.03    0.05      0
        4096          1024     float     sum      -1    31.02    0.13    0.20      0    30.50    0.13    0.20      0
       16384          4096     float     sum      -1    33.10    0.49    0.74      0    32.60    0.50    0.75      0
       65536         16384     float     sum      -1    40.40    1.62    2.43      0    39.90    1.64    2.46      0
      262144         65536     float     sum      -1    66.60    3.94    5.90      0    65.20    4.02    6.03      0
     1048576        262144     float     sum      -1    110.3    9.51   14.26      0    108.8    9.64   14.46      0
)";
const std::string kTrailer = R"(# Out of bounds values : 0 OK
# Avg bus bandwidth    : 4.0012
#
)";
const std::string kLog = kHeader + kRows + kTrailer;

TEST(NcclLog, ReadsALogOfTheNewColumns) {
  const std::vector<Measurement> tables = read(kLog);
  ASSERT_EQ(tables.size(), 1u);
  const Measurement& t = tables[0];
  EXPECT_EQ(t.operation, CollectiveOp::all_reduce);
  EXPECT_EQ(t.ranks, 4u);
  EXPECT_EQ(t.nodes, 2u);
  EXPECT_EQ(t.version, "2.21.5+cuda12.4");
  EXPECT_EQ(t.datatype, "float");
  ASSERT_EQ(t.rows.size(), 6u);
  EXPECT_EQ(t.rows[0].bytes, 1024u);
  EXPECT_DOUBLE_EQ(t.rows[0].us, 29.80);
  EXPECT_EQ(t.rows[5].bytes, 1048576u);
  EXPECT_DOUBLE_EQ(t.rows[5].us, 108.8);
  EXPECT_EQ(t.rows[5].number, 6u);
  EXPECT_TRUE(t.remarks.empty());
}

TEST(NcclLog, TheOtherColumn) {
  ReadOptions options;
  options.column = Column::out_of_place;
  EXPECT_DOUBLE_EQ(read(kLog, options)[0].rows[0].us, 30.12);
}

// Version 2.0 to 2.12: no root, no `agg iters`, an error in the place of a count.
TEST(NcclLog, ReadsALogOfTheOldColumns) {
  const std::string log =
      R"(# nThread 1 nGpus 8 minBytes 8 maxBytes 33554432 step: 2048(factor) warmup iters: 5 iters: 20 validation: 1
#
# Using devices
#   Rank  0 Pid  45871 on       dgx1 device  0 [0x06] Tesla V100-SXM2-16GB
#   Rank  1 Pid  45871 on       dgx1 device  1 [0x07] Tesla V100-SXM2-16GB
#
#                                                     out-of-place                       in-place
#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error
#        (B)    (elements)                     (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           8             2   float     sum    27.90    0.00    0.00  1e-07    27.60    0.00    0.00  1e-07
       16384          4096   float     sum    30.00    0.55    0.55  5e-07    29.00    0.56    0.56  5e-07
    33554432       8388608   float     sum   700.00   47.93   47.93  5e-07   690.00   48.63   48.63  5e-07
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 16.3
)";
  const Measurement t = read(log)[0];
  EXPECT_EQ(t.operation, CollectiveOp::all_reduce) << "by the reduction, without a root";
  EXPECT_EQ(t.ranks, 2u);
  EXPECT_EQ(t.nodes, 1u);
  ASSERT_EQ(t.rows.size(), 3u) << "an error of 1e-07 is no wrong element";
  EXPECT_DOUBLE_EQ(t.rows[2].us, 690);
}

// Version 1: other names, milliseconds.
TEST(NcclLog, ReadsMillisecondsOfTheFirstVersion) {
  const std::string log = R"(# NCCL Tests compiled with NCCL 2.0
#                                                 out-of-place                    in-place
#      bytes             N    type      op     time  algbw  busbw      res     time  algbw  busbw      res
        1024           256   float     sum    0.028   0.04   0.06    0e+00    0.027   0.04   0.06    0e+00
     1048576        262144   float     sum    0.110   9.53  14.30    0e+00    0.108   9.71  14.56    0e+00
)";
  const Measurement t = read(log)[0];
  ASSERT_EQ(t.rows.size(), 2u);
  EXPECT_DOUBLE_EQ(t.rows[1].us, 108);
  EXPECT_TRUE(t.remarks.empty()) << t.remarks[0];
}

TEST(NcclLog, ReadsRcclTests) {
  const std::string log = R"(# Collective test starting: all_gather_perf
# nThread: 1 nGpus: 8 minBytes: 1048576 maxBytes: 4194304 step: 2(factor) warmupIters: 5 iters: 20 aggIters: 1 validation: 1 graph: 0
#
rccl-tests: Version develop:5f8d36f
# Using devices
#   Rank  0 Pid  72563 on mi300-node device  0 [0000:0c:00.0] AMD Instinct MI300X
#   Rank  1 Pid  72563 on mi300-node device  1 [0000:22:00.0] AMD Instinct MI300X
#
RCCL version 2.18.6+hip6.0
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
     1048576        131072     float    none      -1    40.00   26.21   13.11      0    41.00   25.58   12.79      0
     2097152        262144     float    none      -1    60.00   34.95   17.48      0    61.00   34.38   17.19      0
     4194304        524288     float    none      -1    90.00   46.60   23.30      0    91.00   46.09   23.05      0
# Errors with asterisks indicate errors that have exceeded the maximum threshold.
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 17.8
)";
  const Measurement t = read(log)[0];
  EXPECT_EQ(t.operation, CollectiveOp::all_gather);
  EXPECT_EQ(t.version, "2.18.6+hip6.0");
  EXPECT_EQ(t.ranks, 2u);
  EXPECT_EQ(t.rows.size(), 3u);
}

TEST(NcclLog, OtherLinesAndLabelsBetweenRows) {
  std::string labelled;
  const std::string text =
      "mpirun -np 4 ./build/all_reduce_perf -b 1K -e 1M -f 4\n" + kHeader +
      "ip-10-0-1:70211:70300 [0] NCCL INFO Channel 00/24 : 0 1 2 3\n" + kRows +
      "ip-10-0-1:70211:70211 [0] NCCL INFO comm 0x5 rank 0 nranks 4 - Destroy COMPLETE\n" + kTrailer;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    labelled += "[1,0]<stdout>:" + text.substr(at, end - at) + "\r\n";
    at = end + 1;
  }
  std::string numbered;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    numbered += "0: " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  for (const std::string& log : {text, labelled, numbered}) {
    const Measurement t = read(log)[0];
    EXPECT_EQ(t.program, "all_reduce");
    EXPECT_EQ(t.rows.size(), 6u);
    EXPECT_EQ(t.ranks, 4u);
  }
}

// Hydra's and pdsh's labels, a date and a host (syslog), times of a collector of logs, mpirun
// --timestamp-output.
TEST(NcclLog, LabelsOfLaunchersAndCollectors) {
  const std::string text = "mpirun -np 4 ./build/all_reduce_perf -b 1K -e 1M -f 4\n" + kHeader +
                           "ip-10-0-1:70211:70300 [0] NCCL INFO Channel 00/24 : 0 1 2 3\n" + kRows + kTrailer;
  const Measurement plain = read(text)[0];
  const auto labelled = [&](const std::string& before, const std::string& after) {
    std::string log;
    uint32_t line = 7;
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at);
      log += before + std::to_string(line++) + after + text.substr(at, end - at) + "\n";
      at = end + 1;
    }
    return log;
  };
  for (const std::string& log :
       {labelled("[", "] "), labelled("gpu-node-", ": "), labelled("May  1 12:00:", " node4 job[31]: "),
        labelled("2026-05-01T12:00:00.", "Z "), labelled("Wed May  1 12:00:0", " 2026[1,0]<stdout>: ")}) {
    const Measurement t = read(log)[0];
    EXPECT_EQ(t.program, "all_reduce") << log;
    EXPECT_EQ(t.ranks, 4u) << log;
    EXPECT_EQ(t.nodes, 2u) << log;
    ASSERT_EQ(t.rows.size(), plain.rows.size()) << log;
    for (size_t i = 0; i < t.rows.size(); ++i) EXPECT_EQ(t.rows[i].us, plain.rows[i].us) << log;
  }
  // A table with a label that is cut is still an error.
  const std::string log = labelled("gpu-node-", ": ");
  EXPECT_TRUE(says(error_of([&] { read(log.substr(0, log.find("  262144"))); }), {"cut"}));
}

TEST(NcclLog, FoldersAndOtherProgramsAreNotTheMeasuredOne) {
  const std::string log = "./build/all_reduce_perf -b 1K\n" + kHeader +
                          "ip-10-0-1:70211:70300 [0] NCCL INFO loaded /opt/my_perf_plugins/libnccl-net.so\n" +
                          "source /home/linux_perf.sh\n" + kRows + kTrailer;
  EXPECT_EQ(read(log)[0].program, "all_reduce");
  EXPECT_TRUE(says(error_of([&] { read("# Collective test starting: new_perf\n" + kLog); }),
                   {"new_perf", "no collective"}));
}

TEST(NcclLog, AListingWithoutHeaderLinesIsWhole) {
  const std::string log = kHeader.substr(kHeader.find("#       size")) + kRows;
  const Measurement t = read(log)[0];
  EXPECT_EQ(t.rows.size(), 6u);
  EXPECT_EQ(t.operation, CollectiveOp::all_reduce);
  EXPECT_EQ(t.ranks, 0u);
}

TEST(NcclLog, RowsWithWrongResultsAreDroppedAndTold) {
  std::string log = kLog;
  const std::string good = "33.10    0.49    0.74      0    32.60    0.50    0.75      0";
  log.replace(log.find(good), good.size(), "33.10    0.49    0.74      7    32.60    0.50    0.75      7");
  const Measurement t = read(log)[0];
  ASSERT_EQ(t.rows.size(), 5u);
  EXPECT_EQ(t.rows[2].bytes, 65536u);
  EXPECT_EQ(t.rows[2].number, 4u) << "numbers tell which rows are fitted; the dropped one keeps its own";
  ASSERT_EQ(t.remarks.size(), 1u);
  EXPECT_TRUE(says(t.remarks[0], {"16384 bytes", "7 elements were wrong"}));
}

TEST(NcclLog, NotCheckedIsNotWrong) {
  std::string log = kLog;
  for (size_t at = log.find("      0\n"); at != log.npos; at = log.find("      0\n"))
    log.replace(at, 8, "    N/A\n");
  EXPECT_EQ(read(log)[0].rows.size(), 6u);
}

TEST(NcclLog, SeveralTablesInOneLog) {
  std::string half = kRows;
  for (size_t at = half.find("float"); at != half.npos; at = half.find("float")) half.replace(at, 5, " half");
  const auto types = read(kHeader + kRows + half + kTrailer);
  ASSERT_EQ(types.size(), 2u);
  EXPECT_EQ(types[1].datatype, "half");
  EXPECT_EQ(types[1].rows[0].number, 1u);
  const auto programs = read("all_reduce_perf -b 1K\n" + kLog + "reduce_scatter_perf -b 1K\n" + kLog);
  ASSERT_EQ(programs.size(), 2u);
  EXPECT_EQ(programs[0].operation, CollectiveOp::all_reduce);
  EXPECT_EQ(programs[1].operation, CollectiveOp::reduce_scatter);
  EXPECT_EQ(programs[1].ranks, 4u);
}

TEST(NcclLog, TheOperationByTheBandwidths) {
  // busbw / algbw is 3/4 with a reduction on four ranks: reduce-scatter.
  std::string log = kHeader;
  log +=
      "     1048576        262144     float     sum      -1    110.3    9.51    7.13      0    108.8    9.64 "
      "   7.23      0\n";
  EXPECT_EQ(read(log)[0].operation, CollectiveOp::reduce_scatter);
  // Without a reduction it is an all-gather or an all-to-all.
  std::string none = log;
  none.replace(none.find("   sum      -1"), 14, "  none      -1");
  EXPECT_TRUE(
      says(error_of([&] { read(none); }), {"run.log:13", "all_gather and all_to_all fit", "--operation"}));
  ReadOptions options;
  options.operation = CollectiveOp::all_to_all;
  const Measurement given = read(none, options)[0];
  EXPECT_EQ(given.operation, CollectiveOp::all_to_all);
  EXPECT_TRUE(given.remarks.empty()) << "the log names none";
}

TEST(NcclLog, AnotherOperationThanTheLogsIsTold) {
  const std::string log = "all_reduce_perf -b 1K\n" + kLog;
  ReadOptions options;
  options.operation = CollectiveOp::all_reduce;
  const Measurement same = read(log, options)[0];
  EXPECT_EQ(same.named, CollectiveOp::all_reduce);
  const size_t remarks = same.remarks.size();
  options.operation = CollectiveOp::reduce;
  const Measurement other = read(log, options)[0];
  EXPECT_EQ(other.operation, CollectiveOp::reduce);
  EXPECT_EQ(other.named, CollectiveOp::all_reduce);
  ASSERT_EQ(other.remarks.size(), remarks + 1);
  EXPECT_TRUE(says(other.remarks.back(), {"line ", "all_reduce_perf", "read as reduce", "--operation"}));
}

TEST(NcclLog, ALogThatIsCutIsAnError) {
  const std::string whole = kHeader + kRows;
  // Behind the last size only the lines below the table are missing.
  EXPECT_EQ(read(whole)[0].rows.size(), 6u);
  const size_t first = kHeader.size();
  size_t cut = 0;
  for (size_t end = first; end + 1 < whole.size(); ++end) {
    const std::string message = error_of([&] { read(whole.substr(0, end)); });
    const std::string last =
        whole.substr(whole.rfind('\n', end - 1) + 1, end - whole.rfind('\n', end - 1) - 1);
    if (last.find("1048576        262144     float     sum      -1    110.3    9.51   14.26      0    108.8  "
                  "  9.64   14.46      0") == 0)
      continue;
    EXPECT_FALSE(message.empty()) << "cut behind: " << last;
    ++cut;
  }
  EXPECT_GT(cut, 500u);
  const size_t row = whole.find("      262144");
  EXPECT_TRUE(
      says(error_of([&] { read(whole.substr(0, row)); }), {"run.log:13", "the log is cut", "--incomplete"}));
  EXPECT_TRUE(says(error_of([&] { read(whole.substr(0, row + 60)); }), {"run.log:17", "fields", "cut"}));
  ReadOptions options;
  options.incomplete = true;
  const Measurement t = read(whole.substr(0, row), options)[0];
  EXPECT_EQ(t.rows.size(), 4u);
  EXPECT_TRUE(says(t.remarks.at(0), {"cut"}));
}

TEST(NcclLog, OtherToolsAreErrors) {
  const std::string osu = R"(# OSU MPI-CUDA Allreduce Latency Test v7.3
# Size       Avg Latency(us)
4                      15.31
8                      15.20
)";
  EXPECT_TRUE(says(error_of([&] { read(osu); }), {"run.log", "no table of nccl-tests or rccl-tests"}));
  EXPECT_TRUE(says(error_of([&] { read("hello\n"); }), {"no table of nccl-tests"}));
  EXPECT_TRUE(says(error_of([&] { read(""); }), {"no table of nccl-tests"}));
  EXPECT_TRUE(says(error_of([&] { read(kHeader); }), {"no rows"}));
  EXPECT_TRUE(
      says(error_of([&] { read("sendrecv_perf -b 8\n" + kLog); }), {"sendrecv_perf", "no collective"}));
}

TEST(NcclLog, ALineWrittenIntoARowIsAnError) {
  std::string log = kLog;
  log.insert(log.find("    1.64    2.46"), " host:1:2 [0] NCCL INFO x");
  EXPECT_TRUE(says(error_of([&] { read(log); }), {"run.log:16", "another line was written into it"}));
}

TEST(NcclLog, TimesThatDisagreeWithBandwidthsAreTold) {
  std::string log = kLog;
  log.replace(log.find("   108.8    9.64"), 16, "    99.8    9.64");
  const Measurement t = read(log)[0];
  ASSERT_EQ(t.remarks.size(), 1u);
  EXPECT_TRUE(says(t.remarks[0], {"line 18", "algbw is not size / time in 1 rows"}));
}

}  // namespace
}  // namespace weft::calibrate
