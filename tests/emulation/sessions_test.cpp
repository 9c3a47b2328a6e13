// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Sessions of real ranks in which frames are wrong, against the job behind the socket: each ends, or is
// refused with a text. WEFT_FUZZ_FRAMES=1000000: so many frames (100,000 without it); WEFT_FUZZ_SEED: others.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fcntl.h>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include "configs/loader.h"
#include "emulation/environment/idle_times.h"
#include "emulation/environment/instant_fabric.h"
#include "emulation/environment/restricted_fabric.h"
#include "emulation/job/job.h"
#include "tests/emulation/drawn_session.h"

namespace weft::test {
namespace {

using namespace emulation;

constexpr uint32_t kWorld = 8;
const std::vector<uint32_t> kReal{0, 4};

uint64_t number_of(const char* variable, uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::stoull(text);
}

int shared_file() {
  const int file = ::memfd_create("weft_test_session", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0 || ::ftruncate(file, 65536) != 0 || ::fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK) != 0)
    throw std::runtime_error("no shared memory for the test");
  return file;
}

struct Ended {
  std::string how;  ///< "ended", "protocol", "job", "user"
  std::string text;
};

class Sessions {
 public:
  explicit Sessions(uint64_t seed)
      : seed_(seed),
        config_(
            parse_config("weft: 1\ntopology: {notation: Ring(8), dimensions: [{bandwidth: 50 GB/s, latency: "
                         "500 ns}]}\nnpu: {peak: 1 TFLOPS}\nenvironment: {detail: restricted}\n",
                         "")),
        classes_(config_, kWorld, kReal),
        idle_(config_, kReal, false, [](const sc_core::sc_time& by) { sc_core::sc_start(by); }),
        file_(shared_file()) {}
  ~Sessions() { ::close(file_); }

  uint64_t frames() const { return frames_; }

  /// `spoilt`: one frame of so many is wrong; 0: none.
  Ended run(uint64_t number, uint64_t spoilt) {
    Random random(seed_ * 1000003 + number);
    std::unique_ptr<Fabric> fabric;
    if (number % 4 == 0)
      fabric = std::make_unique<RestrictedFabric>(config_, classes_, idle_);
    else
      fabric = std::make_unique<InstantFabric>();
    JobSettings settings;
    settings.world = kWorld;
    settings.real = kReal;
    settings.data = static_cast<uint32_t>(number % 3);
    settings.welcome.poll_cost = 100000;
    ranks_.clear();
    Job job(
        config_, settings, *fabric, [this](uint32_t rank, const auto& bytes) { answer(rank, bytes); },
        nullptr);
    try {
      for (const uint32_t rank : kReal) {
        ranks_[rank].left =
            draw_session(spoilt != 0 && random() % 16 == 0 ? number + rank : number, rank, kReal, kWorld);
        job.join(rank, Hello{}, SharedView(::dup(file_)));
      }
      while (pass(job, random, spoilt)) {
      }
      for (const uint32_t rank : kReal) job.lost(rank, "has closed its connection");
    } catch (const ProtocolError& e) {
      return {"protocol", e.what()};
    } catch (const JobError& e) {
      return {"job", e.what()};
    } catch (const UserError& e) {
      return {"user", e.what()};
    }
    return {"ended", job.ended() ? "" : "not all ranks have ended"};
  }

 private:
  struct Rank {
    std::vector<DrawnFrame> left;
    size_t at = 0;
    bool waits = false;
    int64_t time = 0;
    FrameBuffer to_job;
  };

  /// Every answer is a frame of the protocol.
  void answer(uint32_t rank, const std::vector<uint8_t>& bytes) {
    FrameBuffer in;
    in.append(bytes.data(), bytes.size());
    Frame frame;
    while (in.next(frame)) {
      if (frame.head.type == FrameType::done) read_message<Done>(frame);
      if (frame.head.type == FrameType::comm) read_message<Comm>(frame);
      ranks_[rank].time = frame.head.t;
      ranks_[rank].waits = false;
    }
    EXPECT_FALSE(in.midway());
  }

  bool pass(Job& job, Random& random, uint64_t spoilt) {
    bool more = false;
    for (const uint32_t number : kReal) {
      Rank& rank = ranks_[number];
      while (!rank.waits && rank.at < rank.left.size()) {
        DrawnFrame& drawn = rank.left[rank.at++];
        more = true;
        ++frames_;
        stamp(drawn.bytes, rank.time);
        rank.waits = drawn.asks;
        if (spoilt != 0 && random() % spoilt == 0) {
          spoil(random, drawn.bytes);
          if (random() % 4 == 0) rank.waits = false;  // does not wait for the answer
        }
        rank.to_job.append(drawn.bytes.data(), drawn.bytes.size());
        Frame frame;
        while (rank.to_job.next(frame)) job.take(number, frame);
      }
    }
    job.advance();
    return more;
  }

  uint64_t seed_;
  Config config_;
  Classes classes_;
  IdleTimes idle_;
  int file_;
  std::map<uint32_t, Rank> ranks_;
  uint64_t frames_ = 0;
};

TEST(Sessions, AreRefusedOrEndWhateverIsWrong) {
  sc_core::sc_set_time_resolution(1, sc_core::SC_PS);
  sc_core::sc_report_handler::set_actions(sc_core::SC_ID_NO_SC_START_ACTIVITY_, sc_core::SC_DO_NOTHING);
  Sessions sessions(number_of("WEFT_FUZZ_SEED", 1));
  uint64_t number = 0;
  // The drawn sessions are right: without a wrong frame they end.
  for (; number < 400; ++number) {
    const Ended ended = sessions.run(number, 0);
    ASSERT_EQ(ended.how + ended.text, "ended") << number;
  }
  const uint64_t wanted = number_of("WEFT_FUZZ_FRAMES", 100000);
  std::map<std::string, uint64_t> ends;
  const uint64_t before = sessions.frames();
  uint64_t runs = 0;
  while (sessions.frames() - before < wanted) {
    const Ended ended = sessions.run(number, 4 + number % 29);
    ++number;
    ++ends[ended.how];
    ++runs;
    if (ended.how != "ended") {
      EXPECT_FALSE(ended.text.empty());
    }
  }
  std::printf("%lu frames in %lu sessions:", static_cast<unsigned long>(sessions.frames() - before),
              static_cast<unsigned long>(runs));
  for (const auto& [how, count] : ends)
    std::printf(" %s %lu", how.c_str(), static_cast<unsigned long>(count));
  std::printf("\n");
  for (const char* how : {"ended", "protocol", "job"}) EXPECT_GT(ends[how], runs / 50) << how;
}

}  // namespace
}  // namespace weft::test
