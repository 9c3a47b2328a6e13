// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// One file, because it has one subject: the order in which changes of value get into the file. Values that
// are known ahead, revoked ones, the budget and the end of the program all meet in the same queue and the
// same buffer.

#include "vcd/vcd_writer.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <mutex>
#include <utility>

#include "fmt/format.h"

namespace weft::vcd {
namespace {

constexpr Time kNever = StepCount::kNever;
/// It stays in the processor's second-level cache.
constexpr size_t kBufferBytes = size_t{1} << 16;
/// Kept free for the last comment and the last time stamp.
constexpr uint64_t kReserve = 256;
/// More than a time or a value takes, other than a text.
constexpr size_t kLongestLine = 96;
/// The clock is read once for so many values: what is known stays in the queue a little longer.
constexpr uint32_t kProbesOfTick = 32;

/// Forks that this process came from since the first writer was made. The kernel is not asked whose process
/// this is, because that takes longer than to declare a signal.
unsigned forks = 0;

/// The writers that flush_all() reaches.
struct OpenWriters {
  OpenWriters() {
    ::pthread_atfork(nullptr, nullptr, [] { ++forks; });
  }
  std::mutex mutex;
  std::vector<VcdWriter*> writers;
  // Runs at exit(), so that a program that leaves without unwinding keeps its waveform.
  ~OpenWriters();
};

OpenWriters& open_writers() {
  static OpenWriters instance;
  return instance;
}

/// Each is written, whatever becomes of the others: there is nobody to tell.
void flush_each(const std::vector<VcdWriter*>& writers) noexcept {
  for (VcdWriter* writer : writers) {
    try {
      if (writer->options().before_flush) writer->options().before_flush();
    } catch (...) {  // NOLINT(bugprone-empty-catch): what there was to tell the writer, it has been told
    }
    try {
      writer->flush();
    } catch (...) {  // NOLINT(bugprone-empty-catch)
    }
  }
}

OpenWriters::~OpenWriters() {
  flush_each(writers);
}

/// The dense code of a signal: bijective base 94 of the printable characters, least significant first, which
/// is the order in which GTKWave turns codes back into array indices.
uint8_t make_code(uint64_t number, char* code) {
  uint8_t length = 0;
  for (uint64_t n = number + 1; n != 0; n /= 94) {
    --n;
    code[length++] = static_cast<char>('!' + n % 94);
  }
  return length;
}

/// The binary digits of every byte: all eight, and from its first 1 on.
struct BinaryDigits {
  char all[256][8];
  char significant[256][8];
};

constexpr BinaryDigits make_binary_digits() {
  BinaryDigits table{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    unsigned skip = 0;
    while (skip < 7 && (byte >> (7 - skip) & 1) == 0) ++skip;
    for (unsigned bit = 0; bit < 8; ++bit) {
      table.all[byte][bit] = (byte >> (7 - bit) & 1) != 0 ? '1' : '0';
      if (bit >= skip) table.significant[byte][bit - skip] = table.all[byte][bit];
    }
  }
  return table;
}

constexpr BinaryDigits kBinaryDigits = make_binary_digits();

/// Binary digits without leading zeros, which a reader adds again. Bytes are copied eight at a time, so it
/// may write up to seven characters behind the end that it returns.
inline char* write_binary(char* out, uint64_t value) {
  int byte = (63 - __builtin_clzll(value | 1)) / 8;
  const auto top = static_cast<unsigned>(value >> (8 * byte) & 0xff);
  std::memcpy(out, kBinaryDigits.significant[top], 8);
  out += 32 - __builtin_clz(top | 1);
  while (byte-- > 0) {
    std::memcpy(out, kBinaryDigits.all[value >> (8 * byte) & 0xff], 8);
    out += 8;
  }
  return out;
}

void append_escaped(std::string& out, const std::string& text) {
  for (const char c : text) {
    if (c > ' ' && c < 0x7f && c != '\\') {
      out += c;
    } else {
      out += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
    }
  }
}

uint64_t real_bits(double value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

double real_value(uint64_t bits) {
  double value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

bool is_name_part(std::string_view part) {
  return !part.empty() && std::all_of(part.begin(), part.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace

VcdWriter::VcdWriter(WriterOptions options) : options_(std::move(options)), process_(forks) {
  if (options_.window.from > options_.window.to) {
    throw std::invalid_argument(fmt::format("waveform window: from {} ps is after to {} ps",
                                            options_.window.from, options_.window.to));
  }
  file_ = ::open(options_.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) {
    throw WriteError(options_.path,
                     fmt::format("cannot be created ({}); check that its folder exists and is writable",
                                 std::strerror(errno)));
  }
  scopes_.emplace_back();
  tables_.emplace_back();
  open_ = true;
  OpenWriters& all = open_writers();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.writers.push_back(this);
}

VcdWriter::~VcdWriter() {
  {
    OpenWriters& all = open_writers();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.writers.erase(std::find(all.writers.begin(), all.writers.end(), this));
  }
  try {
    flush();
  } catch (const std::exception&) {
    // A destructor cannot report it; flush() or close() before would have.
  }
  stop();
}

void VcdWriter::flush_all() noexcept {
  OpenWriters& all = open_writers();
  // The hook may run while this very thread opens or closes a writer; then that one is lost rather than the
  // process.
  const std::unique_lock<std::mutex> lock(all.mutex, std::try_to_lock);
  if (lock.owns_lock()) flush_each(all.writers);
}

uint32_t VcdWriter::scope_of(std::string_view path) {
  if (path.empty()) return 0;
  // Signals of one scope are most often declared one after the other.
  if (path == last_scope_path_) return last_scope_;
  const auto found = scope_index_.find(std::string(path));
  if (found != scope_index_.end()) {
    last_scope_path_ = path;
    return last_scope_ = found->second;
  }
  if (names_.count(std::string(path)) != 0) {
    throw std::invalid_argument(
        fmt::format("signal '{}' is declared already, so it cannot be a scope as well", path));
  }
  const size_t dot = path.rfind('.');
  const uint32_t parent = scope_of(dot == std::string_view::npos ? std::string_view() : path.substr(0, dot));
  const auto scope = static_cast<uint32_t>(scopes_.size());
  scopes_.emplace_back();
  scopes_.back().name = path.substr(dot == std::string_view::npos ? 0 : dot + 1);
  scopes_[parent].children.push_back(scope);
  scope_index_.emplace(path, scope);
  return scope;
}

SignalId VcdWriter::add(std::string_view name, Kind kind, unsigned width, uint32_t table) {
  State state;
  state.kind = kind;
  state.width = static_cast<uint8_t>(width);
  state.limit = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  if (kind == Kind::enumeration) state.limit = tables_[table].size() - 1;
  const SignalId id = declare(name, state, table);
  State& declared = state_[index(id)];
  declared.code_length = make_code(codes_++, declared.code);
  declared.code[declared.code_length++] = '\n';
  return id;
}

std::optional<SignalId> VcdWriter::add_gated_real(std::string_view name, SignalId gate) {
  if (kind(gate) != Kind::bit || state_[index(gate)].gated != kNoSignal) return std::nullopt;
  const SignalId id = add(name, Kind::real, 64, 0);
  state_[index(id)].gate = index(gate);
  state_[index(gate)].gated = index(id);
  return id;
}

SignalId VcdWriter::add_alias(std::string_view name, SignalId signal) {
  State state = state_[index(signal)];
  state.alias = true;
  return declare(name, state, declared_[index(signal)].table);
}

SignalId VcdWriter::declare(std::string_view name, const State& state, uint32_t table) {
  if (header_ || now_ != 0) {
    throw std::logic_error(fmt::format("signal '{}' is declared after simulated time has moved", name));
  }
  for (size_t start = 0; start <= name.size();) {
    const size_t dot = std::min(name.find('.', start), name.size());
    if (!is_name_part(name.substr(start, dot - start))) {
      throw std::invalid_argument(fmt::format("signal name '{}': '{}' is not made of letters, digits and '_'",
                                              name, name.substr(start, dot - start)));
    }
    start = dot + 1;
  }
  std::string own(name);
  if (scope_index_.count(own) != 0) {
    throw std::invalid_argument(
        fmt::format("signal '{}' has the name of a scope that is declared already", name));
  }
  if (names_.count(own) != 0) {
    throw std::invalid_argument(fmt::format("signal '{}' is declared twice", name));
  }
  const size_t dot = name.rfind('.');
  const uint32_t scope = scope_of(dot == std::string_view::npos ? std::string_view() : name.substr(0, dot));
  const auto number = static_cast<uint32_t>(state_.size());
  state_.push_back(state);
  declared_.push_back({own, table});
  scopes_[scope].signals.push_back(number);
  names_.insert(std::move(own));
  return static_cast<SignalId>(number);
}

SignalId VcdWriter::add_number(std::string_view name, unsigned width_bits) {
  if (width_bits < 1 || width_bits > 64) {
    throw std::invalid_argument(fmt::format("signal '{}': width {} is outside 1..64 bits", name, width_bits));
  }
  return add(name, Kind::number, width_bits, 0);
}

SignalId VcdWriter::add_enum(std::string_view name, const EnumTable& table) {
  if (table.empty())
    throw std::invalid_argument(fmt::format("signal '{}': its table of names is empty", name));
  for (const std::string& text : table) {
    if (text.empty() || text.find_first_of("\r\n") != std::string::npos) {
      throw std::invalid_argument(
          fmt::format("signal '{}': the value names must not be empty or hold a line break", name));
    }
  }
  // A vector of at least two bits, so that a viewer translates it by the same rule whatever its size.
  unsigned width = 2;
  while (width < 32 && (uint64_t{1} << width) < table.size()) ++width;
  auto known = std::find(tables_.begin() + 1, tables_.end(), table);
  if (known == tables_.end()) known = tables_.insert(tables_.end(), table);
  return add(name, Kind::enumeration, width, static_cast<uint32_t>(known - tables_.begin()));
}

const EnumTable& VcdWriter::table(SignalId signal) const {
  return tables_[declared_[index(signal)].table];
}

inline uint64_t VcdWriter::shown(const State& s) const {
  if (s.gate != kNoSignal && state_[s.gate].value == 0) return real_bits(0);
  return s.count != 0 && static_cast<int64_t>(s.value) < 0 ? 0 : s.value;
}

inline uint64_t VcdWriter::checked_number(SignalId signal, uint64_t value) const {
  const State& s = state_[index(signal)];
  if (s.kind == Kind::real) return real_bits(static_cast<double>(value));
  if (s.kind == Kind::text || value > s.limit) refuse_value(signal, value);
  return value;
}

void VcdWriter::refuse_value(SignalId signal, uint64_t value) const {
  if (kind(signal) == Kind::text)
    throw std::logic_error(fmt::format("text signal '{}' was given a number", name(signal)));
  throw std::out_of_range(fmt::format("signal '{}': value {} is above its largest, {}", name(signal), value,
                                      state_[index(signal)].limit));
}

uint64_t VcdWriter::checked_real(SignalId signal, double value) const {
  if (state_[index(signal)].kind != Kind::real) {
    throw std::logic_error(fmt::format("signal '{}' was given a real number but is not real", name(signal)));
  }
  return real_bits(value);
}

uint64_t VcdWriter::checked_text(SignalId signal, std::string_view value) {
  if (state_[index(signal)].kind != Kind::text) {
    throw std::logic_error(fmt::format("signal '{}' was given text but is not a text signal", name(signal)));
  }
  const auto [it, fresh] = text_index_.try_emplace(std::string(value), texts_.size());
  if (fresh) texts_.emplace_back(value);
  return it->second;
}

inline void VcdWriter::arrive(Time t, SignalId signal) {
  if (--until_tick_ == 0) tick();
  if (t < now_) refuse_late(t, signal);
}

void VcdWriter::refuse_late(Time t, SignalId signal) const {
  throw std::logic_error(
      fmt::format("signal '{}' was probed for {} ps, but time is at {} ps", name(signal), t, now_));
}

void VcdWriter::refuse_count(SignalId signal) const {
  throw std::logic_error(fmt::format("signal '{}' counts but is no number", name(signal)));
}

void VcdWriter::tick() {
  until_tick_ = kProbesOfTick;
  if (!options_.clock) return;
  const Time now = options_.clock();
  if (now > now_) advance(now);
}

void VcdWriter::probe(Time t, SignalId signal, uint64_t value) {
  if (!open_) return;
  arrive(t, signal);
  if (recording(t)) put(t, signal, checked_number(signal, value));
}

void VcdWriter::probe(Time t, SignalId signal, double value) {
  if (!open_) return;
  arrive(t, signal);
  if (recording(t)) put(t, signal, checked_real(signal, value));
}

void VcdWriter::probe(Time t, SignalId signal, std::string_view value) {
  if (!open_) return;
  arrive(t, signal);
  if (recording(t)) put(t, signal, checked_text(signal, value));
}

FutureHandle VcdWriter::probe_at(Time t, SignalId signal, uint64_t value) {
  if (!open_) return {};
  tick();
  arrive(t, signal);
  return recording(t) ? commit(t, signal, checked_number(signal, value)) : FutureHandle();
}

FutureHandle VcdWriter::probe_at(Time t, SignalId signal, double value) {
  if (!open_) return {};
  tick();
  arrive(t, signal);
  return recording(t) ? commit(t, signal, checked_real(signal, value)) : FutureHandle();
}

FutureHandle VcdWriter::probe_at(Time t, SignalId signal, std::string_view value) {
  if (!open_) return {};
  tick();
  arrive(t, signal);
  return recording(t) ? commit(t, signal, checked_text(signal, value)) : FutureHandle();
}

/// `told`: at this very time, not ahead of it.
inline void VcdWriter::set_value(uint32_t signal, uint64_t value, uint64_t sequence, bool told) {
  State& s = state_[signal];
  s.value = value;
  s.sequence = sequence;
  s.told = told;
  s.known = true;
  if (!s.dirty) {
    s.dirty = true;
    dirty_.push(signal);
  }
}

inline void VcdWriter::put(Time t, SignalId signal, uint64_t value) {
  if (t == now_)
    set_value(index(signal), value, ++sequence_, true);
  else
    queue_.push(t, {value, index(signal)});
}

void VcdWriter::add(const Steps& steps, SignalId signal, int by) {
  if (!open_ || steps.count == 0) return;
  arrive(steps.begin, signal);
  State& state = state_[index(signal)];
  if (state.kind != Kind::number) refuse_count(signal);
  if (!recording(steps.begin)) return;
  counted_until_ = std::max(counted_until_, steps.end);
  if (state.count == 0) {
    state.count = static_cast<uint32_t>(counts_.size());
    counts_.emplace_back().signal = index(signal);
  }
  Count& count = counts_[state.count];
  count.steps.add(steps, by);
  if (options_.every_step) {
    look_at(state.count, steps.begin);
  } else if (count.look != steps.end) {
    count.look = steps.end;
    queue_.push(steps.end, {0, kOfCount | state.count});
  }
}

void VcdWriter::span(Time start, Time end, SignalId signal) {
  if (!open_) return;
  arrive(start, signal);
  State& state = state_[index(signal)];
  if (state.kind != Kind::bit)
    throw std::logic_error(fmt::format("signal '{}' is told of spans but is no bit", name(signal)));
  if (state.count == 0) {
    state.count = static_cast<uint32_t>(spans_.size());
    spans_.emplace_back().signal = index(signal);
  }
  Span& span = spans_[state.count];
  if (span.waiting && start <= span.end) {
    span.end = std::max(span.end, end);
    return;
  }
  if (end <= start || !recording(start)) return;
  // Known ahead, with a gap between the two: the end of the first is final.
  if (span.waiting) put(span.end, signal, 0);
  put(start, signal, 1);
  span.end = end;
  span.waiting = true;
  queue_.push(end, {++span.number, kOfSpan | state.count});
}

// Unless another one has gone on with it.
void VcdWriter::end_span(uint32_t place, uint64_t number) {
  Span& span = spans_[place];
  if (span.number != number) return;
  span.waiting = span.end > now_;
  if (span.waiting)
    queue_.push(span.end, {number, kOfSpan | place});
  else
    set_value(span.signal, 0, ++sequence_, true);
}

/// Not later than at `t`.
void VcdWriter::look_at(uint32_t number, Time t) {
  if (t >= counts_[number].look) return;
  counts_[number].look = t;
  queue_.push(t, {0, kOfCount | number});
}

// All steps of a signal up to now, at once.
inline void VcdWriter::count_now(uint32_t number) {
  Count& count = counts_[number];
  const State& state = state_[count.signal];
  const uint64_t before = state.known ? state.value : 0;
  count.counted = now_;
  set_value(count.signal, before + static_cast<uint64_t>(count.steps.take(now_)), ++sequence_, true);
}

// With every step: when there is one more.
void VcdWriter::look_again(uint32_t number) {
  Count& count = counts_[number];
  count.look = kNever;
  const Time next = count.steps.next();
  if (next != kNever) look_at(number, next);
}

FutureHandle VcdWriter::commit(Time t, SignalId signal, uint64_t value) {
  uint32_t slot = 0;
  if (free_.empty()) {
    slot = static_cast<uint32_t>(futures_.size());
    futures_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  futures_[slot] = {value, ++sequence_, index(signal), false};
  queue_.push(t, {0, kOfFuture | slot});
  return {slot, sequence_, nullptr};
}

bool VcdWriter::revoke(const FutureHandle& handle) {
  if (!handle || !open_) return false;
  tick();
  if (handle.slot >= futures_.size()) return false;
  Future& future = futures_[handle.slot];
  if (future.sequence != handle.sequence || future.revoked) return false;
  future.revoked = true;
  ++revoked_;
  // A model that revokes nearly all it commits far ahead must not fill the queue.
  if (revoked_ > 64 && revoked_ > queue_.size() / 2) {
    queue_.remove_if([this](const Due& due) {
      const uint32_t slot = due.what & ~kOfFuture;
      if ((due.what & kOfFuture) == 0 || !futures_[slot].revoked) return false;
      release(slot);
      return true;
    });
    revoked_ = 0;
  }
  return true;
}

void VcdWriter::release(uint32_t slot) {
  futures_[slot] = Future();
  free_.push_back(slot);
}

void VcdWriter::take_futures() {
  while (!queue_.empty() && queue_.next() == now_) {
    queue_.take(due_);
    for (const Due& due : due_) {
      if ((due.what & kOfCount) != 0) {
        // With every step an earlier look may have come in between; without, several runs end together.
        const Count& count = counts_[due.what & ~kOfCount];
        if (options_.every_step ? count.look != now_ : count.counted == now_) continue;
        count_now(due.what & ~kOfCount);
        if (options_.every_step) look_again(due.what & ~kOfCount);
      } else if ((due.what & kOfSpan) != 0) {
        end_span(due.what & ~kOfSpan, due.value);
      } else if ((due.what & kOfFuture) == 0) {
        // What is told at this very time is told after all that was known ahead.
        const State& s = state_[due.what];
        if (!s.dirty || !s.told) set_value(due.what, due.value, 0, false);
      } else {
        const Future future = futures_[due.what & ~kOfFuture];
        release(due.what & ~kOfFuture);
        const State& s = state_[future.signal];
        // It may have been committed at this very time: the later call of the two wins.
        if (future.revoked)
          --revoked_;
        else if (!s.dirty || s.sequence <= future.sequence)
          set_value(future.signal, future.value, future.sequence, false);
      }
    }
  }
}

void VcdWriter::advance(Time now) {
  if (now == now_) return;
  if (now < now_) {
    throw std::logic_error(fmt::format("waveform time moves from {} ps back to {} ps", now_, now));
  }
  if (open_) write_step();
  while (open_ && !queue_.empty() && queue_.next() < now && queue_.next() <= options_.window.to) {
    move(queue_.next());
    write_step();
  }
  if (open_) move(now);
  now_ = now;
  if (open_ && now > options_.window.to) finish(options_.window.to);
}

void VcdWriter::move(Time t) {
  // The initial values are those of the step before, so they go out before time passes the window's start.
  if (!started_ && t > options_.window.from) write_initial(options_.window.from);
  if (open_) now_ = t;
}

/// `value`: what is shown of the signal. Writes up to kLongestLine characters, and a text into the buffer.
inline char* VcdWriter::put_value(char* out, const State& s, uint64_t value) {
  if (!s.known || s.kind == Kind::real || s.kind == Kind::text) {
    out = put_other(out, s, value);
  } else if (s.width == 1) {
    *out++ = value != 0 ? '1' : '0';
  } else {
    *out++ = 'b';
    out = write_binary(out, value);
    *out++ = ' ';
  }
  std::memcpy(out, s.code, sizeof s.code);
  return out + s.code_length;
}

void VcdWriter::write_step() {
  take_futures();
  if (now_ < options_.window.from) {
    for (const uint32_t signal : dirty_) state_[signal].dirty = false;
    dirty_.clear();
    return;
  }
  if (!started_) {
    write_initial(now_);
    return;
  }
  if (dirty_.empty()) return;
  const size_t start = buffer_.size();
  const Time time_before = last_time_;
  const uint64_t changes_before = changes_;
  bool stamped = false;
  char* out = lines_;
  // In variables of this function: characters that are written may be anything's, for all the compiler knows.
  State* const states = state_.data();
  const char* const last = lines_ + sizeof lines_ - kLongestLine;
  const uint32_t* dirty = dirty_.begin();
  size_t count = dirty_.size();
  uint64_t changes = 0;
  for (size_t i = 0; i < count; ++i) {
    State& s = states[dirty[i]];
    s.dirty = false;
    // What a bit gates may change with it. It may stand earlier in the list; then it is told again.
    if (s.gated != kNoSignal && s.value != s.written && !states[s.gated].dirty) {
      dirty_.push(s.gated);
      dirty = dirty_.begin();
      ++count;
    }
    const uint64_t value = shown(s);
    if (s.written_known && s.written == value) continue;
    if (!stamped) {
      out = put_time(out, now_);
      stamped = true;
    }
    if (out > last) out = append_lines(out);
    s.written = value;
    s.written_known = true;
    out = put_value(out, s, value);
    ++changes;
  }
  changes_ += changes;
  append_lines(out);
  dirty_.clear();
  if (file_bytes_ + buffer_.size() + kReserve > options_.max_bytes) {
    // A step is recorded as a whole or not at all.
    buffer_.resize(start);
    last_time_ = time_before;
    changes_ = changes_before;
    truncated_ = true;
    truncated_at_ = last_time_;
    buffer_ += fmt::format("$comment recording stopped after {} ps: the limit of {} bytes is reached $end\n",
                           last_time_, options_.max_bytes);
    write_buffer();
    stop();
    return;
  }
  if (buffer_.size() >= kBufferBytes) write_buffer();
}

char* VcdWriter::append_lines(const char* end) {
  buffer_.append(lines_, static_cast<size_t>(end - lines_));
  return lines_;
}

void VcdWriter::write_time(Time t) {
  append_lines(put_time(lines_, t));
}

char* VcdWriter::put_time(char* out, Time t) {
  if (started_ && t == last_time_) return out;
  *out++ = '#';
  out = time_text_.put(out, t);
  *out++ = '\n';
  last_time_ = t;
  return out;
}

/// The digits of a real number are dear, and a rate has few values: those that stood last in their place of a
/// small table are copied.
char* VcdWriter::put_real(char* out, uint64_t bits) {
  RealText& text = real_texts_[(bits * 0x9e3779b97f4a7c15u) >> 58];
  if (text.length == 0 || text.bits != bits) {
    text.bits = bits;
    text.length = static_cast<uint8_t>(
        std::to_chars(text.digits, text.digits + sizeof text.digits, real_value(bits)).ptr - text.digits);
  }
  std::memcpy(out, text.digits, sizeof text.digits);
  return out + text.length;
}

/// A real number, a text, or a signal without a value.
char* VcdWriter::put_other(char* out, const State& s, uint64_t value) {
  if (s.kind == Kind::real) {
    *out++ = 'r';
    out = s.known ? put_real(out, value) : std::copy_n("nan", 3, out);
  } else if (s.kind == Kind::text) {
    *out++ = 's';
    out = append_lines(out);
    if (s.known) append_escaped(buffer_, texts_[s.value]);
  } else if (s.width == 1) {
    *out++ = 'x';
    return out;
  } else {
    out = std::copy_n("bx", 2, out);
  }
  *out++ = ' ';
  return out;
}

void VcdWriter::write_header() {
  header_ = true;
  buffer_ += "$version Weft $end\n$timescale 1 ps $end\n";
  for (const uint32_t signal : scopes_[0].signals) write_declaration(signal);
  for (const uint32_t scope : scopes_[0].children) write_scope(scope);
  buffer_ += "$enddefinitions $end\n";
}

void VcdWriter::write_scope(uint32_t scope) {
  buffer_.append("$scope module ").append(scopes_[scope].name) += " $end\n";
  for (const uint32_t signal : scopes_[scope].signals) write_declaration(signal);
  for (const uint32_t child : scopes_[scope].children) write_scope(child);
  buffer_ += "$upscope $end\n";
}

void VcdWriter::write_declaration(uint32_t signal) {
  const State& s = state_[signal];
  const std::string& name = declared_[signal].name;
  const size_t dot = name.rfind('.');
  const std::string_view leaf = std::string_view(name).substr(dot == std::string::npos ? 0 : dot + 1);
  const std::string_view code(s.code, s.code_length - 1u);
  if (s.kind == Kind::real)
    buffer_ += "$var real 64 ";
  else if (s.kind == Kind::text)
    buffer_ += "$var string 1 ";
  else
    buffer_.append("$var wire ").append(std::to_string(s.width)) += ' ';
  buffer_.append(code).append(" ").append(leaf);
  const bool vector = s.width > 1 && s.kind != Kind::real && s.kind != Kind::text;
  if (vector) buffer_.append(" [").append(std::to_string(s.width - 1)).append(":0]");
  buffer_ += " $end\n";
}

void VcdWriter::write_initial(Time t) {
  if (!header_) write_header();
  write_time(t);
  started_ = true;
  buffer_ += "$dumpvars\n";
  for (State& s : state_) {
    if (s.alias) continue;
    const uint64_t value = shown(s);
    append_lines(put_value(lines_, s, value));
    s.written = value;
    s.written_known = s.known;
    s.dirty = false;
  }
  dirty_.clear();
  buffer_ += "$end\n";
  if (file_bytes_ + buffer_.size() + kReserve > options_.max_bytes) {
    const uint64_t needed = file_bytes_ + buffer_.size() + kReserve;
    buffer_.clear();
    fail(fmt::format(
             "the names and initial values of {} signals alone need {} bytes, the limit is {}; select fewer "
             "signals or raise the limit",
             state_.size(), needed, options_.max_bytes),
         true);
  }
  if (buffer_.size() >= kBufferBytes) write_buffer();
}

void VcdWriter::finish(Time end) {
  if (!header_) write_header();
  if (!started_ && end >= options_.window.from) write_initial(options_.window.from);
  if (!started_) {
    buffer_ +=
        fmt::format("$comment the run ended at {} ps, before the recorded window began at {} ps $end\n", end,
                    options_.window.from);
  } else if (end > last_time_) {
    write_time(end);  // a viewer takes the last time stamp for the end
  }
  write_buffer();
  const int file = std::exchange(file_, -1);
  if (::close(file) != 0) fail(fmt::format("cannot be closed ({})", std::strerror(errno)));
  stop();
}

void VcdWriter::close(Time end_time) {
  if (!open_ || !is_of_this_process()) return;
  tick();
  if (end_time > now_) advance(end_time);
  if (!open_) return;
  if (end_time < now_) {
    throw std::logic_error(
        fmt::format("the waveform is closed for {} ps, but time is at {} ps", end_time, now_));
  }
  write_step();
  if (open_) finish(end_time);
}

void VcdWriter::flush() {
  if (!open_ || !is_of_this_process()) return;
  tick();
  if (!header_) write_header();
  write_step();
  if (!open_) return;
  if (started_ && now_ > last_time_) write_time(now_);  // shows how far the run has come
  write_buffer();
}

bool VcdWriter::is_of_this_process() const {
  return process_ == forks;
}

void VcdWriter::write_buffer() {
  if (!is_of_this_process()) {
    buffer_.clear();
    return;
  }
  size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t n = ::write(file_, buffer_.data() + done, buffer_.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const std::string reason = n < 0 ? std::strerror(errno) : "no progress";
      drop_half_step(done);
      buffer_.clear();
      fail(fmt::format(
          "cannot be written ({}) after {} bytes; make room, or record less with a narrower selection or "
          "time window",
          reason, file_bytes_));
    }
    done += static_cast<size_t>(n);
    file_bytes_ += static_cast<uint64_t>(n);
  }
  buffer_.clear();
}

/// The file ends within the first `done` bytes of the buffer: after the last whole step, so that readers take
/// it. Without one, after the last whole line.
void VcdWriter::drop_half_step(size_t done) noexcept {
  size_t end = done == 0 ? std::string::npos : buffer_.rfind("\n#", done - 1);
  if (end == std::string::npos) {
    if (file_bytes_ > done) {
      end = 0;  // buffers end with whole steps
    } else {
      end = done == 0 ? 0 : buffer_.rfind('\n', done - 1);
      end = end == std::string::npos ? 0 : end + 1;
    }
  } else {
    ++end;
  }
  const uint64_t whole = file_bytes_ - done + end;
  // A device or a pipe has no length; then there is nothing to mend.
  if (::ftruncate(file_, static_cast<off_t>(whole)) == 0) file_bytes_ = whole;
}

void VcdWriter::fail(const std::string& reason, bool over_budget) {
  stop();
  failure_.emplace(options_.path, reason, over_budget);
  throw WriteError(*failure_);
}

void VcdWriter::stop() noexcept {
  open_ = false;
  if (file_ >= 0) ::close(file_);
  file_ = -1;
  queue_.clear();
  futures_.clear();
  counts_.assign(1, {});
  spans_.assign(1, {});
  free_.clear();
  revoked_ = 0;
}

}  // namespace weft::vcd
