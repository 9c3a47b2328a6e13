// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The traces of real tools beside the project: all are read, checked and fed to the end.

#include "tests/support/paths.h"
#include "tests/trace/trace_files.h"
#include "workload/trace/chakra_stream.h"
#include "workload/trace/longest_path.h"
#include "workload/trace/workload_check.h"

namespace weft::trace::test {
namespace {

class RealTraces : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = weft::test::data_dir() + "/traces/";
    if (std::filesystem::is_directory(root_)) return;
    ASSERT_FALSE(weft::test::in_ci()) << root_ << " is absent";
    GTEST_SKIP() << root_ << " is absent";
  }

  static void feed(const JobTrace& job) {
    for (uint32_t rank = 0; rank < job.npus(); ++rank) {
      const auto feeder = job.feeder(rank);
      while (const Node* node = feeder->take_ready()) feeder->finished(node->index);
      EXPECT_EQ(feeder->finished_count(), feeder->node_count()) << "rank " << rank;
    }
  }

  std::string root_;
};

TEST_F(RealTraces, PyTorch) {
  const std::string prefix = root_ + "pytorch_real/chakra";
  const JobTrace job = open_job(prefix, 1, "", false);
  const TraceStats& stats = job.index(0).stats();
  EXPECT_EQ(stats.nodes, 3664u);
  EXPECT_EQ(stats.collectives, 21u);
  EXPECT_EQ(stats.dangling, 1277u);
  EXPECT_EQ(stats.forward_references, 990u);
  EXPECT_EQ(stats.dependencies, 185542u);
  EXPECT_EQ(job.index(0).control_order(), ControlOrder::backward);
  ASSERT_EQ(job.warnings().size(), 2u);
  EXPECT_NE(job.warnings()[0].find("1277 dependencies"), std::string::npos);
  feed(job);
  expect_error([&] { open_job(prefix, 1, "", true); }, {"chakra.0.et", "1277 dependencies", "node 216 -> 3"});
}

TEST_F(RealTraces, Stage) {
  const std::string llama = root_ + "stage_llama_16/workload";
  const JobTrace job = open_job(llama, 16, llama + ".json", true);
  EXPECT_EQ(job.index(0).stats().nodes, 672u);
  EXPECT_EQ(job.index(0).stats().collectives, 178u);
  EXPECT_EQ(job.index(0).stats().forward_references, 217u);
  EXPECT_TRUE(job.warnings().empty());
  feed(job);

  const std::string gpt = root_ + "stage_gpt_8_fsdp/workload";
  const JobTrace fsdp = open_job(gpt, 8, gpt + ".json", true);
  EXPECT_EQ(fsdp.index(3).stats().nodes, 1618u);
  EXPECT_EQ(fsdp.index(3).stats().forward_references, 1042u);
  feed(fsdp);

  expect_error([&] { open_job(llama, 16, "", false); }, {"group", "is unknown", "workload.groups"});
  expect_error([&] { open_job(llama, 8, "", false); }, {llama, "16 trace files", "8 NPUs"});
  expect_error([&] { open_job(llama, 32, "", false); },
               {"16 trace files", "32 NPUs", "workload.16.et is missing"});
}

TEST_F(RealTraces, Microbenchmarks) {
  for (const char* name : {"all_gather", "all_reduce", "all_to_all", "reduce_scatter"}) {
    const JobTrace job = open_job(root_ + "astra_microbench/" + name + "/8npus_1MB/" + name, 8, "", true);
    EXPECT_EQ(job.node_count(), 8u);
    feed(job);
  }
}

// The hand-written decoder agrees with the protobuf library on every node there is.
TEST_F(RealTraces, DecoderAgreesWithProtobuf) {
  for (const char* file :
       {"pytorch_real/chakra.0.et", "stage_llama_16/workload.9.et", "stage_gpt_8_fsdp/workload.7.et"}) {
    const std::string path = root_ + file;
    const TraceIndex index(path, 0, {});
    NodeCache cache = index.open_cache(1 << 20);
    ChakraStream stream(path);
    PbNode expected;
    Node node;
    Dependencies deps;
    for (NodeIndex i = 0; stream.next(expected); ++i) {
      index.decode(cache, i, node, &deps);
      ASSERT_EQ(node.id, expected.id());
      ASSERT_EQ(node.name, expected.name());
      ASSERT_EQ(static_cast<int>(node.type), static_cast<int>(expected.type()));
      ASSERT_EQ(node.duration, expected.duration_micros() * 1000000);
      ASSERT_TRUE(std::equal(deps.data.begin(), deps.data.end(), expected.data_deps().begin(),
                             expected.data_deps().end()));
      ASSERT_TRUE(std::equal(deps.control.begin(), deps.control.end(), expected.ctrl_deps().begin(),
                             expected.ctrl_deps().end()));
      for (const auto& a : expected.attr()) {
        if (a.name() == "comm_size") {
          ASSERT_EQ(node.comm_size, static_cast<uint64_t>(a.int64_val()));
        } else if (a.name() == "tensor_size") {
          ASSERT_EQ(node.tensor_size, a.uint64_val());
        } else if (a.name() == "num_ops") {
          ASSERT_EQ(node.num_ops, static_cast<uint64_t>(a.int64_val()));
        } else if (a.name() == "pg_name") {
          ASSERT_EQ(node.pg_name, a.string_val());
        } else if (a.name() == "is_cpu_op") {
          ASSERT_EQ(node.is_cpu_op, a.bool_val() || a.int32_val() != 0);
        }
      }
    }
  }
}

}  // namespace
}  // namespace weft::trace::test
