// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "parts/connection.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "configs/stop.h"
#include "configs/types.h"

namespace weft::parts {
namespace {

constexpr uint64_t kMostFrameBytes = uint64_t{1} << 36;
constexpr size_t kReadAtOnce = size_t{1} << 16;
constexpr int kListeners = 1024;     ///< who may wait to be accepted
constexpr int kSilence_ms = 60'000;  ///< after so long without an answer a host is given up
constexpr double kPause_s = 0.05;    ///< between two tries to connect

struct Head {
  uint32_t magic;
  uint32_t kind;
  uint64_t bytes;
};
constexpr uint32_t kFrameMagic = 0x54464557;  // "WEFT"

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Resolved {
  explicit Resolved(std::string_view option, const Address& address, bool listens) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV | (listens ? AI_PASSIVE : 0);
    addrinfo* found = nullptr;
    const int error =
        getaddrinfo(address.host.c_str(), fmt::format("{}", address.port).c_str(), &hints, &found);
    if (error != 0)
      throw UserError(ExitCode::usage,
                      fmt::format("{} {}: the host {} is not known ({}); give its name or "
                                  "number",
                                  option, address.text(), address.host, gai_strerror(error)));
    list.reset(found);
  }
  struct Free {
    void operator()(addrinfo* all) const { freeaddrinfo(all); }
  };
  std::unique_ptr<addrinfo, Free> list;
};

void set_number(int socket, int level, int name, int value) {
  setsockopt(socket, level, name, &value, sizeof value);
}

std::string host_of(const sockaddr_storage& address, socklen_t size) {
  std::array<char, NI_MAXHOST> host{};
  if (getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host.data(), host.size(), nullptr, 0,
                  NI_NUMERICHOST) != 0)
    return "?";
  return host.data();
}

/// On the own host, where nobody listens at a port that the system may choose for the caller, a socket may be
/// connected with itself.
bool is_itself(int socket) {
  sockaddr_storage own{};
  sockaddr_storage other{};
  socklen_t size = sizeof own;
  socklen_t other_size = sizeof other;
  return getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) == 0 &&
         getpeername(socket, reinterpret_cast<sockaddr*>(&other), &other_size) == 0 && size == other_size &&
         std::memcmp(&own, &other, size) == 0;
}

}  // namespace

std::string Address::text() const {
  return host.find(':') == host.npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

Address parse_address(std::string_view option, const std::string& text) {
  const auto wrong = [&](const char* what) {
    return UserError(
        ExitCode::usage,
        fmt::format("{} {}: {}; give HOST:PORT, as node0:5000 or [fe80::1]:5000", option, text, what));
  };
  const size_t colon = text.rfind(':');
  if (colon == text.npos) throw wrong("there is no port");
  Address address;
  address.host = text.substr(0, colon);
  const bool brackets = address.host.size() > 2 && address.host.front() == '[' && address.host.back() == ']';
  if (brackets) address.host = address.host.substr(1, address.host.size() - 2);
  if (!brackets && address.host.find(':') != text.npos)
    throw wrong("a number of IPv6 is written in brackets");
  if (address.host.empty()) throw wrong("there is no host");
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, address.port);
  if (error != std::errc() || stop != end || address.port == 0)
    throw wrong("the port is no number from 1 to 65535");
  return address;
}

