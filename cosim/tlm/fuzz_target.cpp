// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/tlm/fuzz_target.h"

#include <algorithm>

#include "cosim/kernel_time.h"

namespace weft::cosim {
namespace {

using sc_core::sc_time;
using tlm::tlm_phase;
using tlm::tlm_sync_enum;

DECLARE_EXTENDED_PHASE(weft_fuzz_target_phase);

}  // namespace

FuzzTarget::FuzzTarget(sc_core::sc_module_name module_name, const Options& options)
    : sc_core::sc_module(module_name),
      socket("socket"),
      options_(options),
      random_(options.seed),
      wake_("wake"),
      never_("never") {
  socket.bind(*this);
  SC_HAS_PROCESS(FuzzTarget);
  SC_METHOD(process);
  sensitive << wake_;
  dont_initialize();
}

tlm::tlm_response_status FuzzTarget::status_of(const Payload& p) const {
  if (p.get_command() == tlm::TLM_IGNORE_COMMAND) return tlm::TLM_COMMAND_ERROR_RESPONSE;
  if (p.get_byte_enable_ptr() != nullptr && !options_.byte_enables)
    return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  if (p.get_streaming_width() < p.get_data_length() && !options_.streaming)
    return tlm::TLM_BURST_ERROR_RESPONSE;
  const uint64_t bytes = std::min(p.get_data_length(), p.get_streaming_width());
  if (p.get_address() >= options_.size || bytes > options_.size - p.get_address())
    return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  return tlm::TLM_OK_RESPONSE;
}

void FuzzTarget::execute(Payload& p) {
  ++requests_;
  p.set_dmi_allowed(false);
  p.set_response_status(status_of(p));
  if (!p.is_response_ok()) {
    if (breaks(23)) p.set_response_status(tlm::TLM_OK_RESPONSE);
    return;
  }
  const int rule = options_.breaks;
  if (rule < 18 || rule > 27 || !breaks(rule)) {
    store_.execute(p);
    return;
  }
  spoil(p);
}

/// What breaks a rule about the payload.
void FuzzTarget::spoil(Payload& p) {
  Payload other;
  other.set_command(p.get_command());
  other.set_address(p.get_address());
  other.set_data_ptr(p.get_data_ptr());
  other.set_data_length(p.get_data_length());
  other.set_streaming_width(p.get_streaming_width());
  other.set_byte_enable_ptr(p.get_byte_enable_ptr());
  other.set_byte_enable_length(p.get_byte_enable_length());
  std::vector<unsigned char> enables;
  const unsigned length = p.get_data_length();
  switch (options_.breaks) {
    case 20:  // bytes behind the byte enables count as enabled
      if (p.get_byte_enable_ptr() != nullptr) {
        enables.assign(length, TLM_BYTE_ENABLED);
        std::copy_n(p.get_byte_enable_ptr(), std::min(length, p.get_byte_enable_length()), enables.begin());
        other.set_byte_enable_ptr(enables.data());
        other.set_byte_enable_length(length);
      }
      break;
    case 21:  // no wrap
      other.set_streaming_width(length);
      break;
    case 22:
      other.set_data_length((length + 1) / 2);
      break;
    default:
      break;
  }
  if (options_.breaks == 21 && p.get_address() + length > options_.size) return;
  store_.execute(other);
  switch (options_.breaks) {
    case 18:
      p.set_streaming_width(length + 4);
      break;
    case 19:
      if (p.is_write()) p.get_data_ptr()[0] ^= 1;
      if (p.is_read() && p.get_byte_enable_ptr() != nullptr)
        for (unsigned i = 0; i < length; ++i) p.get_data_ptr()[i] ^= 1;
      break;
    case 23:
      p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
      break;
    case 24:
      for (unsigned i = 0; i < tlm::max_num_extensions(); ++i) p.set_extension(i, nullptr);
      break;
    case 27:
      p.set_dmi_allowed(true);
      break;
    default:
      break;
  }
}

void FuzzTarget::b_transport(Payload& p, sc_time& delay) {
  ++outstanding_;
  most_outstanding_ = std::max(most_outstanding_, outstanding_);
  execute(p);
  const Picoseconds latency = draw(options_.least_latency, options_.most_latency);
  if (!p.has_mm() && breaks(1)) p.acquire();
  if (p.has_mm() && breaks(5)) p.acquire();
  if (breaks(4)) {
    delay = sc_core::SC_ZERO_TIME;
  } else if (options_.waits && random_() % 2 == 0) {
    const Picoseconds part = random_() % 2 == 0 ? 0 : draw(0, latency);
    sc_core::wait(delay + time_of(latency - part));
    delay = time_of(part);
  } else {
    delay += time_of(latency);
  }
  if (options_.breaks == 28 && options_.waits && random_() % 16 == 0) sc_core::wait(never_);
  --outstanding_;
}

tlm_sync_enum FuzzTarget::nb_transport_fw(Payload& p, tlm_phase& phase, sc_time& delay) {
  if (!options_.non_blocking)
    SC_REPORT_FATAL("weft/cosim/fuzz_target",
                    "nb_transport_fw was called on a target that has b_transport only");
  if (phase == tlm::BEGIN_REQ) return request(p, phase, delay);
  if (phase == tlm::END_RESP) {
    if (&p == responding_) {
      responding_ = nullptr;
      p.release();
      wake_.notify(sc_core::SC_ZERO_TIME);
    }
    return random_() % 2 == 0 ? tlm::TLM_ACCEPTED : tlm::TLM_COMPLETED;
  }
  return breaks(16) ? tlm::TLM_COMPLETED : tlm::TLM_ACCEPTED;
}

tlm_sync_enum FuzzTarget::request(Payload& p, tlm_phase& phase, sc_time& delay) {
  p.acquire();
  if (breaks(5)) p.acquire();
  ++outstanding_;
  most_outstanding_ = std::max(most_outstanding_, outstanding_);
  execute(p);
  const uint64_t number = sequence_;
  const Picoseconds begin = now() + delay.value();
  const Picoseconds ready = begin + draw(options_.least_latency, options_.most_latency);
  if (options_.unknown_phases && random_() % 4 == 0)
    schedule(draw(begin, ready), {&p, Call::unknown, number});
  if (breaks(4) || random_() % 5 == 0) {
    delay = time_of(options_.breaks == 4 ? 0 : ready - now());
    --outstanding_;
    p.release();
    return tlm::TLM_COMPLETED;
  }
  if (options_.breaks == 28 && random_() % 16 == 0) return tlm::TLM_ACCEPTED;
  switch (random_() % 4) {
    case 0:
      if (responding_ == nullptr) {
        responding_ = &p;
        --outstanding_;
        phase = tlm::BEGIN_RESP;
        delay = time_of(ready - now());
        return tlm::TLM_UPDATED;
      }
      [[fallthrough]];
    case 1: {
      const Picoseconds end = draw(begin, ready);
      schedule(ready, {&p, Call::response, number});
      phase = tlm::END_REQ;
      delay = time_of((breaks(3) ? ready + 100'000 : end) - now());
      return tlm::TLM_UPDATED;
    }
    case 2:
      schedule(draw(begin, ready), {&p, Call::end_req, number});
      break;
    default:
      break;
  }
  schedule(ready, {&p, Call::response, number});
  if (breaks(15)) delay += time_of(77);
  return tlm::TLM_ACCEPTED;
}

void FuzzTarget::schedule(Picoseconds at, const Due& due) {
  due_[{at, sequence_++}] = due;
  wake_.notify(time_of(due_.begin()->first.first - now()));
}

void FuzzTarget::process() {
  while (!due_.empty() && due_.begin()->first.first <= now()) {
    const Due due = due_.begin()->second;
    due_.erase(due_.begin());
    call_due(due);
  }
  while (!ready_.empty() && (responding_ == nullptr || breaks(8))) {
    const size_t i = random_() % ready_.size();
    Payload& p = *ready_[i];
    ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(i));
    respond(p);
  }
  if (!due_.empty()) wake_.notify(time_of(due_.begin()->first.first - now()));
}

void FuzzTarget::call_due(const Due& due) {
  if (due.call == Call::response) {
    ready_.push_back(due.payload);
    return;
  }
  sc_time delay;
  if (due.call == Call::end_req) {
    tlm_phase phase = tlm::END_REQ;
    // Its response is due later than this, in due_.
    socket->nb_transport_bw(*due.payload, phase, delay);
    return;
  }
  const bool open = std::any_of(due_.begin(), due_.end(), [&](const auto& entry) {
    return entry.second.call == Call::response && entry.second.number == due.number;
  });
  if (!open) return;
  tlm_phase phase = weft_fuzz_target_phase;
  socket->nb_transport_bw(*due.payload, phase, delay);
}

void FuzzTarget::respond(Payload& p) {
  responding_ = &p;
  --outstanding_;
  tlm_phase phase = tlm::BEGIN_RESP;
  sc_time delay = time_of(random_() % 2 == 0 ? 0 : draw(0, options_.most_latency));
  const tlm_sync_enum answer = socket->nb_transport_bw(p, phase, delay);
  if (answer == tlm::TLM_COMPLETED || (answer == tlm::TLM_UPDATED && phase == tlm::END_RESP)) {
    if (responding_ == &p) responding_ = nullptr;
    p.release();
  }
}

bool FuzzTarget::get_direct_mem_ptr(Payload& payload, tlm::tlm_dmi& dmi) {
  dmi.allow_none();
  if (options_.breaks == 27) dmi.allow_read_write();
  payload.set_dmi_allowed(false);
  return options_.breaks == 27;
}

unsigned FuzzTarget::transport_dbg(Payload& p) {
  if (p.get_data_ptr() == nullptr || p.get_command() == tlm::TLM_IGNORE_COMMAND) return 0;
  if (p.get_address() >= options_.size) return 0;
  const auto bytes =
      static_cast<unsigned>(std::min<uint64_t>(p.get_data_length(), options_.size - p.get_address()));
  if (breaks(26)) return bytes;
  if (p.is_write()) {
    store_.write(p.get_address(), p.get_data_ptr(), bytes);
  } else {
    store_.read(p.get_address(), p.get_data_ptr(), bytes);
  }
  return bytes;
}

}  // namespace weft::cosim
