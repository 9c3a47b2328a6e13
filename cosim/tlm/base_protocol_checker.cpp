// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/tlm/base_protocol_checker.h"

#include <fmt/format.h>

#include <algorithm>

#include "cosim/tlm/socket_names.h"

namespace weft::cosim {
namespace {

using sc_core::sc_time;
using tlm::tlm_phase;
using tlm::tlm_sync_enum;

DECLARE_EXTENDED_PHASE(weft_checker_phase);

/// A delay that nobody means: what stands beside TLM_ACCEPTED when sides are provoked.
const sc_time& odd_delay() {
  static const sc_time delay(1'000, sc_core::SC_SEC);
  return delay;
}

sc_time at(const sc_time& delay) {
  return sc_core::sc_time_stamp() + delay;
}

}  // namespace

BaseProtocolChecker::BaseProtocolChecker(sc_core::sc_module_name module_name, const Options& options)
    : sc_core::sc_module(module_name),
      target("target"),
      initiator("initiator"),
      options_(options),
      hop_(options.hop),
      sweep_("ended") {
  target.bind(*this);
  initiator.bind(*this);
  SC_HAS_PROCESS(BaseProtocolChecker);
  SC_METHOD(sweep);
  sensitive << sweep_;
  dont_initialize();
}

// ---- messages

std::string BaseProtocolChecker::hop() {
  if (!hop_.empty()) return hop_;
  const std::string from = name_of_initiator(*this, &initiator);
  const std::string to = name_of_target(initiator, &target);
  hop_ = from.empty() || to.empty() ? name() : from + " -> " + to;
  return hop_;
}

void BaseProtocolChecker::broken_at(int rule, uint64_t address, bool has_address, const std::string& what) {
  const std::string where = has_address ? fmt::format(", address 0x{:x}", address) : std::string{};
  violations_.push_back(
      fmt::format("rule {}, {}, at {} ps{}: {}", rule, hop(), sc_core::sc_time_stamp().value(), where, what));
  rules_.insert(rule);
  if (options_.report) SC_REPORT_ERROR("weft/cosim/base_protocol_checker", violations_.back().c_str());
}

// ---- what both transports share

void BaseProtocolChecker::check_new(const Payload& p, bool needs_manager) {
  if (needs_manager && !p.has_mm()) broken(6, &p, "a non-blocking transaction without a memory manager");
  if (needs_manager && p.has_mm() && p.get_ref_count() < 1)
    broken(6, &p, "the initiator holds no reference to its payload");
  const bool moves = p.get_command() != tlm::TLM_IGNORE_COMMAND;
  if (p.get_data_ptr() == nullptr && moves) broken(18, &p, "the data pointer is null");
  if (p.get_data_length() == 0 && moves) broken(18, &p, "the length is 0");
  if (p.get_streaming_width() == 0) broken(18, &p, "the streaming width is 0");
  if (p.get_byte_enable_ptr() != nullptr && p.get_byte_enable_length() == 0)
    broken(18, &p, "the byte enables have the length 0");
  if (p.is_dmi_allowed()) broken(27, &p, "a new transaction has the hint that DMI is allowed");
  if (p.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE)
    broken(23, &p, "the status of a new transaction is " + p.get_response_string());
}

void BaseProtocolChecker::check_unchanged(const Payload& p, const Known& known) {
  const std::string what = known.snapshot.changed_attribute(p);
  if (!what.empty()) broken(18, &p, "changed during the transaction: " + what);
}

/// An enabled byte is beyond the capacity.
bool BaseProtocolChecker::beyond(const Payload& p, uint64_t address) const {
  const uint64_t bytes = std::min(p.get_data_length(), p.get_streaming_width());
  if (address < options_.capacity && bytes <= options_.capacity - address) return false;
  const unsigned char* const enables = p.get_byte_enable_ptr();
  if (enables == nullptr) return true;
  for (unsigned i = 0; i < p.get_data_length(); ++i)
    if (enables[i % p.get_byte_enable_length()] == TLM_BYTE_ENABLED &&
        (address >= options_.capacity || i % bytes >= options_.capacity - address))
      return true;
  return false;
}

void BaseProtocolChecker::check_response(Payload& p, Known& known) {
  check_unchanged(p, known);
  if (known.snapshot.changed_attribute(p).empty()) {
    const std::string data = known.snapshot.changed_data(p);
    if (!data.empty())
      broken(
          19, &p,
          (p.is_write() ? "the data of a write changed: " : "a byte that is not enabled changed: ") + data);
    known.snapshot.take_response(p);
  }
  const std::string extension = known.snapshot.lost_extension(p);
  if (!extension.empty()) broken(24, &p, "an extension did not survive: " + extension);
  if (p.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE)
    broken(23, &p, "the status is still TLM_INCOMPLETE_RESPONSE with the response");
  if (p.is_dmi_allowed() && !options_.dmi) broken(27, &p, "the response says that DMI is allowed");
  if (options_.capacity != 0 && p.is_response_ok() && beyond(p, known.snapshot.address()))
    broken(23, &p, "TLM_OK_RESPONSE for an address that the target does not have");
}

void BaseProtocolChecker::advance(const Payload& payload, Known& known, const sc_time& delay,
                                  const char* where) {
  const sc_time now = at(delay);
  if (now < known.begin) {
    broken(4, &payload,
           fmt::format("the delay of the request was not honoured: {} at {} ps, the request at {} ps", where,
                       now.value(), known.begin.value()));
  } else if (now < known.last) {
    broken(3, &payload,
           fmt::format("time goes back at {}: {} ps after {} ps", where, now.value(), known.last.value()));
  }
  known.last = std::max(known.last, now);
}

// ---- phases

void BaseProtocolChecker::begin_request(Payload& payload, const sc_time& delay) {
  check_new(payload, true);
  const auto same = std::find_if(ended_.begin(), ended_.end(),
                                 [&](const Ended& ended) { return ended.payload == &payload; });
  if (same != ended_.end()) {
    payload.release();
    ended_.erase(same);
  }
  if (open_.count(&payload) != 0)
    broken(7, &payload, "BEGIN_REQ of a payload that is still in a transaction");
  if (blocking_.count(&payload) != 0)
    broken(17, &payload, "nb_transport_fw of a payload that b_transport has");
  if (requesting_ != nullptr) broken(7, &payload, "BEGIN_REQ before the last END_REQ");
  requesting_ = &payload;
  Known known;
  known.number = ++transactions_;
  known.begin = known.last = at(delay);
  known.references = payload.get_ref_count();
  known.snapshot = PayloadSnapshot(payload);
  known.held = payload.has_mm() && payload.get_ref_count() > 0;
  if (known.held && open_.count(&payload) == 0) payload.acquire();
  const auto old = open_.find(&payload);
  if (old != open_.end()) unanswered_.erase(old->second.number);
  open_[&payload] = known;
  unanswered_.insert(known.number);
  most_outstanding_ = std::max(most_outstanding_, static_cast<uint32_t>(unanswered_.size()));
}

void BaseProtocolChecker::end_request(const Payload& payload, Known& known, bool by_response) {
  if (requesting_ == &payload) {
    requesting_ = nullptr;
  } else if (!by_response) {
    broken(7, &payload, "END_REQ without an open request");
  }
  if (known.state == State::request) known.state = State::requested;
}

void BaseProtocolChecker::begin_response(Payload& payload, Known& known, const sc_time& delay, Form form) {
  if (known.state == State::responding) broken(22, &payload, "BEGIN_RESP twice");
  if (known.state == State::request && form == Form::response) form = last_form_ = Form::early_response;
  end_request(payload, known, true);
  if (responding_ != nullptr && responding_ != &payload)
    broken(8, &payload, "BEGIN_RESP before the last END_RESP");
  check_response(payload, known);
  unanswered_.erase(known.number);
  known.overtaken = !unanswered_.empty() && *unanswered_.begin() < known.number;
  known.response = at(delay);
  known.form = form;
  known.state = State::responding;
  responding_ = &payload;
}

/// By a call of the initiator: the payload and its data are still there.
void BaseProtocolChecker::end_response(Payload& payload, const sc_time& delay, const char* where) {
  const auto it = open_.find(&payload);
  if (it == open_.end() || it->second.state != State::responding) {
    const auto same = std::find_if(ended_.begin(), ended_.end(),
                                   [&](const Ended& ended) { return ended.payload == &payload; });
    const bool after = it == open_.end() && same != ended_.end();
    if (after && same->form == Form::completed) {
      broken(12, &payload, "END_RESP after TLM_COMPLETED");
    } else {
      broken(13, &payload, after ? "END_RESP twice" : "END_RESP without a response");
    }
    return;
  }
  Known& known = it->second;
  const std::string what = known.snapshot.changed_attribute(payload);
  if (!what.empty()) {
    broken(25, &payload, "changed before END_RESP: " + what);
  } else {
    std::string data = known.snapshot.changed_response(payload);
    if (data.empty()) data = known.snapshot.changed_data(payload);
    if (!data.empty()) broken(25, &payload, "the data changed before END_RESP: " + data);
  }
  if (known.held && payload.get_ref_count() < 2)
    broken(25, &payload, "the initiator gave its payload back before END_RESP");
  if (at(delay) < known.response) {
    broken(14, &payload, "END_RESP before the delay of BEGIN_RESP is over");
  } else {
    advance(payload, known, delay, where);
  }
  close(payload);
}

void BaseProtocolChecker::close(Payload& payload) {
  if (responding_ == &payload) responding_ = nullptr;
  const auto it = open_.find(&payload);
  if (it == open_.end()) return;
  const Known& known = it->second;
  unanswered_.erase(known.number);
  if (known.held) {
    ended_.push_back({&payload, known.references, known.form, known.snapshot.address()});
    sweep_.notify(sc_core::SC_ZERO_TIME);
  }
  open_.erase(it);
}

void BaseProtocolChecker::sweep() {
  for (size_t i = 0; i < ended_.size();) {
    Payload* const payload = ended_[i].payload;
    if (payload->get_ref_count() > 1) {
      ++i;
      continue;
    }
    frees_ = true;
    ended_.erase(ended_.begin() + static_cast<std::ptrdiff_t>(i));
    payload->release();
  }
}

// ---- the calls

tlm_sync_enum BaseProtocolChecker::nb_transport_fw(Payload& payload, tlm_phase& phase, sc_time& delay) {
  check_scribble(payload, delay, "initiator");
  const tlm_phase sent = phase;
  if (sent > tlm::END_RESP) return ignorable(payload, phase, delay, true);
  if (sent == tlm::BEGIN_REQ) {
    begin_request(payload, delay);
  } else if (sent == tlm::END_RESP) {
    end_response(payload, delay, "END_RESP");
  } else {
    broken(7, &payload, "the initiator sent a phase of the target");
  }
  const uint64_t number = transactions_;
  const sc_time told = delay;
  const tlm_sync_enum answer = initiator->nb_transport_fw(payload, phase, delay);
  check_accepted(payload, answer, phase == sent && delay == told, "target");
  if (sent == tlm::END_RESP && answer == tlm::TLM_UPDATED)
    broken(13, &payload, "END_RESP was answered with TLM_UPDATED");
  if (sent != tlm::BEGIN_REQ) return answer;
  const auto it = open_.find(&payload);
  if (it == open_.end() || it->second.number != number) {  // completed inside the call
    if (answer != tlm::TLM_ACCEPTED)
      broken(22, &payload, "the target answered a request that it had completed");
    return answer;
  }
  request_answered(payload, it->second, answer, phase, delay);
  if (options_.provoke && open_.count(&payload) != 0) probe(payload, true);
  scribble(answer, phase, delay);
  return answer;
}

void BaseProtocolChecker::request_answered(Payload& payload, Known& known, tlm_sync_enum answer,
                                           const tlm_phase& phase, const sc_time& delay) {
  check_unchanged(payload, known);
  if (answer == tlm::TLM_ACCEPTED || (answer == tlm::TLM_UPDATED && phase > tlm::END_RESP)) {
    if (known.form == Form::none) known.form = last_form_ = Form::accepted;
  } else if (answer == tlm::TLM_UPDATED) {
    advance(payload, known, delay, "the return path");
    if (phase == tlm::END_REQ) {
      if (known.state == State::responding) {
        broken(22, &payload, "END_REQ after BEGIN_RESP");
        return;
      }
      known.form = last_form_ = Form::end_req;
      end_request(payload, known, false);
    } else if (phase == tlm::BEGIN_RESP) {
      last_form_ = Form::returned_response;
      begin_response(payload, known, delay, Form::returned_response);
    } else {
      broken(10, &payload, "TLM_UPDATED with a phase that cannot follow BEGIN_REQ");
    }
  } else {
    advance(payload, known, delay, "TLM_COMPLETED");
    if (known.state == State::responding) {
      broken(22, &payload, "TLM_COMPLETED after BEGIN_RESP");
    } else {
      check_response(payload, known);
    }
    end_request(payload, known, true);
    known.form = last_form_ = Form::completed;
    close(payload);
  }
}

tlm_sync_enum BaseProtocolChecker::nb_transport_bw(Payload& payload, tlm_phase& phase, sc_time& delay) {
  check_scribble(payload, delay, "target");
  if (debugging_) broken(26, &payload, "nb_transport_bw from inside a debug access");
  const tlm_phase sent = phase;
  if (sent > tlm::END_RESP) return ignorable(payload, phase, delay, false);
  auto it = open_.find(&payload);
  if (options_.provoke && sent == tlm::BEGIN_RESP && it != open_.end()) probe(payload, false);
  it = open_.find(&payload);
  const uint64_t number = it == open_.end() ? 0 : it->second.number;
  if (it == open_.end()) {
    broken(22, &payload, "the target answers a transaction that is not open");
  } else if (sent == tlm::END_REQ) {
    check_unchanged(payload, it->second);
    advance(payload, it->second, delay, "END_REQ");
    end_request(payload, it->second, false);
  } else if (sent == tlm::BEGIN_RESP) {
    advance(payload, it->second, delay, "BEGIN_RESP");
    begin_response(payload, it->second, delay, Form::response);
  } else {
    broken(8, &payload, "the target sent a phase of the initiator");
  }
  const sc_time told = delay;
  const tlm_sync_enum answer = target->nb_transport_bw(payload, phase, delay);
  check_accepted(payload, answer, phase == sent && delay == told, "initiator");
  if (number != 0 && sent == tlm::BEGIN_RESP && answer != tlm::TLM_ACCEPTED) {
    const bool same = open_.count(&payload) != 0 && open_[&payload].number == number;
    if (answer == tlm::TLM_UPDATED && phase != tlm::END_RESP) {
      if (phase <= tlm::END_RESP)
        broken(13, &payload, "TLM_UPDATED with a phase that cannot follow BEGIN_RESP");
    } else if (!same) {
      broken(13, &payload, "END_RESP by a call and by the return value");
    } else {
      // The initiator's payload and data may be in other use now.
      if (at(delay) < open_[&payload].response)
        broken(14, &payload, "END_RESP before the delay of BEGIN_RESP is over");
      close(payload);
    }
  } else if (number != 0 && sent == tlm::END_REQ && answer != tlm::TLM_ACCEPTED) {
    broken(10, &payload, "END_REQ was not answered with TLM_ACCEPTED");
  }
  scribble(answer, phase, delay);
  return answer;
}

void BaseProtocolChecker::b_transport(Payload& payload, sc_time& delay) {
  check_scribble(payload, delay, "initiator");
  const sc_core::sc_process_handle process = sc_core::sc_get_current_process_handle();
  const bool thread = process.valid() && process.proc_kind() != sc_core::SC_METHOD_PROC_;
  if (!thread) broken(2, &payload, "b_transport is called outside of a thread process");
  check_new(payload, false);
  if (open_.count(&payload) != 0) broken(17, &payload, "b_transport of a payload that nb_transport_fw has");
  if (!blocking_.insert(&payload).second)
    broken(17, &payload, "b_transport of a payload that is in b_transport");
  ++transactions_;
  const bool managed = payload.has_mm();
  Known known;
  known.references = payload.get_ref_count();
  known.begin = known.last = at(delay);
  known.snapshot = PayloadSnapshot(payload);
  initiator->b_transport(payload, delay);
  blocking_.erase(&payload);
  advance(payload, known, delay, "the return of b_transport");
  check_response(payload, known);
  if (payload.get_ref_count() != known.references)
    broken(managed ? 5 : 1, &payload,
           managed ? fmt::format("b_transport returned with {} references instead of {}",
                                 payload.get_ref_count(), known.references)
                   : "a payload without a memory manager was acquired");
}

bool BaseProtocolChecker::get_direct_mem_ptr(Payload& payload, tlm::tlm_dmi& dmi) {
  const bool granted = initiator->get_direct_mem_ptr(payload, dmi);
  if (granted && !options_.dmi) broken(27, &payload, "a direct memory pointer was granted");
  return granted;
}

unsigned BaseProtocolChecker::transport_dbg(Payload& payload) {
  const PayloadSnapshot snapshot(payload);
  const sc_time now = sc_core::sc_time_stamp();
  const uint64_t delta = sc_core::sc_delta_count();
  const bool outer = debugging_;
  debugging_ = true;
  const unsigned moved = initiator->transport_dbg(payload);
  debugging_ = outer;
  if (sc_core::sc_time_stamp() != now || sc_core::sc_delta_count() != delta)
    broken(26, &payload, "a debug access took time");
  if (moved > payload.get_data_length())
    broken(26, &payload, "a debug access moved more than it was asked for");
  const std::string what = snapshot.changed_attribute(payload);
  if (!what.empty()) {
    broken(26, &payload, "a debug access changed " + what);
  } else if (options_.provoke) {
    check_moved(payload, std::min(moved, payload.get_data_length()));
  }
  return moved;
}

/// A second look by debug transport shows what the first access moved.
void BaseProtocolChecker::check_moved(Payload& payload, unsigned moved) {
  if (moved == 0 || payload.get_data_ptr() == nullptr) return;
  std::vector<unsigned char> again(moved);
  for (unsigned i = 0; i < moved; ++i) again[i] = static_cast<unsigned char>(~payload.get_data_ptr()[i]);
  Payload look;
  look.set_command(tlm::TLM_READ_COMMAND);
  look.set_address(payload.get_address());
  look.set_data_ptr(again.data());
  look.set_data_length(moved);
  look.set_streaming_width(moved);
  const unsigned seen = initiator->transport_dbg(look);
  for (unsigned i = 0; i < std::min(seen, moved); ++i) {
    if (again[i] == payload.get_data_ptr()[i]) continue;
    broken(26, &payload,
           fmt::format("a debug access says that it moved {} bytes, and byte {} is not there", moved, i));
    return;
  }
}

void BaseProtocolChecker::invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) {
  target->invalidate_direct_mem_ptr(start, end);
}

// ---- what sides have to ignore

tlm_sync_enum BaseProtocolChecker::ignorable(Payload& payload, tlm_phase& phase, sc_time& delay,
                                             bool forward) {
  const tlm_sync_enum answer = forward ? initiator->nb_transport_fw(payload, phase, delay)
                                       : target->nb_transport_bw(payload, phase, delay);
  if (answer == tlm::TLM_COMPLETED || (answer == tlm::TLM_UPDATED && phase <= tlm::END_RESP))
    broken(16, &payload,
           fmt::format("the {} did not ignore a phase that is none of the base protocol's",
                       forward ? "target" : "initiator"));
  return answer;
}

void BaseProtocolChecker::probe(Payload& payload, bool forward) {
  tlm_phase phase = weft_checker_phase;
  sc_time delay;
  const tlm_sync_enum answer = forward ? initiator->nb_transport_fw(payload, phase, delay)
                                       : target->nb_transport_bw(payload, phase, delay);
  if (answer != tlm::TLM_ACCEPTED)
    broken(
        16, &payload,
        fmt::format("the {} did not ignore a phase that it does not know", forward ? "target" : "initiator"));
}

void BaseProtocolChecker::scribble(tlm_sync_enum answer, tlm_phase& phase, sc_time& delay) const {
  if (!options_.provoke || answer != tlm::TLM_ACCEPTED) return;
  phase = weft_checker_phase;
  delay = odd_delay();
}

void BaseProtocolChecker::check_scribble(const Payload& payload, const sc_time& delay, const char* who) {
  if (options_.provoke && delay >= odd_delay())
    broken(15, &payload, fmt::format("the {} uses the delay that came back with TLM_ACCEPTED", who));
}

void BaseProtocolChecker::check_accepted(const Payload& payload, tlm_sync_enum answer, bool same,
                                         const char* who) {
  if (answer == tlm::TLM_ACCEPTED && !same)
    broken(15, &payload, fmt::format("the {} changed phase or delay and returned TLM_ACCEPTED", who));
}

// ---- the end

void BaseProtocolChecker::finish() {
  std::map<uint64_t, const Known*> open;
  for (const auto& [payload, known] : open_) open[known.number] = &known;
  for (const auto& [number, known] : open) {
    const uint64_t address = known->snapshot.address();
    if (known->state != State::responding) {
      broken_at(28, address, true,
                fmt::format("transaction {} never ended: no {}", number,
                            known->state == State::request ? "END_REQ and no response" : "response"));
      continue;
    }
    // What the initiator may have stumbled over: perhaps two things.
    const std::string what =
        fmt::format("the initiator never ended the response of transaction {}, which came ", number);
    const bool returned = known->form == Form::returned_response;
    const bool early = known->form == Form::early_response;
    if (returned) broken_at(11, address, true, what + "as a return value");
    if (early) broken_at(9, address, true, what + "without END_REQ");
    if (known->overtaken) broken_at(29, address, true, what + "out of order");
    if (!returned && !early && !known->overtaken) broken_at(13, address, true, what + "by a call");
  }
  for (size_t i = 0; i < blocking_.size(); ++i) broken_at(28, 0, false, "a b_transport has not returned");
  if (options_.transactions > transactions_) {
    const int rule = last_form_ == Form::end_req             ? 10
                     : last_form_ == Form::returned_response ? 11
                     : last_form_ == Form::completed         ? 12
                     : last_form_ == Form::early_response    ? 9
                                                             : 28;
    broken_at(rule, 0, false,
              fmt::format("the initiator stopped after {} of {} transactions", transactions_,
                          options_.transactions));
  }
  sweep();
  for (const Ended& ended : ended_) {
    const int left = ended.payload->get_ref_count() - 1;
    if (frees_ || left > ended.references)
      broken_at(5, ended.address, true, fmt::format("{} references to a payload were not returned", left));
    ended.payload->release();
  }
  ended_.clear();
  for (const PayloadPool* pool : pools_)
    if (pool->live() != 0)
      broken_at(28, 0, false, fmt::format("{} payloads of a pool are not back", pool->live()));
}

}  // namespace weft::cosim
