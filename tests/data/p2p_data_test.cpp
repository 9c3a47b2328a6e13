// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Point-to-point messages with real data: by themselves and in a job.

#include "workload/collectives/p2p_data.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

#include "tests/support/isolated.h"
#include "tests/support/solo_job.h"
#include "tests/trace/trace_files.h"
#include "workload/collectives/elements.h"

namespace weft {
namespace {

using collectives::DataContext;
using collectives::P2pData;
using trace::test::receive;
using trace::test::send;
using trace::test::TempFolder;
using trace::test::write_trace;

Completion completion(uint32_t source, const MessageId& id, uint64_t bytes, uint32_t data) {
  Completion c;
  c.id = id;
  c.source = NpuId{source};
  c.bytes = bytes;
  c.data = data;
  return c;
}

MessageId message(uint32_t ordinal, uint32_t tag) {
  return {ordinal, 0, 0, MessageId::Kind::point_to_point, tag};
}

TEST(P2pData, WhatArrivesIsWhatWasSent) {
  for (const ElementType type : {ElementType::fp32, ElementType::bf16, ElementType::int32}) {
    DataContext context(type, ReduceOp::sum, 7);
    P2pData data(context);
    for (const uint64_t bytes : {0u, 1u, 2u, 3u, 4u, 7u, 4096u, 4097u}) {
      const uint32_t handle = data.load(3, 5, message(2, 9), bytes);
      EXPECT_EQ(context.payloads()[handle].bytes.size(), bytes);
      EXPECT_EQ(data.check(5, completion(3, message(2, 9), bytes, handle)), "");
    }
    EXPECT_EQ(context.payloads().live(), 0u);
    EXPECT_EQ(data.messages(), 8u);
  }
}

TEST(P2pData, EveryMessageHasElementsOfItsOwn) {
  DataContext context(ElementType::int32, ReduceOp::sum, 7);
  P2pData data(context);
  const auto is_noticed = [&](uint32_t source, uint32_t destination, const MessageId& id) {
    const uint32_t handle = data.load(3, 5, message(2, 9), 64);
    return !data.check(destination, completion(source, id, 64, handle)).empty();
  };
  EXPECT_FALSE(is_noticed(3, 5, message(2, 9)));
  EXPECT_TRUE(is_noticed(4, 5, message(2, 9)));
  EXPECT_TRUE(is_noticed(3, 6, message(2, 9)));
  EXPECT_TRUE(is_noticed(3, 5, message(1, 9)));
  EXPECT_TRUE(is_noticed(3, 5, message(2, 8)));
}

TEST(P2pData, DefectsAreNamed) {
  DataContext context(ElementType::int32, ReduceOp::sum, 7);
  P2pData data(context);
  uint32_t handle = data.load(3, 5, message(2, 9), 42);
  const uint32_t bits =
      collectives::element_bits(ElementType::int32, context.payloads()[handle].bytes.data() + 16);
  collectives::store_bits(ElementType::int32, bits ^ 1, context.payloads()[handle].bytes.data() + 16);
  std::string wrong = data.check(5, completion(3, message(2, 9), 42, handle));
  EXPECT_EQ(wrong.rfind("message 2 from rank 3 to rank 5 with tag 9 (42 B): element 4: expected ", 0), 0u)
      << wrong;
  handle = data.load(3, 5, message(2, 9), 42);
  context.payloads()[handle].bytes[41] ^= std::byte{1};
  wrong = data.check(5, completion(3, message(2, 9), 42, handle));
  EXPECT_NE(wrong.find("its last 2 B are wrong"), std::string::npos) << wrong;
  handle = data.load(3, 5, message(2, 9), 40);
  wrong = data.check(5, completion(3, message(2, 9), 42, handle));
  EXPECT_NE(wrong.find("40 B arrived"), std::string::npos) << wrong;
  wrong = data.check(5, completion(3, message(2, 9), 42, kNoData));
  EXPECT_NE(wrong.find("without its data"), std::string::npos) << wrong;
}

/// Another value every time the same element is asked for, of rank 1's messages.
class Forgetful final : public collectives::InputSource {
 public:
  void fill(const collectives::InputKey& key, uint64_t first, uint64_t count, std::byte* out) const override {
    for (uint64_t k = 0; k < count; ++k) {
      const auto value = static_cast<int32_t>(key.rank == 1 && first + k == 3 ? ++calls_ : 5);
      std::memcpy(out + k * 4, &value, 4);
    }
  }

 private:
  mutable int calls_ = 0;
};

std::string run(Fidelity fidelity, bool forgetful) {
  const auto result = test::isolated([=] {
    const TempFolder folder;
    // Over two dimensions, in both directions, odd sizes and none; two of one tag.
    write_trace(folder / "t.0.et",
                {send(1, 3, 4096, 1), send(2, 3, 10, 1), send(3, 3, 0, 2), receive(4, 1, 64, 0)});
    write_trace(folder / "t.1.et", {send(1, 0, 64, 0), send(2, 2, 33, 0)});
    write_trace(folder / "t.2.et", {receive(1, 1, 33, 0)});
    write_trace(folder / "t.3.et", {receive(1, 0, 4096, 1), receive(2, 0, 10, 1), receive(3, 0, 0, 2)});
    Config config;
    for (const DimensionKind kind : {DimensionKind::ring, DimensionKind::switch_}) {
      DimensionConfig d;
      d.kind = kind;
      d.size = 2;
      d.bandwidth = {50'000'000'000ull, 1};
      d.fidelity = fidelity;
      config.dimensions.push_back(d);
    }
    config.run.data = "functional";
    config.run.element = "int32";
    const trace::JobTrace traces = trace::open_job(folder / "t", 4, "", false);
    test::SoloTraceJob job("job", config, traces);
    if (forgetful) job.machine().data()->set_source(std::make_unique<Forgetful>());
    job.start();
    sc_core::sc_start();
    const RunResult ran = job.result();
    std::string text = job.finished() ? std::to_string(ran.data_messages) + " messages\n" : "stalled\n";
    for (const std::string& line : ran.broken_invariants) text += line + "\n";
    return text;
  });
  EXPECT_EQ(result.status, 0) << result.text;
  return result.text;
}

TEST(P2pData, JobsCarryAndCheckIt) {
  for (const Fidelity fidelity : {Fidelity::analytical, Fidelity::message, Fidelity::packet}) {
    EXPECT_EQ(run(fidelity, false), "5 messages\n");
    const std::string text = run(fidelity, true);
    EXPECT_NE(text.find("message 0 from rank 1 to rank 0 with tag 0 (64 B): element 3: expected "),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("message 0 from rank 1 to rank 2 with tag 0 (33 B): element 3: "), std::string::npos)
        << text;
    EXPECT_EQ(text.find("from rank 0"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace weft
