// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "vcd/writer_thread.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace weft::vcd {

WriterThread::WriterThread(VcdWriter& writer, std::function<Time()> clock)
    : writer_(writer), clock_(std::move(clock)) {
  for (uint64_t i = 0; i < kBlocks; ++i) blocks_.push_back(std::make_unique<Block>());
  block_ = blocks_.front().get();
}

WriterThread::~WriterThread() {
  if (forked()) {
    // It is not in this process. Its condition variables would wait for it to leave them.
    (void)thread_.release();
    (void)locks_.release();
    return;
  }
  try {
    settle();
  } catch (...) {  // NOLINT(bugprone-empty-catch): a destructor cannot report it; settle() before would have
  }
  if (thread_ == nullptr) return;
  {
    const std::lock_guard<std::mutex> lock(locks_->mutex);
    ends_ = true;
  }
  locks_->filled.notify_one();
  thread_->join();
}

bool WriterThread::forked() const {
  return !writer_.is_of_this_process();
}

void WriterThread::probe(Time t, SignalId signal, double value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  note({Kind::real, t, bits, signal});
}

void WriterThread::probe(Time t, SignalId signal, std::string_view value) {
  if (--until_tick_ == 0) move();
  block_->texts.emplace_back(value);
  put({Kind::text, t, block_->texts.size() - 1, signal});
  if (failed_) throw_error();
}

void WriterThread::move() {
  until_tick_ = kCallsOfTick;
  const Time now = clock_();
  if (now == now_) return;
  now_ = now;
  put({Kind::advance, now, 0, {}});
}

FutureHandle WriterThread::keep(Time t) {
  if (free_.empty() && ahead_.size() >= forget_at_) forget_past();
  uint32_t slot = 0;
  if (free_.empty()) {
    slot = static_cast<uint32_t>(ahead_.size());
    ahead_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  ahead_[slot] = {t, ++sequence_};
  return {slot, sequence_, nullptr};
}

/// What time has moved past cannot be revoked any more.
void WriterThread::forget_past() {
  for (size_t i = 0; i < ahead_.size(); ++i) {
    if (ahead_[i].sequence == 0 || ahead_[i].t >= now_) continue;
    ahead_[i] = {};
    free_.push_back(static_cast<uint32_t>(i));
  }
  forget_at_ = std::max(forget_at_, 2 * (ahead_.size() - free_.size()));
}

bool WriterThread::revoke(const FutureHandle& handle) {
  move();
  if (!handle || handle.slot >= ahead_.size()) return false;
  Ahead& ahead = ahead_[handle.slot];
  if (ahead.sequence != handle.sequence || ahead.t < now_) return false;
  ahead = {};
  free_.push_back(handle.slot);
  put({Kind::revoke, 0, 0, {}, handle.slot});
  if (failed_) throw_error();
  return true;
}

void WriterThread::settle() {
  move();
  rest();
  throw_error();
}

void WriterThread::rest() {
  const bool dropped = forked();
  if (!dropped && thread_ == nullptr) {
    make(*block_);
    return;
  }
  if (block_->size != 0) hand_over();
  if (dropped) return;
  std::unique_lock<std::mutex> lock(locks_->mutex);
  locks_->made.wait(lock, [this] { return handed_ == done_; });
}

/// Throws nothing of the writer.
void WriterThread::hand_over() {
  if (forked()) {
    block_->size = 0;
    block_->texts.clear();
    return;
  }
  if (thread_ == nullptr && !alone_) start();
  if (alone_) {
    make(*block_);
    failed_ = error_ != nullptr;
    return;
  }
  std::unique_lock<std::mutex> lock(locks_->mutex);
  ++handed_;
  locks_->filled.notify_one();
  locks_->made.wait(lock, [this] { return handed_ - done_ < kBlocks; });
  block_ = blocks_[handed_ % kBlocks].get();
  failed_ = error_ != nullptr;
}

void WriterThread::throw_error() {
  if (forked()) return;
  std::exception_ptr error;
  {
    const std::lock_guard<std::mutex> lock(locks_->mutex);
    error = std::exchange(error_, nullptr);
  }
  failed_ = false;
  if (error) std::rethrow_exception(error);
}

/// Signals of the process go to the threads that expect them; faults stay with the thread that has them.
void WriterThread::start() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::make_unique<std::thread>([this] { work(); });
  } catch (const std::exception&) {
    alone_ = true;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void WriterThread::work() {
  pthread_setname_np(pthread_self(), "waves");
  std::unique_lock<std::mutex> lock(locks_->mutex);
  for (;;) {
    locks_->filled.wait(lock, [this] { return handed_ != done_ || ends_; });
    if (handed_ == done_) return;
    Block& block = *blocks_[done_ % kBlocks];
    lock.unlock();
    make(block);
    lock.lock();
    ++done_;
    locks_->made.notify_one();
  }
}

void WriterThread::make(Block& block) {
  for (size_t i = 0; i < block.size; ++i) {
    try {
      for (; i < block.size; ++i) make(block.calls[i], block);
    } catch (...) {
      is_ahead_ = false;
      const std::lock_guard<std::mutex> lock(locks_->mutex);
      if (!error_) error_ = std::current_exception();
    }
  }
  block.size = 0;
  block.texts.clear();
}

template <class Value>
inline void WriterThread::give(const Call& call, const Value& value) {
  if (!is_ahead_) return writer_.probe(call.time, call.signal, value);
  is_ahead_ = false;
  if (slot_ >= handles_.size()) handles_.resize(slot_ + 1);
  handles_[slot_] = {};
  handles_[slot_] = writer_.probe_at(call.time, call.signal, value);
}

inline void WriterThread::make(const Call& call, const Block& block) {
  switch (call.kind) {
    case Kind::number:
      return give(call, call.value);
    case Kind::real: {
      double value = 0;
      std::memcpy(&value, &call.value, sizeof value);
      return give(call, value);
    }
    case Kind::text:
      return give(call, std::string_view(block.texts[call.value]));
    case Kind::span:
      return writer_.span(call.time, call.value, call.signal);
    case Kind::steps:
      return writer_.add(Steps(call.time, call.count, call.value, call.per_picosecond), call.signal, call.by);
    case Kind::ahead:
      is_ahead_ = true;
      slot_ = call.count;
      return;
    case Kind::revoke:
      writer_.revoke(handles_[call.count]);
      return;
    case Kind::advance:
      // It may be at an end that the clock has not come to.
      if (call.time > writer_.now()) writer_.advance(call.time);
      return;
  }
}

bool has_second_core() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  return sched_getaffinity(0, sizeof cores, &cores) != 0 || CPU_COUNT(&cores) > 1;
}

}  // namespace weft::vcd
