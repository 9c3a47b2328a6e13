// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "emulation/client/session.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "emulation/client/buffers.h"

namespace weft::emulation {
namespace {

constexpr size_t kFlushAt = 1 << 16;

std::string text_of(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

int number_of(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return -1;
  char* rest = nullptr;
  const long value = std::strtol(text, &rest, 10);
  return rest == text || *rest != 0 || value < 0 || value > INT32_MAX ? -1 : static_cast<int>(value);
}

Finished of_nobody(uint64_t request) {
  Finished done;
  done.request = request;
  done.source = WEFT_NOBODY;
  done.tag = WEFT_ANY_TAG;
  return done;
}

}  // namespace

int CommView::member(uint32_t world_rank) const {
  if (ranks.empty()) {
    if (world_rank < start || (world_rank - start) % stride != 0) return -1;
    const uint32_t index = (world_rank - start) / stride;
    return index < count ? static_cast<int>(index) : -1;
  }
  const auto found = std::find(ranks.begin(), ranks.end(), world_rank);
  return found == ranks.end() ? -1 : static_cast<int>(found - ranks.begin());
}

Session::Session(const weft_options& options) : options_(options) {
  socket_ = options.socket != nullptr ? options.socket : text_of(std::getenv("WEFT_SOCKET"));
  rank_ = options.rank >= 0 ? options.rank : number_of("WEFT_RANK");
  world_ = options.world >= 0 ? options.world : number_of("WEFT_WORLD_SIZE");
  local_rank_ = std::max(0, number_of("LOCAL_RANK"));
  version_ = text_of(options.version);
}

Session::~Session() {
  if (fd_ >= 0) close(fd_);
}

void Session::connect_socket() {
  if (socket_.empty())
    throw CallError(
        WEFT_ERROR_NOT_EMULATED,
        "WEFT_SOCKET is not set: start the program with `weft emulate machine.yaml ... -- COMMAND`");
  if (rank_ < 0 || world_ < 1)
    throw CallError(WEFT_ERROR_NOT_EMULATED,
                    "WEFT_RANK or WEFT_WORLD_SIZE is not set: start the program with `weft emulate`");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_.size() >= sizeof address.sun_path)
    throw CallError(WEFT_ERROR_CONNECTION, "the path of the socket is too long: " + socket_);
  std::memcpy(address.sun_path, socket_.c_str(), socket_.size() + 1);
  fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int result = -1;
  if (fd_ >= 0) {
    do {
      result = connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    } while (result != 0 && errno == EINTR);
  }
  if (result != 0)
    end(WEFT_ERROR_CONNECTION,
        "no connection to " + socket_ + ": " + std::strerror(errno) + "; is `weft emulate` still running?");
}

void Session::open() {
  connect_socket();
  memory_ = std::make_unique<SharedMemory>();
  Hello hello;
  hello.rank = static_cast<uint32_t>(rank_);
  hello.world = static_cast<uint32_t>(world_);
  hello.local_rank = static_cast<uint32_t>(local_rank_);
  hello.pid = static_cast<uint32_t>(getpid());
  hello.shim = options_.shim;
  hello.shim_version = version_;
  hello.features = memory_->descriptor() >= 0 ? kSharedMemory : 0;
  const uint64_t request = next_request_++;
  write_frame(out_, request, 0, hello);
  // The descriptor goes with the first byte.
  iovec data{out_.data(), out_.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (hello.features != 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    const int file = memory_->descriptor();
    std::memcpy(CMSG_DATA(head), &file, sizeof file);
  }
  const ssize_t sent = sendmsg(fd_, &message, MSG_NOSIGNAL);
  if (sent > 0) out_.erase(out_.begin(), out_.begin() + sent);
  flush();
  const Frame frame = answer(request);
  if (frame.head.type != FrameType::welcome)
    end(WEFT_ERROR_PROTOCOL, "the server answered HELLO with " + to_string(frame.head.type));
  welcome_ = read_message<Welcome>(frame);
  if (welcome_.version != kProtocolVersion)
    end(WEFT_ERROR_PROTOCOL, "the server speaks weft-comm/" + std::to_string(welcome_.version) +
                                 ", this library weft-comm/" + std::to_string(kProtocolVersion));
  CommView world;
  world.my_rank = static_cast<uint32_t>(rank_);
  world.count = static_cast<uint32_t>(world_);
  comms_[WEFT_COMM_WORLD] = std::move(world);
  try {
    time_.begin(welcome_, static_cast<uint32_t>(rank_));
  } catch (const std::runtime_error& e) {
    end(WEFT_ERROR_ARGUMENT, e.what());
  }
  time_.leave();
}

void Session::end(int code, const std::string& text) {
  dead_ = code;
  throw CallError(code, text);
}

int Session::failed(const CallError& error) {
  last_error = error.what();
  return error.code;
}

template <typename Message>
uint64_t Session::tell(const Message& message) {
  if (dead_ != 0) throw CallError(dead_, last_error);
  const uint64_t request = next_request_++;
  try {
    write_frame(out_, request, time_.now(), message);
  } catch (const std::length_error& e) {
    throw CallError(WEFT_ERROR_ARGUMENT, e.what());
  }
  if (out_.size() > kFlushAt || welcome_.clock == WEFT_CLOCK_WALL) flush();
  return request;
}

template <typename Message>
Frame Session::ask(const Message& message) {
  const uint64_t request = tell(message);
  flush();
  return answer(request);
}

void Session::flush() {
  size_t sent = 0;
  while (sent < out_.size()) {
    const ssize_t now = ::send(fd_, out_.data() + sent, out_.size() - sent, MSG_NOSIGNAL);
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) break;
    sent += static_cast<size_t>(now);
  }
  const bool all = sent == out_.size();
  out_.clear();
  if (all) return;
  // The server has gone; it may have said why.
  answer(0);
}

void Session::receive_more() {
  uint8_t data[65536];
  ssize_t got = 0;
  do {
    got = ::recv(fd_, data, sizeof data, 0);
  } while (got < 0 && errno == EINTR);
  if (got <= 0)
    end(WEFT_ERROR_CONNECTION, "the connection to `weft emulate` was lost: it has ended, or was killed");
  in_.append(data, static_cast<size_t>(got));
}

Frame Session::answer(uint64_t request) {
  Frame frame;
  try {
    for (;;) {
      while (!in_.next(frame)) receive_more();
      if (frame.head.type == FrameType::error) end(WEFT_ERROR_REFUSED, read_message<Error>(frame).text);
      if (frame.head.type == FrameType::shutdown)
        end(WEFT_ERROR_SHUTDOWN, read_message<Shutdown>(frame).text);
      if (request != 0 && frame.head.request == request) break;
      if ((frame.head.flags & kOptional) == 0 && request != 0)
        end(WEFT_ERROR_PROTOCOL, "the server sent " + to_string(frame.head.type) + " for request " +
                                     std::to_string(frame.head.request) + " while this rank waits for " +
                                     std::to_string(request));
    }
  } catch (const ProtocolError& e) {
    end(WEFT_ERROR_PROTOCOL, std::string("the server sent a frame that makes no sense: ") + e.what());
  }
  if (frame.head.type != FrameType::welcome) time_.set(frame.head.t);
  return frame;
}

void Session::bye(int status) {
  time_.enter(true);
  Bye message;
  message.status = status;
  ask(message);
  dead_ = WEFT_ERROR_CONNECTION;
  last_error = "the rank has said goodbye";
}

int64_t Session::now() {
  time_.enter(false);
  const int64_t t = time_.now();
  time_.leave();
  return t;
}

void Session::compute(int64_t ps) {
  if (ps < 0) throw CallError(WEFT_ERROR_ARGUMENT, "compute: a negative time");
  time_.compute(ps);
  Compute message;
  message.ps = ps;
  tell(message);
  time_.leave();
}

void Session::compute_work(uint64_t flops, uint64_t bytes, const char* region) {
  Compute message;
  message.flops = flops;
  message.bytes = bytes;
  message.region = text_of(region);
  time_.compute(0);
  ask(message);
  time_.leave();
}

void Session::mark(weft_mark_kind kind, int64_t number, bool begin, const char* name) {
  time_.enter(false);
  Mark message;
  message.kind = kind;
  message.number = number;
  message.begin = begin ? 1 : 0;
  message.name = text_of(name);
  tell(message);
  time_.leave();
}

weft_comm Session::comm_new(const CommNew& message) {
  time_.enter(true);
  const Frame frame = ask(message);
  if (frame.head.type != FrameType::comm)
    end(WEFT_ERROR_PROTOCOL, "the server answered COMM_NEW with " + to_string(frame.head.type));
  auto made = read_message<Comm>(frame);
  if (made.id != WEFT_COMM_NULL) {
    CommView view;
    view.my_rank = made.my_rank;
    view.start = made.start;
    view.stride = std::max(1u, made.stride);
    view.count = made.ranks.empty() ? made.count : static_cast<uint32_t>(made.ranks.size());
    view.ranks = std::move(made.ranks);
    comms_[made.id] = std::move(view);
  }
  time_.leave();
  return made.id;
}

void Session::comm_free(weft_comm comm) {
  known_comm(comm);
  if (comm == WEFT_COMM_WORLD)
    throw CallError(WEFT_ERROR_ARGUMENT, "the communicator of all ranks cannot be freed");
  time_.enter(true);
  CommFree message;
  message.id = comm;
  tell(message);
  comms_.erase(comm);
  time_.leave();
}

const CommView* Session::comm(weft_comm id) const {
  const auto found = comms_.find(id);
  return found == comms_.end() ? nullptr : &found->second;
}

const CommView& Session::known_comm(weft_comm id) const {
  const CommView* view = comm(id);
  if (view == nullptr)
    throw CallError(WEFT_ERROR_ARGUMENT,
                    "communicator " + std::to_string(id) + " does not exist, or was freed");
  return *view;
}

uint64_t Session::share(const void* data, uint64_t bytes) {
  const uint64_t offset = memory_->allocate(bytes);
  if (offset == kNoBuffer)
    throw CallError(WEFT_ERROR_MEMORY,
                    "no shared memory for a buffer of " + std::to_string(bytes) + " bytes");
  if (data != nullptr && bytes != 0) std::memcpy(memory_->at(offset), data, bytes);
  return offset;
}

weft_request Session::coll(const weft_coll_args& args) {
  const CommView& view = known_comm(args.comm);
  BufferUse use = use_of(args, view);
  time_.enter(true);
  Coll message;
  message.comm = args.comm;
  message.sequence = view.collectives;
  message.operation = args.operation;
  message.type = args.type;
  message.element_bytes = use.element_bytes;
  message.reduction = args.reduction;
  message.root = args.root;
  message.stream = args.stream;
  message.count = args.count;
  message.counts = use.counts;
  message.receive_counts = use.receive_counts;
  message.name = text_of(args.name);
  if (needs_server(use, welcome_.data) && memory_->descriptor() >= 0) {
    const Part sent = contribution(use);
    if (sent.data != nullptr) message.send_offset = use.send_offset = share(sent.data, sent.bytes);
    const uint64_t room = received_bytes(use);
    if (use.receive != nullptr && room != 0)
      message.receive_offset = use.receive_offset = share(nullptr, room);
  }
  const uint64_t request = tell(message);
  ++comms_[args.comm].collectives;
  uses_[request] = std::move(use);
  time_.leave();
  return request;
}

weft_request Session::with_nobody(BufferUse& use) {
  use.local = true;
  uses_[next_request_] = use;
  return next_request_++;
}

bool Session::moves(const void* buffer, uint64_t bytes) const {
  return buffer != nullptr && bytes != 0 && welcome_.data != WEFT_DATA_DUMMY && memory_->descriptor() >= 0;
}

weft_request Session::send(weft_comm comm, int peer, int tag, const void* buffer, uint64_t bytes,
                           uint32_t mode, const char* name) {
  const CommView& view = known_comm(comm);
  BufferUse use;
  if (peer == WEFT_NOBODY) return with_nobody(use);
  if (peer < 0 || static_cast<uint32_t>(peer) >= view.count)
    throw CallError(WEFT_ERROR_ARGUMENT, "send: the communicator has no member " + std::to_string(peer));
  if (tag < 0) throw CallError(WEFT_ERROR_ARGUMENT, "send: the tag is negative");
  time_.enter(true);
  Send message;
  message.comm = comm;
  message.peer = peer;
  message.tag = tag;
  message.mode = mode;
  message.bytes = bytes;
  message.name = text_of(name);
  if (moves(buffer, bytes)) message.offset = use.send_offset = share(buffer, bytes);
  const uint64_t request = tell(message);
  uses_[request] = use;
  time_.leave();
  return request;
}

weft_request Session::recv(weft_comm comm, int peer, int tag, void* buffer, uint64_t bytes,
                           const char* name) {
  const CommView& view = known_comm(comm);
  BufferUse use;
  use.receive = buffer;
  use.room = bytes;
  if (peer == WEFT_NOBODY) return with_nobody(use);
  if (peer != WEFT_ANY_SOURCE && (peer < 0 || static_cast<uint32_t>(peer) >= view.count))
    throw CallError(WEFT_ERROR_ARGUMENT, "recv: the communicator has no member " + std::to_string(peer));
  if (tag < 0 && tag != WEFT_ANY_TAG) throw CallError(WEFT_ERROR_ARGUMENT, "recv: the tag is negative");
  time_.enter(true);
  Recv message;
  message.comm = comm;
  message.peer = peer;
  message.tag = tag;
  message.bytes = bytes;
  message.name = text_of(name);
  if (moves(buffer, bytes)) message.offset = use.receive_offset = share(nullptr, bytes);
  const uint64_t request = tell(message);
  uses_[request] = use;
  time_.leave();
  return request;
}

bool Session::probe(weft_comm comm, int peer, int tag, bool blocking, weft_status* status) {
  known_comm(comm);
  time_.enter(true);
  Probe message;
  message.comm = comm;
  message.peer = peer;
  message.tag = tag;
  message.blocking = blocking ? 1 : 0;
  const Done done = read_message<Done>(ask(message));
  if (!done.finished.empty() && status != nullptr) *status = status_of(done.finished.front());
  time_.leave();
  return !done.finished.empty();
}

void Session::take(const Finished& finished) {
  const auto found = uses_.find(finished.request);
  if (found == uses_.end()) return;
  const BufferUse& use = found->second;
  const uint8_t* arrived =
      (finished.data & 1) != 0 && use.receive_offset != kNoBuffer ? memory_->at(use.receive_offset) : nullptr;
  fill(use, welcome_.data, finished, arrived);
  if (use.send_offset != kNoBuffer) memory_->release(use.send_offset);
  if (use.receive_offset != kNoBuffer) memory_->release(use.receive_offset);
  uses_.erase(found);
}

std::vector<Finished> Session::complete(WaitHow how, bool blocking, const std::vector<uint64_t>& requests) {
  std::vector<Finished> done;
  Wait message;
  message.how = static_cast<uint32_t>(how);
  for (const uint64_t request : requests) {
    const auto use = uses_.find(request);
    if (use == uses_.end())
      throw CallError(WEFT_ERROR_ARGUMENT,
                      "request " + std::to_string(request) + " does not exist, or is over");
    if (use->second.local)
      done.push_back(of_nobody(request));
    else
      message.requests.push_back(request);
  }
  time_.enter(true);
  const bool enough = how != WaitHow::all && !done.empty();
  if (how == WaitHow::any && done.size() > 1) done.resize(1);
  if (!message.requests.empty() && !enough) {
    Frame frame;
    if (blocking) {
      frame = ask(message);
    } else {
      Test test;
      test.how = message.how;
      test.requests = message.requests;
      frame = ask(test);
    }
    const Done answer = read_message<Done>(frame);
    if (how == WaitHow::all && answer.finished.size() != message.requests.size()) done.clear();
    for (const Finished& finished : answer.finished) {
      take(finished);
      done.push_back(finished);
    }
  }
  for (const Finished& finished : done) uses_.erase(finished.request);
  time_.leave();
  return done;
}

const std::string& Session::node_name(uint32_t node) {
  std::string& name = node_names_[node];
  if (name.empty()) name = welcome_.node_prefix + std::to_string(node);
  return name;
}

}  // namespace weft::emulation
