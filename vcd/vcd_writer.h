// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A push writer of Value Change Dump files (IEEE 1364-2005, clause 18). Models push what changes; nothing is
// polled, so the cost of a step is that of its changes, whatever the number of signals.

#ifndef WEFT_VCD_VCD_WRITER_H
#define WEFT_VCD_VCD_WRITER_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "vcd/step_count.h"
#include "vcd/time_queue.h"
#include "vcd/time_text.h"
#include "vcd/value.h"

namespace weft::vcd {

/// The part of simulated time that is recorded, both ends included.
struct Window {
  Time from = 0;
  Time to = ~Time{0};
};

struct WriterOptions {
  std::string path;  ///< the .vcd file; its folder must exist
  Window window;     ///< values before `from` are kept and dumped as initial values at `from`
  uint64_t max_bytes =
      uint64_t{2} << 30;  ///< recording stops, with a $comment, before the file grows beyond this
  /// Of add(): a count is written at every step, or only where a run of steps ends. What is written is the
  /// count of that instant in both; only the value at the start of a window may be that of the
  /// last run's end.
  bool every_step = true;
  /// The simulator's time now; it must not go backwards. It is read now and then, and before anything that
  /// depends on it, so that now() may lag behind it. Empty: the owner calls advance().
  std::function<Time()> clock;
  /// flush_all(), and the flush at exit(), call it first: who holds back calls to the writer makes them now.
  std::function<void()> before_flush;
};

/// Writes one file. All times are picoseconds.
///
/// Time: now() is the writer's time, moved by the clock or by advance(). probe() accepts any time >= now(): a
/// value at now() waits in a dirty list, a later one in a queue. When time moves, everything before the new
/// time is written, one value a signal and time: the value that was probed last wins. What is not yet written
/// can be revoked.
///
/// Signals are declared before time first moves (that is, at elaboration). Without a value yet a signal is x
/// (a real number: NaN, text: empty).
///
/// Ends: close() writes up to the end; the destructor and flush_all() write what is known at now(), so that a
/// file is readable up to the moment of an error. One writer is used by one thread at a time. The copy of a
/// writer in a process that was forked off writes nothing: the file is its parent's.
class VcdWriter {
 public:
  /// Opens the file. Throws WriteError if that fails, std::invalid_argument if the window is empty.
  explicit VcdWriter(WriterOptions options);
  /// Writes what is known at now(); a failure to write is not reported any more.
  ~VcdWriter();
  VcdWriter(const VcdWriter&) = delete;
  VcdWriter& operator=(const VcdWriter&) = delete;

  /// Declares a signal by its full name, scopes separated by dots: "npu0.nmu.port1.bytes". Each part consists
  /// of letters, digits and '_'. Throws std::invalid_argument for a bad or repeated name, a name that is a
  /// scope already, a width outside 1..64 or an empty table; std::logic_error when the header has been
  /// written.
  SignalId add_bit(std::string_view name) { return add(name, Kind::bit, 1, 0); }
  SignalId add_number(std::string_view name, unsigned width_bits);
  SignalId add_real(std::string_view name) { return add(name, Kind::real, 64, 0); }
  SignalId add_enum(std::string_view name, const EnumTable& table);
  SignalId add_text(std::string_view name) { return add(name, Kind::text, 1, 0); }
  /// A real number that is written as 0 while the bit `gate` is 0. Nothing if the bit has one already, or is
  /// no bit.
  std::optional<SignalId> add_gated_real(std::string_view name, SignalId gate);
  /// Another name of a declared signal: both have the same code in the file, so that its changes are written
  /// once. Errors are those of a signal.
  SignalId add_alias(std::string_view name, SignalId signal);

  /// `signal` has `value` from time `t` on. Throws std::logic_error if t < now(), std::out_of_range if the
  /// value does not fit the signal's width, WriteError if the file cannot be written. An integer given to a
  /// real signal is converted. Ignored after close(), after the window and after a truncation or failure.
  void probe(Time t, SignalId signal, uint64_t value);
  /// As above for a real signal; for any other kind std::logic_error.
  void probe(Time t, SignalId signal, double value);
  /// As above for a text signal; for any other kind std::logic_error.
  void probe(Time t, SignalId signal, std::string_view value);

  /// A bit is 1 from `start` to `end`, and 0 after that. Spans come in order; one that starts where the one
  /// before it ended, or earlier, goes on with it, and the bit stays 1. They cannot be revoked. Throws as
  /// probe() does, and std::logic_error if the signal is no bit.
  void span(Time start, Time end, SignalId signal);

