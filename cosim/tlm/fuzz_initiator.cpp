// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/tlm/fuzz_initiator.h"

#include <fmt/format.h>

#include <algorithm>

#include "cosim/kernel_time.h"

namespace weft::cosim {
namespace {

using sc_core::sc_time;
using tlm::tlm_phase;
using tlm::tlm_sync_enum;

DECLARE_EXTENDED_PHASE(weft_fuzz_initiator_phase);

struct FuzzExtension : tlm::tlm_extension<FuzzExtension> {
  tlm::tlm_extension_base* clone() const override { return new FuzzExtension(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override {
    value = static_cast<const FuzzExtension&>(other).value;
  }
  uint64_t value = 0;
};

/// For payloads to which nobody holds a reference.
struct Careless : tlm::tlm_mm_interface {
  void free(tlm::tlm_generic_payload*) override {}
};

constexpr uint32_t kMostDebug = 300;  ///< bytes of a debug access

/// What wrong data tells of.
const char* about(int rule) {
  switch (rule) {
    case 20:
      return "byte enables";
    case 21:
      return "streaming width";
    case 26:
      return "debug access";
    default:
      return "length";
  }
}

}  // namespace

struct FuzzInitiator::Access {
  uint64_t address = 0;
  uint32_t length = 0;
  uint32_t width = 0;
  bool write = false;
  bool outside = false;
  int rule = 22;  ///< that wrong data breaks
  uint64_t order = 0;
  std::vector<unsigned char> enables;  ///< empty: none
  std::vector<unsigned char> data;
  std::vector<unsigned char> before;
  FuzzExtension extension;

  /// An initiator that breaks a rule may use its memory again while the transaction is open, and checkers
  /// look at it: so it never moves.
  void reserve(uint32_t bytes) {
    enables.reserve(bytes);
    data.reserve(bytes);
  }
  uint64_t span() const { return std::min(length, width); }
  bool enabled(uint32_t i) const {
    return enables.empty() || enables[i % enables.size()] == TLM_BYTE_ENABLED;
  }
};

/// One access after the other.
class FuzzInitiator::Worker final : public sc_core::sc_module {
 public:
  Worker(sc_core::sc_module_name worker_name, FuzzInitiator& all)
      : sc_core::sc_module(worker_name), all_(all), response_("response") {
    access_.reserve(std::max(all.options_.most_length, kMostDebug));
    SC_HAS_PROCESS(Worker);
    SC_THREAD(run);
  }

  tlm_sync_enum answer(Payload& payload, tlm_phase& phase, sc_time& delay);

 private:
  enum class State { none, waiting, to_end, over };

  void run();
  void blocking();
  void non_blocking();
  void end_response(Payload& payload, Picoseconds from_now);
  void unknown_phase(Payload& payload);

