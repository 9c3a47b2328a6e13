// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// BaseProtocolChecker sees each rule broken, by scripts and by fuzz initiators and targets; and it sees
// nothing where none is broken.

#include <gtest/gtest.h>

#include <functional>
#include <regex>
#include <string>
#include <vector>

#include "cosim/tlm/base_protocol_checker.h"
#include "cosim/tlm/fuzz_initiator.h"
#include "cosim/tlm/fuzz_target.h"
#include "tests/support/isolated.h"
#include "tests/support/memory_initiators.h"

namespace weft {
namespace {

using cosim::BaseProtocolChecker;
using cosim::FuzzInitiator;
using cosim::FuzzStyle;
using cosim::FuzzTarget;
using sc_core::sc_time;
using test::expect;
using test::Initiator;
using test::isolated;
using test::lines;
using test::Manager;

/// Plays one script of an initiator against one reaction of a target.
class Player : public sc_core::sc_module, public tlm::tlm_fw_transport_if<> {
 public:
  explicit Player(sc_core::sc_module_name name) : sc_core::sc_module(name), socket("socket") {
    socket.bind(*this);
  }
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_time& delay) override {
    return react ? react(p, phase, delay) : tlm::TLM_ACCEPTED;
  }
  void b_transport(tlm::tlm_generic_payload& p, sc_time& delay) override {
    if (block) block(p, delay);
  }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(tlm::tlm_generic_payload& p) override { return p.get_data_length() + extra_debug; }
  tlm::tlm_target_socket<32> socket;
  std::function<tlm::tlm_sync_enum(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_time&)> react;
  std::function<void(tlm::tlm_generic_payload&, sc_time&)> block;
  unsigned extra_debug = 0;
};

struct Defect {
  int rule;
  const char* what;  ///< part of the violation
  std::function<void(Initiator&, Player&, Manager&)> play;
};

TEST(BaseProtocolChecker, SeesEachRuleBroken) {
  static unsigned char data[64];
  using Payload = tlm::tlm_generic_payload;
  auto fresh = [](Manager& m) {
    auto* p = new Payload(&m);  // lives as long as the child process
    p->acquire();
    Initiator::fill(*p, 0, 64, data);
    return p;
  };
  auto begin = [](Initiator& i, Payload& p, uint64_t delay_ps = 0) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_time delay = sc_time::from_value(delay_ps);
    return i.socket->nb_transport_fw(p, phase, delay);
  };
  auto back = [](Player& t, Payload& p, tlm::tlm_phase phase, uint64_t delay_ps = 0) {
    sc_time delay = sc_time::from_value(delay_ps);
    return t.socket->nb_transport_bw(p, phase, delay);
  };
  auto attribute = [&](void (*change)(Payload&)) {
    return [=](Initiator& i, Player&, Manager& m) {
      Payload* p = fresh(m);
      change(*p);
      begin(i, *p);
    };
  };
  const std::vector<Defect> defects = {
      {18, "the data pointer is null", attribute([](Payload& p) { p.set_data_ptr(nullptr); })},
      {18, "the length is 0", attribute([](Payload& p) { p.set_data_length(0); })},
      {18, "the streaming width is 0", attribute([](Payload& p) { p.set_streaming_width(0); })},
      {18, "the byte enables have the length 0", attribute([](Payload& p) {
         p.set_byte_enable_ptr(data);
         p.set_byte_enable_length(0);
       })},
      {27, "the hint that DMI is allowed", attribute([](Payload& p) { p.set_dmi_allowed(true); })},
      {23, "the status of a new transaction",
       attribute([](Payload& p) { p.set_response_status(tlm::TLM_OK_RESPONSE); })},
      {6, "without a memory manager",
       [&](Initiator& i, Player&, Manager&) {
         auto* p = new Payload;
         Initiator::fill(*p, 0, 64, data);
         begin(i, *p);
       }},
      {6, "holds no reference",
       [&](Initiator& i, Player&, Manager& m) {
         auto* p = new Payload(&m);
         Initiator::fill(*p, 0, 64, data);
         begin(i, *p);
       }},
      {7, "BEGIN_REQ before the last END_REQ",
       [&](Initiator& i, Player&, Manager& m) {
         begin(i, *fresh(m));
         begin(i, *fresh(m));
       }},
      {7, "still in a transaction",
       [&](Initiator& i, Player& t, Manager& m) {
         Payload* p = fresh(m);
         begin(i, *p);
         back(t, *p, tlm::END_REQ);
         begin(i, *p);
       }},
      {8, "BEGIN_RESP before the last END_RESP",
       [&](Initiator& i, Player& t, Manager& m) {
         i.answer = [](Payload&, tlm::tlm_phase&, sc_time&) { return tlm::TLM_ACCEPTED; };
         Payload* a = fresh(m);
         Payload* b = fresh(m);
         for (Payload* p : {a, b}) {
           begin(i, *p);
           back(t, *p, tlm::END_REQ);
           p->set_response_status(tlm::TLM_OK_RESPONSE);
         }
         back(t, *a, tlm::BEGIN_RESP);
         back(t, *b, tlm::BEGIN_RESP);
       }},
      {23, "still TLM_INCOMPLETE_RESPONSE",
       [&](Initiator& i, Player& t, Manager& m) {
         Payload* p = fresh(m);
         begin(i, *p);
         back(t, *p, tlm::BEGIN_RESP);
       }},
      {18, "changed during the transaction: the data length",
       [&](Initiator& i, Player& t, Manager& m) {
         Payload* p = fresh(m);
         begin(i, *p);
         p->set_data_length(32);
         p->set_response_status(tlm::TLM_OK_RESPONSE);
         back(t, *p, tlm::BEGIN_RESP);
       }},
      {4, "not honoured",
       [&](Initiator& i, Player& t, Manager& m) {
         Payload* p = fresh(m);
         begin(i, *p, 1'000);
         p->set_response_status(tlm::TLM_OK_RESPONSE);
         back(t, *p, tlm::BEGIN_RESP, 500);
       }},
      {7, "END_REQ without an open request",
       [&](Initiator& i, Player& t, Manager& m) {
         i.answer = [](Payload&, tlm::tlm_phase&, sc_time&) { return tlm::TLM_ACCEPTED; };
         Payload* p = fresh(m);
         begin(i, *p);
         back(t, *p, tlm::END_REQ);
         back(t, *p, tlm::END_REQ);
       }},
      {13, "END_RESP without a response",
       [&](Initiator& i, Player&, Manager& m) {
         Payload* p = fresh(m);
         begin(i, *p);
         tlm::tlm_phase phase = tlm::END_RESP;
         sc_time delay;
         i.socket->nb_transport_fw(*p, phase, delay);
       }},
      {22, "that is not open",
       [&](Initiator&, Player& t, Manager& m) { back(t, *fresh(m), tlm::BEGIN_RESP); }},
      {8, "the target sent a phase",
       [&](Initiator& i, Player& t, Manager& m) {
         Payload* p = fresh(m);
         begin(i, *p);
         back(t, *p, tlm::END_RESP);
       }},
      {7, "the initiator sent a phase",
       [&](Initiator& i, Player&, Manager& m) {
         Payload* p = fresh(m);
         begin(i, *p);
         tlm::tlm_phase phase = tlm::END_REQ;
         sc_time delay;
         i.socket->nb_transport_fw(*p, phase, delay);
       }},
      {22, "BEGIN_RESP twice",
       [&](Initiator& i, Player& t, Manager& m) {
         i.answer = [](Payload&, tlm::tlm_phase&, sc_time&) { return tlm::TLM_ACCEPTED; };
         Payload* p = fresh(m);
         begin(i, *p);
         p->set_response_status(tlm::TLM_OK_RESPONSE);
         back(t, *p, tlm::BEGIN_RESP);
         back(t, *p, tlm::BEGIN_RESP);
       }},
      {10, "cannot follow BEGIN_REQ",
       [&](Initiator& i, Player& t, Manager& m) {
         t.react = [](Payload&, tlm::tlm_phase&, sc_time&) { return tlm::TLM_UPDATED; };
         begin(i, *fresh(m));
       }},
      {28, "never ended", [&](Initiator& i, Player&, Manager& m) { begin(i, *fresh(m)); }},
      {5, "b_transport returned with",
       [&](Initiator& i, Player& t, Manager& m) {
         t.block = [](Payload& p, sc_time&) {
           p.acquire();
           p.set_response_status(tlm::TLM_OK_RESPONSE);
         };
         sc_time delay;
         i.socket->b_transport(*fresh(m), delay);
       }},
      {4, "the return of b_transport",
       [&](Initiator& i, Player& t, Manager& m) {
         t.block = [](Payload& p, sc_time& delay) {
           p.set_response_status(tlm::TLM_OK_RESPONSE);
           delay = sc_core::SC_ZERO_TIME;
         };
         sc_time delay = sc_time::from_value(10);
         i.socket->b_transport(*fresh(m), delay);
       }},
      {26, "moved more than",
       [&](Initiator& i, Player& t, Manager& m) {
         t.extra_debug = 1;
         i.socket->transport_dbg(*fresh(m));
       }},
  };
  for (const Defect& defect : defects) {
    const auto result = isolated([&] {
      Initiator initiator("initiator");
      BaseProtocolChecker checker("checker");
      Player player("player");
      Manager manager;
      initiator.socket.bind(checker.target);
      checker.initiator.bind(player.socket);
      initiator.script = [&] { defect.play(initiator, player, manager); };
      sc_core::sc_start();
      checker.finish();
      return lines(checker.violations());
    });
    const std::regex line("rule " + std::to_string(defect.rule) +
                          ", initiator\\.socket -> player\\.socket, at \\d+ ps[^\n]*" + defect.what);
    EXPECT_TRUE(std::regex_search(result.text, line))
        << defect.rule << " " << defect.what << ": " << result.text << " status " << result.status;
  }
}

TEST(TestSupport, AWarningOfSystemCFailsATest) {
  const auto result = isolated([] {
    sc_core::sc_event twice("twice");
    const sc_core::sc_event again("twice");
    return std::string("said");
  });
  EXPECT_EQ(result.status, 97);
  EXPECT_EQ(result.text.rfind("saidSystemC warning: object already exists: twice.", 0), 0u) << result.text;
}

// ---- fuzz initiator and fuzz target

struct Pair {
  Pair(const FuzzInitiator::Options& i, const FuzzTarget::Options& t, BaseProtocolChecker::Options c = {})
      : initiator("initiator", i), checker("checker", c), target("target", t) {
    initiator.socket.bind(checker.target);
    checker.initiator.bind(target.socket);
    checker.watch(initiator.pool());
  }
  void run() {
    sc_core::sc_start();
    checker.finish();
    initiator.finish();
  }
  std::string text() const { return lines(checker.violations()) + lines(initiator.violations()); }
  FuzzInitiator initiator;
  BaseProtocolChecker checker;
  FuzzTarget target;
};

TEST(FuzzPair, BreaksNoRule) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    for (const FuzzStyle style : {FuzzStyle::lt, FuzzStyle::at, FuzzStyle::mixed}) {
      for (const bool provoke : {false, true}) {
        SCOPED_TRACE(std::to_string(seed) + " style " + std::to_string(static_cast<int>(style)));
        EXPECT_SILENT(isolated([&] {
          FuzzInitiator::Options i;
          i.seed = seed;
          i.style = style;
          i.outside = 1 << 16;
          FuzzTarget::Options t;
          t.seed = seed + 1000;
          BaseProtocolChecker::Options c;
          c.provoke = provoke;
          c.capacity = 1 << 16;
          c.transactions = i.transactions;
          Pair pair(i, t, c);
          pair.run();
          std::string text = pair.text();
          text += expect("outstanding", pair.target.outstanding(), 0);
          text += expect("requests", pair.target.requests(), i.transactions);
          if (pair.target.most_outstanding() < 3) text += "hardly anything was outstanding\n";
          if (pair.initiator.compared() < 1000) text += "hardly anything was compared\n";
          return text;
        }));
      }
    }
  }
}

