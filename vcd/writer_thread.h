// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A waveform is sorted and written beside the simulation. The simulator's thread only notes what it is told.

#ifndef WEFT_VCD_WRITER_THREAD_H
#define WEFT_VCD_WRITER_THREAD_H

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "vcd/value.h"
#include "vcd/vcd_writer.h"

namespace weft::vcd {

/// The calls to a writer, in their order, which a second thread makes. They are handed over in blocks; when
/// that thread is some blocks behind, the caller waits. The file is the one that the calls themselves would
/// have made.
///
/// The second thread starts with the first full block and lives until the end of this object, which must come
/// before that of the writer. Between settle() and the next call the writer is at rest, and the caller may
/// use it.
///
/// Errors are those of VcdWriter. They are thrown by a later call or by settle(), the first one only. What
/// was told before and after goes to the writer all the same, and a call that throws has been noted. revoke()
/// looks at the time alone: it is true, too, where the writer has stopped recording.
///
/// Where no thread can be made the caller makes the calls itself. In a process that has been forked off they
/// are dropped.
class WriterThread {
 public:
  /// `clock`: the simulator's time, which moves that of the writer; it is read now and then. The writer has
  /// no clock of its own.
  WriterThread(VcdWriter& writer, std::function<Time()> clock);
  /// Makes the calls that are left; errors are lost.
  ~WriterThread();
  WriterThread(const WriterThread&) = delete;
  WriterThread& operator=(const WriterThread&) = delete;

  // As VcdWriter's.
  void probe(Time t, SignalId signal, uint64_t value) { note({Kind::number, t, value, signal}); }
  void probe(Time t, SignalId signal, double value);
  void probe(Time t, SignalId signal, std::string_view value);
  void span(Time start, Time end, SignalId signal) { note({Kind::span, start, end, signal}); }
  void add(const Steps& steps, SignalId signal, int by) {
    note({Kind::steps, steps.first, steps.stride, signal, steps.count, steps.per_picosecond, by});
  }
  template <class Value>
  FutureHandle probe_at(Time t, SignalId signal, const Value& value) {
    move();
    if (t > writer_.options().window.to) return {};
    const FutureHandle handle = keep(t);
    put({Kind::ahead, 0, 0, signal, handle.slot});
    probe(t, signal, value);
    return handle;
  }
  bool revoke(const FutureHandle& handle);

  /// Has all calls made, and time moved to the clock's.
  void settle();
  /// Has all calls made, and reads no clock: before the writer gets another signal. Throws nothing of the
  /// writer.
  void rest();

 private:
  enum class Kind : uint8_t { number, real, text, span, steps, ahead, revoke, advance };
  /// No two neighbours are also neighbours in Steps. Otherwise the compiler copies both at once, and a
  /// processor that has just written them one by one waits for all its writes before it can read them
  /// together.
  struct Call {
    Kind kind = Kind::number;
    uint32_t count = 0;  ///< of steps; of what is told ahead: its slot
    uint64_t time = 0;   ///< of steps: the first moment
    /// Of a real number: its bits; of a text: its place in the block; of steps: the stride.
    uint64_t value = 0;
    SignalId signal{};
    int32_t by = 0;               ///< of steps
    uint32_t per_picosecond = 1;  ///< of steps

    Call() = default;
    Call(Kind what, uint64_t at, uint64_t to, SignalId of, uint32_t n = 0, uint32_t per_ps = 1, int each = 0)
        : kind(what), count(n), time(at), value(to), signal(of), by(each), per_picosecond(per_ps) {}
  };
  static constexpr size_t kCalls = 4096;  ///< of a block, which stays in the processor's second-level cache
  static constexpr uint64_t kBlocks = 4;
  static constexpr size_t kFetched = 16;        ///< so many calls ahead
  static constexpr uint32_t kCallsOfTick = 32;  ///< the clock is read once for so many
  struct Block {
    std::array<Call, kCalls> calls;
    size_t size = 0;
    std::vector<std::string> texts;
  };
  /// A value that was told ahead and may be revoked.
  struct Ahead {
    Time t = 0;
    uint64_t sequence = 0;  ///< 0: free
  };

  void note(const Call& call) {
    if (--until_tick_ == 0) move();
    put(call);
    if (failed_) throw_error();
  }
  static void fetch_to_write(const Call* call) {
#if defined(__x86_64__)
    // What the compiler makes of its own prefetch to write only reads, unless it may use newer instructions.
    asm volatile("prefetchw %0" : : "m"(*call));
#else
    __builtin_prefetch(call, 1);
#endif
  }
  void put(const Call& call) {
    // The other thread had it last.
    fetch_to_write(block_->calls.data() + block_->size + kFetched);
    block_->calls[block_->size++] = call;
    if (block_->size == kCalls) hand_over();
  }
  void move();
  FutureHandle keep(Time t);
  void forget_past();
  void hand_over();
  void start();
  bool forked() const;
  void work();
  void make(Block& block);
  void make(const Call& call, const Block& block);
  template <class Value>
  void give(const Call& call, const Value& value);
  void throw_error();

  VcdWriter& writer_;
  std::function<Time()> clock_;

  // Each thread's members have cache lines of their own: they are written with every call.

  // Of the caller.
  alignas(64) Time now_ = 0;
  uint32_t until_tick_ = 1;
  bool failed_ = false;  ///< error_ was seen
  bool alone_ = false;   ///< no second thread could be made
  Block* block_;         ///< that is being filled
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<Ahead> ahead_;
  std::vector<uint32_t> free_;  ///< of ahead_
  size_t forget_at_ = 1024;     ///< entries of ahead_
  uint64_t sequence_ = 0;

  // Of the second thread.
  alignas(64) std::vector<FutureHandle> handles_;  ///< the writer's, by the place in ahead_
  bool is_ahead_ = false;                          ///< the next value is
  uint32_t slot_ = 0;                              ///< .. and has this place

  // Of both.
  struct Locks {
    std::mutex mutex;
    std::condition_variable filled;
    std::condition_variable made;
  };
  alignas(64) std::unique_ptr<Locks> locks_ = std::make_unique<Locks>();  ///< of all that follows
  uint64_t handed_ = 0;                                                   ///< blocks that were handed over
  uint64_t done_ = 0;                                                     ///< .. whose calls were made
  bool ends_ = false;
  std::exception_ptr error_;
  std::unique_ptr<std::thread> thread_;  ///< null: not started
};

/// True if this process may use a core for a second thread.
bool has_second_core();

}  // namespace weft::vcd

#endif
