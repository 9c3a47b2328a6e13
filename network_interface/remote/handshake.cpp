// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// How a Channel finds the other side: a Unix socket, two introductions, and a descriptor of the memory.

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "network_interface/remote/channel.h"
#include "network_interface/remote/layout.h"

namespace weft::network_interface {
namespace {

using Clock = std::chrono::steady_clock;

/// Closes a descriptor that nobody has taken over.
class OwnedFile {
 public:
  explicit OwnedFile(int file) : file_(file) {}
  ~OwnedFile() {
    if (file_ >= 0) close(file_);
  }
  OwnedFile(const OwnedFile&) = delete;
  OwnedFile& operator=(const OwnedFile&) = delete;
  int get() const { return file_; }
  int take() { return std::exchange(file_, -1); }

 private:
  int file_;
};

/// The socket's file, while it is there for nobody but the peer to find.
class SocketFile {
 public:
  explicit SocketFile(const std::string& path) : path_(path) {}
  ~SocketFile() { unlink(path_.c_str()); }
  SocketFile(const SocketFile&) = delete;
  SocketFile& operator=(const SocketFile&) = delete;

 private:
  std::string path_;
};

bool address_of(const std::string& path, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return true;
}

std::string why_not() {
  return std::strerror(errno);
}

bool inside(uint64_t offset, uint64_t entry, uint64_t entries, uint64_t bytes) {
  return offset % 8 == 0 && entry >= layout::kHeader && entry % 8 == 0 && entries >= 2 && offset <= bytes &&
         entry <= bytes && entries <= (bytes - offset) / entry;
}

}  // namespace

void Channel::wait_for(int file, short events, Clock::time_point until, const char* what) const {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd fd{file, events, 0};
    const int ready = left <= 0 ? 0 : poll(&fd, 1, static_cast<int>(std::min<int64_t>(left, 1000000)));
    if (ready > 0) return;
    if (ready == 0) refuse(fmt::format("{} for {} ms", what, options_.patience.count()));
    if (errno != EINTR) refuse(why_not());
  }
}

int Channel::listen_and_accept() {
  sockaddr_un address{};
  if (!address_of(options_.socket, address))
    refuse("the path is longer than a Unix socket's may be (107 bytes)");
  const OwnedFile listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const mode_t mask = umask(0077);
  const bool bound = bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  umask(mask);
  if (!bound && errno == EADDRINUSE) refuse("the path is there already; remove the file or choose another");
  if (!bound) refuse(fmt::format("the socket cannot be made: {}", why_not()));
  const SocketFile file(options_.socket);
  if (listen(listener.get(), 1) != 0) refuse(why_not());
  wait_for(listener.get(), POLLIN, Clock::now() + options_.patience, "no simulator has come");
  const int peer = accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC);
  if (peer < 0) refuse(why_not());
  return peer;
}

int Channel::connect_to() {
  sockaddr_un address{};
  if (!address_of(options_.socket, address))
    refuse("the path is longer than a Unix socket's may be (107 bytes)");
  const auto until = Clock::now() + options_.patience;
  for (;;) {
    OwnedFile file(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (connect(file.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return file.take();
    // It may not have begun to listen.
    if (errno != ENOENT && errno != ECONNREFUSED) refuse(why_not());
    if (Clock::now() > until)
      refuse(fmt::format("no simulator listens for {} ms: {}", options_.patience.count(), why_not()));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

void Channel::map(int file, uint64_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) refuse(fmt::format("its shared memory cannot be mapped: {}", why_not()));
  memory_ = static_cast<uint8_t*>(memory);
  mapped_ = bytes;
}

void Channel::send_all(const void* data, size_t bytes, int file) {
  iovec part{const_cast<void*>(data), bytes};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof file)] = {};
  if (file >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof file);
    std::memcpy(CMSG_DATA(head), &file, sizeof file);
  }
  if (sendmsg(socket_, &message, MSG_NOSIGNAL) != static_cast<ssize_t>(bytes))
    refuse(fmt::format("it has gone before its introduction was complete ({})", why_not()));
}

/// `file`: gets the descriptor that comes along; null: none is wanted.
void Channel::receive_all(void* data, size_t bytes, int* file) {
  const auto until = Clock::now() + options_.patience;
  size_t have = 0;
  while (have < bytes) {
    wait_for(socket_, POLLIN, until, "it has connected and not introduced itself");
    iovec part{static_cast<char*>(data) + have, bytes - have};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof *file)] = {};
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t got = recvmsg(socket_, &message, MSG_CMSG_CLOEXEC);
    if (got <= 0) refuse("it has gone before its introduction was complete");
    for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr; head = CMSG_NXTHDR(&message, head)) {
      if (head->cmsg_type != SCM_RIGHTS) continue;
      int came = -1;
      std::memcpy(&came, CMSG_DATA(head), sizeof came);
      if (file != nullptr && *file < 0) {
        *file = came;
      } else {
        close(came);
      }
    }
    have += static_cast<size_t>(got);
  }
}

