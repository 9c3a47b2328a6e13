// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A small simulator of a host that speaks SimBricks' protocol, version 1. It has its own idea of the layout:
// nothing of network_interface/remote is used here. It runs to the last stamp seen, that stamp included.

#ifndef WEFT_TESTS_NETWORK_INTERFACE_REMOTE_PEER_H
#define WEFT_TESTS_NETWORK_INTERFACE_REMOTE_PEER_H

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/send_descriptor.h"

namespace weft::test {

class RemotePeer {
 public:
  struct Options {
    uint64_t latency = 500000;
    uint64_t sync_interval = 500000;
    uint64_t version = 1;
    uint64_t flags = 1;
    uint64_t upper = 1;
    uint64_t entries = 64;  ///< where it listens
    uint32_t jitter = 0;    ///< seed of waits in wall-clock time; 0: none
  };
  using Frame = std::vector<uint8_t>;

  explicit RemotePeer(const Options& options) : options_(options), random_(options.jitter) {}
  ~RemotePeer() {
    if (memory_ != nullptr) munmap(memory_, size_);
    if (socket_ >= 0) ::close(socket_);
  }
  RemotePeer(const RemotePeer&) = delete;
  RemotePeer& operator=(const RemotePeer&) = delete;

  /// False: nobody is there, or it has gone.
  bool connect(const std::string& path) {
    sockaddr_un address = address_of(path);
    for (int i = 0; i < 5000; ++i) {
      socket_ = ::socket(AF_UNIX, SOCK_STREAM, 0);
      if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return true;
      ::close(std::exchange(socket_, -1));
      usleep(2000);
    }
    return false;
  }
  bool introduce_as_connector() {
    uint8_t intro[84] = {};
    int memory = -1;
    if (!receive(intro, sizeof intro, &memory)) return false;
    const uint64_t mine[4] = {options_.version, options_.flags, options_.upper, 32};
    uint8_t bytes[36] = {};
    std::memcpy(bytes, mine, sizeof mine);
    if (::send(socket_, bytes, sizeof bytes, MSG_NOSIGNAL) != sizeof bytes || memory < 0) return false;
    uint64_t field[10];
    std::memcpy(field, intro, sizeof field);
    map(memory);
    in_ = {memory_ + field[2], field[3], field[4], 0};
    out_ = {memory_ + field[5], field[6], field[7], 0};
    return field[0] == 1 && field[8] == 1 && (field[1] & 1) != 0;
  }
  bool listen(const std::string& path) {
    sockaddr_un address = address_of(path);
    const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return false;
    ::listen(listener, 1);
    socket_ = accept(listener, nullptr, nullptr);
    ::close(listener);
    unlink(path.c_str());
    return socket_ >= 0;
  }
  /// Waits for the other side to go.
  void until_closed() const {
    char byte = 0;
    while (read(socket_, &byte, 1) > 0) {
    }
  }
  /// `cut`: so many bytes of memory too few.
  bool introduce_as_listener(uint64_t cut = 0) {
    const uint64_t entry = 1024, queue = entry * options_.entries;
    const int memory = memfd_create("peer", 0);
    if (ftruncate(memory, static_cast<off_t>(2 * queue - cut)) != 0) return false;
    const uint64_t mine[10] = {options_.version, options_.flags, 0, entry, options_.entries, queue, entry,
                               options_.entries, options_.upper, 80};
    uint8_t bytes[84] = {};
    std::memcpy(bytes, mine, sizeof mine);
    if (!send_with_descriptor(socket_, bytes, sizeof bytes, memory)) return false;
    uint8_t answer[36];
    if (cut != 0 || !receive(answer, sizeof answer, nullptr)) return false;
    map(memory);
    out_ = {memory_, entry, options_.entries, 0};
    in_ = {memory_ + queue, entry, options_.entries, 0};
    return true;
  }