struct Broken {
  int rule;
  bool initiator;  ///< it breaks the rule, or else the target
  FuzzStyle style;
  bool by_checker = true;  ///< otherwise the fuzz initiator finds it in the data
};

TEST(FuzzPair, EveryRuleThatOneSideBreaksIsNamed) {
  const FuzzStyle lt = FuzzStyle::lt;
  const FuzzStyle at = FuzzStyle::at;
  const Broken all[] = {
      {1, false, lt},         {2, true, lt},   {3, false, at},         {4, false, lt},
      {4, false, at},         {5, false, lt},  {5, false, at},         {6, true, at},
      {7, true, at},          {8, false, at},  {9, true, at},          {10, true, at},
      {11, true, at},         {12, true, at},  {13, true, at},         {14, true, at},
      {15, true, at},         {15, false, at}, {16, true, at},         {16, false, at},
      {17, true, at},         {18, true, at},  {18, false, lt},        {18, false, at},
      {19, false, lt},        {19, false, at}, {20, false, lt, false}, {21, false, lt, false},
      {22, false, at, false}, {23, false, lt}, {23, false, at},        {24, false, lt},
      {24, false, at},        {25, true, at},  {26, false, lt},        {27, false, lt},
      {27, false, at},        {28, false, lt}, {28, false, at},        {29, true, at}};
  for (const Broken& b : all) {
    SCOPED_TRACE("rule " + std::to_string(b.rule) + (b.initiator ? " initiator" : " target") +
                 (b.style == lt ? " LT" : " AT"));
    const auto result = isolated([&] {
      FuzzInitiator::Options i;
      i.seed = 7;
      i.style = b.style;
      i.breaks = b.initiator ? b.rule : 0;
      if (!b.by_checker) {
        i.size = 2'048;
        i.transactions = 1'000;
      }
      FuzzTarget::Options t;
      t.seed = 11;
      t.breaks = b.initiator ? 0 : b.rule;
      t.waits = b.rule != 2;
      BaseProtocolChecker::Options c;
      c.provoke = b.rule == 15 || b.rule == 26;
      c.transactions = i.transactions;
      Pair pair(i, t, c);
      pair.run();
      const auto& rules = b.by_checker ? pair.checker.broken_rules() : pair.initiator.broken_rules();
      return rules.count(b.rule) != 0 ? std::string{} : "not found; " + pair.text();
    });
    EXPECT_SILENT(result);
  }
}

