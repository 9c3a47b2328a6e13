// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tests/emulation/drawn_session.h"

#include <algorithm>
#include <cstring>

#include "emulation/client/weft_comm.h"
#include "emulation/protocol/messages.h"

namespace weft::test {
namespace {

using namespace emulation;

/// Writes one rank's frames; all ranks draw alike.
class Session {
 public:
  Session(uint64_t seed, uint32_t rank, const std::vector<uint32_t>& real, uint32_t world)
      : random_(seed), rank_(rank), real_(real), world_(world), sequence_(1, 0) {}

  std::vector<DrawnFrame> frames() {
    for (uint64_t steps = 3 + upto(12); steps > 0; --steps) step();
    wait();
    Bye bye;
    add(bye, true);
    return std::move(frames_);
  }

 private:
  uint64_t upto(uint64_t most) { return random_() % (most + 1); }

  template <typename Message>
  uint64_t add(const Message& message, bool asks) {
    frames_.emplace_back();
    write_frame(frames_.back().bytes, ++request_, 0, message);
    frames_.back().asks = asks;
    return request_;
  }

  void step() {
    switch (upto(9)) {
      case 0:
      case 1:
      case 2:
        return collective();
      case 3:
      case 4:
        return exchange();
      case 5:
        return wait();
      case 6:
        return compute();
      case 7:
        return communicator();
      case 8:
        return test();
      default:
        return mark();
    }
  }

  void collective() {
    Coll coll;
    coll.operation = static_cast<uint32_t>(upto(WEFT_BARRIER));
    coll.type = upto(3) == 0 ? WEFT_INT32 : WEFT_FLOAT32;
    coll.element_bytes = 4;
    coll.count = upto(64);
    coll.root = static_cast<int32_t>(upto(world_ - 1));
    if (upto(7) == 0) coll.counts.assign(world_, 1 + upto(3));
    if (upto(1) == 0) {
      coll.send_offset = 0;
      coll.receive_offset = 8192;
    }
    coll.name = upto(1) == 0 ? "grad" : "";
    coll.sequence = sequence_[0]++;
    open_.push_back(add(coll, false));
  }

  /// To the next real rank, from the one before.
  void exchange() {
    const auto at = std::find(real_.begin(), real_.end(), rank_) - real_.begin();
    const auto n = static_cast<std::ptrdiff_t>(real_.size());
    const auto tag = static_cast<int32_t>(upto(3));
    Recv recv;
    recv.peer = upto(3) == 0 ? WEFT_ANY_SOURCE : static_cast<int32_t>(real_[(at + n - 1) % n]);
    recv.tag = upto(3) == 0 ? WEFT_ANY_TAG : tag;
    recv.bytes = 4096;
    if (upto(1) == 0) recv.offset = 16384;
    open_.push_back(add(recv, false));
    Send send;
    send.peer = static_cast<int32_t>(real_[(at + 1) % n]);
    send.tag = tag;
    send.bytes = upto(4096);
    send.mode = upto(3) == 0 ? WEFT_SEND_SYNCHRONOUS : WEFT_SEND_STANDARD;
    if (upto(1) == 0) send.offset = 0;
    open_.push_back(add(send, false));
    if (upto(3) != 0) return;
    Probe probe;
    probe.peer = WEFT_ANY_SOURCE;
    probe.tag = WEFT_ANY_TAG;
    probe.blocking = 0;
    add(probe, true);
  }

  void wait() {
    if (open_.empty()) return;
    Wait wait;
    wait.requests = std::move(open_);
    open_.clear();
    add(wait, true);
  }

  void test() {
    if (open_.empty()) return;
    Test test;
    test.how = static_cast<uint32_t>(WaitHow::all);
    test.requests = {open_.front()};
    // What is over is no longer open: only a wait can be told so beforehand.
    Wait wait;
    wait.requests = test.requests;
    add(wait, true);
    open_.erase(open_.begin());
  }

  void compute() {
    Compute compute;
    const bool work = upto(1) == 0;
    if (work) {
      compute.flops = upto(1000000);
      compute.bytes = upto(1000);
    } else {
      compute.ps = static_cast<int64_t>(upto(1000000));
    }
    compute.region = "forward";
    add(compute, work);
  }

  void mark() {
    Mark mark;
    mark.number = static_cast<int64_t>(iteration_);
    mark.begin = 1;
    mark.name = "step";
    add(mark, false);
    mark.begin = 0;
    add(mark, false);
    ++iteration_;
  }

