// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A rank under `weft emulate` that sends a drawn session in which frames are wrong:
//
//   fuzzed_rank SEED REAL WORLD EVERY     REAL: ranks, as 0,4; one frame of EVERY is wrong (0: none)
//
// It sends HELLO, then its frames, and waits for the answers that it is owed, until the server is gone.

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>

#include "emulation/protocol/messages.h"
#include "tests/emulation/drawn_session.h"
#include "tests/support/send_descriptor.h"

namespace {

using namespace weft;

int connect_to_server() {
  const char* const path = std::getenv("WEFT_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path == nullptr || std::strlen(path) >= sizeof address.sun_path) return -1;
  std::strcpy(address.sun_path, path);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  return ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? fd : -1;
}

/// With a descriptor of shared memory, as HELLO has it.
bool send_first(int fd, const std::vector<uint8_t>& bytes) {
  const int file = ::memfd_create("weft_fuzzed_rank", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0 || ::ftruncate(file, 65536) != 0 || ::fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK) != 0)
    return false;
  const bool sent = bytes.empty() || test::send_with_descriptor(fd, bytes.data(), bytes.size(), file);
  ::close(file);
  return sent;
}

/// False: the server is gone, or has said that the job is over.
bool hear(int fd, emulation::FrameBuffer& in, int64_t& time, int milliseconds) {
  pollfd ready{fd, POLLIN, 0};
  while (true) {
    emulation::Frame frame;
    if (in.next(frame)) {
      time = frame.head.t;
      return frame.head.type != emulation::FrameType::error &&
             frame.head.type != emulation::FrameType::shutdown;
    }
    if (::poll(&ready, 1, milliseconds) <= 0) return true;
    uint8_t data[4096];
    const ssize_t got = ::recv(fd, data, sizeof data, 0);
    if (got <= 0) return false;
    in.append(data, static_cast<size_t>(got));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 9;
  const uint64_t seed = std::strtoull(argv[1], nullptr, 10), every = std::strtoull(argv[4], nullptr, 10);
  const auto rank = static_cast<uint32_t>(std::atoi(std::getenv("WEFT_RANK")));
  const auto world = static_cast<uint32_t>(std::atoi(argv[3]));
  std::vector<uint32_t> real;
  std::istringstream list(argv[2]);
  for (std::string one; std::getline(list, one, ',');) real.push_back(static_cast<uint32_t>(std::stoul(one)));
  test::Random random(seed * 64 + rank);
  const int fd = connect_to_server();
  if (fd < 0) return 9;

  emulation::Hello hello;
  hello.rank = rank;
  hello.world = world;
  hello.features = emulation::kSharedMemory;
  test::DrawnFrame first;
  emulation::write_frame(first.bytes, 1, 0, hello);
  first.asks = true;
  std::vector<test::DrawnFrame> frames = test::draw_session(seed, rank, real, world);
  frames.insert(frames.begin(), first);
  emulation::FrameBuffer in;
  int64_t time = 0;
  for (test::DrawnFrame& frame : frames) {
    test::stamp(frame.bytes, time);
    const bool wrong = every != 0 && random() % every == 0;
    if (wrong) test::spoil(random, frame.bytes);
    if (&frame == &frames.front()) {
      if (!send_first(fd, frame.bytes)) return 0;
    } else if (!frame.bytes.empty() && ::send(fd, frame.bytes.data(), frame.bytes.size(), MSG_NOSIGNAL) !=
                                           static_cast<ssize_t>(frame.bytes.size()))
      return 0;
    // An answer to a wrong frame may never come.
    if (frame.asks && !hear(fd, in, time, wrong ? 20 : 200)) return 0;
  }
  return 0;
}