// What a rule's breaking is called must not depend on luck: the first violation is of the rule, or follows
// from it in the same call.
TEST(BaseProtocolChecker, NamesHopTimeAndAddress) {
  const auto result = isolated([] {
    FuzzInitiator::Options i;
    i.style = FuzzStyle::at;
    i.base = 0x4000;
    FuzzTarget::Options t;
    t.breaks = 18;
    Pair pair(i, t);
    pair.run();
    return pair.checker.violations().front();
  });
  EXPECT_TRUE(std::regex_match(
      result.text,
      std::regex(
          "rule 18, initiator\\.socket -> target\\.socket, at \\d+ ps, address 0x[4-7][0-9a-f]{3}: .+")))
      << result.text;
}

TEST(BaseProtocolChecker, ReportsToSystemCWhenAsked) {
  const auto result = isolated([] {
    static std::string message;
    sc_core::sc_report_handler::set_handler([](const sc_core::sc_report& report, const sc_core::sc_actions&) {
      if (report.get_severity() == sc_core::SC_ERROR && message.empty()) message = report.get_msg();
    });
    FuzzInitiator::Options i;
    FuzzTarget::Options t;
    t.breaks = 24;
    BaseProtocolChecker::Options c;
    c.report = true;
    c.hop = "our hop";
    Pair pair(i, t, c);
    pair.run();
    return message;
  });
  EXPECT_EQ(result.text.rfind("rule 24, our hop, at ", 0), 0u) << result.text;
}

}  // namespace
}  // namespace weft
