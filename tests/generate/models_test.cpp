// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The networks' published totals, and the public text files of ASTRA-sim 1.0 made again.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>

#include "tests/support/paths.h"
#include "workload/generate/models/model.h"
#include "workload/generate/models/text_form.h"
#include "workload/generate/models/trace_form.h"
#include "workload/text/text_file.h"

namespace weft::generate {
namespace {

using text::Pass;

constexpr uint64_t kMiB = uint64_t{1} << 20;

TEST(Models, ResNetTotals) {
  struct Total {
    uint32_t depth;
    size_t layers;
    uint64_t weights, parameters, activations;
    double gmac, gmac_v1;
    size_t buckets;
  };
  for (const Total& t : {Total{50, 54, 25502912, 25557032, 11114984, 4.0892, 3.8580, 5},
                         Total{101, 105, 44442816, 44549160, 16232936, 7.8014, 7.5702, 0},
                         Total{152, 156, 60040384, 60192808, 22555112, 11.5136, 11.2824, 10}}) {
    const Model model = resnet(t.depth, 1, 4);
    EXPECT_EQ(model.layers.size(), t.layers) << t.depth;
    EXPECT_EQ(model.weights(), t.weights) << t.depth;
    EXPECT_EQ(model.parameters(), t.parameters) << t.depth;
    EXPECT_EQ(model.activations(), t.activations) << t.depth;
    EXPECT_NEAR(static_cast<double>(model.macs(Pass::forward)) / 1e9, t.gmac, 5e-5) << t.depth;
    EXPECT_NEAR(static_cast<double>(resnet(t.depth, 1, 4, false).macs(Pass::forward)) / 1e9, t.gmac_v1, 5e-5);
    if (t.buckets != 0) {
      EXPECT_EQ(step_buckets(model, {}).size(), t.buckets) << t.depth;
    }
    // Twice the images, twice the work; the weights stay.
    const Model two = resnet(t.depth, 2, 4);
    EXPECT_EQ(two.macs(Pass::forward), 2 * model.macs(Pass::forward));
    EXPECT_EQ(two.flop(), 2 * model.flop());
    EXPECT_EQ(two.communicated(), model.communicated());
    EXPECT_EQ(model.communicated(), t.weights * 4);
  }
  EXPECT_THROW(resnet(51, 1, 4), UserError);
}

TEST(Models, ResNetCyclesByBatch) {
  // Forward, input gradient without the first layer's, weight gradient; without stalls.
  const std::pair<uint64_t, double> sums[] = {{1, 1.007}, {2, 1.492},  {4, 2.459},
                                              {8, 4.422}, {16, 8.343}, {32, 16.125}};
  for (const auto& [batch, millions] : sums) {
    const Model model = resnet(50, batch, 4);
    uint64_t sum = 0;
    for (size_t i = 0; i < model.layers.size(); ++i)
      for (const Pass pass : {Pass::forward, Pass::input_gradient, Pass::weight_gradient})
        if (i != 0 || pass != Pass::input_gradient) sum += work_cycles(model.layers[i].of(pass), {});
    EXPECT_NEAR(static_cast<double>(sum) / 1e6, millions, 6e-4) << batch;
  }
}

/// Values of a generated text that are not the file's: "fc1000 input_gradient 16416 27708".
std::vector<std::string> differences(const Model& model, const std::string& file) {
  const std::filesystem::path path = std::filesystem::path(test::data_dir()) / "text_workloads" / file;
  const text::TextFile ours = text::parse_text(text_form(model, {}), "generated");
  const text::TextFile theirs = text::read_text_file(path.string());
  std::vector<std::string> out;
  EXPECT_EQ(ours.loop, theirs.loop);
  EXPECT_EQ(ours.last_bottom_layer, theirs.last_bottom_layer);
  EXPECT_EQ(ours.layers.size(), theirs.layers.size());
  for (size_t i = 0; i < std::min(ours.layers.size(), theirs.layers.size()); ++i) {
    const text::TextLayer& a = ours.layers[i];
    const text::TextLayer& b = theirs.layers[i];
    const auto compare = [&](const char* what, uint64_t x, uint64_t y) {
      if (x != y) out.push_back(b.name + " " + what + " " + std::to_string(x) + " " + std::to_string(y));
    };
    EXPECT_EQ(a.name, b.name);
    for (int p = 0; p < text::kPasses; ++p) {
      const auto pass = static_cast<Pass>(p);
      compare(text::to_string(pass), a.step(pass).cycles, b.step(pass).cycles);
      compare("bytes", a.step(pass).bytes, b.step(pass).bytes);
      EXPECT_EQ(a.step(pass).op, b.step(pass).op) << b.name;
    }
    compare("update", a.update_cycles, b.update_cycles);
  }
  return out;
}

TEST(Models, PublicTextFiles) {
  WEFT_NEEDS_DATA();
  // 54 x 4 numbers; one of them is unexplained.
  EXPECT_EQ(differences(resnet(50, 1, 4), "Resnet50_DataParallel.txt"),
            std::vector<std::string>{"fc1000 input_gradient 16416 27708"});
  EXPECT_EQ(differences(dlrm(dlrm_preset("astra")), "DLRM_HybridParallel.txt"), std::vector<std::string>{});
  EXPECT_EQ(differences(micro(CollectiveOp::all_reduce, kMiB, 5), "microAllReduce.txt"),
            std::vector<std::string>{});
  EXPECT_EQ(differences(micro(CollectiveOp::all_to_all, kMiB, 5), "microAllToAll.txt"),
            std::vector<std::string>{});
}

TEST(Models, BertTotalsAndBuckets) {
  const Model large = bert({});
  EXPECT_EQ(large.parameters(), 335141888u);
  EXPECT_EQ(large.parameters() * 4 / kMiB, 1278u);
  BertConfig config;
  config.vocabulary = 30528;
  config.question_answering = true;
  const Model qa = bert(config);
  TraceForm form;
  const std::vector<uint64_t> buckets = step_buckets(qa, form);
  EXPECT_EQ(buckets.size(), 37u);
  EXPECT_EQ(buckets.back() / kMiB, 137u);
  EXPECT_EQ(std::accumulate(buckets.begin(), buckets.end(), uint64_t{0}), qa.parameters() * 4);
  form.bucket = 100 * kMiB;
  EXPECT_EQ(step_buckets(qa, form).size(), 13u);
  // 2 FLOP a parameter of the encoder and token, and the attention.
  const double flop = static_cast<double>(large.flop());
  const double tokens = 4 * 384;
  const double encoder = 24 * (12.0 * 1024 * 1024 * tokens + 2 * 384 * 1024 * tokens);
  EXPECT_NEAR(flop, 6 * encoder, 0.001 * flop);
}

TEST(Models, DlrmTotals) {
  EXPECT_EQ(dlrm(dlrm_preset("kaggle")).parameters(), 475985u);
  EXPECT_EQ(dlrm(dlrm_preset("terabyte")).parameters(), 762177u);
  EXPECT_EQ(dlrm(dlrm_preset("mlperf")).parameters(), 2368897u);
  const Model fitted = dlrm(dlrm_preset("dlrm-57m"));
  EXPECT_EQ(fitted.parameters(), 56940609u);
  EXPECT_FALSE(fitted.fitted.empty());
  uint64_t reduced = 0;
  for (const uint64_t bytes : step_buckets(fitted, {})) reduced += bytes;
  EXPECT_EQ(reduced, 56940609u * 2);
  EXPECT_THROW(dlrm_preset("none"), UserError);
}

TEST(Models, DeepLightGradients) {
  const Model model = deeplight({});
  EXPECT_NEAR(static_cast<double>(model.parameters()) * 4 / 1e9, 2.26, 1e-6);
}

TEST(Models, BucketsKeepTheBytes) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 300; ++i) {
    std::vector<uint64_t> tensors;
    for (uint64_t n = 1 + random() % 60; n > 0; --n) tensors.push_back(1 + random() % (1u << random() % 23));
    const uint64_t cap = 1 + random() % (64 * kMiB);
    const std::vector<uint64_t> buckets = gradient_buckets(tensors, 4, cap);
    EXPECT_EQ(std::accumulate(buckets.begin(), buckets.end(), uint64_t{0}),
              4 * std::accumulate(tensors.begin(), tensors.end(), uint64_t{0}));
    for (size_t b = 0; b + 1 < buckets.size(); ++b) EXPECT_GE(buckets[b], b == 0 ? std::min(kMiB, cap) : cap);
    // A larger cap never gives more buckets.
    EXPECT_LE(gradient_buckets(tensors, 4, 2 * cap).size(), buckets.size());
  }
}

