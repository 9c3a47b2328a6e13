// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "network_interface/remote/channel.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "network_interface/remote/layout.h"

namespace weft::network_interface {
namespace {

uint8_t owner_type(const uint8_t* entry) {
  return __atomic_load_n(entry + layout::kOwnerType, __ATOMIC_ACQUIRE);
}

void hand_over(uint8_t* entry, uint8_t value) {
  __atomic_store_n(entry + layout::kOwnerType, value, __ATOMIC_RELEASE);
}

}  // namespace

Channel::Channel(uint32_t rank, const ChannelOptions& options) : rank_(rank), options_(options) {
  if (options_.socket.empty()) refuse("no socket is named; give a path");
  if (options_.latency == 0)
    refuse(
        "the link's latency is 0, so that neither side could run ahead of the other; give its latency in "
        "ps, for example 500000");
  if (options_.sync_interval == 0) options_.sync_interval = options_.latency;
  if (options_.sync_interval > options_.latency)
    refuse(fmt::format("the sync interval is {} ps and the link's latency {} ps; it must be at most that",
                       options_.sync_interval, options_.latency));
  try {
    if (options_.connects) {
      open_as_connector();
    } else {
      open_as_listener();
    }
  } catch (...) {
    release();
    throw;
  }
  heard_ = std::chrono::steady_clock::now();
  sync(0);
}

Channel::~Channel() {
  // A peer that does not read any more need not be told.
  if (!ended_ && (owner_type(out_.head()) & layout::kReaders) == 0)
    put(last_sent_, layout::kTypeTerminate, {});
  release();
}

void Channel::release() {
  if (memory_ != nullptr) munmap(memory_, mapped_);
  if (socket_ >= 0) close(socket_);
  memory_ = nullptr;
  socket_ = -1;
}

std::string Channel::name() const {
  return fmt::format("simulator at rank {}, {}", rank_, options_.socket.empty() ? "?" : options_.socket);
}

void Channel::refuse(const std::string& why) const {
  throw UserError(ExitCode::usage, fmt::format("{}: {}", name(), why));
}

void Channel::lost(const std::string& why) const {
  throw UserError(ExitCode::stall,
                  fmt::format("{}: {}; its last time stamp is {} ps", name(), why, last_stamp_));
}

void Channel::agree(uint64_t version, uint64_t flags, uint64_t upper) const {
  if (version != layout::kVersion)
    refuse(
        fmt::format("it speaks version {} of the protocol and Weft version {}; use a SimBricks of that "
                    "version",
                    version, layout::kVersion));
  if (upper != layout::kNetwork)
    refuse(fmt::format("its upper layer is {}; Weft has Ethernet frames only ({})", upper, layout::kNetwork));
  if ((flags & (layout::kSync | layout::kForceSync)) == 0)
    refuse("it does not synchronise; switch its synchronisation on");
}

bool Channel::take() {
  bool any = false;
  while (!ended_) {
    uint8_t* const entry = in_.head();
    const uint8_t owner = owner_type(entry);
    if ((owner & layout::kReaders) == 0) break;
    any = true;
    const uint8_t type = owner & static_cast<uint8_t>(~layout::kReaders);
    uint64_t stamp = 0;
    std::memcpy(&stamp, entry + layout::kStamp, sizeof stamp);
    if (type == layout::kTypeTerminate) {
      ended_ = true;
    } else if (stamp < last_stamp_ || stamp >= kNever) {
      lost(fmt::format("a message has time stamp {} ps; stamps must not fall", stamp));
    } else if (type == layout::kTypeFrame) {
      uint16_t length = 0;
      std::memcpy(&length, entry + layout::kLength, sizeof length);
      if (length > in_.entry - layout::kHeader)
        lost(fmt::format("a frame says that it has {} bytes; its entry has room for {}", length,
                         in_.entry - layout::kHeader));
      const uint8_t* const data = entry + layout::kHeader;
      arrivals_.push_back({stamp, std::vector<uint8_t>(data, data + length)});
    } else if (type != layout::kTypeSync) {
      lost(fmt::format("a message of type {:#x} has come; Weft knows frames ({:#x})", type,
                       layout::kTypeFrame));
    }
    if (!ended_) last_stamp_ = stamp;
    hand_over(entry, type);
    in_.next = (in_.next + 1) % in_.entries;
  }
  if (any) {
    idle_ = 0;
    heard_ = std::chrono::steady_clock::now();
  }
  return any;
}

bool Channel::alive() const {
  pollfd fd{socket_, POLLIN, 0};
  if (poll(&fd, 1, 0) <= 0) return true;
  char byte = 0;
  return (fd.revents & POLLIN) != 0 && read(socket_, &byte, 1) > 0;
}

void Channel::wait() {
  // Other simulators need the processor, too.
  ++idle_;
  if (idle_ < 64) {
    std::this_thread::yield();
    return;
  }
  if (!alive() && !take()) lost("it has ended without saying so");
  if (std::chrono::steady_clock::now() - heard_ > options_.patience)
    lost(fmt::format("nothing has come from it for {} ms; look at whether it runs and synchronises",
                     options_.patience.count()));
  std::this_thread::sleep_for(std::chrono::microseconds(std::min<uint32_t>(idle_, 500)));
}

void Channel::put(Picoseconds now, uint8_t type, const std::vector<uint8_t>& data) {
  uint8_t* const entry = out_.head();
  // Its queue is full. It may wait for room in ours.
  while ((owner_type(entry) & layout::kReaders) != 0) {
    if (!take()) wait();
    if (ended_) return;
  }
  const uint64_t stamp = now + options_.latency;
  const auto length = static_cast<uint16_t>(data.size());
  std::memset(entry, 0, layout::kOwnerType);
  std::memcpy(entry + layout::kLength, &length, sizeof length);
  std::memcpy(entry + layout::kStamp, &stamp, sizeof stamp);
  if (!data.empty()) std::memcpy(entry + layout::kHeader, data.data(), data.size());
  hand_over(entry, type | layout::kReaders);
  out_.next = (out_.next + 1) % out_.entries;
  last_sent_ = now;
  has_sent_ = true;
}

void Channel::send(Picoseconds now, const std::vector<uint8_t>& frame) {
  if (ended_) return;
  if (frame.size() > out_.entry - layout::kHeader)
    refuse(fmt::format("a frame has {} bytes and its queue's entries room for {}; give it larger entries",
                       frame.size(), out_.entry - layout::kHeader));
  put(now, layout::kTypeFrame, frame);
}

void Channel::sync(Picoseconds now) {
  if (!ended_ && (!has_sent_ || now > last_sent_)) put(now, layout::kTypeSync, {});
}

}  // namespace weft::network_interface