Connection::Connection(int socket) : socket_(socket) {
  set_number(socket_, IPPROTO_TCP, TCP_NODELAY, 1);
  // A host that vanishes answers nothing.
  set_number(socket_, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_number(socket_, IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set_number(socket_, IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set_number(socket_, IPPROTO_TCP, TCP_KEEPCNT, 5);
  set_number(socket_, IPPROTO_TCP, TCP_USER_TIMEOUT, kSilence_ms);
}

Connection::~Connection() {
  close(socket_);
}

void Connection::push(FrameKind kind, std::string_view bytes) {
  if (!has_output()) {
    output_.clear();
    sent_ = 0;
  }
  const Head head{kFrameMagic, static_cast<uint32_t>(kind), bytes.size()};
  output_.append(reinterpret_cast<const char*>(&head), sizeof head);
  output_.append(bytes);
}

bool Connection::send_some() {
  while (has_output()) {
    const ssize_t done =
        send(socket_, output_.data() + sent_, output_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    if (done <= 0) {
      why_ = std::strerror(errno);
      return false;
    }
    sent_ += static_cast<size_t>(done);
  }
  return true;
}

bool Connection::read_some() {
  if (taken_ == input_.size()) {
    input_.clear();
    taken_ = 0;
  }
  char data[kReadAtOnce];
  for (;;) {
    const ssize_t got = recv(socket_, data, sizeof data, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    if (got <= 0) {
      why_ = got == 0 ? "it was closed" : std::strerror(errno);
      return false;
    }
    input_.append(data, static_cast<size_t>(got));
    if (static_cast<size_t>(got) < sizeof data) return true;
  }
}

std::optional<Frame> Connection::take() {
  Head head{};
  if (input_.size() - taken_ < sizeof head) return std::nullopt;
  std::memcpy(&head, input_.data() + taken_, sizeof head);
  if (head.magic != kFrameMagic || head.bytes > kMostFrameBytes)
    throw std::invalid_argument("what comes is not of a part of Weft");
  if (input_.size() - taken_ - sizeof head < head.bytes) return std::nullopt;
  Frame frame{static_cast<FrameKind>(head.kind), input_.substr(taken_ + sizeof head, head.bytes)};
  taken_ += sizeof head + head.bytes;
  return frame;
}

/// False: the time is over.
bool Connection::wait(short events, double until) {
  for (;;) {
    const double left = until - clock_seconds();
    if (left <= 0) return false;
    pollfd one{socket_, events, 0};
    const int ready = poll(&one, 1, static_cast<int>(std::ceil(left * 1000)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

bool Connection::flush(double seconds) {
  const double until = clock_seconds() + seconds;
  while (send_some()) {
    if (!has_output()) return true;
    if (!wait(POLLOUT, until)) return false;
  }
  return false;
}

std::optional<Frame> Connection::wait_for_frame(double seconds) {
  const double until = clock_seconds() + seconds;
  if (!flush(seconds)) return std::nullopt;
  for (;;) {
    if (std::optional<Frame> frame = take()) return frame;
    if (!wait(POLLIN, until)) {
      why_ = fmt::format("no answer in {} s", seconds);
      return std::nullopt;
    }
    if (!read_some()) return take();
  }
}

/// To close a socket with something unread in it would take back what was sent.
void Connection::finish(double seconds) {
  const double until = clock_seconds() + seconds;
  if (!flush(seconds)) return;
  shutdown(socket_, SHUT_WR);
  while (wait(POLLIN, until)) {
    input_.clear();
    taken_ = 0;
    if (!read_some()) return;
  }
}

Exchanged exchange_frames(const std::vector<Connection*>& connections) {
  Exchanged all;
  all.frames.resize(connections.size());
  std::vector<bool> missing(connections.size());
  std::vector<pollfd> waiting;
  std::vector<size_t> who;
  for (size_t i = 0; i < connections.size(); ++i) missing[i] = connections[i] != nullptr;
  const auto lose = [&](size_t i) {
    if (all.lost < 0) all.lost = static_cast<int>(i);
  };
  const auto try_take = [&](size_t i) {
    if (std::optional<Frame> frame = connections[i]->take()) {
      all.frames[i] = std::move(*frame);
      missing[i] = false;
    }
  };
  for (size_t i = 0; i < connections.size(); ++i) {
    if (!missing[i]) continue;
    if (!connections[i]->send_some()) lose(i);
    try_take(i);
  }
  while (all.lost < 0) {
    waiting.clear();
    who.clear();
    for (size_t i = 0; i < connections.size(); ++i) {
      if (connections[i] == nullptr) continue;
      const bool output = connections[i]->has_output();
      if (!missing[i] && !output) continue;
      waiting.push_back({connections[i]->socket(),
                         static_cast<short>((missing[i] ? POLLIN : 0) | (output ? POLLOUT : 0)), 0});
      who.push_back(i);
    }
    if (waiting.empty()) break;
    if (poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR)
      throw std::runtime_error(fmt::format("poll: {}", std::strerror(errno)));
    for (size_t w = 0; w < waiting.size(); ++w) {
      const size_t i = who[w];
      if (waiting[w].revents == 0) continue;
      // What has come is read before the end is told: it may say why.
      const bool open = connections[i]->read_some();
      if (missing[i]) try_take(i);
      if (!open && missing[i]) lose(i);
      if (open && !connections[i]->send_some() && missing[i]) lose(i);
      if (!open && !missing[i] && connections[i]->has_output()) lose(i);
    }
  }
  return all;
}

int listen_at(std::string_view option, Address& address) {
  const Resolved found(option, address, true);
  int error = 0;
  for (const addrinfo* one = found.list.get(); one != nullptr; one = one->ai_next) {
    const int listener = socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, one->ai_protocol);
    if (listener < 0) {
      error = errno;
      continue;
    }
    set_number(listener, SOL_SOCKET, SO_REUSEADDR, 1);
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    if (bind(listener, one->ai_addr, one->ai_addrlen) == 0 && listen(listener, kListeners) == 0 &&
        getsockname(listener, reinterpret_cast<sockaddr*>(&bound), &size) == 0) {
      const auto port = bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port
                                                    : reinterpret_cast<sockaddr_in*>(&bound)->sin_port;
      address.port = ntohs(port);
      return listener;
    }
    error = errno;
    close(listener);
  }
  throw UserError(
      ExitCode::usage,
      fmt::format("{} {}: part 0 cannot listen there ({}); it is started on that host, and the port "
                  "is free",
                  option, address.text(), std::strerror(error)));
}

int accept_one(int listener, double seconds) {
  const double until = clock_seconds() + seconds;
  for (;;) {
    const double left = until - clock_seconds();
    if (left <= 0) return -1;
    check_stop();
    pollfd one{listener, POLLIN, 0};
    if (poll(&one, 1, static_cast<int>(std::ceil(std::min(left, 0.1) * 1000))) <= 0) continue;
    const int socket = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket >= 0) return socket;
  }
}

int connect_to(std::string_view option, const Address& address, double seconds) {
  const double until = clock_seconds() + seconds;
  const Resolved found(option, address, false);
  int error = 0;
  for (;;) {
    for (const addrinfo* one = found.list.get(); one != nullptr; one = one->ai_next) {
      const int to = socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, one->ai_protocol);
      if (to >= 0 && connect(to, one->ai_addr, one->ai_addrlen) == 0) {
        if (!is_itself(to)) return to;
        errno = ECONNREFUSED;
      }
      error = errno;
      if (to >= 0) close(to);
    }
    check_stop();
    if (clock_seconds() > until)
      throw UserError(ExitCode::usage,
                      fmt::format("{} {}: nobody listens there ({}), for {} s; start part 0 on that host",
                                  option, address.text(), std::strerror(error), seconds));
    usleep(static_cast<useconds_t>(kPause_s * 1e6));
  }
}

std::string own_host(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return host_of(address, size);
}

std::string other_host(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return host_of(address, size);
}

}  // namespace weft::parts
