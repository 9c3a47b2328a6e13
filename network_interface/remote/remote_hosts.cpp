// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "network_interface/remote/remote_hosts.h"

#include <algorithm>
#include <climits>
#include <iterator>
#include <tuple>
#include <utility>

namespace weft::network_interface {
namespace {

constexpr size_t kAddress = 6;        ///< bytes of an Ethernet address
constexpr uint8_t kMulticast = 1;     ///< bit of its first byte
constexpr uint32_t kTags = 1u << 30;  ///< tags of frames: the lowest ones

uint64_t address_at(const std::vector<uint8_t>& frame, size_t from) {
  uint64_t address = 0;
  for (size_t i = 0; i < kAddress; ++i) address = address << 8 | frame[from + i];
  return address;
}

}  // namespace

void RemoteHosts::join(uint32_t rank, const ChannelOptions& options) {
  hosts_[rank] = nullptr;
  try {
    hosts_[rank] = std::make_unique<Channel>(rank, options);
  } catch (...) {
    hosts_.erase(rank);
    throw;
  }
}

RemoteHosts::Frame& RemoteHosts::keep(uint32_t source, uint32_t destination,
                                      std::shared_ptr<const std::vector<uint8_t>> bytes) {
  frames_.push_back({this, source, destination, std::move(bytes), {}});
  frames_.back().self = std::prev(frames_.end());
  return frames_.back();
}

bool RemoteHosts::running() const {
  return std::any_of(hosts_.begin(), hosts_.end(), [](const auto& host) { return !host.second->ended(); });
}

/// How far the network may run.
Picoseconds RemoteHosts::take(Picoseconds until) {
  Picoseconds limit = until;
  for (auto& [rank, host] : hosts_) {
    host->take();
    if (host->ended()) continue;
    const Picoseconds known = host->known();
    limit = std::min({limit, known == 0 ? 0 : known - 1, host->sync_due()});
  }
  return limit;
}

/// What comes until then, in the order of stamps and ranks.
void RemoteHosts::release_until(Picoseconds limit) {
  std::vector<std::tuple<Picoseconds, uint32_t, Frame*>> list;
  for (auto& [rank, host] : hosts_) {
    std::deque<Arrival>& arrivals = host->arrivals();
    for (; !arrivals.empty() && arrivals.front().at <= limit; arrivals.pop_front()) {
      auto bytes = std::make_shared<const std::vector<uint8_t>>(std::move(arrivals.front().bytes));
      list.emplace_back(arrivals.front().at, rank, &keep(rank, rank, std::move(bytes)));
    }
  }
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
    return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
  });
  for (const auto& entry : list)
    network_.enter(std::get<0>(entry), {came, std::get<2>(entry)}, std::get<1>(entry));
}

int RemoteHosts::run_until(Picoseconds until) {
  for (;;) {
    const Picoseconds limit = take(until);
    release_until(limit);
    const bool live = running();
    const Picoseconds before = Network::now();
    int state = WEFT_NET_OK;
    if (limit > before || limit == until) state = network_.run_until(limit);
    if (state == WEFT_NET_FINISHED || !live) return state;
    const Picoseconds now = Network::now();
    for (auto& [rank, host] : hosts_)
      if (now >= host->sync_due()) host->sync(now);
    if (now >= until) return WEFT_NET_OK;
    if (now > before) continue;
    // The others may wait for a word from here.
    for (auto& [rank, host] : hosts_) host->sync(now);
    for (auto& [rank, host] : hosts_)
      if (!host->ended() && host->known() <= now + 1 && !host->take()) host->wait();
  }
}

void RemoteHosts::came(void* arg) {
  const Frame frame = *static_cast<Frame*>(arg);
  frame.hosts->frames_.erase(frame.self);
  frame.hosts->forward(frame);
}

void RemoteHosts::forward(const Frame& frame) {
  const std::vector<uint8_t>& bytes = *frame.bytes;
  if (bytes.size() < 2 * kAddress)
    throw UserError(ExitCode::usage, hosts_.at(frame.source)->name() + ": a frame has " +
                                         std::to_string(bytes.size()) +
                                         " bytes; an Ethernet frame begins with two addresses");
  rank_of_[address_at(bytes, kAddress)] = frame.source;
  const auto known = rank_of_.find(address_at(bytes, 0));
  if (known != rank_of_.end() && (bytes[0] & kMulticast) == 0) {
    if (known->second != frame.source) carry(frame, known->second);
    return;
  }
  for (const auto& host : hosts_)
    if (host.first != frame.source) carry(frame, host.first);
}

void RemoteHosts::carry(const Frame& frame, uint32_t destination) {
  Frame& kept = keep(frame.source, destination, frame.bytes);
  const int tag = INT_MIN + static_cast<int>(carried_++ % kTags);
  const uint64_t bytes = frame.bytes->size();
  network_.receive(destination, frame.source, bytes, tag, {there, &kept});
  network_.send(frame.source, destination, bytes, tag, {});
}

void RemoteHosts::there(void* arg) {
  const Frame frame = *static_cast<Frame*>(arg);
  frame.hosts->frames_.erase(frame.self);
  frame.hosts->hosts_.at(frame.destination)->send(Network::now(), *frame.bytes);
}

}  // namespace weft::network_interface