void Channel::open_as_listener() {
  socket_ = listen_and_accept();
  const uint64_t queue = layout::kEntries * layout::kEntryBytes;
  const OwnedFile file(memfd_create("weft_channel", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file.get() < 0 || ftruncate(file.get(), static_cast<off_t>(2 * queue)) != 0)
    refuse(fmt::format("no shared memory: {}", why_not()));
  fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK);
  map(file.get(), 2 * queue);
  out_ = {memory_, layout::kEntryBytes, layout::kEntries, 0};
  in_ = {memory_ + queue, layout::kEntryBytes, layout::kEntries, 0};
  layout::ListenerIntro mine{};
  mine.version = layout::kVersion;
  mine.flags = layout::kSync | layout::kForceSync;
  mine.out_entry = mine.in_entry = layout::kEntryBytes;
  mine.out_entries = mine.in_entries = layout::kEntries;
  mine.in_offset = queue;
  mine.upper = layout::kNetwork;
  mine.upper_offset = offsetof(layout::ListenerIntro, upper_intro);
  send_all(&mine, layout::kListenerBytes, file.get());
  layout::ConnectorIntro theirs{};
  receive_all(&theirs.version, sizeof theirs.version, nullptr);
  if (theirs.version != layout::kVersion) agree(theirs.version, layout::kSync, layout::kNetwork);
  receive_all(reinterpret_cast<uint8_t*>(&theirs) + sizeof theirs.version,
              layout::kConnectorBytes - sizeof theirs.version, nullptr);
  agree(theirs.version, theirs.flags, theirs.upper);
}

void Channel::open_as_connector() {
  socket_ = connect_to();
  layout::ListenerIntro theirs{};
  int came = -1;
  try {
    receive_all(&theirs.version, sizeof theirs.version, &came);
    if (theirs.version != layout::kVersion) agree(theirs.version, layout::kSync, layout::kNetwork);
    receive_all(reinterpret_cast<uint8_t*>(&theirs) + sizeof theirs.version,
                layout::kListenerBytes - sizeof theirs.version, &came);
  } catch (...) {
    if (came >= 0) close(came);
    throw;
  }
  const OwnedFile file(came);
  agree(theirs.version, theirs.flags, theirs.upper);
  struct stat about {};
  if (came < 0 || fstat(came, &about) != 0) refuse("no shared memory has come with its introduction");
  const auto bytes = static_cast<uint64_t>(about.st_size);
  if (!inside(theirs.out_offset, theirs.out_entry, theirs.out_entries, bytes) ||
      !inside(theirs.in_offset, theirs.in_entry, theirs.in_entries, bytes))
    refuse(fmt::format("its queues ({} x {} B at {}, {} x {} B at {}) do not fit its {} B of memory",
                       theirs.out_entries, theirs.out_entry, theirs.out_offset, theirs.in_entries,
                       theirs.in_entry, theirs.in_offset, bytes));
  map(came, bytes);
  in_ = {memory_ + theirs.out_offset, theirs.out_entry, theirs.out_entries, 0};
  out_ = {memory_ + theirs.in_offset, theirs.in_entry, theirs.in_entries, 0};
  layout::ConnectorIntro mine{};
  mine.version = layout::kVersion;
  mine.flags = layout::kSync | layout::kForceSync;
  mine.upper = layout::kNetwork;
  mine.upper_offset = offsetof(layout::ConnectorIntro, upper_intro);
  send_all(&mine, layout::kConnectorBytes, -1);
}

}  // namespace weft::network_interface
