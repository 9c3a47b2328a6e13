// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/trace/trace_front.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

// The fixed-point types are only declared without this.
#include <sysc/datatypes/fx/fx.h>

#include "cosim/kernel_time.h"

namespace weft::cosim {
namespace {

/// The low `width` bits.
uint64_t low(uint64_t value, int width) {
  return width >= 64 ? value : value & ((uint64_t{1} << width) - 1);
}

/// Digits 0, 1, Z, X, most significant first.
std::string digits(const sc_dt::sc_lv_base& v) {
  std::string text;
  for (int i = v.length(); i-- > 0;)
    text += v.get_bit(i) == 0 ? '0' : v.get_bit(i) == 1 ? '1' : v.get_bit(i) == 2 ? 'Z' : 'X';
  return text;
}

std::string digits(const sc_dt::sc_bv_base& v) {
  std::string text;
  for (int i = v.length(); i-- > 0;) text += v.get_bit(i) == 0 ? '0' : '1';
  return text;
}

template <typename Integer>
std::string digits(const Integer& v) {
  std::string text;
  for (int i = v.length(); i-- > 0;) text += v.test(i) ? '1' : '0';
  return text;
}

}  // namespace

/// A traced object: tells its probe when its value is another one.
struct TraceFront::Watched {
  virtual ~Watched() = default;
  virtual void look() = 0;
};

template <typename Now>
void TraceFront::watch(const vcd::Probe& probe, Now value_now) {
  if (!probe) return;
  struct Value final : Watched {
    Value(const vcd::Probe& p, Now v) : probe(p), value(std::move(v)) {}
    void look() override {
      auto present = value();
      if (last && *last == present) return;
      probe.set(now(), present);
      last = std::move(present);
    }
    vcd::Probe probe;
    Now value;
    std::optional<decltype(std::declval<Now>()())> last;
  };
  watched_.push_back(std::make_unique<Value>(probe, std::move(value_now)));
}

TraceFront::TraceFront(vcd::ProbeHub& probes, std::string prefix)
    : probes_(probes), prefix_(std::move(prefix)) {
  sc_core::sc_get_curr_simcontext()->add_trace_file(this);
}

TraceFront::~TraceFront() {
  sc_core::sc_get_curr_simcontext()->remove_trace_file(this);
}

std::string TraceFront::full(const std::string& name) const {
  // "x(3)" is how modules name elements; waveforms have brackets, and no blanks.
  std::string text = prefix_ + name;
  for (char& c : text) c = c == '(' ? '[' : c == ')' ? ']' : c == ' ' ? '_' : c;
  return text;
}

void TraceFront::cycle(bool delta_cycle) {
  if (delta_cycle) return;
  for (const auto& watched : watched_) watched->look();
}

void TraceFront::write_comment(const std::string& comment) {
  SC_REPORT_INFO("weft/cosim/trace", comment.c_str());
}

template <typename Integer>
void TraceFront::integer(const Integer& object, const std::string& name, int width) {
  watch(probes_.number(full(name), static_cast<unsigned>(width)),
        [&object, width] { return low(static_cast<uint64_t>(object), width); });
}

template <typename Vector>
void TraceFront::vector(const Vector& object, const std::string& name, int width) {
  if (width <= 64)
    watch(probes_.number(full(name), static_cast<unsigned>(width)),
          [&object, width] { return low(static_cast<uint64_t>(object.to_uint64()), width); });
  else
    watch(probes_.text(full(name)), [&object] { return digits(object); });
}

template <typename Number>
void TraceFront::real(const Number& object, const std::string& name) {
  watch(probes_.real(full(name)), [&object] { return object.to_double(); });
}

void TraceFront::trace(const sc_core::sc_event& object, const std::string& name) {
  // The stamp counts deltas: another one since the last look is a notification in this instant.
  const vcd::Probe probe = probes_.bit(full(name));
  if (!probe) return;
  struct Notified final : Watched {
    Notified(const TraceFront& f, const vcd::Probe& p, const sc_core::sc_event& e)
        : front(f), probe(p), event(e), stamp(f.event_trigger_stamp(e)) {}
    void look() override {
      const uint64_t present = front.event_trigger_stamp(event);
      if (present == stamp) return;
      stamp = present;
      probe.set(now(), true);
      probe.set(now() + 1, false);
    }
    const TraceFront& front;
    vcd::Probe probe;
    const sc_core::sc_event& event;
    uint64_t stamp;
  };
  watched_.push_back(std::make_unique<Notified>(*this, probe, object));
}

void TraceFront::trace(const sc_core::sc_time& object, const std::string& name) {
  watch(probes_.number(full(name), 64),
        [&object] { return static_cast<uint64_t>(object / sc_core::sc_time(1, sc_core::SC_PS)); });
}

void TraceFront::trace(const bool& object, const std::string& name) {
  watch(probes_.bit(full(name)), [&object] { return object; });
}

void TraceFront::trace(const sc_dt::sc_bit& object, const std::string& name) {
  watch(probes_.bit(full(name)), [&object] { return object.to_bool(); });
}

void TraceFront::trace(const sc_dt::sc_logic& object, const std::string& name) {
  watch(probes_.enumeration(full(name), {"0", "1", "Z", "X"}),
        [&object] { return static_cast<uint64_t>(object.value()); });
}

void TraceFront::trace(const unsigned char& object, const std::string& name, int width) {
  integer(object, name, width);
}
void TraceFront::trace(const unsigned short& object, const std::string& name, int width) {
  integer(object, name, width);
}
void TraceFront::trace(const unsigned int& object, const std::string& name, int width) {
  integer(object, name, width);
}
void TraceFront::trace(const unsigned long& object, const std::string& name, int width) {
  integer(object, name, width);
}
void TraceFront::trace(const char& object, const std::string& name, int width) {
  integer(object, name, width);
}
void TraceFront::trace(const short& object, const std::string& name, int width) {
  integer(object, name, width);
}
void TraceFront::trace(const int& object, const std::string& name, int width) {
  integer(object, name, width);
}
void TraceFront::trace(const long& object, const std::string& name, int width) {
  integer(object, name, width);
}
void TraceFront::trace(const sc_dt::int64& object, const std::string& name, int width) {
  integer(object, name, width);
}
void TraceFront::trace(const sc_dt::uint64& object, const std::string& name, int width) {
  integer(object, name, width);
}

void TraceFront::trace(const float& object, const std::string& name) {
  watch(probes_.real(full(name)), [&object] { return static_cast<double>(object); });
}

void TraceFront::trace(const double& object, const std::string& name) {
  watch(probes_.real(full(name)), [&object] { return object; });
}

void TraceFront::trace(const sc_dt::sc_int_base& object, const std::string& name) {
  const int width = object.length();
  watch(probes_.number(full(name), static_cast<unsigned>(width)),
        [&object, width] { return low(static_cast<uint64_t>(object.value()), width); });
}

void TraceFront::trace(const sc_dt::sc_uint_base& object, const std::string& name) {
  const int width = object.length();
  watch(probes_.number(full(name), static_cast<unsigned>(width)),
        [&object] { return static_cast<uint64_t>(object.value()); });
}

void TraceFront::trace(const sc_dt::sc_signed& object, const std::string& name) {
  vector(object, name, object.length());
}
void TraceFront::trace(const sc_dt::sc_unsigned& object, const std::string& name) {
  vector(object, name, object.length());
}
void TraceFront::trace(const sc_dt::sc_bv_base& object, const std::string& name) {
  vector(object, name, object.length());
}

void TraceFront::trace(const sc_dt::sc_lv_base& object, const std::string& name) {
  watch(probes_.text(full(name)), [&object] { return digits(object); });
}

void TraceFront::trace(const sc_dt::sc_fxval& object, const std::string& name) {
  real(object, name);
}
void TraceFront::trace(const sc_dt::sc_fxval_fast& object, const std::string& name) {
  real(object, name);
}
void TraceFront::trace(const sc_dt::sc_fxnum& object, const std::string& name) {
  real(object, name);
}
void TraceFront::trace(const sc_dt::sc_fxnum_fast& object, const std::string& name) {
  real(object, name);
}

void TraceFront::trace(const unsigned int& object, const std::string& name, const char** literals) {
  vcd::EnumTable table;
  for (const char** literal = literals; *literal != nullptr; ++literal) table.emplace_back(*literal);
  const size_t values = table.size();
  table.emplace_back("(no literal)");
  watch(probes_.enumeration(full(name), table),
        [&object, values] { return object < values ? uint64_t{object} : uint64_t{values}; });
}

}  // namespace weft::cosim
