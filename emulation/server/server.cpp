// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "emulation/server/server.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include "configs/stop.h"

namespace weft::emulation {
namespace {

constexpr double kGrace = 1;             ///< s, for processes to end by themselves
constexpr Picoseconds kSpin = 50000000;  ///< wall clock: the last 50 us are spun
constexpr size_t kMostPeers = 65536;

int64_t monotonic_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<int64_t>(t.tv_sec) * 1000000000 + t.tv_nsec;
}

double seconds() {
  return static_cast<double>(monotonic_ns()) * 1e-9;
}

/// The job ends with this exit code.
struct Ended {
  ExitCode code;
  std::vector<uint32_t> wrong;
  std::string text;
};

[[noreturn]] void no_socket(const std::string& what, const std::string& path) {
  throw UserError(ExitCode::usage,
                  fmt::format("the socket {} cannot be made: {}: {}; set TMPDIR to a folder of yours", path,
                              what, std::strerror(errno)));
}

}  // namespace

Server::Server(const JobSettings& job, ServerSettings settings,
               std::function<void(const std::string&)> notify)
    : job_settings_(job), settings_(std::move(settings)), notify_(std::move(notify)) {
  const char* temporary = std::getenv("TMPDIR");
  folder_ =
      std::string(temporary != nullptr && *temporary != 0 ? temporary : "/tmp") + "/weft-emulate.XXXXXX";
  if (::mkdtemp(folder_.data()) == nullptr) no_socket("mkdtemp", folder_);  // of mode 0700
  path_ = folder_ + "/socket";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path_.size() >= sizeof address.sun_path) {
    ::rmdir(folder_.c_str());
    throw UserError(
        ExitCode::usage,
        fmt::format("the path of the socket is too long: {}; set TMPDIR to a shorter one", path_));
  }
  std::memcpy(address.sun_path, path_.c_str(), path_.size() + 1);
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener_ < 0 || ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_, 1024) != 0) {
    const int error = errno;
    remove_socket();
    errno = error;
    no_socket("bind", path_);
  }
  ::chmod(path_.c_str(), 0600);
  epoch_ = monotonic_ns();
}

Server::~Server() {
  end_processes();
  for (const auto& peer : peers_) {
    if (peer->fd >= 0) ::close(peer->fd);
    if (peer->shared >= 0) ::close(peer->shared);
  }
  remove_socket();
}

/// When all have come, too: nobody else can join, and nothing stays if this process is killed.
void Server::remove_socket() {
  if (listener_ >= 0) ::close(listener_);
  listener_ = -1;
  if (folder_.empty()) return;
  ::unlink(path_.c_str());
  ::rmdir(folder_.c_str());
  folder_.clear();
}

Picoseconds Server::wall_clock() const {
  return static_cast<Picoseconds>(monotonic_ns() - epoch_) * 1000;
}

void Server::start() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // what a rank's process leaves behind becomes ours
  std::signal(SIGPIPE, SIG_IGN);
  const uint32_t node = std::max(1u, settings_.ranks_per_node);
  for (const uint32_t rank : job_settings_.real) {
    Variables variables{{"WEFT_SOCKET", path_},
                        {"WEFT_RANK", std::to_string(rank)},
                        {"WEFT_WORLD_SIZE", std::to_string(job_settings_.world)},
                        {"RANK", std::to_string(rank)},
                        {"WORLD_SIZE", std::to_string(job_settings_.world)},
                        {"LOCAL_RANK", std::to_string(rank % node)},
                        {"LOCAL_WORLD_SIZE", std::to_string(node)},
                        {"MASTER_ADDR", "127.0.0.1"},
                        {"MASTER_PORT", "29500"}};
    variables.insert(variables.end(), settings_.variables.begin(), settings_.variables.end());
    processes_.push_back(std::make_unique<Process>(rank, settings_.command, variables, settings_.quiet));
    told_end_.push_back(false);
  }
}

