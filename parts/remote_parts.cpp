// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "parts/remote_parts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <random>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "configs/stop.h"

namespace weft::parts {
namespace {

constexpr uint32_t kJoinVersion = 1;
constexpr double kHelloSeconds = 10;  ///< who has connected says hello in this time
constexpr double kLastWordSeconds = 2;
constexpr uint64_t kMostHelloBytes = uint64_t{1} << 28;
constexpr const char* kOption = "--join";

static_assert(std::is_trivially_copyable_v<PartTransfer>);

double join_clock() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Texts and numbers one after the other; both ends are the same program.
class Writer {
 public:
  template <typename T>
  Writer& number(T v) {
    bytes.append(reinterpret_cast<const char*>(&v), sizeof v);
    return *this;
  }
  Writer& text(const std::string& v) {
    number(static_cast<uint64_t>(v.size()));
    bytes += v;
    return *this;
  }
  std::string bytes;
};

class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}
  template <typename T>
  T number() {
    T v{};
    need(sizeof v);
    std::memcpy(&v, bytes_.data() + at_, sizeof v);
    at_ += sizeof v;
    return v;
  }
  std::string text() {
    const auto size = number<uint64_t>();
    need(size);
    std::string v = bytes_.substr(at_, size);
    at_ += size;
    return v;
  }

 private:
  void need(uint64_t size) const {
    if (bytes_.size() - at_ < size) throw std::invalid_argument("what comes is not of a part of Weft");
  }
  const std::string& bytes_;
  size_t at_ = 0;
};

/// "line 12: `a`, and here `b`": where two texts differ first.
std::string first_difference(const std::string& theirs, const std::string& ours) {
  size_t line = 1;
  size_t a = 0;
  size_t b = 0;
  for (;; ++line) {
    const size_t end_a = std::min(theirs.find('\n', a), theirs.size());
    const size_t end_b = std::min(ours.find('\n', b), ours.size());
    const std::string one = theirs.substr(a, end_a - a);
    const std::string other = ours.substr(b, end_b - b);
    if (one != other) return fmt::format("line {} is `{}`, and in part 0 `{}`", line, one, other);
    if (end_a == theirs.size() || end_b == ours.size()) return "one has more lines";
    a = end_a + 1;
    b = end_b + 1;
  }
}

}  // namespace

RemoteParts::RemoteParts(Cut cut, uint32_t self, Address at, Common common, double wait_seconds)
    : Parts(std::move(cut)),
      at_(std::move(at)),
      common_(std::move(common)),
      wait_seconds_(wait_seconds),
      links_(cut_.parts),
      all_(cut_.parts, nullptr),
      outbox_(cut_.parts),
      inbox_(cut_.parts) {
  self_ = self;
}

std::string RemoteParts::split() {
  if (!first()) {
    join_first();
  } else {
    // Before there is a connection that it would hold, too.
    if (std::string why = reserve_.make(); !why.empty()) return why;
    wait_for_others();
  }
  for (uint32_t part = 0; part < cut_.parts; ++part) all_[part] = links_[part].get();
  return {};
}

std::string RemoteParts::hello(uint16_t port) const {
  Writer w;
  // What is read first stays where it is in all versions.
  w.number(kJoinVersion).text(common_.program).number(self_).number(cut_.parts).number(port);
  w.number(run_).number(common_.work).text(cut_.text()).text(common_.configuration);
  return w.bytes;
}

