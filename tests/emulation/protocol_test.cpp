// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Frames: what is written is read again, and no bytes make the reader do anything but read or refuse.

#include <gtest/gtest.h>

#include <random>

#include "emulation/client/weft_comm.h"
#include "emulation/protocol/elements.h"
#include "tests/emulation/read_frames.h"

namespace weft::test {
namespace {

using namespace emulation;

std::vector<uint8_t> every_message() {
  std::vector<uint8_t> out;
  CommNew made;
  made.values = {0, 1, 2, 3};
  made.id = std::string(128, 'x');
  Coll coll;
  coll.counts = {1, 2, 3};
  coll.name = "grad";
  Wait wait;
  wait.requests = {1, 2, 3};
  Done done;
  done.finished.resize(3);
  Comm comm;
  comm.ranks = {3, 1, 2};
  write_frame(out, 1, 0, Hello{});
  write_frame(out, 2, 5, made);
  write_frame(out, 3, 6, coll);
  write_frame(out, 4, 7, Send{});
  write_frame(out, 5, 8, Recv{});
  write_frame(out, 6, 9, wait);
  write_frame(out, 7, 10, Compute{});
  write_frame(out, 8, 11, Mark{});
  write_frame(out, 9, 12, done);
  write_frame(out, 10, 13, comm);
  write_frame(out, 11, 14, Welcome{});
  write_frame(out, 12, 15, Bye{});
  return out;
}

TEST(Frames, AreReadAsTheyWereWritten) {
  const std::vector<uint8_t> bytes = every_message();
  EXPECT_EQ(read_frames(bytes.data(), bytes.size()), 12u);
}

TEST(Frames, AMillionBrokenOnesAreRefusedOrRead) {
  const std::vector<uint8_t> good = every_message();
  std::mt19937_64 random(7);
  uint64_t read = 0;
  for (uint64_t frames = 0; frames < 1000000; frames += 12) {
    std::vector<uint8_t> bytes = good;
    for (uint64_t i = random() % 6; i > 0; --i)
      bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
    if (random() % 8 == 0) bytes.resize(random() % bytes.size());
    if (random() % 8 == 0)
      bytes.insert(bytes.begin() + static_cast<long>(random() % (bytes.size() + 1)), 8, uint8_t(random()));
    read += read_frames(bytes.data(), bytes.size());
  }
  EXPECT_GT(read, 100000u);
  EXPECT_LT(read, 1000000u);
}

std::string name_read(const std::string& written) {
  Mark mark;
  mark.name = written;
  std::vector<uint8_t> bytes;
  write_frame(bytes, 1, 0, mark);
  FrameBuffer in;
  in.append(bytes.data(), bytes.size());
  Frame frame;
  EXPECT_TRUE(in.next(frame));
  return read_message<Mark>(frame).name;
}

TEST(Frames, NamesCanBeShown) {
  const std::string good = "layer3 \xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82 \xf4\x8f\xbf\xbf";
  EXPECT_EQ(name_read(good), good);
  EXPECT_EQ(name_read({"a\n\0\x1b[1m\x7f", 8}), "a???[1m?");
  // Cut off, longer than needed, a half of a pair, beyond the last character, a control character, no first
  // byte.
  EXPECT_EQ(name_read("\xe2\x82"), "??");
  EXPECT_EQ(name_read("\xc0\x80 \xe0\x9f\xbf \xf0\x8f\xbf\xbf"), "?? ??? ????");
  EXPECT_EQ(name_read("\xed\xa0\x80 \xf4\x90\x80\x80 \xc2\x9b \x80"), "??? ???? ?? ?");
}

TEST(Frames, SizesThatNoFrameHasAreRefused) {
  for (const uint32_t bytes : {0u, 8u, 23u, 25u, kMaxFrame + 8, ~0u}) {
    FrameHead head;
    head.bytes = bytes;
    FrameBuffer in;
    in.append(reinterpret_cast<const uint8_t*>(&head), sizeof head);
    Frame frame;
    EXPECT_THROW(in.next(frame), ProtocolError) << bytes;
  }
}

TEST(Frames, TooLargeOnesAreNotWritten) {
  std::vector<uint8_t> out(3);
  CommNew made;
  made.values.resize(kMaxFrame / 4);
  EXPECT_THROW(write_frame(out, 1, 0, made), std::length_error);
  EXPECT_EQ(out.size(), 3u);
}

TEST(Elements, RepeatedContributionsAreAsThoseAddedOneByOne) {
  std::mt19937_64 random(11);
  for (uint32_t type = WEFT_INT8; type <= WEFT_FLOAT64; ++type) {
    for (uint32_t reduction = 0; reduction < WEFT_USER; ++reduction) {
      if (!can_reduce(type, reduction)) continue;
      for (uint64_t times = 1; times < 7; ++times) {
        // Small whole numbers are exact in every type.
        uint8_t one[16] = {}, sum[16] = {}, power[16] = {};
        const uint32_t bytes = bytes_of_type(type);
        if (type < WEFT_FLOAT16) {
          one[0] = static_cast<uint8_t>(random() % 3);
        } else if (type == WEFT_FLOAT16 || type == WEFT_BFLOAT16) {
          const uint16_t bits = type == WEFT_FLOAT16 ? 0x4000 : 0x4000;  // 2
          std::memcpy(one, &bits, 2);
        } else if (type == WEFT_FLOAT32) {
          const float two = 2;
          std::memcpy(one, &two, 4);
        } else {
          const double two = 2;
          std::memcpy(one, &two, 8);
        }
        std::memcpy(sum, one, bytes);
        std::memcpy(power, one, bytes);
        for (uint64_t i = 1; i < times; ++i) combine(type, reduction, sum, one, 1);
        replicate(type, reduction, power, 1, times);
        EXPECT_EQ(std::memcmp(sum, power, bytes), 0) << type << " " << reduction << " " << times;
      }
    }
  }
}

}  // namespace
}  // namespace weft::test