  FuzzInitiator& all_;
  Access access_;
  State state_ = State::none;
  sc_time delay_;  ///< of what it waits for
  sc_core::sc_event response_;
  Careless careless_;
};

FuzzInitiator::FuzzInitiator(sc_core::sc_module_name module_name, const Options& options)
    : sc_core::sc_module(module_name),
      socket("socket"),
      options_(options),
      random_(options.seed),
      one_over_("one_over"),
      request_free_("request_free"),
      in_method_("in_method"),
      never_("never"),
      shadow_(options.size),
      known_(options.size) {
  socket.bind(*this);
  for (uint32_t i = 0; i < std::max(1u, options.outstanding); ++i)
    workers_.push_back(std::make_unique<Worker>(("worker" + std::to_string(i)).c_str(), *this));
  SC_HAS_PROCESS(FuzzInitiator);
  SC_METHOD(method);
  sensitive << in_method_;
  dont_initialize();
}

FuzzInitiator::~FuzzInitiator() = default;

void FuzzInitiator::broken(int rule, uint64_t address, const std::string& what) {
  violations_.push_back(fmt::format("rule {}, {}, at {} ps, address 0x{:x}: {}", rule, name(),
                                    sc_core::sc_time_stamp().value(), address, what));
  rules_.insert(rule);
}

// ---- what is asked for

void FuzzInitiator::draw(Access& a) {
  a.outside = options_.outside != 0 && random_() % 16 == 0;
  static constexpr uint32_t kUsual[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 4'096};
  const auto most = static_cast<uint32_t>(std::min<uint64_t>(options_.most_length, options_.size));
  const uint32_t cap = a.outside ? std::min(most, 256u) : most;
  switch (random_() % 4) {
    case 0:
      a.length = kUsual[random_() % std::size(kUsual)];
      break;
    case 1:
      a.length = static_cast<uint32_t>(1 + random_() % cap);
      break;
    default:
      a.length = static_cast<uint32_t>(1 + random_() % 200);
      break;
  }
  a.length = std::min(a.length, cap);
  a.width = a.length;
  a.rule = 22;
  a.enables.clear();
  a.write = random_() % 2 == 0;
  if (options_.byte_enables && random_() % 3 == 0) {
    a.enables.resize(random_() % 2 == 0 ? a.length : 1 + random_() % std::min(a.length, 8u));
    for (unsigned char& e : a.enables) e = random_() % 2 == 0 ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
    a.rule = 20;
  }
  if (random_() % 8 == 0) a.width += static_cast<uint32_t>(random_() % 64);
  if (options_.streaming && a.length > 1 && random_() % 5 == 0) {
    a.width = static_cast<uint32_t>(1 + random_() % (a.length - 1));
    a.rule = 21;
  }
  a.address = a.outside ? options_.outside + random_() % (256 - a.span() + 1)
                        : options_.base + random_() % (options_.size - a.span() + 1);
}

bool FuzzInitiator::conflicts(uint64_t address, uint64_t bytes, bool write) const {
  return std::any_of(under_way_.begin(), under_way_.end(), [&](const Access* other) {
    return (write || other->write) && address < other->address + other->span() &&
           other->address < address + bytes;
  });
}

/// The next access; waits for one that no access under way disturbs.
void FuzzInitiator::take(Access& a) {
  for (uint32_t tries = 0;; ++tries) {
    draw(a);
    if (a.outside || !conflicts(a.address, a.span(), a.write)) break;
    if (tries % 8 == 7) sc_core::wait(one_over_);
  }
  a.order = ++order_;
  a.data.resize(a.length);
  for (unsigned char& byte : a.data) byte = static_cast<unsigned char>(random_());
  a.before = a.data;
  under_way_.push_back(&a);
}

void FuzzInitiator::fill(Payload& p, Access& a) {
  p.set_command(a.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  p.set_address(a.address);
  p.set_data_ptr(a.data.data());
  p.set_data_length(a.length);
  p.set_streaming_width(a.width);
  p.set_byte_enable_ptr(a.enables.empty() ? nullptr : a.enables.data());
  p.set_byte_enable_length(static_cast<unsigned>(a.enables.size()));
  p.set_dmi_allowed(false);
  p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  if (options_.unknown_extensions && random_() % 2 == 0) {
    a.extension.value = random_();
    p.set_extension(&a.extension);
  }
}

// ---- whether it is right

void FuzzInitiator::verify(const Payload& p, Access& a) {
  under_way_.erase(std::find(under_way_.begin(), under_way_.end(), &a));
  ++answered_;
  last_ = std::max<Picoseconds>(last_, sc_core::sc_time_stamp().value());
  one_over_.notify(sc_core::SC_ZERO_TIME);
  if (a.outside) {
    bool any = false;  // who touches nothing may be told so
    for (uint32_t i = 0; i < a.length; ++i) any = any || a.enabled(i);
    if (any && p.get_response_status() != tlm::TLM_ADDRESS_ERROR_RESPONSE)
      broken(23, a.address,
             "there is nothing at this address, and the response is " + p.get_response_string());
    return;
  }
  if (!p.is_response_ok()) {
    const bool streams = a.width < a.length && p.get_response_status() == tlm::TLM_BURST_ERROR_RESPONSE;
    if (!streams) broken(23, a.address, "the response is " + p.get_response_string());
    if (a.write) keep(a, false);
    return;
  }
  bytes_ += a.length;
  if (!options_.data) return;
  if (a.write) {
    if (a.data != a.before) broken(19, a.address, "the data of a write changed");
    keep(a, true);
  } else {
    compare(a);
  }
}

void FuzzInitiator::keep(const Access& a, bool known) {
  for (uint32_t i = 0; i < a.length; ++i) {
    if (!a.enabled(i)) continue;
    const uint64_t at = a.address - options_.base + i % a.width;
    shadow_[at] = a.data[i];
    known_[at] = known ? static_cast<uint8_t>(a.rule) : 0;
  }
}

void FuzzInitiator::compare(Access& a) {
  for (uint32_t i = 0; i < a.length; ++i) {
    const uint64_t at = a.address - options_.base + i % a.width;
    if (!a.enabled(i)) {
      if (a.data[i] == a.before[i]) continue;
      broken(19, a.address, fmt::format("byte {} is not enabled, and was changed", i));
      return;
    }
    if (known_[at] == 0) continue;
    ++compared_;
    if (a.data[i] == shadow_[at]) continue;
    const int rule = a.rule != 22 ? a.rule : known_[at];
    broken(
        rule, a.address,
        fmt::format("byte {} is 0x{:02x} instead of 0x{:02x} ({})", i, a.data[i], shadow_[at], about(rule)));
    known_[at] = 0;
    return;
  }
}

void FuzzInitiator::debug(Access& a) {
  Payload p;
  const uint64_t length = std::min<uint64_t>(options_.size, 1 + random_() % kMostDebug);
  const uint64_t address = options_.base + random_() % (options_.size - length + 1);
  const bool write = random_() % 2 == 0;
  if (conflicts(address, length, true)) return;
  a.data.resize(length);
  for (unsigned char& byte : a.data) byte = static_cast<unsigned char>(random_());
  p.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  p.set_address(address);
  p.set_data_ptr(a.data.data());
  p.set_data_length(static_cast<unsigned>(length));
  p.set_streaming_width(static_cast<unsigned>(length));
  const sc_time before = sc_core::sc_time_stamp();
  const unsigned moved = socket->transport_dbg(p);
  if (sc_core::sc_time_stamp() != before) broken(26, address, "a debug access took time");
  for (unsigned i = 0; i < std::min<uint64_t>(moved, length); ++i) {
    const uint64_t at = address - options_.base + i;
    if (write) {
      shadow_[at] = a.data[i];
      known_[at] = 26;
    } else if (known_[at] != 0 && a.data[i] != shadow_[at]) {
      broken(26, address,
             fmt::format("a debug access read 0x{:02x} instead of 0x{:02x} as byte {}", a.data[i],
                         shadow_[at], i));
      return;
    }
  }
}

void FuzzInitiator::finish() {
  if (answered_ != options_.transactions)
    broken(28, 0, fmt::format("{} of {} accesses were answered", answered_, options_.transactions));
  if (pool_.live() != 0) broken(28, 0, fmt::format("{} payloads did not come back", pool_.live()));
}

// ---- processes

/// Where b_transport must not be called.
void FuzzInitiator::method() {
  Payload p;
  Access a;
  a.data.resize(a.length = a.width = 4);
  a.address = options_.base;
  fill(p, a);
  p.clear_extension<FuzzExtension>();
  sc_time delay;
  socket->b_transport(p, delay);
}

void FuzzInitiator::Worker::run() {
  while (!all_.done()) {
    ++all_.issued_;
    if (all_.options_.debug && all_.random_() % 8 == 0) all_.debug(access_);
    if (all_.breaks(2)) all_.in_method_.notify(sc_core::SC_ZERO_TIME);
    all_.take(access_);
    const FuzzStyle style = all_.options_.style;
    const bool at = style == FuzzStyle::at || (style == FuzzStyle::mixed && all_.random_() % 2 == 0);
    at ? non_blocking() : blocking();
    const Picoseconds gap = all_.options_.most_gap;
    if (gap != 0 && all_.random_() % 2 == 0) sc_core::wait(time_of(all_.random_() % (gap + 1)));
  }
}

void FuzzInitiator::Worker::blocking() {
  const bool managed = !all_.options_.no_manager || all_.random_() % 2 == 0;
  Payload own;
  Payload& p = managed ? all_.pool_.take() : own;
  all_.fill(p, access_);
  const tlm::tlm_extension_base* const extension = p.get_extension<FuzzExtension>();
  const uint64_t value = access_.extension.value;
  sc_time delay = time_of(all_.random_delay());
  all_.socket->b_transport(p, delay);
  if (p.get_extension<FuzzExtension>() != extension || access_.extension.value != value)
    all_.broken(24, access_.address, "an extension did not survive");
  sc_core::wait(delay);
  all_.verify(p, access_);
  p.clear_extension<FuzzExtension>();
  if (managed) p.release();
}

void FuzzInitiator::Worker::non_blocking() {
  while (all_.requesting_ != nullptr && !all_.breaks(7)) sc_core::wait(all_.request_free_);
  const bool careless = all_.breaks(6);
  auto* const loose = careless ? new Payload(&careless_) : nullptr;  // somebody may look at it for ever
  Payload& p = careless ? *loose : all_.pool_.take();
  if (!careless) static_cast<PayloadPool::Payload&>(p).owner = this;
  all_.fill(p, access_);
  all_.requesting_ = &p;
  state_ = State::waiting;
  const tlm::tlm_extension_base* const extension = p.get_extension<FuzzExtension>();
  tlm_phase phase = tlm::BEGIN_REQ;
  sc_time delay = time_of(all_.random_delay());
  const tlm_sync_enum sync = all_.socket->nb_transport_fw(p, phase, delay);
  const bool returned = sync == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP;
  const bool deaf = sync == tlm::TLM_UPDATED && phase == tlm::END_REQ && all_.options_.breaks == 10;
  if (deaf) all_.deaf_ = &p;
  if ((sync == tlm::TLM_COMPLETED || sync == tlm::TLM_UPDATED) && !deaf && all_.requesting_ == &p) {
    all_.requesting_ = nullptr;
    all_.request_free_.notify(sc_core::SC_ZERO_TIME);
  }
  if (careless) return;
  if (all_.options_.breaks == 15 && sync == tlm::TLM_ACCEPTED && state_ == State::waiting) {
    tlm_phase unknown = weft_fuzz_initiator_phase;
    all_.socket->nb_transport_fw(p, unknown, delay);
  }
  if (all_.breaks(18)) p.set_data_length(p.get_data_length() + 1);
  if (sync == tlm::TLM_COMPLETED) {
    if (all_.breaks(12)) end_response(p, delay.value());
    sc_core::wait(delay);
  } else if (returned) {
    if (all_.breaks(11)) sc_core::wait(all_.never_);
    end_response(p, delay.value());
  } else {
    unknown_phase(p);
    if (all_.breaks(17)) all_.socket->b_transport(p, delay = sc_core::SC_ZERO_TIME);
    if (state_ == State::waiting) sc_core::wait(response_);
    if (state_ == State::to_end) {
      end_response(p, delay_.value());
    } else {
      sc_core::wait(delay_);
      if (all_.breaks(13)) {
        tlm_phase again = tlm::END_RESP;
        delay = sc_core::SC_ZERO_TIME;
        all_.socket->nb_transport_fw(p, again, delay);
      }
    }
  }
  if (p.get_extension<FuzzExtension>() != extension)
    all_.broken(24, access_.address, "an extension did not survive");
  all_.verify(p, access_);
  state_ = State::none;
  p.clear_extension<FuzzExtension>();
  p.release();
}

void FuzzInitiator::Worker::unknown_phase(Payload& p) {
  if (!all_.options_.unknown_phases || all_.random_() % 4 != 0 || state_ != State::waiting) return;
  tlm_phase phase = weft_fuzz_initiator_phase;
  sc_time delay;
  if (all_.socket->nb_transport_fw(p, phase, delay) != tlm::TLM_ACCEPTED)
    all_.broken(16, access_.address, "a phase that nobody knows was not ignored");
}

/// By a call: after the delay, or now with it.
void FuzzInitiator::Worker::end_response(Payload& p, Picoseconds from_now) {
  if (all_.breaks(25)) access_.data[0] ^= 1;
  Picoseconds left = all_.breaks(14) ? 0 : from_now;
  if (all_.random_() % 2 == 0 && left != 0) {
    sc_core::wait(time_of(left));
    left = 0;
  }
  tlm_phase phase = tlm::END_RESP;
  sc_time delay = time_of(left);
  const tlm_sync_enum sync = all_.socket->nb_transport_fw(p, phase, delay);
  if (sync == tlm::TLM_UPDATED) all_.broken(13, access_.address, "END_RESP was answered with TLM_UPDATED");
  if (left != 0) sc_core::wait(time_of(left));
}

tlm_sync_enum FuzzInitiator::nb_transport_bw(Payload& p, tlm_phase& phase, sc_time& delay) {
  if (phase != tlm::END_REQ && phase != tlm::BEGIN_RESP)
    return breaks(16) ? tlm::TLM_COMPLETED : tlm::TLM_ACCEPTED;
  const bool early = requesting_ == &p && deaf_ != &p;
  if (early) {
    requesting_ = nullptr;
    request_free_.notify(sc_core::SC_ZERO_TIME);
  }
  if (phase == tlm::END_REQ) return tlm::TLM_ACCEPTED;
  auto* const mine = dynamic_cast<PayloadPool::Payload*>(&p);
  if (mine == nullptr || mine->owner == nullptr) return tlm::TLM_COMPLETED;  // a careless one
  if (early && breaks(9)) return tlm::TLM_ACCEPTED;
  return static_cast<Worker*>(mine->owner)->answer(p, phase, delay);
}

tlm_sync_enum FuzzInitiator::Worker::answer(Payload& p, tlm_phase& phase, sc_time& delay) {
  const bool overtakes = std::any_of(all_.under_way_.begin(), all_.under_way_.end(),
                                     [&](const Access* a) { return a->order < access_.order; });
  if (overtakes && all_.breaks(29)) return tlm::TLM_ACCEPTED;
  if (state_ != State::waiting) {
    all_.broken(22, p.get_address(), "a second response");
    return tlm::TLM_COMPLETED;
  }
  delay_ = delay;
  response_.notify(sc_core::SC_ZERO_TIME);
  switch (all_.random_() % 3) {
    case 0:
      state_ = State::over;
      return tlm::TLM_COMPLETED;
    case 1:
      state_ = State::over;
      delay_ = delay += time_of(all_.random_() % 2'000);
      phase = tlm::END_RESP;
      return tlm::TLM_UPDATED;
    default:
      state_ = State::to_end;
      return tlm::TLM_ACCEPTED;
  }
}

}  // namespace weft::cosim