std::string RemoteParts::refusal(const std::string& hello) const {
  Reader r(hello);
  if (const auto version = r.number<uint32_t>(); version != kJoinVersion)
    return fmt::format(
        "it joins as version {} does, and part 0 as version {}; start the same program everywhere", version,
        kJoinVersion);
  if (const std::string program = r.text(); program != common_.program)
    return fmt::format("it is {}, and part 0 is {}; start the same build everywhere", program,
                       common_.program);
  const auto part = r.number<uint32_t>();
  if (const auto parts = r.number<uint32_t>(); parts != cut_.parts)
    return fmt::format("it is one of {} parts, and part 0 one of {}; give all the same N in --part-of K/N",
                       parts, cut_.parts);
  if (part == 0 || part >= cut_.parts || links_[part] != nullptr)
    return fmt::format("there is a part {} already; give each another K in --part-of K/N", part);
  r.number<uint16_t>();
  r.number<uint64_t>();
  const auto work = r.number<uint64_t>();
  const std::string cut = r.text();
  if (const std::string configuration = r.text(); configuration != common_.configuration)
    return fmt::format("it has another configuration: {}; give all parts the same files and options",
                       first_difference(configuration, common_.configuration));
  if (work != common_.work || cut != cut_.text())
    return "its traces are others than those of part 0; give all parts the same files";
  return {};
}

/// Someone has connected. A stranger is sent away, and a part that does not fit ends the run.
void RemoteParts::admit(int socket, std::vector<Address>& addresses) {
  auto link = std::make_unique<Connection>(socket);
  const std::string host = other_host(socket);
  std::optional<Frame> frame;
  try {
    frame = link->wait_for_frame(kHelloSeconds);
  } catch (const std::invalid_argument&) {
  }
  if (!frame || frame->kind != FrameKind::hello || frame->bytes.size() > kMostHelloBytes) {
    std::fprintf(stderr, "weft: warning: %s %s: a connection from %s was closed: it is no part of a run\n",
                 kOption, at_.text().c_str(), host.c_str());
    return;
  }
  std::string why;
  uint32_t part = 0;
  try {
    why = refusal(frame->bytes);
    Reader r(frame->bytes);
    r.number<uint32_t>();
    r.text();
    part = r.number<uint32_t>();
    r.number<uint32_t>();
    if (why.empty()) addresses[part] = {host, r.number<uint16_t>()};
  } catch (const std::invalid_argument& e) {
    why = e.what();
  }
  if (!why.empty()) {
    why = fmt::format("part {} at {} cannot join: {}", part, host, why);
    link->push(FrameKind::refused, why);
    link->finish(kLastWordSeconds);
    tell_failure(ExitCode::usage, why);
    throw UserError(ExitCode::usage, fmt::format("{} {}: {}", kOption, at_.text(), why));
  }
  links_[part] = std::move(link);
}

void RemoteParts::wait_for_others() {
  Address at = at_;
  const int listener = listen_at(kOption, at);
  std::random_device draw;
  run_ = uint64_t{draw()} << 32 | draw();
  std::vector<Address> addresses(cut_.parts);
  const double until = join_clock() + wait_seconds_;
  const auto missing = [&] {
    std::vector<uint32_t> list;
    for (uint32_t part = 1; part < cut_.parts; ++part)
      if (links_[part] == nullptr) list.push_back(part);
    return list;
  };
  while (!missing().empty()) {
    const int socket = accept_one(listener, until - join_clock());
    if (socket >= 0) {
      admit(socket, addresses);
      continue;
    }
    close(listener);
    const std::string why = fmt::format(
        "after {} s there is no part {} of {}; start it with --part-of {}/{}, or give it more time "
        "(--join-wait)",
        wait_seconds_, fmt::join(missing(), ", "), cut_.parts, missing().front(), cut_.parts);
    tell_failure(ExitCode::usage, why);
    throw UserError(ExitCode::usage, fmt::format("{} {}: {}", kOption, at_.text(), why));
  }
  close(listener);
  Writer w;
  w.number(run_);
  for (const Address& address : addresses) w.text(address.host).number(address.port);
  for (uint32_t part = 1; part < cut_.parts; ++part) {
    links_[part]->push(FrameKind::welcome, w.bytes);
    if (!links_[part]->flush(kHelloSeconds)) lose(part);
  }
}