void Server::send(uint32_t rank, const std::vector<uint8_t>& bytes) {
  const auto peer = by_rank_.find(rank);
  if (peer == by_rank_.end()) return;
  peer->second->out.insert(peer->second->out.end(), bytes.begin(), bytes.end());
  flush(*peer->second);
}

void Server::flush(Peer& peer) {
  size_t sent = 0;
  while (peer.fd >= 0 && sent < peer.out.size()) {
    const ssize_t n =
        ::send(peer.fd, peer.out.data() + sent, peer.out.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (n <= 0) {
      peer.closed = true;
      peer.out.clear();
      return;
    }
    sent += static_cast<size_t>(n);
  }
  peer.out.erase(peer.out.begin(), peer.out.begin() + static_cast<std::ptrdiff_t>(sent));
}

std::string Server::name_of(const Peer& peer) const {
  return peer.rank >= 0 ? fmt::format("rank {}", peer.rank)
                        : std::string("a process that has not said HELLO");
}

void Server::accept_peer() {
  for (;;) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    ucred credentials{};
    socklen_t size = sizeof credentials;
    if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0 ||
        credentials.uid != ::geteuid() || peers_.size() >= kMostPeers) {
      notify_(fmt::format("weft: warning: a connection of user {} (process {}) was refused", credentials.uid,
                          credentials.pid));
      ::close(fd);
      continue;
    }
    auto peer = std::make_unique<Peer>();
    peer->fd = fd;
    peer->since = seconds();
    peers_.push_back(std::move(peer));
  }
}

void Server::read_from(Peer& peer, Job& job) {
  uint8_t data[65536];
  for (bool more = true; more && !peer.closed;) {
    iovec part{data, sizeof data};
    alignas(cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))];
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t got = ::recvmsg(peer.fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    for (cmsghdr* head = CMSG_FIRSTHDR(&message); got >= 0 && head != nullptr;
         head = CMSG_NXTHDR(&message, head)) {
      if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
      for (size_t i = 0; i < (head->cmsg_len - CMSG_LEN(0)) / sizeof(int); ++i) {
        int file = -1;
        std::memcpy(&file, CMSG_DATA(head) + i * sizeof file, sizeof file);
        if (peer.shared < 0 && peer.rank < 0)
          peer.shared = file;
        else
          ::close(file);
      }
    }
    if (got <= 0)
      peer.closed = true;
    else
      peer.in.append(data, static_cast<size_t>(got));
    more = got == static_cast<ssize_t>(sizeof data);
  }
  Frame frame;
  try {
    while (peer.in.next(frame)) handle(peer, frame, job);
  } catch (const ProtocolError& e) {
    std::vector<uint32_t> wrong;
    if (peer.rank >= 0) wrong.push_back(static_cast<uint32_t>(peer.rank));
    const std::string text =
        fmt::format("{} broke the protocol weft-comm/{}: {}", name_of(peer), kProtocolVersion, e.what());
    if (peer.rank < 0) {
      Error error;
      error.code = static_cast<int32_t>(ExitCode::stall);
      error.text = text;
      write_frame(peer.out, frame.head.request, 0, error);
      flush(peer);
    }
    throw Ended{ExitCode::stall, wrong, text};
  }
  if (peer.closed && peer.in.midway() && peer.rank >= 0)
    notify_(fmt::format("weft: warning: rank {} ended in the midst of a frame", peer.rank));
}

void Server::handle(Peer& peer, const Frame& frame, Job& job) {
  if (peer.rank < 0) return greet(peer, frame, job);
  job.take(static_cast<uint32_t>(peer.rank), frame);
}

