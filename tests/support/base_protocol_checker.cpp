// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tests/support/base_protocol_checker.h"

#include <algorithm>

namespace weft::test {

using sc_core::sc_time;
using tlm::tlm_generic_payload;
using tlm::tlm_phase;
using tlm::tlm_sync_enum;

BaseProtocolChecker::BaseProtocolChecker(sc_core::sc_module_name name)
    : sc_core::sc_module(name), target("target"), initiator("initiator") {
  target.bind(*this);
  initiator.bind(*this);
}

void BaseProtocolChecker::broken(const std::string& what) {
  violations_.push_back(what);
}

void BaseProtocolChecker::check_new(const tlm_generic_payload& p, bool needs_manager) {
  if (needs_manager && !p.has_mm()) broken("manager: a non-blocking transaction without a memory manager");
  if (needs_manager && p.has_mm() && p.get_ref_count() < 1) broken("reference: the initiator holds none");
  if (p.get_data_ptr() == nullptr && p.get_command() != tlm::TLM_IGNORE_COMMAND) {
    broken("data pointer: null");
  }
  if (p.get_data_length() == 0 && p.get_command() != tlm::TLM_IGNORE_COMMAND) broken("length: 0");
  if (p.get_streaming_width() == 0) broken("streaming width: 0");
  if (p.get_byte_enable_ptr() != nullptr && p.get_byte_enable_length() == 0) broken("byte enables: length 0");
  if (p.is_dmi_allowed()) broken("dmi: the hint is set on a new transaction");
  if (p.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE) broken("status: not INCOMPLETE at the start");
}

void BaseProtocolChecker::check_unchanged(const tlm_generic_payload& p, const Known& k) {
  if (p.get_command() != k.command || p.get_data_ptr() != k.data || p.get_data_length() != k.length ||
      p.get_streaming_width() != k.streaming || p.get_byte_enable_ptr() != k.enables ||
      p.get_byte_enable_length() != k.enable_length) {
    broken("immutable: an attribute changed during the transaction");
  }
}

void BaseProtocolChecker::advance(Known& known, const sc_time& delay, const char* where) {
  const sc_time at = sc_core::sc_time_stamp() + delay;
  if (at < known.last) broken(std::string("time: goes back at ") + where);
  known.last = std::max(known.last, at);
}

void BaseProtocolChecker::end_request(const tlm_generic_payload& payload, Known& known, bool by_response) {
  if (requesting_ == &payload) {
    requesting_ = nullptr;
  } else if (!by_response) {
    broken("phase: END_REQ without an open request");
  }
  if (known.state == State::request) known.state = State::requested;
}

void BaseProtocolChecker::begin_response(tlm_generic_payload& payload, Known& known) {
  if (known.state == State::responding) broken("phase: BEGIN_RESP twice");
  end_request(payload, known, true);
  if (responding_ != nullptr && responding_ != &payload) {
    broken("response exclusion: BEGIN_RESP before the last END_RESP");
  }
  if (payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE) {
    broken("status: still INCOMPLETE with the response");
  }
  responding_ = &payload;
  known.state = State::responding;
}

void BaseProtocolChecker::end_response(tlm_generic_payload& payload) {
  if (responding_ == &payload) responding_ = nullptr;
  open_.erase(&payload);
}

tlm_sync_enum BaseProtocolChecker::nb_transport_fw(tlm_generic_payload& payload, tlm_phase& phase,
                                                   sc_time& delay) {
  const tlm_phase sent = phase;
  if (sent == tlm::BEGIN_REQ) {
    check_new(payload, true);
    if (open_.count(&payload) != 0) broken("reuse: a payload that is still in a transaction");
    if (requesting_ != nullptr) broken("request exclusion: BEGIN_REQ before the last END_REQ");
    requesting_ = &payload;
    ++transactions_;
    open_[&payload] = {State::request,
                       payload.get_command(),
                       payload.get_data_ptr(),
                       payload.get_data_length(),
                       payload.get_streaming_width(),
                       payload.get_byte_enable_ptr(),
                       payload.get_byte_enable_length(),
                       sc_core::sc_time_stamp() + delay};
    const auto unanswered = std::count_if(open_.begin(), open_.end(), [](const auto& entry) {
      return entry.second.state != State::responding;
    });
    most_outstanding_ = std::max(most_outstanding_, static_cast<uint32_t>(unanswered));
  } else if (sent == tlm::END_RESP) {
    const auto it = open_.find(&payload);
    if (it == open_.end() || it->second.state != State::responding) {
      broken("phase: END_RESP without a response");
    } else {
      advance(it->second, delay, "END_RESP");
      end_response(payload);
    }
  } else if (sent == tlm::END_REQ || sent == tlm::BEGIN_RESP) {
    broken("phase: the initiator sent a phase of the target");
  }
  const tlm_sync_enum answer = initiator->nb_transport_fw(payload, phase, delay);
  const auto it = open_.find(&payload);
  if (sent != tlm::BEGIN_REQ) {
    if (sent == tlm::END_RESP && answer == tlm::TLM_UPDATED)
      broken("phase: END_RESP was answered with UPDATED");
    return answer;
  }
  if (it == open_.end()) return answer;  // completed inside the call
  Known& known = it->second;
  check_unchanged(payload, known);
  switch (answer) {
    case tlm::TLM_ACCEPTED:
      break;
    case tlm::TLM_UPDATED:
      advance(known, delay, "the return path");
      if (phase == tlm::END_REQ) {
        end_request(payload, known, false);
      } else if (phase == tlm::BEGIN_RESP) {
        begin_response(payload, known);
      } else {
        broken("phase: UPDATED with a phase that cannot follow BEGIN_REQ");
      }
      break;
    case tlm::TLM_COMPLETED:
      advance(known, delay, "completion");
      if (payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE) {
        broken("status: still INCOMPLETE with the response");
      }
      end_request(payload, known, true);
      end_response(payload);
      break;
  }
  return answer;
}

tlm_sync_enum BaseProtocolChecker::nb_transport_bw(tlm_generic_payload& payload, tlm_phase& phase,
                                                   sc_time& delay) {
  const auto it = open_.find(&payload);
  const tlm_phase sent = phase;
  if (it == open_.end()) {
    broken("phase: the target answers a transaction that is not open");
  } else {
    check_unchanged(payload, it->second);
    if (sent == tlm::END_REQ) {
      advance(it->second, delay, "END_REQ");
      end_request(payload, it->second, false);
    } else if (sent == tlm::BEGIN_RESP) {
      advance(it->second, delay, "BEGIN_RESP");
      begin_response(payload, it->second);
    } else if (sent == tlm::BEGIN_REQ || sent == tlm::END_RESP) {
      broken("phase: the target sent a phase of the initiator");
    }
  }
  // The initiator may reuse a completed payload inside the call: remember which one this was.
  const bool response = it != open_.end() && sent == tlm::BEGIN_RESP;
  if (response && payload.has_mm()) payload.acquire();
  const tlm_sync_enum answer = target->nb_transport_bw(payload, phase, delay);
  if (response) {
    if (answer == tlm::TLM_COMPLETED || (answer == tlm::TLM_UPDATED && phase == tlm::END_RESP)) {
      end_response(payload);
    } else if (answer == tlm::TLM_UPDATED) {
      broken("phase: UPDATED with a phase that cannot follow BEGIN_RESP");
    }
    if (payload.has_mm()) payload.release();
  } else if (sent == tlm::END_REQ && answer != tlm::TLM_ACCEPTED) {
    broken("phase: END_REQ was not answered with ACCEPTED");
  }
  return answer;
}

void BaseProtocolChecker::b_transport(tlm_generic_payload& payload, sc_time& delay) {
  check_new(payload, false);
  ++transactions_;
  const int references = payload.has_mm() ? payload.get_ref_count() : 0;
  Known known{State::request,
              payload.get_command(),
              payload.get_data_ptr(),
              payload.get_data_length(),
              payload.get_streaming_width(),
              payload.get_byte_enable_ptr(),
              payload.get_byte_enable_length(),
              sc_core::sc_time_stamp() + delay};
  initiator->b_transport(payload, delay);
  check_unchanged(payload, known);
  advance(known, delay, "the return of b_transport");
  if (payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE) {
    broken("status: still INCOMPLETE with the response");
  }
  if (payload.has_mm() && payload.get_ref_count() != references) broken("reference: kept from b_transport");
}

bool BaseProtocolChecker::get_direct_mem_ptr(tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
  return initiator->get_direct_mem_ptr(payload, dmi);
}

unsigned BaseProtocolChecker::transport_dbg(tlm_generic_payload& payload) {
  const unsigned moved = initiator->transport_dbg(payload);
  if (moved > payload.get_data_length()) broken("debug: more bytes than asked for");
  return moved;
}

void BaseProtocolChecker::invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) {
  target->invalidate_direct_mem_ptr(start, end);
}

void BaseProtocolChecker::finish() {
  if (!open_.empty()) broken("open: " + std::to_string(open_.size()) + " transactions never ended");
}

}  // namespace weft::test