class TableFile {
 public:
  explicit TableFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() /
              ("weft_layers_" + std::to_string(++count_) + "_" + std::to_string(::getpid()) + ".csv")) {
    std::ofstream(path_) << text;
  }
  ~TableFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  static inline int count_ = 0;
  std::filesystem::path path_;
};

TEST(Models, TablesOfLayers) {
  const TableFile mnk("Layer,m,n,k\nfirst, 64,32,16\r\nsecond,128,8,4\n");
  TableSplit split;
  split.npus = 8;
  split.packages = 2;
  const auto sizes = [&](text::Loop loop) {
    split.loop = loop;
    const ModelLayer layer = read_layer_table(mnk.path(), split).layers.at(0);
    std::string out;
    for (const LayerCommunication& c : layer.communication)
      out += std::string(c.op ? to_string(*c.op) : "none") + " " + std::to_string(c.bytes) + " ";
    return out;
  };
  EXPECT_EQ(sizes(text::Loop::data), "none 0 none 0 all_reduce 2048 ");
  EXPECT_EQ(sizes(text::Loop::model), "all_gather 1024 reduce_scatter 4096 none 0 ");
  EXPECT_EQ(sizes(text::Loop::hybrid_data_model), "all_gather 1024 reduce_scatter 2048 all_reduce 512 ");
  EXPECT_EQ(sizes(text::Loop::hybrid_model_data), "all_gather 1024 reduce_scatter 1024 all_reduce 1024 ");
  const TableFile scale(
      "Layer name,IFMAP Height,IFMAP Width,Filter Height,Filter Width,Channels,Num Filter,"
      "Strides,\nConv1,224,224,11,11,3,96,4,\n");
  split.loop = text::Loop::data;
  const Model conv = read_layer_table(scale.path(), split);
  EXPECT_EQ(conv.layers.at(0).of(Pass::forward).gemm.m, 3025u);
  EXPECT_EQ(conv.layers.at(0).weights, 363u * 96u);
  // SCALE-sim's report: the number of the last cycle.
  Model timed = conv;
  const TableFile report("LayerID, Total Cycles, Stall Cycles\n0, 112283.0, 0\n");
  read_cycle_table(report.path(), timed);
  EXPECT_EQ(work_cycles(timed.layers[0].of(Pass::forward), {}), 112284u);
}

TEST(Models, TablesWithMistakes) {
  const auto message = [](const std::string& text) -> std::string {
    const TableFile file(text);
    try {
      read_layer_table(file.path(), {});
    } catch (const UserError& e) {
      return std::string(e.what()).substr(file.path().size());
    }
    return "";
  };
  EXPECT_EQ(message("a,1,2\n").substr(0, 20), ":1: has 3 columns; w");
  EXPECT_NE(message("a,1,2,3\nb,1,x,3\n").find(":2: column 3 (`n`) is 'x'"), std::string::npos);
  EXPECT_NE(message("a,1,0,3\n").find("column 3 (`n`) is '0'"), std::string::npos);
  EXPECT_NE(message("Layer,m,n,k\n").find("has no layers"), std::string::npos);
  EXPECT_NE(message("a,1,2,3,SOME\n").find("column 5 (`parallelism`) is 'SOME'"), std::string::npos);
  EXPECT_NE(message("a,3,3,5,5,1,1,1\n").find("larger than the ifmap"), std::string::npos);
}

}  // namespace
}  // namespace weft::generate