void RemoteParts::join_first() {
  const int to_first = connect_to(kOption, at_, wait_seconds_);
  links_[0] = std::make_unique<Connection>(to_first);
  // Where part 0 is reached from, the others reach this one.
  Address own{own_host(to_first), 0};
  const int listener = listen_at(kOption, own);
  links_[0]->push(FrameKind::hello, hello(own.port));
  std::optional<Frame> answer;
  try {
    answer = links_[0]->wait_for_frame(wait_seconds_);
  } catch (const std::invalid_argument& e) {
    close(listener);
    throw UserError(ExitCode::usage, fmt::format("{} {}: {}", kOption, at_.text(), e.what()));
  }
  if (!answer)
    throw UserError(ExitCode::usage,
                    fmt::format("{} {}: part 0 does not let this part join ({}); see what it says", kOption,
                                at_.text(), links_[0]->why()));
  if (answer->kind == FrameKind::refused)
    throw UserError(ExitCode::usage, fmt::format("{} {}: {}", kOption, at_.text(), answer->bytes));
  check(0, *answer);
  if (answer->kind != FrameKind::welcome) lose(0);
  join_each_other(listener, answer->bytes);
  close(listener);
}

/// Part k connects with parts 1 to k - 1, and waits for the others.
void RemoteParts::join_each_other(int listener, const std::string& welcome) {
  Reader r(welcome);
  run_ = r.number<uint64_t>();
  std::vector<Address> addresses(cut_.parts);
  for (Address& address : addresses) {
    address.host = r.text();
    address.port = r.number<uint16_t>();
  }
  for (uint32_t part = 1; part < self_; ++part) {
    links_[part] = std::make_unique<Connection>(connect_to(kOption, addresses[part], wait_seconds_));
    links_[part]->push(FrameKind::hello, Writer().number(run_).number(self_).bytes);
    if (!links_[part]->flush(kHelloSeconds)) lose(part);
  }
  const double until = join_clock() + wait_seconds_;
  for (uint32_t left = cut_.parts - 1 - self_; left != 0;) {
    const int socket = accept_one(listener, until - join_clock());
    if (socket < 0)
      throw UserError(ExitCode::usage,
                      fmt::format("{} {}: after {} s {} other parts have not reached this one", kOption,
                                  at_.text(), wait_seconds_, left));
    auto link = std::make_unique<Connection>(socket);
    try {
      const std::optional<Frame> frame = link->wait_for_frame(kHelloSeconds);
      if (!frame || frame->kind != FrameKind::hello) continue;
      Reader hello(frame->bytes);
      if (hello.number<uint64_t>() != run_) continue;
      const auto part = hello.number<uint32_t>();
      if (part <= self_ || part >= cut_.parts || links_[part] != nullptr) continue;
      links_[part] = std::move(link);
      --left;
    } catch (const std::invalid_argument&) {
      continue;  // a stranger
    }
  }
}

void RemoteParts::post(uint32_t part, const PartTransfer& transfer) {
  outbox_[part].push_back(transfer);
  ++statistics_.transfers;
}

void RemoteParts::exchange(Word own) {
  for (const std::vector<PartTransfer>& list : outbox_)
    for (const PartTransfer& transfer : list) own.state.next = std::min(own.state.next, transfer.acts);
  words_[self_] = own;
  for (uint32_t part = 0; part < cut_.parts; ++part) {
    if (part == self_) continue;
    scratch_.assign(reinterpret_cast<const char*>(&own), sizeof own);
    scratch_.append(reinterpret_cast<const char*>(outbox_[part].data()),
                    outbox_[part].size() * sizeof(PartTransfer));
    outbox_[part].clear();
    all_[part]->push(FrameKind::window, scratch_);
  }
  const double begin = join_clock();
  const Exchanged got = exchange_frames(all_);
  statistics_.waiting_seconds += join_clock() - begin;
  // One that fails says why before others lose it.
  for (uint32_t part = 0; part < cut_.parts; ++part)
    if (part != self_) check(part, got.frames[part]);
  if (got.lost >= 0) lose(static_cast<uint32_t>(got.lost));
  for (uint32_t part = 0; part < cut_.parts; ++part) {
    if (part == self_) continue;
    const std::string& bytes = got.frames[part].bytes;
    const size_t rest = bytes.size() - std::min(bytes.size(), sizeof(Word));
    if (got.frames[part].kind != FrameKind::window || bytes.size() < sizeof(Word) ||
        rest % sizeof(PartTransfer) != 0)
      throw UserError(
          ExitCode::internal,
          fmt::format("part {} of {} says at a meeting what belongs elsewhere (frame {}, {} bytes)", part,
                      cut_.parts, static_cast<uint32_t>(got.frames[part].kind), bytes.size()));
    std::memcpy(static_cast<void*>(&words_[part]), bytes.data(), sizeof(Word));
    inbox_[part].resize(rest / sizeof(PartTransfer));
    if (rest != 0) std::memcpy(static_cast<void*>(inbox_[part].data()), bytes.data() + sizeof(Word), rest);
  }
}

