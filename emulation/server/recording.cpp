// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "emulation/server/recording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "emulation/environment/instant_fabric.h"

namespace weft::emulation {
namespace {

/// Notes what ranks say, and what they are answered.
class Recorder {
 public:
  explicit Recorder(Recordings& recordings) : recordings_(recordings) {}

  void heard(uint32_t rank, const Frame& frame, Picoseconds gap) {
    RecordedCall call;
    call.frame = frame;
    call.gap = gap;
    recordings_[rank].push_back(std::move(call));
  }
  void answered(uint32_t rank, const std::vector<uint8_t>& bytes) {
    FrameBuffer in;
    in.append(bytes.data(), bytes.size());
    Frame frame;
    while (in.next(frame)) {
      // The answer is to the last call: the rank waits for it.
      std::vector<RecordedCall>& calls = recordings_[rank];
      if (calls.empty()) continue;
      if (frame.head.type == FrameType::comm) calls.back().made = read_message<Comm>(frame).id;
      if (frame.head.type != FrameType::done) continue;
      for (const Finished& finished : read_message<Done>(frame).finished) {
        calls.back().answered = true;
        calls.back().finished.push_back(finished.request);
      }
    }
  }

 private:
  Recordings& recordings_;
};

template <typename Message>
Frame rewritten(const Frame& frame, const Message& message) {
  std::vector<uint8_t> bytes;
  write_frame(bytes, frame.head.request, frame.head.t, message);
  FrameBuffer in;
  in.append(bytes.data(), bytes.size());
  Frame result;
  in.next(result);
  return result;
}

template <typename Message, typename Change>
Frame changed(const Frame& frame, const Change& change) {
  auto message = read_message<Message>(frame);
  change(message);
  return rewritten(frame, message);
}

/// With the communicators of this job and without data. A call that asks whether something is over waits for
/// what it was answered.
Frame translated(const RecordedCall& call, const std::map<uint32_t, uint32_t>& comms) {
  const Frame& frame = call.frame;
  const auto comm = [&comms](uint32_t recorded) {
    const auto known = comms.find(recorded);
    return known == comms.end() ? recorded : known->second;
  };
  switch (frame.head.type) {
    case FrameType::coll:
      return changed<Coll>(frame, [&](Coll& coll) {
        coll.comm = comm(coll.comm);
        coll.send_offset = coll.receive_offset = kNoBuffer;
      });
    case FrameType::send:
      return changed<Send>(frame, [&](Send& send) {
        send.comm = comm(send.comm);
        send.offset = kNoBuffer;
      });
    case FrameType::recv:
      return changed<Recv>(frame, [&](Recv& recv) {
        recv.comm = comm(recv.comm);
        recv.offset = kNoBuffer;
      });
    case FrameType::probe:
      return changed<Probe>(frame, [&](Probe& probe) {
        probe.comm = comm(probe.comm);
        probe.blocking = 1;
      });
    case FrameType::comm_new:
      return changed<CommNew>(frame, [&](CommNew& made) { made.parent = comm(made.parent); });
    case FrameType::comm_free:
      return changed<CommFree>(frame, [&](CommFree& freed) { freed.id = comm(freed.id); });
    case FrameType::wait:
    case FrameType::test: {
      Wait wait;
      wait.requests = call.finished;
      return rewritten(frame, wait);
    }
    default:
      return frame;
  }
}

bool asks(const Frame& frame) {
  switch (frame.head.type) {
    case FrameType::wait:
    case FrameType::test:
    case FrameType::probe:
    case FrameType::comm_new:
    case FrameType::bye:
      return true;
    case FrameType::compute:
      return read_message<Compute>(frame).ps < 0;
    default:
      return false;
  }
}

/// It has found nothing: in the replay it is left out.
bool in_vain(const RecordedCall& call) {
  return (call.frame.head.type == FrameType::test || call.frame.head.type == FrameType::probe) &&
         !call.answered;
}

}  // namespace

Recordings record(const Config& config, const JobSettings& job, const ServerSettings& server,
                  uint32_t at_once, const KnownMembers& members,
                  const std::function<void(const std::string&)>& notify) {
  Recordings recordings;
  Recorder recorder(recordings);
  Config apart = config;  // classes name real ranks that do not run
  if (apart.environment) apart.environment->classes.clear();
  for (size_t begin = 0; begin < job.real.size(); begin += at_once) {
    JobSettings some = job;
    some.real.assign(
        job.real.begin() + static_cast<std::ptrdiff_t>(begin),
        job.real.begin() + static_cast<std::ptrdiff_t>(std::min(begin + at_once, job.real.size())));
    some.heard = [&recorder](uint32_t rank, const Frame& frame, Picoseconds gap) {
      recorder.heard(rank, frame, gap);
    };
    InstantFabric fabric;
    Server processes(some, server, notify);
    some.welcome.epoch = processes.epoch();
    Job running(
        apart, some, fabric,
        [&](uint32_t rank, const std::vector<uint8_t>& bytes) {
          recorder.answered(rank, bytes);
          processes.send(rank, bytes);
        },
        nullptr);
    running.know(members);
    const Outcome outcome = processes.run(running);
    if (!outcome.error.empty())
      throw UserError(outcome.code, fmt::format("--at-once {}, while rank{} {} ran alone: {}", at_once,
                                                some.real.size() == 1 ? "" : "s", fmt::join(some.real, ", "),
                                                outcome.error));
  }
  return recordings;
}

Player::Player(const Recordings& recordings) {
  for (const auto& [rank, calls] : recordings) ranks_[rank].calls = &calls;
}

void Player::send(uint32_t rank, const std::vector<uint8_t>& bytes) {
  FrameBuffer in;
  in.append(bytes.data(), bytes.size());
  Frame frame;
  Rank& state = ranks_.at(rank);
  while (in.next(frame)) {
    if (frame.head.type == FrameType::comm) state.comms[state.making] = read_message<Comm>(frame).id;
    state.time = static_cast<Picoseconds>(frame.head.t);
    state.waits = false;
  }
}

bool Player::pass(Job& job) {
  bool more = false;
  for (auto& [rank, state] : ranks_) {
    while (!state.waits && state.next < state.calls->size()) {
      const RecordedCall& call = (*state.calls)[state.next++];
      more = true;
      state.computed += call.gap;
      if (in_vain(call)) continue;
      Frame frame = translated(call, state.comms);
      state.time += std::exchange(state.computed, 0);
      frame.head.t = static_cast<int64_t>(state.time);
      state.waits = asks(frame);
      state.making = call.made;
      job.take(rank, frame);
    }
  }
  job.advance();
  return more;
}

Outcome Player::run(Job& job) {
  try {
    for (const auto& rank : ranks_) job.join(rank.first, Hello{}, SharedView{});
    while (!job.ended()) {
      if (!pass(job) && !job.ended())
        return {ExitCode::stall, "the recorded ranks do not come to an end:\n" + job.describe()};
    }
  } catch (const JobError& e) {
    return {ExitCode::stall, e.what()};
  } catch (const ProtocolError& e) {
    return {ExitCode::stall, fmt::format("a recorded rank broke the protocol: {}", e.what())};
  }
  return {};
}

}  // namespace weft::emulation