void Server::greet(Peer& peer, const Frame& frame, Job& job) {
  if (frame.head.type != FrameType::hello)
    throw ProtocolError(fmt::format("the first frame is {}, and must be HELLO", to_string(frame.head.type)));
  const auto hello = read_message<Hello>(frame);
  if (hello.magic != kMagic) throw ProtocolError("HELLO does not begin with \"WEFT\"");
  if (hello.version_min > kProtocolVersion || hello.version_max < kProtocolVersion)
    throw ProtocolError(
        fmt::format("rank {} speaks the versions {} to {} of weft-comm, and this Weft version {}; "
                    "install a libweft_comm of the same version",
                    hello.rank, hello.version_min, hello.version_max, kProtocolVersion));
  const std::vector<uint32_t>& real = job_settings_.real;
  if (!std::binary_search(real.begin(), real.end(), hello.rank))
    throw ProtocolError(fmt::format("it says that it is rank {}, which is not real (real: {})", hello.rank,
                                    fmt::join(real, ", ")));
  if (by_rank_.count(hello.rank) != 0)
    throw ProtocolError(fmt::format("a second process says that it is rank {}", hello.rank));
  if (hello.world != job_settings_.world)
    throw ProtocolError(fmt::format("rank {} says that the job has {} ranks, and it has {}", hello.rank,
                                    hello.world, job_settings_.world));
  SharedView memory(std::exchange(peer.shared, -1));
  if (const char* const why = memory.refusal()) throw ProtocolError(why);
  peer.rank = hello.rank;
  by_rank_[hello.rank] = &peer;
  job.join(hello.rank, hello, std::move(memory));
  if (by_rank_.size() == real.size()) remove_socket();
}

/// What processes print, and how they end.
void Server::watch(Job& job) {
  for (size_t i = 0; i < processes_.size(); ++i) {
    Process& process = *processes_[i];
    process.forward_output();
    if (told_end_[i] || !process.ended()) continue;
    told_end_[i] = true;
    process.forward_output();
    const uint32_t rank = process.rank();
    const auto peer = by_rank_.find(rank);
    if (peer != by_rank_.end() && !peer->second->closed) read_from(*peer->second, job);
    if (process.status() != 0)
      throw Ended{
          static_cast<ExitCode>(process.status()), {}, fmt::format("rank {} {}", rank, process.how())};
    if (peer == by_rank_.end())
      throw Ended{
          ExitCode::stall,
          {},
          fmt::format(
              "rank {} {} and has never said HELLO: the program does not use libweft_comm, or a shim of "
              "Weft was not loaded (--shim), or it calls MPI from Fortran, which no shim sees",
              rank, process.how())};
  }
  for (const auto& peer : peers_) {
    if (!peer->closed || peer->rank < 0) continue;
    const auto rank = static_cast<uint32_t>(peer->rank);
    if (job.ended(rank)) continue;
    const auto process =
        std::find_if(processes_.begin(), processes_.end(), [&](const auto& p) { return p->rank() == rank; });
    // Its exit status says more, if it is just ending.
    for (int wait = 0; wait < 50 && !(*process)->ended(); ++wait) ::usleep(2000);
    (*process)->forward_output();
    try {
      job.lost(rank, (*process)->ended() ? (*process)->how() : "has closed its connection");
    } catch (const JobError& e) {
      const bool failed = (*process)->ended() && (*process)->status() != 0;
      throw Ended{failed ? static_cast<ExitCode>((*process)->status()) : ExitCode::stall, {}, e.what()};
    }
  }
}

void Server::check_limits() {
  const double now = seconds();
  for (const auto& peer : peers_)
    if (peer->rank < 0 && !peer->closed && now - peer->since > settings_.hello_limit)
      throw Ended{
          ExitCode::stall,
          {},
          fmt::format("a process has connected and said no HELLO within {} s", settings_.hello_limit)};
  const double since = static_cast<double>(wall_clock()) * 1e-12;
  if (settings_.time_limit > 0 && since > settings_.time_limit)
    throw Ended{ExitCode::stall,
                {},
                fmt::format("the time limit of {} s (--time-limit) is over", settings_.time_limit)};
}

/// Milliseconds for poll().
int Server::timeout(const Job& job) const {
  if (!job_settings_.wall) return 50;
  const Picoseconds due = job.due();
  const Picoseconds now = wall_clock();
  if (due == kNever) return 50;
  if (due <= now + kSpin) return 0;
  return static_cast<int>(std::min<Picoseconds>(50, (due - now - kSpin) / 1000000000));
}

