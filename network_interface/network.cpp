// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "network_interface/network.h"

#include <algorithm>
#include <utility>

namespace weft::network_interface {

using sc_core::sc_time;

Caller::Caller(const sc_core::sc_module_name& name) : sc_module(name) {
  SC_METHOD(process);
  sensitive << wake_;
  dont_initialize();
}

void Caller::add(Picoseconds at, Callback callback, int rank, bool late) {
  due_.push({at, sequence_++, callback, rank, late});
  if (!calling_) wake();
}

void Caller::arm(Picoseconds at) {
  wake_.notify(sc_time::from_value(at - sc_core::sc_time_stamp().value()));
}

void Caller::stop() {
  stopped_ = true;
  sc_core::sc_pause();
}

void Caller::wake() {
  if (due_.empty() || stopped_) return;
  const Picoseconds now = sc_core::sc_time_stamp().value();
  wake_.notify(sc_time::from_value(due_.top().at - now));
}

void Caller::process() {
  const Picoseconds now = sc_core::sc_time_stamp().value();
  calling_ = true;
  while (!stopped_ && !due_.empty() && due_.top().at <= now) {
    const Due due = due_.top();
    due_.pop();
    rank_ = due.rank;
    try {
      due.callback.function(due.callback.arg);
    } catch (...) {
      // It must not go through the kernel, which would make a text of it.
      thrown_ = std::current_exception();
      stop();
    }
  }
  rank_ = -1;
  calling_ = false;
  wake();
}

Network::Network(std::unique_ptr<Config> config, const NetworkOptions& options)
    : config_(std::move(config)),
      options_(options),
      machine_("weft_net", *config_, *this, Machine::Options{}),
      caller_("weft_net_caller"),
      table_(options.merges),
      has_finished_(machine_.npus()),
      unfinished_(machine_.npus()) {}

Network::~Network() {
  machine_.detach();
}

uint32_t Network::keep(const Message& message) {
  if (free_.empty()) {
    messages_.push_back(message);
    return static_cast<uint32_t>(messages_.size() - 1);
  }
  const uint32_t place = free_.back();
  free_.pop_back();
  messages_[place] = message;
  return place;
}

void Network::send(uint32_t source, uint32_t destination, uint64_t bytes, int tag, Callback callback) {
  Message message{source, destination, bytes, tag, 0, callback};
  message.ordinal = table_.sent(static_cast<int>(source), static_cast<int>(destination), tag, bytes);
  if (source != destination) {
    machine_.nmu(source).send(NpuId{destination}, 0, keep(message), bytes);
    return;
  }
  if (options_.done_when_sent && callback.function != nullptr)
    caller_.call(now(), callback, static_cast<int>(source));
  arrived(message);
}

void Network::receive(uint32_t destination, uint32_t source, uint64_t bytes, int tag, Callback callback) {
  table_.posted(static_cast<int>(source), static_cast<int>(destination), tag, bytes, callback, complete_);
  call_all(destination);
}

void Network::message_injected(NpuId rank, NpuId, const MessageId& id) {
  if (!options_.done_when_sent) return;
  const Callback callback = messages_[id.stream].callback;
  if (callback.function != nullptr) caller_.call(now(), callback, static_cast<int>(index(rank)));
}

void Network::message_arrived(NpuId, const Completion& completion) {
  const Message message = messages_[completion.id.stream];
  free_.push_back(completion.id.stream);
  arrived(message);
}

void Network::arrived(const Message& message) {
  if (!options_.done_when_sent && message.callback.function != nullptr)
    caller_.call(now(), message.callback, static_cast<int>(message.source));
  table_.arrived(static_cast<int>(message.source), static_cast<int>(message.destination), message.tag,
                 message.bytes, message.ordinal, complete_);
  call_all(message.destination);
}

/// The receives that are complete now.
void Network::call_all(uint32_t rank) {
  for (const Callback& callback : complete_)
    if (callback.function != nullptr) caller_.call(now(), callback, static_cast<int>(rank));
  complete_.clear();
}

bool Network::finish(uint32_t rank) {
  if (has_finished_[rank]) return false;
  has_finished_[rank] = true;
  if (--unfinished_ == 0) caller_.stop();
  return true;
}

int Network::state() const {
  if (finished()) return WEFT_NET_FINISHED;
  return sc_core::sc_pending_activity() ? WEFT_NET_OK : WEFT_NET_IDLE;
}

void Network::advance(sc_time by, sc_core::sc_starvation_policy policy) {
  sc_core::sc_start(by, policy);
  if (caller_.thrown()) std::rethrow_exception(caller_.thrown());
}

/// What is left of this instant.
void Network::settle() {
  while (!finished() && sc_core::sc_pending_activity_at_current_time())
    advance(sc_core::SC_ZERO_TIME, sc_core::SC_RUN_TO_TIME);
}

/// Before the first run the kernel does not know of what was sent.
void Network::begin() {
  if (sc_core::sc_start_of_simulation_invoked()) return;
  caller_.arm(now());
  advance(sc_core::SC_ZERO_TIME, sc_core::SC_RUN_TO_TIME);
}

int Network::run_until(Picoseconds until) {
  begin();
  if (until >= static_cast<Picoseconds>(WEFT_NET_FOREVER)) {
    while (!finished() && sc_core::sc_pending_activity())
      advance(sc_core::sc_max_time() - sc_core::sc_time_stamp(), sc_core::SC_EXIT_ON_STARVATION);
    return state();
  }
  settle();
  // Without anything to do the kernel warns.
  if (!sc_core::sc_pending_activity()) caller_.arm(until);
  if (!finished() && until > now()) advance(sc_time::from_value(until - now()), sc_core::SC_RUN_TO_TIME);
  settle();
  return state();
}

int Network::step() {
  begin();
  if (finished() || !sc_core::sc_pending_activity()) return state();
  const sc_time wait = sc_core::sc_time_to_pending_activity();
  if (wait != sc_core::SC_ZERO_TIME) advance(wait, sc_core::SC_RUN_TO_TIME);
  settle();
  return finished() ? WEFT_NET_FINISHED : WEFT_NET_OK;
}

std::vector<std::string> Network::check() const {
  if (sc_core::sc_pending_activity()) return {};
  return machine_.check_conservation();
}

}  // namespace weft::network_interface
