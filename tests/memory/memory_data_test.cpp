// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Memories that keep bytes, over a checked base-protocol hop: what was written comes back, with byte enables
// and streaming widths, by LT, AT and debug transport; what is wrong is answered as the standard says; and a
// memory that is timing only keeps nothing.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cosim/tlm/base_protocol_checker.h"
#include "sc_models/banked_hbm.h"
#include "sc_models/hbm.h"
#include "tests/support/isolated.h"
#include "tests/support/memory_initiators.h"

namespace weft {
namespace {

using cosim::BaseProtocolChecker;
using sc_core::sc_time;
using test::expect;
using test::Initiator;
using test::isolated;
using test::lines;

constexpr uint64_t kCapacity = 1 << 20;

std::unique_ptr<MemoryTarget> make(bool banked, uint32_t sockets) {
  if (banked)
    return std::make_unique<BankedHbm>("hbm", *find_dram_spec("HBM3"), 1, kCapacity, sockets, nullptr);
  return std::make_unique<Hbm>("hbm", MemoryTiming{{100'000'000'000, 1}, 50'000, kCapacity, 1.0}, sockets,
                               nullptr);
}

struct Bench {
  explicit Bench(bool banked, bool keeps = true)
      : initiator("initiator"), checker("checker"), memory(make(banked, 1)) {
    if (keeps) memory->keep_bytes();
    initiator.socket.bind(checker.target);
    checker.initiator.bind(memory->socket(0));
  }
  std::string run() {
    sc_core::sc_start();
    checker.finish();
    return lines(checker.violations()) + expect("outstanding", memory->outstanding(), 0) + text;
  }
  tlm::tlm_response_status transport(tlm::tlm_generic_payload& p) {
    sc_time delay;
    initiator.socket->b_transport(p, delay);
    sc_core::wait(delay);
    return p.get_response_status();
  }
  Initiator initiator;
  BaseProtocolChecker checker;
  std::unique_ptr<MemoryTarget> memory;
  std::string text;
};

/// A drawn access, and what it does to a plain array.
struct Drawn {
  explicit Drawn(std::mt19937_64& random) {
    write = random() % 2 != 0;
    length = 1 + static_cast<unsigned>(random() % (random() % 8 == 0 ? 9000 : 64));
    width = random() % 4 == 0 ? 1 + static_cast<unsigned>(random() % length) : length;
    address = random() % (random() % 2 != 0 ? 20'000 : kCapacity - 9'000);
    data.resize(length);
    for (unsigned char& byte : data) byte = static_cast<unsigned char>(random());
    if (random() % 3 != 0) return;
    enables.resize(1 + random() % 9);
    for (unsigned char& e : enables) e = random() % 2 != 0 ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
  }
  void fill(tlm::tlm_generic_payload& p) {
    p.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    p.set_address(address);
    p.set_data_ptr(data.data());
    p.set_data_length(length);
    p.set_streaming_width(width);
    p.set_byte_enable_ptr(enables.empty() ? nullptr : enables.data());
    p.set_byte_enable_length(static_cast<unsigned>(enables.size()));
    p.set_dmi_allowed(false);
    p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  }
  /// The data that the access leaves, byte for byte as the standard words it.
  std::vector<unsigned char> expected(std::vector<unsigned char>& bytes) const {
    std::vector<unsigned char> result = data;
    for (unsigned i = 0; i < length; ++i) {
      if (!enables.empty() && enables[i % enables.size()] != TLM_BYTE_ENABLED) continue;
      unsigned char& place = bytes[address + i % width];
      (write ? place : result[i]) = write ? data[i] : place;
    }
    return result;
  }
  bool write = false;
  unsigned length = 0, width = 0;
  uint64_t address = 0;
  std::vector<unsigned char> data, enables;
};

TEST(MemoryData, BlockingAccessesReadWhatWasWritten) {
  for (const bool banked : {false, true}) {
    EXPECT_SILENT(isolated([banked] {
      Bench b(banked);
      std::vector<unsigned char> bytes(kCapacity);
      b.initiator.script = [&] {
        std::mt19937_64 random(11);
        tlm::tlm_generic_payload p;
        for (int i = 0; i < 3'000; ++i) {
          Drawn access(random);
          access.fill(p);
          const std::vector<unsigned char> should = access.expected(bytes);
          b.text += expect("status", b.transport(p), tlm::TLM_OK_RESPONSE);
          if (access.data != should) b.text += "other bytes at access " + std::to_string(i) + "\n";
        }
        // Debug transport sees the same, takes no time and ends at the end of the memory.
        std::vector<unsigned char> all(kCapacity + 100);
        Initiator::fill(p, 0, static_cast<unsigned>(all.size()), all.data());
        b.text += expect("debug read", b.initiator.socket->transport_dbg(p), kCapacity);
        all.resize(kCapacity);
        if (all != bytes) b.text += "debug transport reads other bytes\n";
        unsigned char some[] = {1, 2, 3, 4};
        Initiator::fill(p, kCapacity - 2, 4, some);
        p.set_command(tlm::TLM_WRITE_COMMAND);
        b.text += expect("debug write", b.initiator.socket->transport_dbg(p), 2);
        Initiator::fill(p, kCapacity - 1, 1, some);
        b.transport(p);
        b.text += expect("byte", some[0], 2);
        Initiator::fill(p, kCapacity, 1, some);
        b.text += expect("debug beyond", b.initiator.socket->transport_dbg(p), 0);
      };
      return b.run();
    }));
  }
}

TEST(MemoryData, DebugTransportTakesNoTime) {
  EXPECT_SILENT(isolated([] {
    Bench b(true);
    b.initiator.script = [&] {
      unsigned char data[100] = {};
      tlm::tlm_generic_payload p;
      Initiator::fill(p, 5, 100, data);
      p.set_command(tlm::TLM_WRITE_COMMAND);
      b.text += expect("written", b.initiator.socket->transport_dbg(p), 100);
    };
    std::string text = b.run();
    return text + expect("time", sc_core::sc_time_stamp().value(), 0) + expect("bytes", b.memory->bytes(), 0);
  }));
}

TEST(MemoryData, AccessesInFlightSeeEachOtherInTheOrderOfTheirRequests) {
  for (const bool banked : {false, true}) {
    EXPECT_SILENT(isolated([banked] {
      Bench b(banked);
      std::vector<unsigned char> bytes(kCapacity);
      test::Manager manager;
      struct One {
        explicit One(std::mt19937_64& random, test::Manager& m) : access(random), payload(&m) {}
        Drawn access;
        std::vector<unsigned char> should;
        tlm::tlm_generic_payload payload;
      };
      std::vector<std::unique_ptr<One>> all;
      uint64_t answered = 0;
      b.initiator.answer = [&](tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_time&) {
        b.text += expect("status", p.get_response_status(), tlm::TLM_OK_RESPONSE);
        ++answered;
        phase = tlm::END_RESP;
        return tlm::TLM_UPDATED;
      };
      b.initiator.script = [&] {
        std::mt19937_64 random(17);
        for (int i = 0; i < 2'000; ++i) {
          all.push_back(std::make_unique<One>(random, manager));
          One& one = *all.back();
          one.should = one.access.expected(bytes);
          one.access.fill(one.payload);
          one.payload.acquire();
          tlm::tlm_phase phase = tlm::BEGIN_REQ;
          sc_time delay;
          b.initiator.socket->nb_transport_fw(one.payload, phase, delay);
          if (random() % 3 == 0) sc_core::wait(sc_time::from_value(random() % 100'000));
        }
        sc_core::wait(sc_time(1, sc_core::SC_MS));
        for (const auto& one : all) {
          if (one->access.data != one->should) b.text += "other bytes\n";
          one->payload.release();
        }
      };
      std::string text = b.run();
      return text + expect("answers", answered, 2'000);
    }));
  }
}

TEST(MemoryData, WhatIsWrongIsAnsweredAsTheStandardSays) {
  for (const bool banked : {false, true}) {
    EXPECT_SILENT(isolated([banked] {
      Initiator initiator("initiator");
      const std::unique_ptr<MemoryTarget> memory = make(banked, 1);
      memory->keep_bytes();
      initiator.socket.bind(memory->socket(0));
      std::string text;
      initiator.script = [&] {
        unsigned char data[64] = {};
        unsigned char enable = TLM_BYTE_ENABLED;
        const auto answer = [&](const char* what, tlm::tlm_response_status should,
                                const std::function<void(tlm::tlm_generic_payload&)>& change) {
          tlm::tlm_generic_payload p;
          Initiator::fill(p, 100, 64, data);
          change(p);
          sc_time delay;
          initiator.socket->b_transport(p, delay);
          text += expect(what, p.get_response_status(), should);
          if (should != tlm::TLM_OK_RESPONSE) text += expect("time of an error", delay.value(), 0);
        };
        answer("unaligned", tlm::TLM_OK_RESPONSE, [](auto& p) { p.set_address(12'345); });
        answer("the last byte", tlm::TLM_OK_RESPONSE, [](auto& p) { p.set_address(kCapacity - 64); });
        answer("length 0", tlm::TLM_BURST_ERROR_RESPONSE, [](auto& p) { p.set_data_length(0); });
        answer("streaming width 0", tlm::TLM_BURST_ERROR_RESPONSE, [](auto& p) { p.set_streaming_width(0); });
        answer("a byte beyond", tlm::TLM_ADDRESS_ERROR_RESPONSE,
               [](auto& p) { p.set_address(kCapacity - 63); });
        answer("far beyond", tlm::TLM_ADDRESS_ERROR_RESPONSE,
               [](auto& p) { p.set_address(~uint64_t{0} - 5); });
        answer("a stream at the end", tlm::TLM_OK_RESPONSE, [](auto& p) {
          p.set_address(kCapacity - 4);
          p.set_streaming_width(4);
        });
        answer("ignore", tlm::TLM_COMMAND_ERROR_RESPONSE,
               [](auto& p) { p.set_command(tlm::TLM_IGNORE_COMMAND); });
        answer("no data", tlm::TLM_GENERIC_ERROR_RESPONSE, [](auto& p) { p.set_data_ptr(nullptr); });
        answer("enables of length 0", tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE, [&](auto& p) {
          p.set_byte_enable_ptr(&enable);
          p.set_byte_enable_length(0);
        });
        answer("enables", tlm::TLM_OK_RESPONSE, [&](auto& p) {
          p.set_byte_enable_ptr(&enable);
          p.set_byte_enable_length(1);
        });
      };
      sc_core::sc_start();
      return text + expect("pages", memory->stored()->pages(), 0);
    }));
  }
}

TEST(MemoryData, NothingIsKeptUnlessAskedFor) {
  EXPECT_SILENT(isolated([] {
    Bench b(true, false);
    b.initiator.script = [&] {
      unsigned char data[64] = {7};
      tlm::tlm_generic_payload p;
      Initiator::fill(p, 0, 64, data);
      p.set_command(tlm::TLM_WRITE_COMMAND);
      b.text += expect("status", b.transport(p), tlm::TLM_OK_RESPONSE);
      data[0] = 9;
      Initiator::fill(p, 0, 64, data);
      b.text += expect("status", b.transport(p), tlm::TLM_OK_RESPONSE);
      b.text += expect("byte", data[0], 9);
      b.text += expect("debug", b.initiator.socket->transport_dbg(p), 0);
    };
    std::string text = b.run();
    return text + expect("store", b.memory->stored() == nullptr ? 0 : 1, 0);
  }));
}

TEST(MemoryData, TrafficWithoutBytesAllocatesNothing) {
  EXPECT_SILENT(isolated([] {
    test::Dma dma("dma", 4, 0);
    BankedHbm hbm("hbm", *find_dram_spec("HBM3"), 1, 0, 1, nullptr);
    hbm.keep_bytes();
    dma.dma.without_bytes();
    dma.dma.socket.bind(hbm.socket(0));
    dma.script = [&] { dma.dma.start(1, true, 64ull << 20); };
    sc_core::sc_start();
    return expect("ends", dma.done[1].size(), 1) + expect("bytes", hbm.bytes(), 64ull << 20) +
           expect("pages", hbm.stored()->pages(), 0);
  }));
}

/// A DMA that carries bytes, and what it said of its loads.
struct Tensors {
  Tensors(MemoryTarget& target, uint64_t capacity) : memory(target), dma("dma", 4, capacity), other("other") {
    memory.keep_bytes();
    dma.dma.carry_bytes(7, 0, [this](uint64_t bytes, const std::string& wrong) {
      ++loads;
      loaded += bytes;
      if (!wrong.empty()) said += wrong + "\n";
    });
    dma.dma.socket.bind(memory.socket(0));
    other.socket.bind(memory.socket(1));
  }
  MemoryTarget& memory;
  test::Dma dma;
  Initiator other;
  uint64_t loads = 0, loaded = 0;
  std::string said;
};

TEST(MemoryTensors, ComeBackAsTheyWereStored) {
  for (const bool banked : {false, true}) {
    for (const uint64_t capacity : {uint64_t{0}, uint64_t{1} << 20, uint64_t{100'003}}) {
      EXPECT_SILENT(isolated([&] {
        std::unique_ptr<MemoryTarget> memory;
        if (banked) {
          memory = std::make_unique<BankedHbm>("hbm", *find_dram_spec("HBM2"), 1, capacity, 2, nullptr);
        } else {
          memory = std::make_unique<Hbm>("hbm", MemoryTiming{{1'000'000'000'000ull, 1}, 1'000, capacity, 1.0},
                                         2, nullptr);
        }
        Tensors t(*memory, capacity);
        std::mt19937_64 random(banked ? 3 : 4);
        uint64_t loads = 0;
        t.dma.script = [&] {
          // Odd sizes, several under way, stores and loads in any order; the addresses go round.
          const uint64_t sizes[] = {1, 7, 64, 4'095, 4'097, 33'333, 99'999};
          for (uint32_t i = 0; i < 400; ++i) {
            const bool store = random() % 2 != 0;
            t.dma.dma.start(i, store, sizes[random() % 7]);
            if (!store) ++loads;
            if (random() % 3 == 0) sc_core::wait(sc_core::sc_time::from_value(random() % 100'000));
          }
        };
        sc_core::sc_start();
        return t.said + expect("loads", t.loads, loads) + expect("idle", t.dma.dma.idle(), 1);
      }));
    }
  }
}

TEST(MemoryTensors, MoreThanARequestAndMoreThanTheMemory) {
  EXPECT_SILENT(isolated([] {
    Hbm hbm("hbm", {{1'000'000'000'000ull, 1}, 0, 20'000'001, 1.0}, 2, nullptr);
    Tensors t(hbm, 20'000'001);
    t.dma.script = [&] {
      t.dma.dma.start(1, true, 9'000'001);  // three requests
      t.dma.dma.start(2, false, 9'000'001);
      t.dma.dma.start(3, false, 9'000'001);  // over the end of the memory
      t.dma.dma.start(4, true, 20'000'002);  // carries none
      t.dma.dma.start(5, false, 20'000'002);
      t.dma.dma.start(6, false, 9'000'001);
    };
    sc_core::sc_start();
    return t.said + expect("loads", t.loads, 3) + expect("bytes", t.loaded, 27'000'003);
  }));
}

TEST(MemoryTensors, AWrongByteIsToldWithPlaceAndTime) {
  const auto result = isolated([] {
    Hbm hbm("hbm", {{1'000'000'000'000ull, 1}, 1'000, 0, 1.0}, 2, nullptr);
    Tensors t(hbm, 0);
    t.dma.script = [&] {
      t.dma.dma.start(1, true, 5'000);
      sc_core::wait(sc_core::sc_time::from_value(100'000));
      unsigned char byte = 0;
      tlm::tlm_generic_payload p;
      Initiator::fill(p, 4'321, 1, &byte);
      t.other.socket->transport_dbg(p);
      byte = static_cast<unsigned char>(byte ^ 0x10);
      p.set_command(tlm::TLM_WRITE_COMMAND);
      t.other.socket->transport_dbg(p);
      t.dma.dma.start(2, false, 5'000);
    };
    sc_core::sc_start();
    return t.said;
  });
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(
      result.text.find("access 2: a tensor of 5000 B came back from memory with wrong bytes: byte 4321, "
                       "at address 9321, is 0x"),
      std::string::npos)
      << result.text;
  EXPECT_NE(result.text.find("at 106000 ps"), std::string::npos) << result.text;
}

TEST(MemoryTensors, TimesAreThoseWithoutBytes) {
  const auto times = [](bool bytes) {
    return isolated([&] {
      BankedHbm hbm("hbm", *find_dram_spec("HBM3"), 1, 1 << 20, 2, nullptr);
      test::Dma dma("dma", 4, 1 << 20);
      Initiator other("other");
      if (bytes) {
        hbm.keep_bytes();
        dma.dma.carry_bytes(1, 2, [](uint64_t, const std::string&) {});
      }
      dma.dma.socket.bind(hbm.socket(0));
      other.socket.bind(hbm.socket(1));
      dma.script = [&] {
        for (uint32_t i = 0; i < 60; ++i) dma.dma.start(i, i % 3 == 0, 1'000 + 777 * (i % 5));
      };
      sc_core::sc_start();
      std::string text;
      for (const auto& [token, at] : dma.done) text += std::to_string(at.at(0)) + " ";
      return text;
    });
  };
  const auto with = times(true), without = times(false);
  EXPECT_EQ(with.text, without.text);
  EXPECT_GT(with.text.size(), 60u);
}

TEST(DmaTensors, ALoadMeansTheLastOneThatWasNotLoaded) {
  DmaTensors t(1, 2, 1'000);
  EXPECT_EQ(t.find(100), DmaTensors::kNone);
  const uint64_t a = t.store(0, 100), b = t.store(100, 100), c = t.store(200, 50);
  EXPECT_EQ(t.find(100), b);
  EXPECT_EQ(t.find(100), a);
  EXPECT_EQ(t.find(100), b);  // all have been: the last one
  EXPECT_EQ(t.find(50), c);
  const uint64_t d = t.store(950, 200);  // over the end, on a and b
  EXPECT_EQ(t.size(), 2u);
  EXPECT_EQ(t.find(100), DmaTensors::kNone);
  t.move(d, 240);  // on c
  EXPECT_EQ(t.size(), 1u);
  EXPECT_EQ(t.address(d), 240u);
  unsigned char data[64];
  t.fill(d, 13, data, 64);
  EXPECT_EQ(t.first_wrong(d, 13, data, 64), 64u);
  EXPECT_EQ(t.byte(d, 20), data[7]);
  data[63] = static_cast<unsigned char>(~data[63]);
  EXPECT_EQ(t.first_wrong(d, 13, data, 64), 63u);
}

TEST(ByteStore, PagesOfZerosTakeNoRoom) {
  ByteStore store;
  std::vector<unsigned char> ones(10'000, 1), zeros(10'000, 0), back(10'000, 9);
  store.write(100, zeros.data(), zeros.size());
  EXPECT_EQ(store.pages(), 0u);
  store.write(100, ones.data(), ones.size());
  EXPECT_EQ(store.pages(), 3u);
  store.write(100, zeros.data(), zeros.size() - 1);
  EXPECT_EQ(store.pages(), 1u);
  store.write(10'099, zeros.data(), 1);
  EXPECT_EQ(store.pages(), 0u);
  store.read(100, back.data(), back.size());
  EXPECT_EQ(back, zeros);
}

TEST(ByteStore, PagesExistFromTheFirstWrite) {
  ByteStore store;
  unsigned char data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  unsigned char back[8] = {};
  store.read(1ull << 50, back, 8);
  EXPECT_EQ(store.pages(), 0u);
  store.write((1ull << 50) - 4, data, 8);
  EXPECT_EQ(store.pages(), 2u);
  store.read((1ull << 50) - 4, back, 8);
  EXPECT_TRUE(std::equal(data, data + 8, back));
}

}  // namespace
}  // namespace weft