void Server::spin(const Job& job) const {
  if (!job_settings_.wall) return;
  const Picoseconds due = job.due();
  const Picoseconds now = wall_clock();
  if (due == kNever || due <= now || due > now + 20 * kSpin) return;
  if (due > now + kSpin) {
    const auto ns = static_cast<long>((due - now - kSpin) / 1000);
    const timespec rest{ns / 1000000000, ns % 1000000000};
    ::clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, nullptr);
  }
}

void Server::poll_once(Job& job) {
  std::vector<pollfd> fds;
  if (listener_ >= 0) fds.push_back({listener_, POLLIN, 0});
  for (const auto& peer : peers_)
    if (!peer->closed)
      fds.push_back({peer->fd, static_cast<short>(POLLIN | (peer->out.empty() ? 0 : POLLOUT)), 0});
  for (const auto& process : processes_) {
    if (process->out() >= 0) fds.push_back({process->out(), POLLIN, 0});
    if (process->err() >= 0) fds.push_back({process->err(), POLLIN, 0});
    if (process->end() >= 0 && !process->ended()) fds.push_back({process->end(), POLLIN, 0});
  }
  const int wait = timeout(job);
  if (wait == 0) spin(job);
  ::poll(fds.data(), fds.size(), wait);
  if (stop_requested()) throw Ended{ExitCode::stall, {}, "interrupted"};
  if (listener_ >= 0) accept_peer();
  for (size_t i = 0; i < peers_.size(); ++i) {
    Peer& peer = *peers_[i];
    if (peer.closed) continue;
    flush(peer);
    read_from(peer, job);
  }
}

Outcome Server::run(Job& job) {
  Outcome outcome;
  try {
    start();
    while (true) {
      poll_once(job);
      try {
        job.advance(job_settings_.wall ? wall_clock() : kNever);
      } catch (const JobError& e) {
        throw Ended{ExitCode::stall, e.ranks, e.what()};
      } catch (const ProtocolError& e) {
        throw Ended{ExitCode::stall, {}, fmt::format("a rank broke the protocol: {}", e.what())};
      }
      if (settings_.enough && settings_.enough(job)) {
        processes_.clear();  // kills and reaps
        return outcome;
      }
      watch(job);
      check_limits();
      if (job.ended() && std::all_of(told_end_.begin(), told_end_.end(), [](bool told) { return told; }))
        break;
    }
  } catch (const Ended& e) {
    outcome.code = e.code;
    outcome.error = e.text;
    tell_end(e.wrong, e.text);
  }
  end_processes();
  return outcome;
}

void Server::tell_end(const std::vector<uint32_t>& wrong, const std::string& text) {
  for (const auto& [rank, peer] : by_rank_) {
    if (peer->closed) continue;
    Error error;
    error.code = static_cast<int32_t>(ExitCode::stall);
    error.text = text.substr(0, 1 << 16);
    // Whoever waits gets it as the answer.
    if (std::find(wrong.begin(), wrong.end(), rank) != wrong.end()) {
      write_frame(peer->out, 0, 0, error);
    } else {
      Shutdown shutdown;
      shutdown.code = error.code;
      shutdown.text = error.text;
      write_frame(peer->out, 0, 0, shutdown);
    }
    flush(*peer);
  }
}

void Server::end_processes() {
  const double begin = seconds();
  bool asked = false;
  while (!processes_.empty()) {
    bool left = false;
    for (const auto& process : processes_) {
      process->forward_output();
      left = !process->ended() || left;
    }
    const double since = seconds() - begin;
    if (!left || since > 2 * kGrace) break;
    if (since > kGrace / 4 && !asked) {
      for (const auto& process : processes_)
        if (!process->ended()) process->signal(SIGTERM);
      asked = true;
    }
    if (since > kGrace) break;
    ::usleep(2000);
  }
  for (const auto& process : processes_) process->forward_output();
  processes_.clear();  // kills and reaps
  told_end_.clear();
  // Those that were handed to us.
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

}  // namespace weft::emulation
