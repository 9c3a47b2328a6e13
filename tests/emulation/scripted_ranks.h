// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Real ranks without processes: each is a list of steps, driven through the job's frames.

#ifndef WEFT_TESTS_EMULATION_SCRIPTED_RANKS_H
#define WEFT_TESTS_EMULATION_SCRIPTED_RANKS_H

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "configs/loader.h"
#include "emulation/environment/full_fabric.h"
#include "emulation/environment/idle_times.h"
#include "emulation/environment/restricted_fabric.h"
#include "emulation/job/job.h"

namespace weft::test {

/// One step: compute, then a call, and perhaps a wait for all that is open.
struct Step {
  enum class Kind : uint8_t { collective, send, receive } kind = Kind::collective;
  Picoseconds compute = 0;
  uint32_t operation = 0;  ///< CollectiveOp
  uint64_t count = 0;      ///< bytes, as of weft_coll_args with elements of one byte; of a message its bytes
  int32_t root = 0;
  int32_t peer = 0;
  int32_t tag = 0;
  bool wait = true;
};

struct ScriptedJob {
  std::string yaml;
  std::vector<uint32_t> real;
  std::map<uint32_t, std::vector<Step>> steps;  ///< by real rank
};

/// Local times at which each rank's waits ended, rank by rank; then its end. `events`: of a
/// restricted fabric and of the machines that it measures.
inline std::vector<Picoseconds> run_job(const ScriptedJob& job, bool full, bool folded = false,
                                        uint64_t* events = nullptr) {
  sc_core::sc_set_time_resolution(1, sc_core::SC_PS);
  sc_core::sc_report_handler::set_actions(sc_core::SC_ID_NO_SC_START_ACTIVITY_, sc_core::SC_DO_NOTHING);
  auto* config = new Config(parse_config(job.yaml, ""));
  emulation::JobSettings settings;
  settings.world = config->npus();
  settings.real = job.real;
  settings.welcome.poll_cost = 100000;
  const emulation::Classes classes(*config, settings.world, settings.real);
  const auto advance = [](const sc_core::sc_time& by) { sc_core::sc_start(by); };
  std::unique_ptr<emulation::IdleTimes> idle;
  std::unique_ptr<emulation::Fabric> fabric;
  if (full) {
    fabric =
        std::make_unique<emulation::FullFabric>(*new Machine("job", *config, Machine::Options{}), advance);
  } else {
    idle = std::make_unique<emulation::IdleTimes>(*config, job.real, folded, advance);
    fabric = std::make_unique<emulation::RestrictedFabric>(*config, classes, *idle);
  }
  std::map<uint32_t, std::vector<Picoseconds>> ends;
  std::map<uint32_t, size_t> at;
  std::map<uint32_t, Picoseconds> time;
  std::map<uint32_t, bool> free;
  std::map<uint32_t, std::vector<uint64_t>> open;
  std::map<uint32_t, uint64_t> number;
  std::map<uint32_t, uint32_t> sequence;
  const auto answered = [&](uint32_t rank, const std::vector<uint8_t>& bytes) {
    emulation::FrameBuffer in;
    in.append(bytes.data(), bytes.size());
    emulation::Frame frame;
    while (in.next(frame)) {
      time[rank] = static_cast<Picoseconds>(frame.head.t);
      if (frame.head.type == emulation::FrameType::done) ends[rank].push_back(time[rank]);
      free[rank] = true;
    }
  };
  emulation::Job emulated(*config, settings, *fabric, answered, nullptr);
  const auto tell = [&](uint32_t rank, auto message) {
    std::vector<uint8_t> bytes;
    emulation::write_frame(bytes, ++number[rank], static_cast<int64_t>(time[rank]), message);
    emulation::FrameBuffer in;
    in.append(bytes.data(), bytes.size());
    emulation::Frame frame;
    in.next(frame);
    emulated.take(rank, frame);
    return number[rank];
  };
  const auto call = [&](uint32_t rank, const Step& step) {
    time[rank] += step.compute;
    if (step.kind == Step::Kind::collective) {
      emulation::Coll coll;
      coll.sequence = sequence[rank]++;
      coll.operation = step.operation;
      coll.count = step.count;
      coll.root = step.root;
      open[rank].push_back(tell(rank, coll));
    } else if (step.kind == Step::Kind::send) {
      emulation::Send send;
      send.peer = step.peer;
      send.tag = step.tag;
      send.bytes = step.count;
      open[rank].push_back(tell(rank, send));
    } else {
      emulation::Recv recv;
      recv.peer = step.peer;
      recv.tag = step.tag;
      recv.bytes = step.count;
      open[rank].push_back(tell(rank, recv));
    }
  };
  for (const uint32_t rank : job.real) emulated.join(rank, emulation::Hello{}, emulation::SharedView{});
  while (!emulated.ended()) {
    for (const uint32_t rank : job.real) {
      const std::vector<Step>& steps = job.steps.at(rank);
      while (free[rank] && !emulated.ended(rank)) {
        if (at[rank] == steps.size()) {
          free[rank] = false;
          if (open[rank].empty()) {
            tell(rank, emulation::Bye{});
            continue;
          }
        } else {
          const Step& step = steps[at[rank]++];
          call(rank, step);
          if (!step.wait) continue;
        }
        emulation::Wait wait;
        wait.requests = open[rank];
        open[rank].clear();
        free[rank] = false;
        tell(rank, wait);
      }
    }
    emulated.advance();
  }
  if (events != nullptr)
    *events = static_cast<emulation::RestrictedFabric&>(*fabric).events() + idle->activations();
  std::vector<Picoseconds> all;
  for (const auto& [rank, list] : ends) all.insert(all.end(), list.begin(), list.end());
  return all;
}

inline std::string text_of(const std::vector<Picoseconds>& times) {
  std::string text;
  for (const Picoseconds time : times) text += std::to_string(time) + " ";
  return text;
}

}  // namespace weft::test

#endif
