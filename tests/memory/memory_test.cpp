// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Hbm and MemoryDma over a checked base-protocol hop: exact times, limits, errors, and every legal way in
// which a target may answer.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cosim/tlm/base_protocol_checker.h"
#include "sc_models/hbm.h"
#include "sc_models/memory_dma.h"
#include "tests/support/isolated.h"
#include "tests/support/memory_initiators.h"

namespace weft {
namespace {

using cosim::BaseProtocolChecker;
using sc_core::sc_time;
using test::Dma;
using test::expect;
using test::Initiator;
using test::isolated;
using test::lines;
using test::Manager;

constexpr Rate kRate{1'000'000'000'000ull, 1};  // 1 B/ps
constexpr uint64_t kRequest = 4ull << 20;       // MemoryDma splits there

struct Bench {
  Bench(const MemoryTiming& timing, uint32_t outstanding, uint64_t capacity = 0)
      : dma("dma", outstanding, capacity), checker("checker"), hbm("hbm", timing, 1, nullptr) {
    dma.dma.socket.bind(checker.target);
    checker.initiator.bind(hbm.socket(0));
  }
  /// Runs to the end; what was wrong.
  std::string run() {
    sc_core::sc_start();
    checker.finish();
    std::string text = lines(checker.violations());
    if (!dma.dma.idle()) text += "the DMA is not idle\n";
    if (hbm.outstanding() != 0) text += "the HBM still has requests\n";
    return text;
  }
  Dma dma;
  BaseProtocolChecker checker;
  Hbm hbm;
};

TEST(Hbm, OneAccessTakesBytesPerBandwidthAndTheLatency) {
  EXPECT_SILENT(isolated([] {
    Bench b({kRate, 100'000, 0, 1.0}, 8);
    b.dma.script = [&] { b.dma.dma.start(1, false, 12'345); };
    std::string text = b.run();
    text += expect("done", b.dma.done[1].at(0), 12'345 + 100'000);
    text += expect("bytes", b.hbm.bytes(), 12'345);
    text += expect("busy", b.hbm.busy(), 12'345);
    return text + expect("requests", b.checker.transactions(), 1);
  }));
}

TEST(Hbm, EfficiencyAndOddRatesRoundUp) {
  EXPECT_SILENT(isolated([] {
    Bench b({{3'000'000'000ull, 1}, 7, 0, 0.5}, 8);
    b.dma.script = [&] { b.dma.dma.start(1, true, 10); };
    std::string text = b.run();
    // 10 B / 1.5 GB/s = 6666.67 ps.
    return text + expect("done", b.dma.done[1].at(0), 6'667 + 7);
  }));
}

TEST(Hbm, LongAccessesStreamAtFullBandwidth) {
  EXPECT_SILENT(isolated([] {
    Bench b({kRate, 100'000, 0, 1.0}, 8);
    const uint64_t bytes = 3 * kRequest + 17;
    b.dma.script = [&] { b.dma.dma.start(1, true, bytes); };
    std::string text = b.run();
    text += expect("done", b.dma.done[1].at(0), bytes + 100'000);
    return text + expect("requests", b.checker.transactions(), 4);
  }));
}

TEST(Hbm, OutstandingRequestsAreLimited) {
  for (const uint32_t limit : {1u, 2u, 8u}) {
    EXPECT_SILENT(isolated([limit] {
      const Picoseconds latency = 50'000'000;  // far longer than a request of 4 MiB takes
      Bench b({kRate, latency, 0, 1.0}, limit);
      b.dma.script = [&] { b.dma.dma.start(1, false, 8 * kRequest); };
      std::string text = b.run();
      text += expect("most outstanding", b.checker.most_outstanding(), limit);
      // Each request of a window returns one transfer after the one before; a new window starts with each
      // return.
      const uint64_t windows = 8 / limit;
      return text +
             expect("done", b.dma.done[1].at(0), windows * (kRequest + latency) + (limit - 1) * kRequest);
    }));
  }
}

TEST(Hbm, AccessesAreServedInOrder) {
  EXPECT_SILENT(isolated([] {
    Bench b({kRate, 1'000, 0, 1.0}, 8);
    b.dma.script = [&] {
      b.dma.dma.start(1, false, 100);
      b.dma.dma.start(2, true, 200);
      sc_core::wait(sc_time::from_value(50));
      b.dma.dma.start(3, false, 300);
      sc_core::wait(sc_time::from_value(100'000));
      b.dma.dma.start(4, false, 400);
    };
    std::string text = b.run();
    text += expect("first", b.dma.done[1].at(0), 1'100);
    text += expect("second", b.dma.done[2].at(0), 1'300);
    text += expect("third", b.dma.done[3].at(0), 1'600);
    return text + expect("fourth", b.dma.done[4].at(0), 100'050 + 1'400);
  }));
}

TEST(Hbm, TwoClientsShareTheBandwidth) {
  EXPECT_SILENT(isolated([] {
    Dma a("a", 8, 0);
    Dma c("c", 8, 0);
    BaseProtocolChecker ca("ca");
    BaseProtocolChecker cc("cc");
    Hbm hbm("hbm", {kRate, 10, 0, 1.0}, 2, nullptr);
    a.dma.socket.bind(ca.target);
    c.dma.socket.bind(cc.target);
    ca.initiator.bind(hbm.socket(0));
    cc.initiator.bind(hbm.socket(1));
    a.script = [&] { a.dma.start(1, false, 1'000); };
    c.script = [&] { c.dma.start(1, true, 3'000); };
    sc_core::sc_start();
    ca.finish();
    cc.finish();
    const Picoseconds last = std::max(a.done[1].at(0), c.done[1].at(0));
    return lines(ca.violations()) + lines(cc.violations()) + expect("last", last, 4'010);
  }));
}

// The bandwidth is shared in equal parts by those who have something to do.
TEST(Hbm, InitiatorsShareEquallyWhateverTheirRequests) {
  EXPECT_SILENT(isolated([] {
    Dma a("a", 8, 0);
    Dma c("c", 8, 0);
    Dma e("e", 8, 0);
    Hbm hbm("hbm", {kRate, 10, 0, 1.0}, 3, nullptr);
    a.dma.socket.bind(hbm.socket(0));
    c.dma.socket.bind(hbm.socket(1));
    e.dma.socket.bind(hbm.socket(2));
    // Eight requests of c wait before a comes.
    c.script = [&] {
      for (uint32_t i = 0; i < 8; ++i) c.dma.start(i, true, 1'000);
    };
    a.script = [&] {
      sc_core::wait(sc_time::from_value(500));
      a.dma.start(1, false, 300);
      a.dma.start(2, false, 100);
    };
    e.script = [&] {
      sc_core::wait(sc_time::from_value(700));
      e.dma.start(1, false, 100);
    };
    sc_core::sc_start();
    // a alone with c: 500 to 700, 100 B each. Then a third: 100 B of e until 1,000. Then halves again.
    std::string text = expect("e", e.done[1].at(0), 1'010);
    text += expect("a's first", a.done[1].at(0), 1'210);
    text += expect("a's second", a.done[2].at(0), 1'410);
    // c has 500 + 100 + 100 at 1,000, and 905 at 1,410; the others are over then.
    text += expect("c's first", c.done[0].at(0), 1'510);
    text += expect("c's last", c.done[7].at(0), 8'510);
    return text + expect("bytes", hbm.bytes(), 8'500);
  }));
}

TEST(Hbm, AddressesWrapAtTheCapacity) {
  EXPECT_SILENT(isolated([] {
    Bench b({kRate, 0, 1'000, 1.0}, 4, 1'000);
    b.dma.script = [&] {
      for (uint32_t i = 0; i < 7; ++i) b.dma.dma.start(i, i % 2 != 0, 300 + i);
    };
    std::string text = b.run();
    for (uint32_t i = 0; i < 7; ++i) text += expect("ends", b.dma.done[i].size(), 1);
    return text + expect("bytes", b.hbm.bytes(), 7 * 300 + 21);
  }));
}

TEST(Hbm, BlockingTransportNeedsNoManagerAndHonoursDelays) {
  EXPECT_SILENT(isolated([] {
    Initiator initiator("initiator");
    BaseProtocolChecker checker("checker");
    Hbm hbm("hbm", {kRate, 1'000, 4'096, 1.0}, 1, nullptr);
    initiator.socket.bind(checker.target);
    checker.initiator.bind(hbm.socket(0));
    std::string text;
    initiator.script = [&] {
      tlm::tlm_generic_payload p;
      unsigned char data[64];
      Initiator::fill(p, 0, 64, data);
      sc_time delay = sc_time::from_value(500);
      initiator.socket->b_transport(p, delay);
      text += expect("delay", delay.value(), 500 + 64 + 1'000);
      text += expect("status", p.get_response_status(), tlm::TLM_OK_RESPONSE);
      // Beyond the capacity, at its edge, and at addresses whose sum overflows.
      const std::pair<uint64_t, unsigned> outside[] = {{4'096, 1}, {4'090, 7}, {~0ull, 2}};
      for (const auto& [address, length] : outside) {
        Initiator::fill(p, address, length, data);
        delay = sc_core::SC_ZERO_TIME;
        initiator.socket->b_transport(p, delay);
        text += expect("address error", p.get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
        text += expect("errors take no time", delay.value(), 0);
      }
      Initiator::fill(p, 4'095, 1, data);
      initiator.socket->b_transport(p, delay);
      text += expect("last byte", p.get_response_status(), tlm::TLM_OK_RESPONSE);
      Initiator::fill(p, 0, 4, data);
      p.set_command(tlm::TLM_IGNORE_COMMAND);
      delay = sc_core::SC_ZERO_TIME;
      initiator.socket->b_transport(p, delay);
      text += expect("ignore", p.get_response_status(), tlm::TLM_COMMAND_ERROR_RESPONSE);
      tlm::tlm_dmi dmi;
      Initiator::fill(p, 0, 4, data);
      text += expect("dmi", initiator.socket->get_direct_mem_ptr(p, dmi), 0);
      text += expect("debug", initiator.socket->transport_dbg(p), 0);
    };
    sc_core::sc_start();
    return text + lines(checker.violations()) + expect("bytes", hbm.bytes(), 65);
  }));
}

TEST(Hbm, ResponsesWaitForTheLastEndResp) {
  EXPECT_SILENT(isolated([] {
    Initiator initiator("initiator");
    BaseProtocolChecker checker("checker");
    Hbm hbm("hbm", {kRate, 10, 0, 1.0}, 1, nullptr);
    initiator.socket.bind(checker.target);
    checker.initiator.bind(hbm.socket(0));
    Manager manager;
    unsigned char data[64];
    std::vector<std::unique_ptr<tlm::tlm_generic_payload>> payloads;
    std::vector<Picoseconds> responses;
    std::string text;
    sc_core::sc_event responded;
    tlm::tlm_generic_payload* open = nullptr;
    initiator.answer = [&](tlm::tlm_generic_payload& p, tlm::tlm_phase&, sc_time&) {
      responses.push_back(sc_core::sc_time_stamp().value());
      open = &p;
      responded.notify(sc_core::SC_ZERO_TIME);
      return tlm::TLM_ACCEPTED;
    };
    initiator.script = [&] {
      for (int i = 0; i < 3; ++i) {
        payloads.push_back(std::make_unique<tlm::tlm_generic_payload>(&manager));
        tlm::tlm_generic_payload& p = *payloads.back();
        p.acquire();
        Initiator::fill(p, 0, 64, data);
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_time delay;
        text += expect("answer", initiator.socket->nb_transport_fw(p, phase, delay), tlm::TLM_UPDATED);
      }
      for (int i = 0; i < 3; ++i) {
        sc_core::wait(responded);
        sc_core::wait(sc_time::from_value(1'000));  // slow to take it
        tlm::tlm_phase phase = tlm::END_RESP;
        sc_time delay;
        tlm::tlm_generic_payload* p = open;
        initiator.socket->nb_transport_fw(*p, phase, delay);
        p->release();
      }
    };
    sc_core::sc_start();
    checker.finish();
    text += expect("responses", responses.size(), 3);
    text += expect("first", responses[0], 74);
    text += expect("second", responses[1], 1'074);
    text += expect("third", responses[2], 2'074);
    text += expect("freed", static_cast<uint64_t>(manager.freed), 3);
    return text + lines(checker.violations());
  }));
}

// ---- every legal answer
// ------------------------------------------------------------------------------------------

/// A target that answers as told.
class Target : public sc_core::sc_module, tlm::tlm_fw_transport_if<> {
 public:
  enum class How {
    accept,               ///< ACCEPTED, END_REQ and BEGIN_RESP later by backward calls
    accept_skip_end_req,  ///< ACCEPTED, BEGIN_RESP ends the request
    update_end_req,       ///< UPDATED / END_REQ, BEGIN_RESP later
    update_begin_resp,    ///< UPDATED / BEGIN_RESP
    complete,             ///< COMPLETED
    complete_with_delay,  ///< COMPLETED, delay annotated
    end_req_inside,       ///< calls END_REQ backward inside the forward call
    begin_resp_inside,    ///< calls BEGIN_RESP backward inside the forward call
    delayed_calls,        ///< backward calls with a non-zero delay
    anything              ///< a random one for each request
  };
  static constexpr int kWays = 9;

  Target(sc_core::sc_module_name name, How how, bool out_of_order)
      : sc_core::sc_module(name), socket("socket"), how_(how), out_of_order_(out_of_order) {
    socket.bind(*this);
    SC_HAS_PROCESS(Target);
    SC_METHOD(process);
    sensitive << wake_;
    dont_initialize();
  }
  tlm::tlm_target_socket<32> socket;
  uint64_t bytes = 0;
  tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;

 private:
  struct Due {
    tlm::tlm_generic_payload* payload = nullptr;
    tlm::tlm_phase phase;
    sc_time delay;
  };
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_time& delay) override {
    if (phase == tlm::END_RESP) {
      p.release();
      return tlm::TLM_COMPLETED;
    }
    bytes += p.get_data_length();
    How how = how_;
    if (how == How::anything) how = static_cast<How>(random_() % kWays);
    // The initiator may send a request inside a response call, before it has said END_RESP: no second
    // response now.
    if (responding_ && (how == How::update_begin_resp || how == How::begin_resp_inside))
      how = How::update_end_req;
    const Picoseconds now = sc_core::sc_time_stamp().value();
    const Picoseconds later = now + 1'000 + (out_of_order_ ? random_() % 100'000 : 0);
    if (how != How::complete && how != How::complete_with_delay) p.acquire();
    switch (how) {
      case How::accept:
        post(now + 100, {&p, tlm::END_REQ, {}});
        post(later, {&p, tlm::BEGIN_RESP, {}});
        return tlm::TLM_ACCEPTED;
      case How::accept_skip_end_req:
        post(later, {&p, tlm::BEGIN_RESP, {}});
        return tlm::TLM_ACCEPTED;
      case How::update_end_req:
        post(later, {&p, tlm::BEGIN_RESP, {}});
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
      case How::update_begin_resp:
        p.set_response_status(status);
        phase = tlm::BEGIN_RESP;
        delay += sc_time::from_value(777);
        return tlm::TLM_UPDATED;
      case How::complete:
        p.set_response_status(status);
        return tlm::TLM_COMPLETED;
      case How::complete_with_delay:
        p.set_response_status(status);
        delay += sc_time::from_value(5'000);
        return tlm::TLM_COMPLETED;
      case How::end_req_inside: {
        tlm::tlm_phase end = tlm::END_REQ;
        sc_time none;
        socket->nb_transport_bw(p, end, none);
        post(later, {&p, tlm::BEGIN_RESP, {}});
        return tlm::TLM_ACCEPTED;
      }
      case How::begin_resp_inside: {
        // The request is over with it; the call that carried it returns ACCEPTED.
        tlm::tlm_phase begin = tlm::BEGIN_RESP;
        sc_time none;
        p.set_response_status(status);
        responding_ = true;
        socket->nb_transport_bw(p, begin, none);
        responding_ = false;
        p.release();
        return tlm::TLM_ACCEPTED;
      }
      case How::delayed_calls:
        post(now + 100, {&p, tlm::END_REQ, sc_time::from_value(50)});
        post(later, {&p, tlm::BEGIN_RESP, sc_time::from_value(2'500)});
        return tlm::TLM_ACCEPTED;
      case How::anything:
        break;
    }
    return tlm::TLM_ACCEPTED;
  }
  void b_transport(tlm::tlm_generic_payload&, sc_time&) override {}
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }

  void post(Picoseconds at, const Due& due) {
    due_.emplace(std::make_pair(at, sequence_++), due);
    wake_.notify(sc_time::from_value(due_.begin()->first.first - sc_core::sc_time_stamp().value()));
  }
  void process() {
    const Picoseconds now = sc_core::sc_time_stamp().value();
    while (!due_.empty() && due_.begin()->first.first <= now) {
      Due due = due_.begin()->second;
      due_.erase(due_.begin());
      tlm::tlm_phase phase = due.phase;
      sc_time delay = due.delay;
      if (phase == tlm::BEGIN_RESP) due.payload->set_response_status(status);
      responding_ = phase == tlm::BEGIN_RESP;
      const auto answer = socket->nb_transport_bw(*due.payload, phase, delay);
      responding_ = false;
      if (due.phase == tlm::BEGIN_RESP && answer != tlm::TLM_ACCEPTED) due.payload->release();
    }
    if (!due_.empty()) wake_.notify(sc_time::from_value(due_.begin()->first.first - now));
  }

  How how_;
  bool out_of_order_;
  bool responding_ = false;
  std::mt19937 random_{5};
  std::map<std::pair<Picoseconds, uint64_t>, Due> due_;
  uint64_t sequence_ = 0;
  sc_core::sc_event wake_;
};

std::string against(Target::How how, bool out_of_order, uint32_t outstanding) {
  Dma dma("dma", outstanding, 0);
  BaseProtocolChecker checker("checker");
  Target target("target", how, out_of_order);
  dma.dma.socket.bind(checker.target);
  checker.initiator.bind(target.socket);
  uint64_t bytes = 0;
  dma.script = [&] {
    for (uint32_t i = 0; i < 60; ++i) {
      const uint64_t size = i % 7 == 0 ? 5 * kRequest + i : 1 + i * 97;
      bytes += size;
      dma.dma.start(i, i % 3 == 0, size);
      if (i % 5 == 0) sc_core::wait(sc_time::from_value(3'000));
    }
  };
  sc_core::sc_start();
  checker.finish();
  std::string text = lines(checker.violations());
  for (uint32_t i = 0; i < 60; ++i) text += expect("ends of an access", dma.done[i].size(), 1);
  if (!dma.dma.idle()) text += "the DMA is not idle\n";
  if (checker.most_outstanding() > outstanding) text += "too many requests in flight\n";
  return text + expect("bytes", target.bytes, bytes);
}

TEST(MemoryDma, AcceptsEveryAnswerATargetMayGive) {
  for (int how = 0; how <= Target::kWays; ++how) {
    for (const bool out_of_order : {false, true}) {
      for (const uint32_t outstanding : {1u, 4u}) {
        SCOPED_TRACE("way " + std::to_string(how) + (out_of_order ? " out of order" : "") + " outstanding " +
                     std::to_string(outstanding));
        EXPECT_SILENT(
            isolated([&] { return against(static_cast<Target::How>(how), out_of_order, outstanding); }));
      }
    }
  }
}

TEST(MemoryDma, AnnotatedDelaysCount) {
  for (const auto& [how, time] :
       {std::make_pair(Target::How::complete_with_delay, 5'000u),
        std::make_pair(Target::How::update_begin_resp, 777u), std::make_pair(Target::How::complete, 0u),
        std::make_pair(Target::How::delayed_calls, 3'500u)}) {
    EXPECT_SILENT(isolated([how = how, time = time] {
      Dma dma("dma", 1, 0);
      Target target("target", how, false);
      dma.dma.socket.bind(target.socket);
      dma.script = [&] { dma.dma.start(0, false, 64); };
      sc_core::sc_start();
      return expect("done", dma.done[0].at(0), time);
    }));
  }
}

TEST(MemoryDma, AnErrorResponseIsAnError) {
  const auto result = isolated([] {
    // Kept instead of thrown: an exception would cross the kernel's coroutine stacks.
    static std::string message;
    sc_core::sc_report_handler::set_handler([](const sc_core::sc_report& report, const sc_core::sc_actions&) {
      if (report.get_severity() == sc_core::SC_ERROR) message = report.get_msg();
    });
    Dma dma("dma", 1, 0);
    Target target("target", Target::How::update_end_req, false);
    target.status = tlm::TLM_ADDRESS_ERROR_RESPONSE;
    dma.dma.socket.bind(target.socket);
    dma.script = [&] { dma.dma.start(0, false, 64); };
    sc_core::sc_start();
    return message;
  });
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.text.find("dma.socket"), std::string::npos) << result.text;
  EXPECT_NE(result.text.find("TLM_ADDRESS_ERROR_RESPONSE"), std::string::npos) << result.text;
}

/// Finishes an access 1 ns after it has come, and then another one, or the same again.
class Odd final : public MemoryTarget {
 public:
  Odd(sc_core::sc_module_name module_name, uint32_t off, Picoseconds later)
      : MemoryTarget(module_name, 0, 1, nullptr), off_(off), later_(later) {}
  Picoseconds busy() const override { return 0; }

 private:
  void begin(Ticket ticket, const Access&, Picoseconds at) override {
    ticket_ = ticket;
    once_ = at + 1000;
    again_ = once_ + later_;
    wake_at(once_);
  }
  void work(Picoseconds at) override {
    if (at == once_) finish(ticket_, at);
    if (at == again_) finish(ticket_ + off_, at);
    if (at < again_) wake_at(again_);
  }
  const uint32_t off_;
  const Picoseconds later_;
  Ticket ticket_ = 0;
  Picoseconds once_ = kNever;
  Picoseconds again_ = kNever;
};

TEST(MemoryTarget, AModelThatFinishesWhatIsNotUnderWayIsAnErrorThatNamesTheMemory) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP()
      << "the sanitizer knows nothing of the kernel's coroutines: an exception that the kernel passes on "
         "after one has run is an error to it";
#endif
  const auto said = [](bool blocking, uint32_t off, Picoseconds later) {
    return isolated([=] {
             Odd memory("memory", off, later);
             Initiator initiator("initiator");
             initiator.socket.bind(memory.socket(0));
             Manager manager;
             tlm::tlm_generic_payload payload(&manager);
             unsigned char data[4] = {};
             initiator.script = [&] {
               Initiator::fill(payload, 0, 4, data);
               sc_core::sc_time delay;
               tlm::tlm_phase phase = tlm::BEGIN_REQ;
               if (blocking) return initiator.socket->b_transport(payload, delay);
               payload.acquire();
               initiator.socket->nb_transport_fw(payload, phase, delay);
             };
             sc_core::sc_start();
             return std::string("accepted");
           })
        .text;
  };
  for (const bool blocking : {false, true}) {
    for (const Picoseconds later : {0, 500}) {
      const std::string twice = said(blocking, 0, later);
      EXPECT_NE(
          twice.find("memory: fault of the memory's model: it calls finish() for ticket 0, whose access is "
                     "finished already; call it once for each ticket of begin()"),
          std::string::npos)
          << twice;
    }
    const std::string unknown = said(blocking, 7, 0);
    EXPECT_NE(unknown.find(
                  "memory: fault of the memory's model: it calls finish() for ticket 7, of which there has "
                  "been no access"),
              std::string::npos)
        << unknown;
  }
}

}  // namespace
}  // namespace weft
