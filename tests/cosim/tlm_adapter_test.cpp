// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Memories and adapters under the fuzz initiator, with a checker on every hop; and beside modules in the
// styles of IP that users bring.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cosim/blocks/tlm_memory.h"
#include "cosim/tlm/base_protocol_checker.h"
#include "cosim/tlm/fuzz_initiator.h"
#include "cosim/tlm/fuzz_target.h"
#include "cosim/tlm/tlm_adapter.h"
#include "sc_models/banked_hbm.h"
#include "sc_models/dram_channel.h"
#include "sc_models/hbm.h"
#include "sc_models/memory_model.h"
#include "tests/cosim/fuzz_hops.h"
#include "tests/cosim/third_party_modules.h"
#include "tests/support/isolated.h"
#include "tests/support/memory_initiators.h"

namespace weft {
namespace {

using cosim::AccessPiece;
using cosim::BaseProtocolChecker;
using cosim::FuzzInitiator;
using cosim::FuzzStyle;
using cosim::FuzzTarget;
using cosim::TlmAdapter;
using test::Behind;
using test::expect;
using test::expect_right;
using test::Hops;
using test::isolated;
using test::lines;

constexpr Rate kRate{100'000'000'000ull, 1};  // 0.1 B/ps
constexpr uint64_t kSize = test::kFuzzSize;

std::string moved(const MemoryTarget& memory) {
  return expect("outstanding", memory.outstanding(), 0);
}

TEST(FuzzMemories, Hbm) {
  expect_right([](auto& socket, uint64_t, Hops&) {
    auto hbm = std::make_shared<Hbm>("hbm", MemoryTiming{kRate, 50'000, kSize, 1.0}, 1, nullptr);
    hbm->keep_bytes();
    socket.bind(hbm->socket(0));
    return [hbm] { return moved(*hbm); };
  });
}

TEST(FuzzMemories, BankedHbm) {
  expect_right([](auto& socket, uint64_t, Hops&) {
    HbmConfig config;
    config.model = "banked";
    auto hbm = std::make_shared<BankedHbm>("hbm", make_dram_device(config, 1), 1, kSize, 1, nullptr);
    hbm->keep_bytes();
    socket.bind(hbm->socket(0));
    return [hbm] { return moved(*hbm); };
  });
}

TEST(FuzzMemories, CxlMemory) {
  expect_right([](auto& socket, uint64_t, Hops&) {
    std::shared_ptr<MemoryTarget> memory =
        make_memory("cxl(preset=cxl2_x16)", "test", "memory", {{kRate, 0, kSize, 1.0}, 1, nullptr});
    memory->keep_bytes();
    socket.bind(memory->socket(0));
    return [memory] { return moved(*memory); };
  });
}

// ---- adapters

Behind adapted(TlmAdapter::Options how, FuzzTarget::Options to = {}, bool provoke = true) {
  return [how, to, provoke](auto& socket, uint64_t seed, Hops& hops) {
    auto adapter = std::make_shared<TlmAdapter>("adapter", how);
    FuzzTarget::Options t = to;
    t.seed = seed + 77;
    t.size = kSize;
    auto target = std::make_shared<FuzzTarget>("target", t);
    BaseProtocolChecker::Options c;
    c.provoke = provoke;
    BaseProtocolChecker& checker = hops.add(c);
    socket.bind(adapter->target());
    adapter->initiator().bind(checker.target);
    checker.initiator.bind(target->socket);
    checker.watch(adapter->pool());
    return [adapter, target, how] {
      std::string text = expect("at the target", target->outstanding(), 0);
      text += expect("in the adapter", adapter->outstanding(), 0);
      if (target->most_outstanding() > how.outstanding) text += "too much was outstanding\n";
      return text;
    };
  };
}

TEST(TlmAdapterFuzz, ToAt) {
  expect_right(adapted({}));
}

TEST(TlmAdapterFuzz, ToLtByWorkers) {
  TlmAdapter::Options how;
  how.blocking = true;
  how.outstanding = 8;
  FuzzTarget::Options to;
  to.non_blocking = false;
  expect_right(adapted(how, to));
}

TEST(TlmAdapterFuzz, LimitedDepthHoldsEndReq) {
  TlmAdapter::Options how;
  how.depth = 4;
  expect_right(adapted(how));
}

TEST(TlmAdapterFuzz, Pieces) {
  TlmAdapter::Options how;
  how.piece = 64;
  how.outstanding = 32;
  expect_right(adapted(how));
}

TEST(TlmAdapterFuzz, PiecesWithoutByteEnables) {
  TlmAdapter::Options how;
  how.piece = 8;
  how.no_byte_enables = true;
  how.outstanding = 32;
  FuzzTarget::Options to;
  to.byte_enables = false;
  to.streaming = false;
  // One access alone has many pieces under way.
  expect_right(
      adapted(how, to), [](FuzzInitiator::Options& o) { o.most_length = std::min(o.most_length, 600u); },
      1.2);
}

TEST(TlmAdapterFuzz, TwoInARow) {
  expect_right([](auto& socket, uint64_t seed, Hops& hops) {
    TlmAdapter::Options how;
    how.blocking = true;
    how.outstanding = 8;
    auto first = std::make_shared<TlmAdapter>("first", how);
    socket.bind(first->target());
    BaseProtocolChecker& between = hops.add();
    first->initiator().bind(between.target);
    TlmAdapter::Options cut;
    cut.piece = 256;
    const auto rest = adapted(cut)(between.initiator, seed, hops);
    return [first, rest] { return rest() + expect("in the first", first->outstanding(), 0); };
  });
}

// ---- IP of others

TEST(ThirdParty, DramStyleTargetBehindPieces) {
  const auto to_dram = [](auto& socket, uint64_t, Hops& hops) {
    TlmAdapter::Options how;
    how.piece = 64;
    how.no_byte_enables = true;
    how.outstanding = 32;
    auto adapter = std::make_shared<TlmAdapter>("adapter", how);
    auto dram = std::make_shared<test::DramStyleTarget>("dram", 0, kSize);
    BaseProtocolChecker& checker = hops.add();
    socket.bind(adapter->target());
    adapter->initiator().bind(checker.target);
    checker.initiator.bind(dram->socket);
    return [adapter, dram] { return dram->fatal + (dram->requests == 0 ? "nothing came\n" : ""); };
  };
  expect_right(to_dram, [](FuzzInitiator::Options& o) { o.most_length = std::min(o.most_length, 1'000u); });
}

TEST(ThirdParty, RegisterStyleTargetBehindWorkers) {
  expect_right([](auto& socket, uint64_t, Hops& hops) {
    TlmAdapter::Options how;
    how.blocking = true;
    how.outstanding = 6;
    auto adapter = std::make_shared<TlmAdapter>("adapter", how);
    auto target = std::make_shared<test::RegisterStyleTarget>("target", kSize);
    BaseProtocolChecker& checker = hops.add();
    socket.bind(adapter->target());
    adapter->initiator().bind(checker.target);
    checker.initiator.bind(target->socket);
    return [adapter, target] { return target->most > 6 ? std::string("too many workers\n") : std::string{}; };
  });
}

TEST(ThirdParty, BusStyleInitiatorOnEveryMemory) {
  for (const int what : {0, 1, 2}) {
    EXPECT_SILENT(isolated([what] {
      test::BusStyleInitiator bus("bus");
      Hops hops;
      BaseProtocolChecker& checker = hops.add();
      bus.socket.bind(checker.target);
      std::unique_ptr<MemoryTarget> memory;
      std::unique_ptr<TlmAdapter> adapter;
      std::unique_ptr<test::DramStyleTarget> dram;
      if (what == 0)
        memory = std::make_unique<Hbm>("hbm", MemoryTiming{kRate, 50'000, kSize, 1.0}, 1, nullptr);
      if (what == 1)
        memory = make_memory("cxl(preset=cxl2_x16)", "test", "memory", {{kRate, 0, kSize, 1.0}, 1, nullptr});
      if (memory) {
        memory->keep_bytes();
        checker.initiator.bind(memory->socket(0));
      } else {
        TlmAdapter::Options how;
        how.piece = 32;
        how.no_byte_enables = true;
        how.blocking = false;
        adapter = std::make_unique<TlmAdapter>("adapter", how);
        dram = std::make_unique<test::DramStyleTarget>("dram", 0, kSize);
        checker.initiator.bind(adapter->target());
        adapter->initiator().bind(dram->socket);
      }
      sc_core::sc_start();
      std::string text = hops.finish() + bus.wrong;
      if (!bus.finished) text += "not finished\n";
      return text + (dram ? dram->fatal : std::string{});
    }));
  }
}

// ---- pieces

/// By definition: byte i belongs to address + i mod width.
TEST(AccessPieces, CoverEveryByteOnceNaturallyAligned) {
  std::mt19937_64 random(5);
  for (int n = 0; n < 2'000; ++n) {
    tlm::tlm_generic_payload p;
    const auto length = static_cast<unsigned>(1 + random() % 300);
    std::vector<unsigned char> data(length);
    std::vector<unsigned char> enables(1 + random() % 9);
    for (unsigned char& e : enables) e = random() % 2 == 0 ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
    p.set_write();
    p.set_address(random() % 5'000);
    p.set_data_ptr(data.data());
    p.set_data_length(length);
    p.set_streaming_width(static_cast<unsigned>(1 + random() % (2 * length)));
    if (n % 3 == 0) {
      p.set_byte_enable_ptr(enables.data());
      p.set_byte_enable_length(static_cast<unsigned>(enables.size()));
    }
    const uint32_t most = 1u << (random() % 8);
    const bool only = n % 2 == 0;
    const uint64_t width = std::min(p.get_streaming_width(), length);
    std::vector<int> covered(length);
    uint32_t after = 0;
    for (const AccessPiece& piece : cosim::pieces_of(p, most, only)) {
      ASSERT_EQ(piece.length & (piece.length - 1), 0u);
      ASSERT_LE(piece.length, most);
      ASSERT_EQ(piece.address % piece.length, 0u);
      after += piece.after_all ? 1 : 0;
      for (uint32_t i = 0; i < piece.length; ++i) {
        ++covered[piece.offset + i];
        ASSERT_EQ(piece.address + i, p.get_address() + (piece.offset + i) % width);
      }
    }
    for (unsigned i = 0; i < length; ++i)
      ASSERT_EQ(covered[i], !only || cosim::enabled(p, i) ? 1 : 0) << "byte " << i;
    if (only) continue;
    ASSERT_EQ(after, (length + width - 1) / width - 1) << "a write to the same bytes waits";
  }
}

TEST(TlmAdapter, OneResponseWithTheWorstStatus) {
  EXPECT_SILENT(isolated([] {
    test::Initiator initiator("initiator");
    TlmAdapter::Options how;
    how.piece = 16;
    TlmAdapter adapter("adapter", how);
    Hbm hbm("hbm", {kRate, 10, 100, 1.0}, 1, nullptr);
    initiator.socket.bind(adapter.target());
    adapter.initiator().bind(hbm.socket(0));
    std::string text;
    initiator.script = [&] {
      tlm::tlm_generic_payload p;
      std::vector<unsigned char> data(64);
      test::Initiator::fill(p, 32, 64, data.data());
      sc_core::sc_time delay;
      initiator.socket->b_transport(p, delay);
      text += expect("inside", p.get_response_status(), tlm::TLM_OK_RESPONSE);
      test::Initiator::fill(p, 80, 64, data.data());  // the first piece exists
      initiator.socket->b_transport(p, delay);
      text += expect("across the end", p.get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
      test::Initiator::fill(p, 0, 0, data.data());
      initiator.socket->b_transport(p, delay);
      text += expect("no length", p.get_response_status(), tlm::TLM_BURST_ERROR_RESPONSE);
    };
    sc_core::sc_start();
    return text + expect("pieces", hbm.requests(), 4 + 1);
  }));
}

/// Answers every access, and a time later once more.
class AnswersTwice final : public sc_core::sc_module, private tlm::tlm_fw_transport_if<> {
 public:
  AnswersTwice(sc_core::sc_module_name module_name, Picoseconds later, bool holds)
      : sc_core::sc_module(module_name), socket("socket"), later_(later), holds_(holds) {
    socket.bind(*this);
    SC_HAS_PROCESS(AnswersTwice);
    SC_METHOD(answer);
    sensitive << wake_;
    dont_initialize();
  }
  tlm::tlm_target_socket<32> socket;

 private:
  using Payload = tlm::tlm_generic_payload;
  void b_transport(Payload&, sc_core::sc_time&) override {}
  unsigned transport_dbg(Payload&) override { return 0; }
  bool get_direct_mem_ptr(Payload&, tlm::tlm_dmi&) override { return false; }
  tlm::tlm_sync_enum nb_transport_fw(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time&) override {
    if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
    if (holds_) p.acquire();
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    asked_ = &p;
    wake_.notify(sc_core::sc_time(1, sc_core::SC_NS));
    return tlm::TLM_ACCEPTED;
  }
  void answer() {
    respond();
    if (again_ || later_ == 0) return respond();
    again_ = true;
    next_trigger(sc_core::sc_time::from_value(later_));
  }
  void respond() {
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay;
    socket->nb_transport_bw(*asked_, phase, delay);
  }
  const Picoseconds later_;
  const bool holds_;
  bool again_ = false;
  Payload* asked_ = nullptr;
  sc_core::sc_event wake_{"wake"};
};

TEST(TlmAdapter, ATargetThatAnswersTwiceIsNamed) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP()
      << "the sanitizer knows nothing of the kernel's coroutines: an exception that the kernel passes on "
         "after one has run is an error to it";
#endif
  for (const Picoseconds later : {0, 5'000}) {
    for (const bool holds : {false, true}) {
      const auto result = isolated([=] {
        test::Initiator initiator("initiator");
        TlmAdapter adapter("adapter", {});
        AnswersTwice target("foreign", later, holds);
        initiator.socket.bind(adapter.target());
        adapter.initiator().bind(target.socket);
        initiator.script = [&] {
          tlm::tlm_generic_payload p;
          unsigned char data[4] = {};
          test::Initiator::fill(p, 0, 4, data);
          sc_core::sc_time delay;
          initiator.socket->b_transport(p, delay);
        };
        sc_core::sc_start();
        return std::string("accepted");
      });
      EXPECT_NE(result.text.find("the target foreign.socket answers an access a second time"),
                std::string::npos)
          << result.text;
      EXPECT_NE(result.text.find("IEEE 1666-2011, 15.2"), std::string::npos) << result.text;
    }
  }
}

/// Takes requests, and never answers.
class Silent final : public sc_core::sc_module, private tlm::tlm_fw_transport_if<> {
 public:
  explicit Silent(sc_core::sc_module_name module_name) : sc_core::sc_module(module_name), socket("socket") {
    socket.bind(*this);
  }
  tlm::tlm_target_socket<32> socket;

 private:
  using Payload = tlm::tlm_generic_payload;
  void b_transport(Payload&, sc_core::sc_time&) override {}
  unsigned transport_dbg(Payload&) override { return 0; }
  bool get_direct_mem_ptr(Payload&, tlm::tlm_dmi&) override { return false; }
  tlm::tlm_sync_enum nb_transport_fw(Payload&, tlm::tlm_phase& phase, sc_core::sc_time&) override {
    if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
};

TEST(TlmMemory, SaysWhatItsTargetHasNotAnswered) {
  EXPECT_SILENT(isolated([] {
    cosim::TlmMemory memory("memory", {{kRate, 0, kSize, 1.0}, 1, nullptr}, {kSize, false, 8});
    Silent silent("silent");
    memory.socket().bind(silent.socket);
    test::Dma dma("dma", 8, 0);
    dma.dma.socket.bind(memory.MemoryTarget::socket(0));
    dma.script = [&] {
      sc_core::wait(sc_core::sc_time(3, sc_core::SC_NS));
      dma.dma.start(0, false, 64);
      dma.dma.start(1, true, 64);
    };
    sc_core::sc_start();
    const std::string text = memory.stall_text();
    return text == "  memory: the target has not answered 2 accesses, the first one a read of 64 B at 0x0 "
                   "since "
                   "3000 ps\n"
               ? std::string()
               : text;
  }));
}

TEST(TlmAdapter, RefusesPiecesThatAreNoPowerOfTwo) {
  EXPECT_SILENT(isolated([] {
    TlmAdapter::Options how;
    how.piece = 48;
    try {
      TlmAdapter adapter("adapter", how);
    } catch (const std::invalid_argument& e) {
      return std::string(e.what()).find("adapter: pieces of 48 bytes; give a power of two") == 0
                 ? std::string{}
                 : std::string(e.what());
    }
    return std::string("nothing was thrown");
  }));
}

}  // namespace
}  // namespace weft