  /// One of all ranks, a collective on it, and its end.
  void communicator() {
    CommNew made;
    made.how = static_cast<uint32_t>(upto(1) == 0 ? CommHow::ranks : CommHow::cart);
    if (made.how == static_cast<uint32_t>(CommHow::cart))
      made.values = {2, static_cast<int32_t>(world_ / 2), 1, 0};
    made.site = "session";
    add(made, true);
    const auto id = static_cast<uint32_t>(sequence_.size());
    sequence_.push_back(0);
    Coll coll;
    coll.comm = id;
    coll.sequence = sequence_[id]++;
    coll.type = WEFT_FLOAT64;
    coll.element_bytes = 8;
    coll.count = 1 + upto(64);
    open_.push_back(add(coll, false));
    if (upto(1) == 0) return;
    wait();
    CommFree freed;
    freed.id = id;
    add(freed, false);
  }

  Random random_;
  uint32_t rank_;
  const std::vector<uint32_t>& real_;
  uint32_t world_;
  uint64_t request_ = 1;
  uint64_t iteration_ = 0;
  std::vector<uint32_t> sequence_;  ///< by communicator
  std::vector<uint64_t> open_;
  std::vector<DrawnFrame> frames_;
};

uint64_t interesting(Random& random) {
  static const uint64_t kValues[] = {0,
                                     1,
                                     2,
                                     7,
                                     8,
                                     255,
                                     4096,
                                     65535,
                                     65536,
                                     uint64_t{1} << 20,
                                     (uint64_t{1} << 31) - 1,
                                     uint64_t{1} << 31,
                                     ~uint32_t{0},
                                     uint64_t{1} << 32,
                                     uint64_t{1} << 50,
                                     uint64_t{1} << 62,
                                     uint64_t{1} << 63,
                                     ~uint64_t{0},
                                     ~uint64_t{0} - 1};
  if (random() % 4 == 0) return random();
  return kValues[random() % (sizeof kValues / sizeof *kValues)];
}

template <typename T>
void overwrite(std::vector<uint8_t>& frame, size_t at, uint64_t value) {
  const auto part = static_cast<T>(value);
  if (at + sizeof part <= frame.size()) std::memcpy(frame.data() + at, &part, sizeof part);
}

std::vector<uint8_t> noise(Random& random, size_t most) {
  std::vector<uint8_t> bytes(random() % most);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

/// A right head, and anything behind it.
std::vector<uint8_t> random_frame(Random& random) {
  std::vector<uint8_t> body = noise(random, 128);
  body.resize(body.size() / 8 * 8);
  FrameHead head;
  head.bytes = static_cast<uint32_t>(kHeadBytes + body.size());
  head.type = static_cast<FrameType>(random() % 4 == 0 ? random() : 1 + random() % 12);
  head.flags = static_cast<uint16_t>(random() % 2);
  head.request = random() % 20;
  std::vector<uint8_t> bytes(sizeof head);
  std::memcpy(bytes.data(), &head, sizeof head);
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}

}  // namespace

std::vector<DrawnFrame> draw_session(uint64_t seed, uint32_t rank, const std::vector<uint32_t>& real,
                                     uint32_t world) {
  return Session(seed, rank, real, world).frames();
}

void stamp(std::vector<uint8_t>& frame, int64_t time) {
  if (frame.size() >= kHeadBytes) std::memcpy(frame.data() + offsetof(FrameHead, t), &time, sizeof time);
}

void spoil(Random& random, std::vector<uint8_t>& frame) {
  const size_t fields = frame.size() - kHeadBytes;
  const auto field = [&](size_t unit) {
    return kHeadBytes + (fields < unit ? 0 : random() % (fields / unit) * unit);
  };
  switch (random() % 13) {
    case 0:
    case 1:
      return overwrite<uint8_t>(frame, field(1), random());
    case 2:
    case 3:
      return overwrite<uint32_t>(frame, field(4), interesting(random));
    case 4:
    case 5:
      return overwrite<uint64_t>(frame, field(8), interesting(random));
    case 6:
      return overwrite<uint16_t>(frame, offsetof(FrameHead, type),
                                 random() % 4 == 0 ? random() : random() % 40);
    case 7:
      return overwrite<uint32_t>(frame, offsetof(FrameHead, bytes), interesting(random));
    case 8:
      frame.resize(random() % frame.size());
      return;
    case 9: {
      const std::vector<uint8_t> again = frame;
      frame.insert(frame.end(), again.begin(), again.end());
      return;
    }
    case 10:
      overwrite<uint64_t>(frame, random() % 2 == 0 ? offsetof(FrameHead, request) : offsetof(FrameHead, t),
                          interesting(random));
      return;
    case 11:
      frame = random() % 4 == 0 ? std::vector<uint8_t>() : random_frame(random);
      return;
    default:
      frame = noise(random, 200);
  }
}

}  // namespace weft::test
