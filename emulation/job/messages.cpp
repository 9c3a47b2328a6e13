// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Point-to-point messages of an emulated job. Messages of one (communicator, source, destination) arrive in
// their order. A receive takes the first that fits, as MPI says.

#include <fmt/format.h>

#include <algorithm>

#include "emulation/client/weft_comm.h"
#include "emulation/job/capture.h"
#include "emulation/job/job.h"

namespace weft::emulation {

const PeerRule* Job::peer_rule(uint32_t rank, int32_t tag) const {
  if (!config_.environment) return nullptr;
  for (const PeerRule& rule : config_.environment->peers) {
    if (rule.rank && *rule.rank != rank) continue;
    if (rule.tag && static_cast<int64_t>(*rule.tag) != tag) continue;
    return &rule;
  }
  return nullptr;
}

uint32_t Job::add_message(Message message) {
  message.ordinal = sent_[{message.comm, message.source, message.destination}]++;
  ++report_.messages;
  const uint32_t number = next_message_++;
  messages_.emplace(number, std::move(message));
  return number;
}

/// Sends a message now.
void Job::launch(uint32_t number) {
  const Message& message = messages_.at(number);
  if (message.source != message.destination) {
    fabric_.send(number, message.source, message.destination, message.bytes);
    return;
  }
  message_left(number);
  message_there(number, Completion{});
}

void Job::apply_send(uint32_t rank, const Call& call) {
  const auto send = read_message<Send>(call.frame);
  const Communicator& comm = communicator(rank, send.comm, "a send");
  if (send.peer < 0 || static_cast<uint32_t>(send.peer) >= comm.size || send.tag < 0)
    throw JobError(
        {rank}, fmt::format("rank {} sends to rank {} (tag {}) of communicator {}, which has {} ranks", rank,
                            send.peer, send.tag, comm.id, comm.size));
  if (send.bytes > uint64_t{1} << 48) throw ProtocolError("SEND of more bytes than can be");
  Rank& state = of(rank);
  Request& request = new_request(rank, call);
  request.row = report_.calls.size();
  RankTotals& totals = report_.ranks[rank];
  CallRow row;
  row.rank = rank;
  row.number = totals.calls++;
  row.call = "send";
  row.name = send.name;
  row.comm = comm.id;
  row.peer = send.peer;
  row.tag = send.tag;
  row.bytes = send.bytes;
  row.issued = now_;
  totals.bytes += send.bytes;
  report_.calls.push_back(std::move(row));
  request.finished.tag = send.tag;
  request.finished.source = static_cast<int32_t>(comm.member(rank));
  request.finished.bytes = send.bytes;

  Message message;
  message.comm = comm.id;
  message.source = rank;
  message.destination = comm.world_rank(static_cast<uint32_t>(send.peer));
  message.tag = send.tag;
  message.bytes = send.bytes;
  message.request = call.frame.head.request;
  message.synchronous = send.mode == WEFT_SEND_SYNCHRONOUS;
  if (send.offset != kNoBuffer) {
    message.data = state.memory.read(send.offset, send.bytes);
    message.has_data = true;
  }
  const Message copy = message;
  if (capture_ != nullptr) capture_->send(rank, call.frame.head.request, now_, comm, send);
  launch(add_message(std::move(message)));
  send_images(comm, rank, copy);
}

/// What emulated ranks that do as `rank` send: in the fabric with all ranks to anybody, else to real ranks.
void Job::send_images(const Communicator& comm, uint32_t rank, const Message& of_real) {
  const uint32_t me = comm.member(rank);
  const uint32_t peer = comm.member(of_real.destination);
  const auto image = [&](uint32_t source, uint32_t destination) {
    const uint32_t from = comm.world_rank(source);
    if (classes_.is_real(from) || classes_.representative(from) != rank) return;
    if (peer_rule(from, of_real.tag) != nullptr) return;
    Message message = of_real;
    message.source = from;
    message.destination = comm.world_rank(destination);
    message.request = 0;
    message.guessed = true;
    ++report_.guessed;
    launch(add_message(std::move(message)));
  };
  if (fabric_.simulates_all()) {
    for (uint32_t source = 0; source < comm.size; ++source)
      if (source != me) image(source, comm.translate(source, me, peer));
    return;
  }
  for (const uint32_t real : classes_.real()) {
    const uint32_t to = comm.member(real);
    if (to != ~0u) image(comm.translate(to, peer, me), to);
  }
}

bool Job::fits(const Message& message, const Posted& posted) const {
  if (message.comm != posted.comm) return false;
  if (posted.tag != WEFT_ANY_TAG && posted.tag != message.tag) return false;
  if (posted.peer == WEFT_ANY_SOURCE) return true;
  const Communicator& comm = *communicators_.all().at(message.comm);
  return comm.world_rank(static_cast<uint32_t>(posted.peer)) == message.source;
}

/// The first message that is there and fits; 0: none.
uint32_t Job::find_arrived(uint32_t rank, const Posted& posted) const {
  const auto list = arrived_.find(rank);
  if (list == arrived_.end()) return 0;
  for (const uint32_t number : list->second)
    if (fits(messages_.at(number), posted)) return number;
  return 0;
}

void Job::apply_recv(uint32_t rank, const Call& call) {
  const auto recv = read_message<Recv>(call.frame);
  const Communicator& comm = communicator(rank, recv.comm, "a receive");
  const bool any = recv.peer == WEFT_ANY_SOURCE;
  if (!any && (recv.peer < 0 || static_cast<uint32_t>(recv.peer) >= comm.size))
    throw JobError({rank}, fmt::format("rank {} receives from rank {} of communicator {}, which has {} ranks",
                                       rank, recv.peer, comm.id, comm.size));
  Request& request = new_request(rank, call);
  request.receive_offset = recv.offset;
  request.room = recv.bytes;
  request.row = report_.calls.size();
  CallRow row;
  row.rank = rank;
  row.number = report_.ranks[rank].calls++;
  row.call = "receive";
  row.name = recv.name;
  row.comm = comm.id;
  row.peer = recv.peer;
  row.tag = recv.tag;
  row.bytes = recv.bytes;
  row.issued = now_;
  report_.calls.push_back(std::move(row));
  const Posted posted{call.frame.head.request, comm.id, recv.peer, recv.tag, recv.bytes};
  if (capture_ != nullptr) capture_->receive(rank, call.frame.head.request, now_, comm, recv);

  // A rule says when an emulated rank sends.
  uint32_t from = any ? ~0u : comm.world_rank(static_cast<uint32_t>(recv.peer));
  const PeerRule* rule = nullptr;
  if (any && config_.environment) {
    for (const PeerRule& candidate : config_.environment->peers)
      if (rule == nullptr && candidate.rank && comm.member(*candidate.rank) != ~0u &&
          !classes_.is_real(*candidate.rank) &&
          (!candidate.tag || recv.tag == WEFT_ANY_TAG || static_cast<int64_t>(*candidate.tag) == recv.tag)) {
        rule = &candidate;
        from = *candidate.rank;
      }
  } else if (!any && !classes_.is_real(from)) {
    rule = peer_rule(from, recv.tag);
  }
  if (rule != nullptr && rule->when != "echo") {
    Message message;
    message.comm = comm.id;
    message.source = from;
    message.destination = rank;
    message.tag = recv.tag == WEFT_ANY_TAG ? static_cast<int32_t>(rule->tag.value_or(0)) : recv.tag;
    message.bytes = recv.bytes;
    const uint32_t number = add_message(std::move(message));
    if (rule->delay == 0)
      launch(number);
    else
      later_sends_.push({now_ + rule->delay, order_++, number});
  }
  const uint32_t there = find_arrived(rank, posted);
  if (there != 0) {
    std::deque<uint32_t>& list = arrived_[rank];
    list.erase(std::find(list.begin(), list.end(), there));
    match(rank, there, posted);
  } else {
    posted_[rank].push_back(posted);
  }
}

void Job::match(uint32_t rank, uint32_t number, const Posted& posted) {
  Message& message = messages_.at(number);
  Request& request = of(rank).requests.at(posted.request);
  const Communicator& comm = *communicators_.all().at(message.comm);
  Finished& finished = request.finished;
  finished.source = static_cast<int32_t>(comm.member(message.source));
  finished.tag = message.tag;
  finished.bytes = std::min(message.bytes, posted.room);
  finished.queue = static_cast<int64_t>(message.completion.split.queue);
  finished.network =
      static_cast<int64_t>(message.completion.split.serialise + message.completion.split.latency);
  finished.reduce = static_cast<int64_t>(message.completion.split.endpoint);
  // Not thrown through the kernel, which may have called: wake_ranks() does.
  if (message.bytes > posted.room && failure_.empty()) {
    failed_rank_ = rank;
    failure_ = fmt::format(
        "rank {} receives at most {} B from rank {} (tag {}, communicator {}), and the "
        "message has {} B",
        rank, posted.room, finished.source, message.tag, comm.id, message.bytes);
  }
  if (message.has_data) {
    request.data = std::move(message.data);
    request.has_data = true;
  }
  if (capture_ != nullptr)
    capture_->received(rank, posted.request, message.source, message.tag, message.bytes);
  report_.calls[request.row].bytes = finished.bytes;
  report_.ranks[rank].bytes += finished.bytes;
  finish(rank, posted.request);
  if (message.synchronous && message.request != 0) send_over(message);
  forget(number);
}

/// It has been received; its sender may not know yet that its last byte has left.
void Job::forget(uint32_t number) {
  Message& message = messages_.at(number);
  message.taken = true;
  if (message.request == 0) messages_.erase(number);
}

void Job::send_over(Message& message) {
  const uint64_t request = message.request;
  message.request = 0;
  finish(message.source, request);
}

void Job::message_left(uint32_t number) {
  now_ = std::max(now_, fabric_.now());
  const auto found = messages_.find(number);
  if (found == messages_.end()) return;
  Message& message = found->second;
  if (message.request != 0 && !message.synchronous) send_over(message);
  if (message.taken) messages_.erase(found);
}

void Job::message_there(uint32_t number, const Completion& completion) {
  now_ = std::max(now_, fabric_.now());
  Message& message = messages_.at(number);
  message.there = true;
  message.completion = completion;
  // Those that were sent before come first, however long they take.
  const std::tuple<uint32_t, uint32_t, uint32_t> way{message.comm, message.source, message.destination};
  uint64_t& next = delivered_[way];
  if (message.ordinal != next) return;
  std::vector<uint32_t> ready{number};
  ++next;
  for (bool more = true; more;) {
    more = false;
    for (const auto& [other, candidate] : messages_)
      if (candidate.there && candidate.ordinal == next && candidate.comm == std::get<0>(way) &&
          candidate.source == std::get<1>(way) && candidate.destination == std::get<2>(way)) {
        ready.push_back(other);
        ++next;
        more = true;
        break;
      }
    if (sent_[way] == next) break;
  }
  for (const uint32_t each : ready) deliver(each);
}

void Job::deliver(uint32_t number) {
  Message& message = messages_.at(number);
  const uint32_t to = message.destination;
  if (!classes_.is_real(to)) {
    // Emulated: its receive is ready. It may answer.
    if (message.synchronous && message.request != 0) send_over(message);
    const PeerRule* rule = classes_.is_real(message.source) ? peer_rule(to, message.tag) : nullptr;
    if (rule != nullptr && rule->when == "echo") {
      Message echo;
      echo.comm = message.comm;
      echo.source = to;
      echo.destination = message.source;
      echo.tag = message.tag;
      echo.bytes = message.bytes;
      echo.data = std::move(message.data);
      echo.has_data = message.has_data;
      const uint32_t reply = add_message(std::move(echo));
      later_sends_.push({now_ + rule->delay, order_++, reply});
    }
    forget(number);
    return;
  }
  std::deque<Posted>& list = posted_[to];
  const auto posted =
      std::find_if(list.begin(), list.end(), [&](const Posted& p) { return fits(message, p); });
  if (posted == list.end()) {
    arrived_[to].push_back(number);
    return;
  }
  const Posted taken = *posted;
  list.erase(posted);
  match(to, number, taken);
}

void Job::apply_probe(uint32_t rank, const Call& call) {
  const auto probe = read_message<Probe>(call.frame);
  const Communicator& comm = communicator(rank, probe.comm, "a probe");
  if (probe.peer != WEFT_ANY_SOURCE && (probe.peer < 0 || static_cast<uint32_t>(probe.peer) >= comm.size))
    throw JobError(
        {rank}, fmt::format("rank {} looks for a message from rank {} of communicator {}, which has {} ranks",
                            rank, probe.peer, comm.id, comm.size));
  const Posted wanted{0, probe.comm, probe.peer, probe.tag, 0};
  const uint32_t there = find_arrived(rank, wanted);
  Done done;
  if (there != 0) {
    const Message& message = messages_.at(there);
    Finished finished;
    finished.t = static_cast<int64_t>(now_);
    finished.source = static_cast<int32_t>(communicators_.all().at(message.comm)->member(message.source));
    finished.tag = message.tag;
    finished.bytes = message.bytes;
    done.finished.push_back(finished);
  } else if (probe.blocking != 0) {
    Rank& state = of(rank);
    state.probes = true;
    state.probe = probe;
    state.wait_request = call.frame.head.request;
    state.wait_since = now_;
    return;
  }
  const Picoseconds after =
      probe.blocking != 0 ? now_ : now_ + static_cast<Picoseconds>(settings_.welcome.poll_cost);
  reply(rank, call.frame.head.request, after, done);
  run_on(rank, after);
}

/// Receives of a rank that no message fits, and what is there instead.
std::string Job::unmatched(uint32_t rank) const {
  std::string text;
  const auto posted = posted_.find(rank);
  if (posted == posted_.end()) return text;
  uint32_t shown = 0;
  for (const Posted& p : posted->second) {
    if (++shown > 4) break;
    const Communicator& comm = *communicators_.all().at(p.comm);
    const bool emulated = p.peer >= 0 && !classes_.is_real(comm.world_rank(static_cast<uint32_t>(p.peer)));
    text += fmt::format("\n  rank {} has received no message from rank {} (tag {}, communicator {})", rank,
                        p.peer < 0 ? std::string("any") : std::to_string(p.peer),
                        p.tag < 0 ? std::string("any") : std::to_string(p.tag), p.comm);
    if (emulated)
      text += fmt::format(
          ": it is emulated, and rank {}, which it follows, sends none; say when it sends: "
          "`environment.peers: [{{rank: {}, when: ready}}]` (or echo, or delay)",
          classes_.representative(comm.world_rank(static_cast<uint32_t>(p.peer))),
          comm.world_rank(static_cast<uint32_t>(p.peer)));
  }
  text += text.empty() ? "" : "\n";
  return text;
}

}  // namespace weft::emulation
