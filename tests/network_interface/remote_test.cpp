// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// weft_net_join(): simulators of hosts in other processes at ranks of a machine. Times against closed forms,
// the same results however fast the others are, and every way in which the other side can fail.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "network_interface/weft_net.h"
#include "tests/network_interface/remote_peer.h"
#include "tests/support/isolated.h"

namespace {

using weft::test::isolated;
using weft::test::RemotePeer;
using Frame = RemotePeer::Frame;

constexpr uint64_t kHop = 300000;  // ps
constexpr uint64_t kByte = 20;     // ps, 50 GB/s

std::string file_name(const char* what) {
  return fmt::format("remote_{}_{}", what, getpid());
}

/// A process that runs a peer. What it returns is its text.
class Process {
 public:
  explicit Process(const std::function<std::string()>& run) {
    if (pipe(ends_) != 0) throw std::runtime_error("no pipe");
    child_ = fork();
    if (child_ != 0) {
      close(ends_[1]);
      return;
    }
    alarm(60);
    const std::string text = run();
    if (write(ends_[1], text.data(), text.size()) < 0) _exit(1);
    _exit(0);
  }
  std::string join() {
    std::string text;
    char buffer[4096];
    for (ssize_t n = 0; (n = read(ends_[0], buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<size_t>(n));
    close(ends_[0]);
    int status = 0;
    waitpid(child_, &status, 0);
    return WIFSIGNALED(status) ? fmt::format("{}killed by signal {}", text, WTERMSIG(status)) : text;
  }
  void kill() const { ::kill(child_, SIGKILL); }

 private:
  int ends_[2] = {-1, -1};
  pid_t child_ = -1;
};

/// Null on failure. `more`: keys.
weft_net* try_open_ring(const std::string& more) {
  const std::string path = file_name("machine.yaml");
  std::ofstream(path)
      << "weft: 1\ntopology: {notation: Ring(4), dimensions: [{bandwidth: 50 GB/s, latency: 300 ns, "
         "fidelity: message}]}\nnmu: {endpoint_delay: 0 ns}\n"
      << more;
  weft_net* const net = weft_net_open(path.c_str(), nullptr);
  std::remove(path.c_str());
  return net;
}

weft_net* open_ring() {
  weft_net* const net = try_open_ring("");
  if (net == nullptr) throw std::runtime_error(weft_net_error(nullptr));
  return net;
}

weft_net_remote remote(const std::string& path, bool connects, int64_t latency = 500000, int64_t interval = 0,
                       int64_t patience = 20000) {
  return {sizeof(weft_net_remote), path.c_str(), connects ? 1 : 0, latency, interval, patience};
}

Frame frame(uint8_t to, uint8_t from, size_t bytes) {
  Frame made(bytes);
  made[5] = to;
  made[11] = from;
  for (size_t i = 12; i < bytes; ++i) made[i] = static_cast<uint8_t>(i * 7 + from);
  return made;
}

bool open_peer(RemotePeer& peer, const std::string& path, bool listens) {
  return listens ? peer.listen(path) && peer.introduce_as_listener()
                 : peer.connect(path) && peer.introduce_as_connector();
}

/// Answers each frame at once.
std::string echo(const RemotePeer::Options& options, const std::string& path, bool listens) {
  RemotePeer peer(options);
  if (!open_peer(peer, path, listens)) return "no channel";
  peer.received = [&](const Frame& f) {
    Frame back = f;
    std::swap_ranges(back.begin(), back.begin() + 6, back.begin() + 6);
    peer.send(back);
  };
  peer.run(100000000);
  peer.terminate();
  return "";
}

/// Sends frames and says when each is back.
std::string ping(const RemotePeer::Options& options, const std::string& path, bool listens,
                 const std::vector<size_t>& sizes) {
  RemotePeer peer(options);
  if (!open_peer(peer, path, listens)) return "no channel";
  std::string text;
  uint64_t began = 0;
  size_t next = 0;
  const auto send = [&] {
    began = peer.now();
    peer.send(frame(2, 1, sizes[next++]));
  };
  peer.received = [&](const Frame& f) {
    Frame expected = frame(2, 1, f.size());
    std::swap_ranges(expected.begin(), expected.begin() + 6, expected.begin() + 6);
    if (f != expected) text += "other bytes ";
    text += fmt::format("{} ", peer.now() - began);
    if (next < sizes.size()) send();
  };
  peer.at(1234567, send);
  peer.run(100000000);
  peer.terminate();
  return text;
}

TEST(Remote, PingPongIsTheSumOfItsLinks) {
  const std::vector<size_t> sizes{14, 64, 900};
  for (const bool listens : {false, true}) {
    for (const int64_t interval : {500000, 170000, 1}) {
      if (interval == 1 && listens) continue;
      EXPECT_SILENT(isolated([&]() -> std::string {
        const std::string a = file_name("a"), b = file_name("b");
        RemotePeer::Options options;
        options.latency = 700000;
        options.sync_interval = static_cast<uint64_t>(interval == 1 ? 500000 : interval);
        Process pinger([&] { return ping(options, a, listens, sizes); });
        Process other([&] { return echo(options, b, listens); });
        weft_net* const net = open_ring();
        const weft_net_remote first = remote(a, listens, 400000, interval == 1 ? 3000 : interval / 2);
        const weft_net_remote second = remote(b, listens, 400000, interval == 1 ? 3000 : 0);
        if (weft_net_join(net, 0, &first) != WEFT_NET_OK || weft_net_join(net, 2, &second) != WEFT_NET_OK)
          return weft_net_error(net);
        const int state = weft_net_run_until(net, WEFT_NET_FOREVER);
        std::string expected;
        for (const size_t bytes : sizes)
          expected += fmt::format("{} ", 2 * (700000 + 2 * kHop + bytes * kByte + 400000));
        const std::string got = pinger.join();
        std::string wrong = got == expected ? "" : fmt::format("{}, not {}\n", got, expected);
        if (state != WEFT_NET_IDLE) wrong += fmt::format("state {}: {}\n", state, weft_net_error(net));
        if (weft_net_close(net) != WEFT_NET_OK) wrong += "close";
        if (std::filesystem::exists(a) || std::filesystem::exists(b)) wrong += "a socket is left\n";
        return wrong + other.join();
      }));
    }
  }
}

/// Ranks 0 and 2 are bound by the configuration: its folder has the sockets.
TEST(Remote, BindingsOfTheConfigurationJoinWhenTheMachineOpens) {
  const std::vector<size_t> sizes{14, 900};
  for (const bool listens : {false, true}) {
    EXPECT_SILENT(isolated([&]() -> std::string {
      const std::string stem = file_name("bound");
      RemotePeer::Options options;
      options.latency = 700000;
      Process pinger([&] { return ping(options, stem + "0", listens, sizes); });
      Process other([&] { return echo(options, stem + "2", listens); });
      weft_net* const net = try_open_ring(fmt::format(
          "implementations:\n  - modules: npu[02]\n    binding: remote(socket={}{{rank}}, weft={}, "
          "latency=400 ns, sync_interval=170 ns, patience=20 s)\n",
          stem, listens ? "connects" : "listens"));
      if (net == nullptr) return weft_net_error(nullptr);
      const weft_net_remote again = remote("x", false);
      if (weft_net_join(net, 2, &again) != WEFT_NET_USAGE) return "joined twice";
      const int state = weft_net_run_until(net, WEFT_NET_FOREVER);
      std::string expected;
      for (const size_t bytes : sizes)
        expected += fmt::format("{} ", 2 * (700000 + 2 * kHop + bytes * kByte + 400000));
      const std::string got = pinger.join();
      std::string wrong = got == expected ? "" : fmt::format("{}, not {}\n", got, expected);
      if (state != WEFT_NET_IDLE) wrong += fmt::format("state {}: {}\n", state, weft_net_error(net));
      if (weft_net_close(net) != WEFT_NET_OK) wrong += "close";
      return wrong + other.join();
    }));
  }
}

TEST(Remote, BindingsThatCannotBeAreRefusedWithTheirKey) {
  const auto expect = [](const std::string& binding, const std::string& why, const char* modules = "npu3") {
    const auto result = isolated([&]() -> std::string {
      weft_net* const net = try_open_ring(
          fmt::format("implementations: [{{modules: \"{}\", binding: \"{}\"}}]\n", modules, binding));
      if (net != nullptr) return "opened";
      return weft_net_error(nullptr);
    });
    EXPECT_EQ(result.status, 0);
    EXPECT_NE(result.text.find(why), std::string::npos) << "not '" << why << "': " << result.text;
    EXPECT_NE(result.text.find("implementations[0]"), std::string::npos) << result.text;
  };
  expect("remote", "parameter `socket` of remote: is missing");
  expect("remote(socket=a, latency=0 ns)", "`latency` of remote: is 0");
  expect("remote(socket=a, latency=1 ns, sync_interval=2 ns)", "`sync_interval` of remote: is longer");
  expect("remote(socket=a, weft=waits)", "'waits' is not one of listens and connects");
  expect("remote(socket=a, patience=1 us)", "`patience` of remote: is less than 1 ms");
  expect("remote(socket=a, port=1)", "remote has no parameter 'port'");
  expect("remote(socket=a)", "ranks 0 and 1 have one socket", "npu*");
  expect("remote(socket=a)", "applies to no module", "nmu*");
  const auto nobody = isolated([]() -> std::string {
    const bool open = try_open_ring(
        "implementations: [{modules: npu*, binding: \"remote(socket=nobody{rank}, patience=50 ms)\"}]\n");
    return open ? "opened" : weft_net_error(nullptr);
  });
  EXPECT_NE(nobody.text.find("rank 0"), std::string::npos) << nobody.text;
  EXPECT_NE(nobody.text.find("no simulator has come for 50 ms"), std::string::npos) << nobody.text;
}

/// Three simulators send frames to each other at drawn times; what each receives, and when.
std::string traffic(uint32_t jitter, bool steps) {
  std::vector<std::string> paths;
  std::vector<std::unique_ptr<Process>> peers;
  for (uint8_t rank = 0; rank < 3; ++rank) {
    paths.push_back(file_name(fmt::format("t{}", rank).c_str()));
    peers.push_back(std::make_unique<Process>([&, rank] {
      RemotePeer::Options options;
      options.jitter = jitter == 0 ? 0 : jitter + rank;
      RemotePeer peer(options);
      if (!open_peer(peer, paths[rank], false)) return std::string("no channel");
      std::string log;
      std::mt19937 draw(rank);
      peer.received = [&](const Frame& f) { log += fmt::format("{}:{}:{} ", peer.now(), f[11], f.size()); };
      for (int i = 0; i < 200; ++i) {
        // At few times, those of sync messages: many frames have one stamp.
        const uint64_t at = draw() % 40 * 500000;
        const auto to = static_cast<uint8_t>(draw() % 4);  // 3: nobody's, goes to all
        const size_t bytes = 20 + draw() % 1000;
        peer.at(at, [&peer, to, rank, bytes] { peer.send(frame(to, rank, bytes)); });
      }
      peer.run(40000000);
      peer.terminate();
      return log;
    }));
  }
  weft_net* const net = open_ring();
  for (int rank = 0; rank < 3; ++rank) {
    const weft_net_remote at = remote(paths[static_cast<size_t>(rank)], false);
    if (weft_net_join(net, rank, &at) != WEFT_NET_OK) return weft_net_error(net);
  }
  int state = WEFT_NET_OK;
  for (int64_t t = 777777; steps && t < 30000000 && state == WEFT_NET_OK; t += 777777)
    state = weft_net_run_until(net, t);
  if (state == WEFT_NET_OK) state = weft_net_run_until(net, WEFT_NET_FOREVER);
  std::string text = state == WEFT_NET_IDLE ? "" : weft_net_error(net);
  weft_net_close(net);
  for (const auto& peer : peers) text += peer->join() + "\n";
  return text;
}

TEST(Remote, ResultsDoNotDependOnWhoIsFaster) {
  const auto calm = isolated([] { return traffic(0, false); });
  ASSERT_EQ(calm.status, 0) << calm.text;
  EXPECT_GT(std::count(calm.text.begin(), calm.text.end(), ':'), 2 * 600) << calm.text;
  for (uint32_t jitter = 10; jitter <= 40; jitter += 10) {
    const auto other = isolated([jitter] { return traffic(jitter, jitter > 20); });
    EXPECT_EQ(other.status, 0);
    EXPECT_EQ(other.text, calm.text);
  }
}

/// The error of a join, and what it has left behind.
std::string refused(const weft_net_remote& with) {
  weft_net* const net = open_ring();
  const auto files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                         std::filesystem::directory_iterator());
  };
  const auto before = files();
  std::string text = weft_net_join(net, 3, &with) == WEFT_NET_USAGE ? weft_net_error(net) : "joined";
  if (files() != before) text += " [left descriptors]";
  if (weft_net_run_until(net, 1000) < 0) text += " [the machine does not run]";
  weft_net_close(net);
  return text;
}

void expect_refusal(const weft_net_remote& with, const std::string& why,
                    const std::function<void()>& peer = {}) {
  const auto result = isolated([&] {
    if (!peer) return refused(with);
    Process other([&] {
      peer();
      return std::string();
    });
    const std::string text = refused(with);
    other.join();
    return text;
  });
  EXPECT_NE(result.text.find(why), std::string::npos) << "not '" << why << "': " << result.text;
  EXPECT_NE(result.text.find("rank 3"), std::string::npos) << result.text;
  EXPECT_EQ(result.text.find(" ["), std::string::npos) << result.text;
  EXPECT_FALSE(std::filesystem::is_socket(with.socket)) << why;
}

TEST(Remote, WhatDoesNotFitIsRefusedAndLeavesNothing) {
  const std::string path = file_name("refused");
  expect_refusal(remote(path, false, 0), "latency is 0");
  expect_refusal(remote(path, false, 500, 501), "sync interval is 501 ps");
  expect_refusal(remote("", false), "no socket is named");
  expect_refusal(remote(std::string(200, 'x'), false), "107 bytes");
  expect_refusal(remote("/no/such/folder/socket", false), "cannot be made");
  expect_refusal(remote(path, false, 500000, 0, 50), "no simulator has come for 50 ms");
  expect_refusal(remote(path, true, 500000, 0, 50), "no simulator listens for 50 ms");
  std::ofstream(path) << "taken";
  expect_refusal(remote(path, false), "there already");
  std::remove(path.c_str());
  for (const bool listens : {false, true}) {
    const auto peer = [&, listens](const RemotePeer::Options& options, bool introduces, uint64_t cut) {
      RemotePeer other(options);
      if (!(listens ? other.listen(path) : other.connect(path))) return;
      if (introduces) {
        listens ? other.introduce_as_listener(cut) : other.introduce_as_connector();
      } else if (cut != 0) {
        other.until_closed();
      }
    };
    RemotePeer::Options version, flags, upper;
    version.version = 2;
    flags.flags = 0;
    upper.upper = 2;
    expect_refusal(remote(path, listens), "version 2 of the protocol", [&] { peer(version, true, 0); });
    expect_refusal(remote(path, listens), "does not synchronise", [&] { peer(flags, true, 0); });
    expect_refusal(remote(path, listens), "upper layer is 2", [&] { peer(upper, true, 0); });
    expect_refusal(remote(path, listens), "has gone before", [&] { peer({}, false, 0); });
    expect_refusal(remote(path, listens, 500000, 0, 2000), "not introduced itself for 2000 ms",
                   [&] { peer({}, false, 1); });
    if (listens) expect_refusal(remote(path, true), "do not fit", [&] { peer({}, true, 4096); });
  }
}

/// The error of a run whose peer does `what` after 5 us.
std::string broken(const std::function<void(RemotePeer&)>& what, int64_t patience = 20000) {
  const std::string path = file_name("broken");
  Process other([&] {
    RemotePeer peer({});
    if (!open_peer(peer, path, false)) return std::string("no channel");
    peer.run(5000000);
    what(peer);
    return std::string();
  });
  weft_net* const net = open_ring();
  const weft_net_remote at = remote(path, false, 500000, 0, patience);
  if (weft_net_join(net, 1, &at) != WEFT_NET_OK) return weft_net_error(net);
  std::string text =
      weft_net_run_until(net, WEFT_NET_FOREVER) == WEFT_NET_FAILED ? weft_net_error(net) : "no error";
  weft_net_close(net);
  other.kill();
  other.join();
  return text;
}

TEST(Remote, AMisbehavingSimulatorEndsTheRun) {
  const auto expect = [](const weft::test::Isolated& result, const std::string& why) {
    EXPECT_NE(result.text.find(why), std::string::npos) << "not '" << why << "': " << result.text;
    EXPECT_NE(result.text.find("simulator at rank 1, remote_broken_"), std::string::npos) << result.text;
    EXPECT_NE(result.text.find("ps"), std::string::npos) << result.text;
  };
  const uint64_t stamp = 5500000;  // of its last sync message
  expect(isolated([] { return broken([](RemotePeer&) { _exit(0); }); }), "ended without saying so");
  expect(isolated([] { return broken([](RemotePeer&) { raise(SIGKILL); }); }), "ended without saying so");
  expect(isolated([] { return broken([](RemotePeer&) { pause(); }, 2000); }),
         "nothing has come from it for 2000 ms");
  const auto puts = [&](uint8_t type, uint64_t at, size_t bytes, size_t length) {
    return isolated([=] {
      return broken([=](RemotePeer& peer) {
        peer.put(type, at, Frame(bytes), length);
        peer.run(50000000);
      });
    });
  };
  expect(puts(0x40, 7, 60, 60), "time stamp 7 ps; stamps must not fall");
  expect(puts(0x41, stamp, 60, 60), "type 0x41");
  expect(puts(0x40, stamp, 60, 2000), "a frame says that it has 2000 bytes");
  expect(puts(0x40, stamp, 11, 11), "a frame has 11 bytes");
}

/// Both sides run only to before the other's stamp, and have to speak before they are due.
TEST(Remote, TwoMachinesKeepInStep) {
  EXPECT_SILENT(isolated([]() -> std::string {
    const std::string path = file_name("two");
    const auto run = [&](bool connects) -> std::string {
      weft_net* const net = open_ring();
      const weft_net_remote at = remote(path, connects, 500000, 0, 20000);
      if (weft_net_join(net, 0, &at) != WEFT_NET_OK) return weft_net_error(net);
      std::string text;
      for (int64_t t = 0; t <= 30000000; t += 300000)
        if (weft_net_run_until(net, t) < 0) return weft_net_error(net);
      weft_net_close(net);
      return text;
    };
    Process other([&] { return run(true); });
    const std::string text = run(false);
    return text + other.join();
  }));
}

TEST(Remote, AfterTheEndOfOneSideTheOtherRunsFreely) {
  EXPECT_SILENT(isolated([]() -> std::string {
    const std::string path = file_name("free");
    Process other([&] {
      RemotePeer peer({});
      if (!open_peer(peer, path, false)) return std::string("no channel");
      peer.run(1000000000);
      return std::string(peer.ended() ? "" : "has not been told");
    });
    weft_net* const net = open_ring();
    const weft_net_remote at = remote(path, false);
    if (weft_net_join(net, 1, &at) != WEFT_NET_OK) return weft_net_error(net);
    if (weft_net_join(net, 1, &at) != WEFT_NET_USAGE) return "joined twice";
    if (weft_net_step(net) != WEFT_NET_USAGE) return "stepped";
    if (weft_net_run_until(net, 3000000) != WEFT_NET_OK) return weft_net_error(net);
    if (weft_net_now(net) != 3000000) return "another time";
    weft_net_close(net);
    return other.join();
  }));
}

}  // namespace
