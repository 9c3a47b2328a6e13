// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/library_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "configs/blueprint/carrier.h"
#include "workload/collectives/in_switch.h"

namespace weft {
namespace {

Picoseconds now() {
  return sc_core::sc_time_stamp().value();
}

Picoseconds picoseconds(double us) {
  const double ps = std::ceil(us * 1e6);
  if (!(ps < static_cast<double>(kNever))) time_overflow();
  return ps <= 0 ? 0 : static_cast<Picoseconds>(ps);
}

}  // namespace

/// Hears of the messages that come to one NPU.
class LibraryRuns::Sink final : public MessageSink {
 public:
  Sink(LibraryRuns& runs, uint32_t number, bool of_switch)
      : runs_(runs), number_(number), of_switch_(of_switch) {}
  void completed(const Completion& completion) override {
    if (of_switch_) {
      runs_.engine_->completed_at_switch(number_, completion, now());
    } else {
      runs_.engine_->completed(number_, completion, now());
    }
    runs_.wake();
  }
  void wake(uint32_t) override {}
  void settled() override {}

 private:
  LibraryRuns& runs_;
  uint32_t number_;  ///< of the NPU or node
  bool of_switch_;
};

LibraryRuns::LibraryRuns(sc_core::sc_module_name module_name, const Config& config,
                         const graph::FidelityRules& fidelity, const NmuOf& nmu, UnitOf unit,
                         collectives::DataContext* data, insight::CausalLog* causes)
    : sc_core::sc_module(module_name),
      calls_(config),
      causes_(causes),
      complete_calls_("complete", InstantPart::starts, [this] { settled(); }),
      end_("end"),
      unit_of_(std::move(unit)),
      advance_("advance", InstantPart::starts, [this] { advance(); }),
      due_("due") {
  SC_HAS_PROCESS(LibraryRuns);
  SC_METHOD(finish);
  sensitive << end_;
  dont_initialize();
  SC_METHOD(wake);
  sensitive << due_;
  dont_initialize();
  // Of nodes the switches of dimension 0 reduce, unless that is the network.
  const std::optional<uint32_t> network = network_dimension(config);
  const auto reduces = [&](uint32_t p, uint32_t d) {
    return config.graph == nullptr && collectives::uses_unit(config, d) && fidelity.units_on(p, d);
  };
  for (uint32_t p = 0; p < fidelity.planes(); ++p) {
    sends_.push_back(carries_messages(fidelity.plane(p)));
    reducers_.push_back({network != 0u && reduces(p, 0), network && reduces(p, *network)});
  }
  if (std::find(sends_.begin(), sends_.end(), true) == sends_.end()) return;
  book_ = std::make_unique<library::ProgramBook>(config, calls_, data);
  engine_ = std::make_unique<library::ProgramEngine>(static_cast<library::ProgramHost&>(*this), config.npus(),
                                                     data, causes);
  for (uint32_t npu = 0; npu < config.npus(); ++npu) {
    sinks_.push_back(std::make_unique<Sink>(*this, npu, false));
    NmuModel* const model = nmu(npu);
    nmus_.push_back(model);
    ports_.push_back(model == nullptr ? nullptr : model->carry_programs(*sinks_.back()));
    if (model != nullptr && ports_.back() == nullptr)
      throw UserError(ExitCode::usage,
                      fmt::format("{}: key `nmu.implementation`: {} is of a model that cannot carry the "
                                  "messages of `collectives.library: {}`; use another model, or write "
                                  "`fidelity: analytical` for all dimensions",
                                  config.file.empty() ? "configuration" : config.file, model->name(),
                                  to_string(config.collectives.library.kind)));
  }
}

LibraryRuns::~LibraryRuns() = default;

void LibraryRuns::start(const Part& part, Done done) {
  if (engine_ != nullptr) {
    const library::LibraryPlan& work = calls_.plan(*part.plan, part.rank);
    if (work.algorithm != library::LibraryAlgorithm::none)
      return sends_[part.plane] ? start_program(part, work, std::move(done))
                                : start_in_turn(part, std::move(done));
  }
  const Key key{part.stream, library::line_of(*part.plan, part.rank)};
  const Call& call = join(part, key, std::move(done));
  // Those of the member's line. Without anything to send nobody waits for others, as in the library.
  if (!part.for_all && call.members.size() < call.work.ranks) return;
  complete_.push_back(key);
  complete_calls_.request();
}

LibraryRuns::Call& LibraryRuns::join(const Part& part, const Key& key, Done done) {
  Call& call = joining_[key];
  if (call.plan == nullptr) {
    call.plan = part.plan;
    call.work = calls_.plan(*part.plan, part.rank);
  }
  if (causes_ != nullptr) call.cause = causes_->because();
  call.members.push_back({part.rank, now(), std::move(done)});
  call.joined = now();
  return call;
}

/// A closed form on a machine that runs programs, too. It begins when it is its turn at all its members.
void LibraryRuns::start_in_turn(const Part& part, Done done) {
  const Key key{part.stream, library::line_of(*part.plan, part.rank)};
  Call& call = join(part, key, std::move(done));
  Stream& stream = streams_[library::communicator(*part.plan, part.rank)];
  call.in_turn = true;
  if (stream.program == now()) call.grouped = now();
  stream.joined = now();
  Stream::Waiting waiting;
  waiting.joined = now();
  waiting.closed = &joining_.find(key)->first;
  if (call.members.size() == call.work.ranks) {
    std::vector<uint32_t> members;
    for (const Member& member : call.members) members.push_back(member.rank);
    turns_.push_back({part.stream, part.plan, std::move(members)});
    complete_calls_.request();
  }
  stream.turns.join(part.stream);
  stream.waiting[part.stream] = waiting;
  begin_next(stream);
}

/// Calls that are complete at one instant follow each other by their numbers, whichever was complete first.
void LibraryRuns::settled() {
  give_turns();
  std::sort(complete_.begin(), complete_.end());
  for (const Key& key : complete_) {
    const auto at = joining_.find(key);
    const Call& call = at->second;
    const Picoseconds end = calls_.end_of(*call.plan, call.members.front().rank, call.work, call.joined,
                                          now(), call.in_turn && call.grouped == call.joined);
    ends_.emplace(std::make_pair(end, key), std::move(at->second));
    joining_.erase(at);
  }
  complete_.clear();
  if (!ends_.empty()) end_.notify(sc_core::sc_time::from_value(ends_.begin()->first.first - now()));
}

void LibraryRuns::finish() {
  while (!ends_.empty() && ends_.begin()->first.first <= now()) {
    const uint32_t stream = ends_.begin()->first.second.first;
    Call call = std::move(ends_.begin()->second);
    ends_.erase(ends_.begin());
    std::sort(call.members.begin(), call.members.end(),
              [](const Member& a, const Member& b) { return a.rank < b.rank; });
    for (const Member& member : call.members) {
      collectives::CollectiveDone done;
      done.stream = stream;
      done.started = member.joined;
      done.finished = now();
      done.plan = call.plan.get();
      if (call.in_turn) {
        Stream& own = streams_.at(library::communicator(*call.plan, member.rank));
        own.turns.end(stream);
        begin_next(own);
      }
      if (causes_ != nullptr) causes_->because(call.cause);
      member.done(done);
    }
  }
  if (!ends_.empty()) end_.notify(sc_core::sc_time::from_value(ends_.begin()->first.first - now()));
}

void LibraryRuns::start_program(const Part& part, const library::LibraryPlan& work, Done done) {
  const uint32_t line = library::line_of(*part.plan, part.rank);
  const auto [at, fresh] = opened_.try_emplace({part.stream, line});
  Opened& opened = at->second;
  if (fresh) {
    const library::ProgramBook::Work& made = book_->work(part.plan, part.rank, reducers_[part.plane]);
    opened.npus = made.npus;
    opened.call = engine_->open(
        {part.stream, made.program, part.plan, made.npus, join_units(*made.program, made.npus)});
  }
  const auto member = static_cast<uint32_t>(
      std::lower_bound(opened.npus.begin(), opened.npus.end(), part.rank) - opened.npus.begin());
  const library::Communicator communicator = library::communicator(*part.plan, part.rank);
  Stream& stream = streams_[communicator];
  const LibraryParameters& parameters = calls_.parameters();
  Stream::Waiting waiting;
  waiting.call = opened.call;
  waiting.member = member;
  waiting.joined = now();
  // Parts that join at one instant are a group, and pay for one launch.
  waiting.before_us =
      (stream.joined == now() ? 0 : parameters.launch_us) + work.base_us * parameters.latency_scale +
      work.network_share *
          (parameters.launch_us + parameters.latency_scale * (work.base_us + work.latency_us));
  if (causes_ != nullptr) waiting.cause = causes_->because();
  stream.joined = stream.program = now();
  endings_[{opened.call, member}] = {communicator, part.stream, part.plane, std::move(done)};
  if (part.plane != 0) nmus_[part.rank]->put_program_on_plane(part.stream, part.plane);
  if (++opened.joined == opened.npus.size()) {
    turns_.push_back({part.stream, part.plan, std::move(opened.npus)});
    complete_calls_.request();
    opened_.erase(at);
  }
  stream.turns.join(part.stream);
  stream.waiting[part.stream] = waiting;
  begin_next(stream);
}

/// Calls that are complete at one instant follow each other by their numbers.
void LibraryRuns::give_turns() {
  std::vector<Complete> complete;
  complete.swap(turns_);
  std::sort(complete.begin(), complete.end(),
            [](const Complete& a, const Complete& b) { return a.number < b.number; });
  for (const Complete& call : complete) {
    ++places_;
    for (const uint32_t rank : call.members) {
      Stream& stream = streams_.at(library::communicator(*call.plan, rank));
      stream.turns.complete(call.number, places_);
      begin_next(stream);
    }
  }
}

/// Begins the call whose turn it is, if there is one.
void LibraryRuns::begin_next(Stream& stream) {
  const std::optional<uint32_t> turn = stream.turns.begin();
  if (!turn) return;
  const auto at = stream.waiting.find(*turn);
  const Stream::Waiting next = at->second;
  stream.waiting.erase(at);
  if (next.closed != nullptr) {
    Call& call = joining_.at(*next.closed);
    if (++call.ready < call.work.ranks) return;
    complete_.push_back(*next.closed);
    complete_calls_.request();
    return;
  }
  if (causes_ != nullptr && next.joined == now()) causes_->because(next.cause);
  engine_->start(next.call, next.member, next.joined, now(), later(now(), picoseconds(next.before_us)));
  wake();
}

/// Has the program's switches tell of what comes to them.
std::vector<uint32_t> LibraryRuns::join_units(const library::Program& program,
                                              const std::vector<uint32_t>& npus) {
  std::vector<uint32_t> numbers;
  for (const library::SwitchPlace& place : program.switches()) {
    ProgramUnit* const unit = unit_of_(place.dimension, npus[place.member]);
    if (unit == nullptr)
      throw std::logic_error(fmt::format("the switch of NPU {} in dimension {} does not reduce for programs",
                                         npus[place.member], place.dimension));
    const auto known = std::find(units_.begin(), units_.end(), unit);
    numbers.push_back(static_cast<uint32_t>(known - units_.begin()));
    if (known != units_.end()) continue;
    units_.push_back(unit);
    sinks_.push_back(std::make_unique<Sink>(*this, numbers.back(), true));
    unit->hear(*sinks_.back());
  }
  return numbers;
}

void LibraryRuns::submit_from_switch(uint32_t number, const Message& message) {
  units_[number]->send(message);
}

void LibraryRuns::submit(uint32_t npu, const Message& message) {
  ports_[npu]->submit(message);
}

void LibraryRuns::member_done(uint32_t call, uint32_t member, const collectives::CollectiveDone& done) {
  const auto at = endings_.find({call, member});
  const Ending ending = std::move(at->second);
  endings_.erase(at);
  if (ending.plane != 0) nmus_[std::get<2>(ending.stream)]->take_program_back(ending.number);
  Stream& stream = streams_.at(ending.stream);
  stream.turns.end(ending.number);
  begin_next(stream);
  ending.done(done);
}

/// What is due now is done when all else of this instant has happened.
void LibraryRuns::wake() {
  const Picoseconds next = engine_->next();
  if (next == kNever) return;
  if (next <= now()) return advance_.request();
  due_.notify(sc_core::sc_time::from_value(next - now()));
}

void LibraryRuns::advance() {
  engine_->advance(now());
  wake();
}

std::vector<std::string> LibraryRuns::describe_waits(uint32_t npu, size_t limit) const {
  return engine_ == nullptr ? std::vector<std::string>{} : engine_->describe_waits(npu, limit);
}

}  // namespace weft