  uint64_t now() const { return now_; }
  bool ended() const { return ended_; }
  void at(uint64_t time, std::function<void()> f) { events_.emplace(time, std::move(f)); }
  std::function<void(const Frame&)> received;
  void send(const Frame& frame) { put(0x40, now_ + options_.latency, frame, frame.size()); }
  void put(uint8_t type, uint64_t stamp, const Frame& frame, size_t length) {
    if (options_.jitter != 0 && random_() % 4 == 0) usleep(static_cast<useconds_t>(random_() % 300));
    uint8_t* const entry = out_.base + out_.next * out_.entry;
    while ((__atomic_load_n(entry + 63, __ATOMIC_ACQUIRE) & 0x80) != 0) usleep(10);
    std::memset(entry, 0, 63);
    entry[0] = static_cast<uint8_t>(length);
    entry[1] = static_cast<uint8_t>(length >> 8);
    std::memcpy(entry + 48, &stamp, 8);
    std::copy(frame.begin(), frame.end(), entry + 64);
    __atomic_store_n(entry + 63, type | 0x80, __ATOMIC_RELEASE);
    out_.next = (out_.next + 1) % out_.entries;
    last_sent_ = now_;
  }
  void terminate() { put(1, now_ + options_.latency, {}, 0); }

  /// Until `until`; the first sync message is sent at once.
  void run(uint64_t until) {
    sync();
    while (now_ < until || entry_is_due()) {
      bool waits = false;
      uint64_t next = std::min(until, last_sent_ + options_.sync_interval);
      if (!events_.empty()) next = std::min(next, events_.begin()->first);
      if (!ended_) {
        if (ready()) horizon_ = std::max(horizon_, stamp());
        waits = !ready() && horizon_ <= now_ && next > now_;
        next = std::min(next, horizon_);
      }
      now_ = std::max(now_, next);
      if (waits) usleep(20);
      while (entry_is_due()) consume();
      while (!events_.empty() && events_.begin()->first <= now_) {
        const auto f = std::move(events_.begin()->second);
        events_.erase(events_.begin());
        f();
      }
      if (now_ >= last_sent_ + options_.sync_interval) sync();
    }
  }

 private:
  struct Queue {
    uint8_t* base = nullptr;
    uint64_t entry = 0, entries = 0, next = 0;
  };
  static sockaddr_un address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    return address;
  }
  bool receive(uint8_t* data, size_t bytes, int* file) {
    iovec part{data, bytes};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    if (recvmsg(socket_, &message, MSG_WAITALL) != static_cast<ssize_t>(bytes)) return false;
    const cmsghdr* const head = CMSG_FIRSTHDR(&message);
    if (head != nullptr && file != nullptr) std::memcpy(file, CMSG_DATA(head), sizeof *file);
    return true;
  }
  void map(int memory) {
    struct stat about {};
    fstat(memory, &about);
    size_ = static_cast<size_t>(about.st_size);
    memory_ = static_cast<uint8_t*>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0));
    ::close(memory);
  }
  uint8_t* entry() const { return in_.base + in_.next * in_.entry; }
  bool ready() const { return (__atomic_load_n(entry() + 63, __ATOMIC_ACQUIRE) & 0x80) != 0; }
  uint64_t stamp() const {
    uint64_t value;
    std::memcpy(&value, entry() + 48, 8);
    return value;
  }
  bool entry_is_due() const { return !ended_ && ready() && stamp() <= now_; }
  void consume() {
    uint8_t* const from = entry();
    const uint8_t type = from[63] & 0x7f;
    Frame frame;
    if (type == 0x40) frame.assign(from + 64, from + 64 + (from[0] | from[1] << 8));
    if (type == 1) ended_ = true;
    __atomic_store_n(from + 63, type, __ATOMIC_RELEASE);
    in_.next = (in_.next + 1) % in_.entries;
    if (type == 0x40 && received) received(frame);
  }
  void sync() { put(0, now_ + options_.latency, {}, 0); }

  const Options options_;
  std::mt19937 random_;
  int socket_ = -1;
  uint8_t* memory_ = nullptr;
  size_t size_ = 0;
  Queue in_, out_;
  std::multimap<uint64_t, std::function<void()>> events_;
  uint64_t now_ = 0, last_sent_ = 0, horizon_ = 0;
  bool ended_ = false;
};

}  // namespace weft::test

#endif