Parts::Batch RemoteParts::inbox(uint32_t from) const {
  return {inbox_[from].data(), inbox_[from].size()};
}

void RemoteParts::check(uint32_t from, const Frame& frame) const {
  if (frame.kind == FrameKind::alone) {
    std::fprintf(stderr, "weft: part %u of %u ends: part 0 goes on alone, because %s\n", self_, cut_.parts,
                 frame.bytes.c_str());
    std::fflush(stderr);
    _exit(0);
  }
  if (frame.kind != FrameKind::failed) return;
  if (frame.bytes.size() < sizeof(int32_t)) lose(from);
  int32_t code = 0;
  std::memcpy(&code, frame.bytes.data(), sizeof code);
  throw UserError(static_cast<ExitCode>(code), frame.bytes.substr(sizeof code));
}

void RemoteParts::lose(uint32_t part) const {
  const std::string why = links_[part] == nullptr ? "it was closed" : links_[part]->why();
  throw UserError(
      ExitCode::internal,
      fmt::format("part {} of {}: the connection to part {} ended in window {} ({}), and the run cannot "
                  "go on without it; {}. Look at what that part said last, and start all parts again",
                  self_, cut_.parts, part, statistics_.windows, why.empty() ? "it was closed" : why,
                  ranks_of(part)));
}

std::vector<std::string> RemoteParts::gather(std::string own) {
  std::vector<std::string> all;
  if (!first()) {
    links_[0]->push(FrameKind::results, own);
    while (links_[0]->has_output())
      if (!links_[0]->flush(wait_seconds_)) lose(0);
    return all;
  }
  Exchanged got = exchange_frames(all_);
  for (uint32_t part = 1; part < cut_.parts; ++part) check(part, got.frames[part]);
  if (got.lost >= 0) lose(static_cast<uint32_t>(got.lost));
  all.push_back(std::move(own));
  for (uint32_t part = 1; part < cut_.parts; ++part) all.push_back(std::move(got.frames[part].bytes));
  return all;
}

void RemoteParts::end_others(const std::string& why) {
  for (const std::unique_ptr<Connection>& link : links_) {
    if (link == nullptr) continue;
    link->push(FrameKind::alone, why);
    link->finish(kLastWordSeconds);
  }
}

void RemoteParts::tell_failure(ExitCode code, const std::string& text) {
  for (const std::unique_ptr<Connection>& link : links_) {
    if (link == nullptr) continue;
    link->push(FrameKind::failed, Writer().number(static_cast<int32_t>(code)).bytes + text);
    link->finish(kLastWordSeconds);
  }
}

void RemoteParts::leave() {
  std::fflush(stderr);
  _exit(0);
}

void RemoteParts::fail(ExitCode code, const std::string& text) {
  const std::string prefix = fmt::format("part {} of {}: ", self_, cut_.parts);
  const std::string full = text.rfind(prefix, 0) == 0 ? text : prefix + text;
  std::fprintf(stderr, "weft: error: %s\n", full.c_str());
  std::fflush(stderr);
  tell_failure(code, full);
  _exit(static_cast<int>(code));
}

}  // namespace weft::parts
