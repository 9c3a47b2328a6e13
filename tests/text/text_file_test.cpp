// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The reader of text workloads: what it accepts, and what it says of files that are wrong.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/paths.h"
#include "workload/text/sha256.h"
#include "workload/text/text_file.h"

namespace weft::text {
namespace {

constexpr const char* kLayer = "fc -1 10 NONE 0 20 NONE 0 30 ALLREDUCE 1024 5";

std::string error_of(const std::string& text) {
  try {
    parse_text(text, "w.txt");
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::trace);
    return e.what();
  }
  ADD_FAILURE() << "accepted: " << text;
  return "";
}

/// The error names the token and says this.
void expect_error(const std::string& text, const std::string& where, const std::string& what) {
  const std::string error = error_of(text);
  EXPECT_NE(error.find("w.txt:" + where), std::string::npos) << error;
  EXPECT_NE(error.find(what), std::string::npos) << error;
}

TEST(TextFile, LinesTabsAndWindowsLineEndsMeanNothing) {
  const std::string lines = std::string("DATA\n1\n") + kLayer + "\n";
  std::string windows = "\xEF\xBB\xBF\t DATA\t\t\r\n\r\n1 ";
  for (const char c : std::string(kLayer)) windows += c == ' ' ? std::string("\r\n\t") : std::string(1, c);
  for (const std::string& text : {lines, windows}) {
    const TextFile file = parse_text(text, "w.txt");
    ASSERT_EQ(file.layers.size(), 1u);
    EXPECT_EQ(file.layers[0].name, "fc");
    EXPECT_EQ(file.layers[0].step(Pass::weight_gradient).cycles, 30u);
    EXPECT_EQ(file.layers[0].step(Pass::weight_gradient).op, CollectiveOp::all_reduce);
    EXPECT_EQ(file.layers[0].step(Pass::weight_gradient).bytes, 1024u);
    EXPECT_FALSE(file.layers[0].step(Pass::forward).op);
    EXPECT_EQ(file.layers[0].update_cycles, 5u);
    EXPECT_TRUE(file.warnings.empty());
  }
}

TEST(TextFile, HeadersOfEveryType) {
  const std::string rest = std::string("\n2\n") + kLayer + "\n" + kLayer;
  EXPECT_EQ(parse_text("HYBRID_DLRM 1" + rest, "w").last_bottom_layer, 1u);
  EXPECT_FALSE(parse_text("HYBRID_TRANSFORMER" + rest, "w").model_group);
  EXPECT_EQ(parse_text("HYBRID_TRANSFORMER model_parallel_NPU_group: 4" + rest, "w").model_group, 4u);
  const TextFile again = parse_text(
      "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 checkpoints: 1 0 checkpoint_initiates: 1 "
      "1" +
          rest,
      "w");
  EXPECT_EQ(again.checkpoints, std::vector<uint32_t>{0});
  EXPECT_EQ(again.initiators, std::vector<uint32_t>{1});
  for (const char* type :
       {"DATA", "MODEL", "HYBRID_DATA_MODEL", "HYBRID_MODEL_DATA", "MICRO", "DISTRIBUTED_INFERENCE"})
    EXPECT_EQ(to_string(parse_text(type + rest, "w").loop), std::string(type));
}

TEST(TextFile, A13thTokenOfAllLayersIsTheirParallelism) {
  const std::string layer = kLayer;
  EXPECT_EQ(parse_text("HYBRID_CUSTOMIZED 2 " + layer + " DATA " + layer + " HYBRID_MODEL_DATA", "w")
                .layers[1]
                .parallelism,
            Parallelism::hybrid_model_data);
  EXPECT_EQ(parse_text("DATA 2 " + layer + " DATA " + layer + " DATA", "w").layers.size(), 2u);
  expect_error("DATA 2\n" + layer + " DATA\n" + layer + " MODEL", "3: token 28", "header says DATA");
  expect_error("DATA 2\n" + layer + " DATA\n" + layer, "3: token 27", "Layer 1 (of 0 to 1)");
  expect_error("HYBRID_CUSTOMIZED 1 " + layer, "1: token 14", "13 tokens a layer");
  expect_error("HYBRID_CUSTOMIZED 1 " + layer + " MICRO", "1: token 15", "`MICRO`");
}

TEST(TextFile, CountsOfTokens) {
  EXPECT_NE(error_of(" \r\n").find("empty"), std::string::npos);
  expect_error("DATA", "1: token 2", "the number of layers is expected");
  // Something of the header may be missing, or written otherwise.
  expect_error("HYBRID_DLRM 1 x -1", "1: token 3", "behind the index of the last bottom layer");
  expect_error("HYBRID_TRANSFORMER model_parallel_NPU_group :2 1", "1: token 2",
               "`model_parallel_NPU_group:`");
  expect_error("DATA 0", "1: token 2", "at least one layer");
  expect_error(std::string("DATA 2\n") + kLayer, "2: token 14", "too few tokens");
  expect_error(std::string("DATA 1\n") + kLayer + " 7 8", "2: token 16", "too many tokens");
  expect_error("DATA 99999999999999999999 a", "1: token 2", "too large");
  expect_error("DATA 1000000000000 a", "1: token 3", "too few tokens");
}

TEST(TextFile, WrongValuesNameLayerAndColumn) {
  const auto with = [](const std::string& layer) { return "DATA\n1\n" + layer; };
  expect_error(with("fc -1 -5 NONE 0 20 NONE 0 30 NONE 0 5"), "3: token 5",
               "layer 0 `fc`, forward compute is `-5`");
  expect_error(with("fc -1 10 NONE 0 2.5 NONE 0 30 NONE 0 5"), "3: token 8",
               "input gradient compute is `2.5`");
  expect_error(with("fc -1 10 NONE 0 20 NONE 0 30 NONE x 5"), "3: token 13",
               "weight gradient communication size");
  expect_error(with("fc -1 10 ALLREDUC 0 20 NONE 0 30 NONE 0 5"), "3: token 6",
               "`ALLREDUC`, which is no type");
  expect_error(with("fc -1 10 ALLREDUCEALLTOALL 8 20 NONE 0 30 NONE 0 5"), "3: token 6", "two layers");
  expect_error(with("fc one 10 NONE 0 20 NONE 0 30 NONE 0 5"), "3: token 4", "reserved");
}

TEST(TextFile, WrongHeaders) {
  const std::string rest = std::string(" 1 ") + kLayer;
  expect_error("DATAX" + rest, "1: token 1", "no type of a text workload");
  expect_error("HYBRID_DLRM 1" + rest, "1: token 2", "the last bottom layer is 1");
  expect_error("HYBRID_TRANSFORMER model_parallel_NPU_group: 0" + rest, "1: token 3", "at least 1");
  expect_error("HYBRID_TRANSFORMER_FWD_IN_BCKWD" + rest, "1: token 2", "model_parallel_NPU_group:");
  const std::string begin = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 checkpoints: ";
  expect_error(begin + "1 7 checkpoint_initiates: 0" + rest, "1: token 6", "layer 7");
  const std::string three = " 3 " + std::string(kLayer) + " " + kLayer + " " + kLayer;
  expect_error(begin + "1 1 checkpoint_initiates: 1 1" + three, "1: token 9", "no checkpoint between");
  expect_error(begin + "1 0 checkpoint_initiates: 2 1 2" + three, "1: token 10", "between initiator 1 and 2");
}

TEST(TextFile, OddSizesAreWarnings) {
  const TextFile file = parse_text("DATA 1 fc -1 1 NONE 8 1 NONE 9 1 ALLREDUCE 0 5", "w.txt");
  ASSERT_EQ(file.warnings.size(), 2u);
  EXPECT_NE(file.warnings[0].find("w.txt:1: token 7"), std::string::npos) << file.warnings[0];
  EXPECT_NE(file.warnings[0].find("1 like it"), std::string::npos) << file.warnings[0];
  EXPECT_NE(file.warnings[1].find("completes at once"), std::string::npos) << file.warnings[1];
}

TEST(TextFile, ReadsThePublicFiles) {
  WEFT_NEEDS_DATA();
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::data_dir() + "/text_workloads")) {
    if (entry.path().extension() != ".txt") continue;
    ++files;
    EXPECT_FALSE(read_text_file(entry.path().string()).layers.empty());
  }
  EXPECT_EQ(files, 10);
}

TEST(Sha256, IsThatOfTheStandard) {
  // FIPS 180-4's examples: an empty text, one block, two blocks, and many.
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, IsOfTheFile) {
  const std::string text = std::string("DATA 1\n") + kLayer + "\r\n";
  EXPECT_EQ(parse_text(text, "w.txt").sha256, sha256(text));
}

}  // namespace
}  // namespace weft::text
