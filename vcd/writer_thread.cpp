// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "vcd/writer_thread.h"

#include <pthread.h>
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
  try {
    settle();
  } catch (const std::exception&) {
    // A destructor cannot report it; settle() before would have.
  }
  if (!thread_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  filled_.notify_one();
  thread_.join();
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
  return true;
}

void WriterThread::settle() {
  move();
  if (thread_.joinable()) {
    if (block_->size != 0) hand_over();
    wait_for_rest();
  } else {
    make(*block_);
  }
  throw_error();
}

void WriterThread::hand_over() {
  if (!thread_.joinable()) start();
  {
    std::unique_lock<std::mutex> lock(mutex_);
    ++handed_;
    filled_.notify_one();
    made_.wait(lock, [this] { return handed_ - done_ < kBlocks; });
    block_ = blocks_[handed_ % kBlocks].get();
  }
  throw_error();
}

void WriterThread::wait_for_rest() {
  std::unique_lock<std::mutex> lock(mutex_);
  made_.wait(lock, [this] { return handed_ == done_; });
}

void WriterThread::throw_error() {
  std::exception_ptr error;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    error = std::exchange(error_, nullptr);
  }
  if (error) std::rethrow_exception(error);
}

/// Signals of the process go to the threads that expect them.
void WriterThread::start() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { work(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void WriterThread::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    filled_.wait(lock, [this] { return handed_ != done_ || ends_; });
    if (handed_ == done_) return;
    Block& block = *blocks_[done_ % kBlocks];
    lock.unlock();
    make(block);
    lock.lock();
    ++done_;
    made_.notify_one();
  }
}

void WriterThread::make(Block& block) {
  for (size_t i = 0; i < block.size; ++i) {
    try {
      for (; i < block.size; ++i) make(block.calls[i], block);
    } catch (...) {
      is_ahead_ = false;
      const std::lock_guard<std::mutex> lock(mutex_);
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
      return writer_.advance(call.time);
  }
}

bool has_second_core() {
  return std::thread::hardware_concurrency() > 1;
}

}  // namespace weft::vcd
