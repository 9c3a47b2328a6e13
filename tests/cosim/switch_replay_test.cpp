// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A recording of a switch, replayed into switches with a seeded fault: the replay finds each, and names the
// first message that is wrong.

#include "cosim/record/switch_replay.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "cosim/record/block_recorder.h"
#include "sc_models/message_bits.h"
#include "tests/support/isolated.h"
#include "tests/support/small_machine.h"
#include "tests/support/solo_job.h"
#include "tests/vcd/vcd_parser.h"
#include "tlm_interconnect/ports/timed_queue.h"

namespace weft::cosim {
namespace {

enum class Fault { none, drops, strays, late, twice, shorter };

/// A crossbar that does one message wrong: the `which`-th that arrives.
class Seeded final : public SwitchModel {
 public:
  Seeded(const char* name, SwitchContext context, Fault fault, uint32_t which)
      : SwitchModel(name, std::move(context)), fault_(fault), which_(which) {}
  size_t in_flight() const override { return queue_.size(); }

 private:
  struct Held {
    Picoseconds tail = 0;
    fabric::PacketRef packet = fabric::kNoPacket;
    uint32_t port = 0;
  };
  void arrive(const Arrival& arrival) override {
    Held held{arrival.tail, arrival.packet, output(arrival.packet)};
    Picoseconds time = ready(arrival);
    if (arrivals_ == which_) {
      if (fault_ == Fault::drops) {
        packets().release(arrival.packet);
        ++arrivals_;
        return;
      }
      if (fault_ == Fault::strays) held.port = (held.port + 1) % static_cast<uint32_t>(ports().size());
      if (fault_ == Fault::late) time += 3;
      if (fault_ == Fault::shorter) packets()[arrival.packet].bytes -= 1;
      if (fault_ == Fault::twice) {
        const fabric::PacketRef copy = packets().acquire();
        fabric::Packet& packet = packets()[copy];
        packet = packets()[arrival.packet];
        packet.references = 1;
        queue_.push(time + 1, arrivals_, {held.tail, copy, held.port});
      }
    }
    queue_.push(time, static_cast<uint64_t>(turn(arrival)) << 32 | arrivals_++, held);
    wake_at(queue_.next());
  }
  void work(Picoseconds now) override {
    while (queue_.next() <= now) {
      const Held held = queue_.pop().payload;
      forward(held.packet, held.port, now, held.tail);
    }
    wake_at(queue_.next());
  }

  const Fault fault_;
  const uint32_t which_;
  uint64_t arrivals_ = 0;
  fabric::TimedQueue<Held, uint64_t> queue_;
};

class SwitchReplays : public ::testing::Test {
 protected:
  /// An all-reduce on Ring(4)_Switch(2), switch1_1 recorded.
  void record(const std::string& data = "none") const {
    const auto result = test::isolated([&] {
      Config config = test::ring_4_switch_2();
      config.run.data = data;
      BlockRecorder recorder("switch1_1", file_, config, "test");
      Machine::Options options = CollectiveJob::machine_options(nullptr, false);
      options.boundaries = &recorder;
      Machine machine("job", config, options);
      CollectiveJob job(machine);
      recorder.begin();
      job.start(CollectiveOp::all_reduce, 1 << 16);
      test::run_to_the_end(job);
      recorder.end({{job.last().stream, "all_reduce of 65536 B"}});
      return std::string(job.finished() ? "" : "stalled");
    });
    EXPECT_SILENT(result);
  }
  /// What the replay finds: the number of differences and the first one.
  std::string replay(Fault fault, uint32_t which, Picoseconds tolerance = 0) const {
    const auto result = test::isolated([&] {
      const Recording recording = read_recording(file_);
      SwitchReplay bench("bench", recording,
                         [&](const char* name, SwitchContext context) {
                           return std::make_unique<Seeded>(name, std::move(context), fault, which);
                         },
                         {tolerance});
      sc_core::sc_start();
      bench.finish();
      std::string text =
          std::to_string(bench.report().differences()) + " of " + std::to_string(bench.expected());
      if (const Difference* first = bench.report().first()) text += "; " + describe(*first);
      return text;
    });
    EXPECT_EQ(result.status, 0) << result.text;
    return result.text;
  }
  /// The recorded message that arrives as the `which`-th, in words.
  std::string message(uint32_t which) const {
    const Recording recording = read_recording(file_);
    for (const RecordedEvent& event : recording.events)
      if (event.into && which-- == 0) return describe_event(event, recording.collectives);
    return "none";
  }

  vcd::test::TemporaryFolder folder_;
  std::string file_ = folder_.file("switch.rec");
};

TEST_F(SwitchReplays, FindTheFirstWrongMessage) {
  record();
  const std::string same = replay(Fault::none, 0);
  EXPECT_EQ(same.find("0 of "), 0u) << same;
  EXPECT_EQ(same.find("first"), std::string::npos);
  for (const uint32_t which : {0u, 3u, 7u}) {
    const std::string who = message(which);
    EXPECT_NE(who.find("collective "), std::string::npos) << who;
    EXPECT_NE(who.find("(all_reduce of 65536 B)"), std::string::npos) << who;
    const auto finds = [&](Fault fault, const std::string& what) {
      const std::string found = replay(fault, which);
      EXPECT_NE(found.find("; at "), std::string::npos) << found;
      EXPECT_NE(found.find(who), std::string::npos) << found << "\n" << who;
      EXPECT_NE(found.find(what), std::string::npos) << found;
      EXPECT_NE(found.find("link job.switch1_1.to"), std::string::npos) << found;
    };
    finds(Fault::drops, "does not come");
    finds(Fault::strays, "leaves by port");
    finds(Fault::late, "3 ps later than recorded");
    finds(Fault::twice, "comes once more than in the recording");
    finds(Fault::shorter, "B; recorded: ");
  }
}

TEST_F(SwitchReplays, ATimeMayBeTolerated) {
  record();
  EXPECT_NE(replay(Fault::late, 2, 2).find("later than recorded"), std::string::npos);
  const std::string tolerated = replay(Fault::late, 2, 1000);
  EXPECT_EQ(tolerated.find("0 of "), 0u) << tolerated;
  EXPECT_EQ(tolerated.find("; at "), std::string::npos) << tolerated;
}

TEST_F(SwitchReplays, CarriedElementsComeToo) {
  record("functional");
  const Recording recording = read_recording(file_);
  bool carries = false;
  for (const RecordedEvent& event : recording.events)
    carries = carries || !std::get<fabric::Crossing>(event.what).elements.empty();
  EXPECT_TRUE(carries);
  EXPECT_EQ(replay(Fault::none, 0).find("0 of "), 0u);
}

TEST_F(SwitchReplays, AnotherBlockIsRefused) {
  const auto result = test::isolated([&] {
    Recording recording;
    recording.header.kind = "nmu";
    recording.header.block = "nmu3";
    recording.header.level = "message";
    const auto make = [](const char* name, SwitchContext context) {
      return std::make_unique<Seeded>(name, std::move(context), Fault::none, 0);
    };
    try {
      SwitchReplay bench("bench", recording, make);
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  });
  EXPECT_NE(result.text.find("the recording is of the nmu 'nmu3', not of a switch"), std::string::npos)
      << result.text;
}

}  // namespace
}  // namespace weft::cosim