  /// A number changes by `by` at each of the steps, whatever else adds to it and in whatever order that
  /// becomes known: a count, such as the credits of a buffer. It starts from the value last given by probe(),
  /// or 0. Of the steps of one instant the sum is written, and 0 where it is below. They cannot be revoked.
  /// Throws std::logic_error if the first step is before now() or the signal is no number.
  void add(const Steps& steps, SignalId signal, int by);

  /// As probe(), and names the value so that it can be revoked until time has moved past t. The handle is
  /// empty if the value is outside what is recorded.
  FutureHandle probe_at(Time t, SignalId signal, uint64_t value);
  FutureHandle probe_at(Time t, SignalId signal, double value);
  FutureHandle probe_at(Time t, SignalId signal, std::string_view value);

  /// Takes back a value that is not written yet. False if it has been written or revoked already, or never
  /// was.
  bool revoke(const FutureHandle& handle);

  /// Moves time on and writes everything before `now`. Throws std::logic_error if `now` < now(), and
  /// WriteError.
  void advance(Time now);

  /// Writes everything up to and including `end_time`, drops what was committed beyond it, and closes the
  /// file. A second call does nothing. Throws std::logic_error if end_time < now(), and WriteError.
  void close(Time end_time);

  /// Writes what is known at now() to the file and goes on. Throws WriteError.
  void flush();

  /// The emergency hook for a terminate or fatal-report handler: flush() on every open writer, swallowing
  /// errors. It is not async-signal-safe. It also runs at exit() for writers that were never destroyed.
  static void flush_all() noexcept;

  Time now() const { return now_; }
  /// The last step that add() was given, past or to come.
  Time counted_until() const { return counted_until_; }
  const WriterOptions& options() const { return options_; }
  /// Value changes written so far; the initial dump is not counted.
  uint64_t changes() const { return changes_; }
  /// Bytes written or waiting in the buffer.
  uint64_t bytes() const { return file_bytes_ + buffer_.size(); }
  /// True when max_bytes stopped the recording; from then on nothing is recorded.
  bool truncated() const { return truncated_; }
  /// The time of the last step that is in the file, when truncated.
  Time truncated_at() const { return truncated_at_; }
  /// The first failure to write, if any: a WriteError thrown inside a simulation kernel may not arrive as
  /// one.
  const std::optional<WriteError>& failure() const { return failure_; }
  /// False in a process that was forked off after the file was opened.
  bool is_of_this_process() const;
  /// Committed values that wait for their time.
  size_t waiting() const { return queue_.size() - revoked_; }

  size_t signals() const { return declared_.size(); }
  const std::string& name(SignalId signal) const { return declared_[index(signal)].name; }
  Kind kind(SignalId signal) const { return state_[index(signal)].kind; }
  unsigned width(SignalId signal) const { return state_[index(signal)].width; }
  /// The names of an enumeration's values; empty for other kinds.
  const EnumTable& table(SignalId signal) const;
  /// The number of an enumeration's table: signals with equal tables share one.
  uint32_t table_index(SignalId signal) const { return declared_[index(signal)].table; }

 private:
  struct Declared {
    std::string name;
    uint32_t table = 0;
  };
  static constexpr uint32_t kNoSignal = ~uint32_t{0};
  /// What a step touches: one line of the cache.
  struct alignas(64) State {
    uint64_t value = 0;     ///< the latest; a real's bits, a text's number in texts_
    uint64_t written = 0;   ///< the value in the file
    uint64_t sequence = 0;  ///< of the call that gave `value`; 0: it was known ahead
    uint64_t limit = 1;     ///< the largest value
    char code[8] = {};      ///< identifier code of the file, and the end of the line
    uint8_t code_length = 0;
    uint8_t width = 1;
    Kind kind = Kind::bit;
    bool dirty = false;
    bool told = false;           ///< of a dirty signal: `value` was told at this very time
    bool alias = false;          ///< of another signal, whose code it has; it gets no values
    uint32_t gate = kNoSignal;   ///< of a gated number: its bit
    uint32_t gated = kNoSignal;  ///< of a bit: the number that it gates
    uint32_t count = 0;  ///< of a number: not 0: its place in counts_, and `value` may be below zero for a
                         ///< while; of a bit: its place in spans_
    bool known = false;  ///< a value was probed
    bool written_known = false;  ///< a value is in the file
  };
  static_assert(sizeof(State) == 64);
  struct Future {
    uint64_t value = 0;
    uint64_t sequence = 0;  ///< 0: free
    uint32_t signal = 0;
    bool revoked = false;
  };
  static constexpr uint32_t kOfCount = 1u << 31;
  static constexpr uint32_t kOfFuture = 1u << 30;
  static constexpr uint32_t kOfSpan = 1u << 29;
  /// An entry of queue_. Thousands wait at a time, so it is small.
  struct Due {
    uint64_t value = 0;
    uint32_t what = 0;  ///< a place in counts_, futures_ or spans_, or the signal that gets the value
  };
  /// A real number as it stands in the file.
  struct RealText {
    uint64_t bits = 0;
    char digits[32] = {};
    uint8_t length = 0;  ///< 0: none
  };
  /// Of a signal that has been given to add().
  struct Count {
    uint32_t signal = 0;
    StepCount steps;
    Time look = ~Time{0};     ///< with every step: when it is next to be counted; without: the end of
                              ///< the run that came last. It has an entry in the queue
    Time counted = ~Time{0};  ///< when it was counted last
  };
  /// Of a signal that has been given to span().
  struct Span {
    uint32_t signal = 0;
    Time end = 0;          ///< of the last one
    uint64_t number = 0;   ///< of the entry in the queue that is to look at `end`; earlier ones are void
    bool waiting = false;  ///< there is one
  };
  struct Scope {
    std::string name;
    std::vector<uint32_t> children;
    std::vector<uint32_t> signals;
  };

  [[noreturn]] void refuse_late(Time t, SignalId signal) const;
  [[noreturn]] void refuse_value(SignalId signal, uint64_t value) const;
  [[noreturn]] void refuse_count(SignalId signal) const;
  SignalId declare(std::string_view name, const State& state, uint32_t table);
  SignalId add(std::string_view name, Kind kind, unsigned width, uint32_t table);
  uint32_t scope_of(std::string_view path);
  bool recording(Time t) const { return open_ && t <= options_.window.to; }
  uint64_t shown(const State& state) const;
  void arrive(Time t, SignalId signal);
  void tick();
  uint64_t checked_number(SignalId signal, uint64_t value) const;
  uint64_t checked_real(SignalId signal, double value) const;
  uint64_t checked_text(SignalId signal, std::string_view value);
  void put(Time t, SignalId signal, uint64_t value);
  void set_value(uint32_t signal, uint64_t value, uint64_t sequence, bool told);
  FutureHandle commit(Time t, SignalId signal, uint64_t value);
  void release(uint32_t slot);
  void take_futures();
  void end_span(uint32_t place, uint64_t number);
  void look_at(uint32_t number, Time t);
  void count_now(uint32_t number);
  void look_again(uint32_t number);
  void move(Time t);
  void write_step();
  void write_header();
  void write_scope(uint32_t scope);
  void write_declaration(uint32_t signal);
  void write_initial(Time t);
  void write_time(Time t);
  char* put_time(char* out, Time t);
  char* put_value(char* out, const State& s, uint64_t value);
  char* put_other(char* out, const State& s, uint64_t value);
  char* put_real(char* out, uint64_t bits);
  char* append_lines(const char* end);
  void write_buffer();
  void drop_half_step(size_t done) noexcept;
  void finish(Time end);
  [[noreturn]] void fail(const std::string& reason, bool over_budget = false);
  void stop() noexcept;

  WriterOptions options_;
  const unsigned process_;  ///< that opened the file: how many forks it came from
  int file_ = -1;
  bool open_ = false;     ///< more may be recorded
  bool header_ = false;   ///< the header is in the buffer or the file
  bool started_ = false;  ///< the initial values are in the buffer or the file
  bool truncated_ = false;
  Time now_ = 0;
  Time last_time_ = 0;  ///< of the last '#' in the file
  Time truncated_at_ = 0;
  Time counted_until_ = 0;
  uint32_t until_tick_ = 1;  ///< probes
  uint64_t sequence_ = 0;
  uint64_t changes_ = 0;
  uint64_t file_bytes_ = 0;
  std::string buffer_;
  std::optional<WriteError> failure_;

  std::vector<State> state_;
  EntryList<uint32_t> dirty_;
  char lines_[8192];  ///< of a step, on their way into buffer_
  TimeText time_text_;
  RealText real_texts_[64];
  TimeQueue<Due> queue_;
  TimeQueue<Due>::Entries due_;  ///< the instant that is being taken
  std::vector<Future> futures_;
  std::vector<uint32_t> free_;
  size_t revoked_ = 0;  ///< entries of queue_ that were revoked

  uint32_t codes_ = 0;  ///< that have been given out
  std::vector<Declared> declared_;
  std::vector<EnumTable> tables_;
  std::vector<Count> counts_ = std::vector<Count>(1);
  std::vector<Span> spans_ = std::vector<Span>(1);
  std::vector<Scope> scopes_;
  std::unordered_map<std::string, uint32_t> scope_index_;
  std::string last_scope_path_;  ///< that scope_of() was asked for
  uint32_t last_scope_ = 0;
  std::unordered_set<std::string> names_;
  std::vector<std::string> texts_;
  std::unordered_map<std::string, uint64_t> text_index_;
};

}  // namespace weft::vcd

#endif
