// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The C interface: checks what it is given, and turns exceptions into states and texts.

#include "network_interface/weft_net.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "configs/loader.h"
#include "network_interface/network.h"
#include "network_interface/remote/bindings.h"
#include "network_interface/remote/remote_hosts.h"

namespace net = weft::network_interface;

struct weft_net {
  std::unique_ptr<net::Network> network;
  std::unique_ptr<net::RemoteHosts> hosts;
  std::string error;
  std::string pending;
  bool failed = false;
};

namespace {

/// SystemC elaborates once a process.
bool opened = false;
std::string open_error;

int refuse(weft_net* of, const std::string& text) {
  of->error = text;
  return WEFT_NET_USAGE;
}

/// The error if the machine or a rank is not there; else WEFT_NET_OK.
int check(weft_net* of, const char* call) {
  if (of->failed) {
    if (of->error.find("(the simulation has failed") == std::string::npos)
      of->error += " (the simulation has failed; only weft_net_close() is left)";
    return WEFT_NET_FAILED;
  }
  if (call == nullptr || !of->network->calling()) return WEFT_NET_OK;
  return refuse(of, fmt::format("{}: called from a callback; return from the callback first", call));
}

int check_rank(weft_net* of, const char* call, const char* name, int rank) {
  if (rank >= 0 && static_cast<uint32_t>(rank) < of->network->ranks()) return WEFT_NET_OK;
  return refuse(of, fmt::format("{}: {} is {}; the machine has ranks 0 to {}", call, name, rank,
                                of->network->ranks() - 1));
}

/// f(), whose exceptions are this interface's errors.
template <typename F>
int guarded(weft_net* of, const char* call, F&& f) {
  const auto fail = [&](const std::string& text) {
    of->failed = true;
    of->error = fmt::format("{}: at {} ps: {}", call, net::Network::now(), text);
    return WEFT_NET_FAILED;
  };
  try {
    return f();
  } catch (const sc_core::sc_report& e) {
    return fail(e.get_msg());
  } catch (const std::exception& e) {
    return fail(e.what());
  } catch (...) {
    return fail("a callback has thrown something that is no std::exception");
  }
}

/// Throws UserError for options that are none.
weft_net_options checked(const weft_net_options* given) {
  weft_net_options options{sizeof(weft_net_options), WEFT_NET_DONE_ARRIVAL, WEFT_NET_MATCH_EXACT, nullptr};
  const auto fail = [](const std::string& text) { throw weft::UserError(weft::ExitCode::usage, text); };
  if (given == nullptr) return options;
  if (given->size != sizeof(weft_net_options))
    fail(
        fmt::format("weft_net_open: options.size is {} and this library's is {}; set it to "
                    "sizeof(weft_net_options), and compile with this library's header",
                    given->size, sizeof(weft_net_options)));
  options = *given;
  if (options.send_done != WEFT_NET_DONE_ARRIVAL && options.send_done != WEFT_NET_DONE_SENT)
    fail(fmt::format("weft_net_open: options.send_done is {}; use WEFT_NET_DONE_ARRIVAL or _SENT",
                     options.send_done));
  if (options.match != WEFT_NET_MATCH_EXACT && options.match != WEFT_NET_MATCH_BYTES)
    fail(
        fmt::format("weft_net_open: options.match is {}; use WEFT_NET_MATCH_EXACT or _BYTES", options.match));
  return options;
}

/// Builds the machine, and waits for the simulators that the configuration names.
void open(weft_net& made, const char* yaml, const weft_net_options* given) {
  const auto fail = [](const std::string& text) { throw weft::UserError(weft::ExitCode::usage, text); };
  if (yaml == nullptr) fail("weft_net_open: no configuration is named; give a file's path");
  const weft_net_options options = checked(given);
  if (opened) fail("weft_net_open: this process has had a machine; open the next one in another process");
  if (sc_core::sc_get_time_resolution() != sc_core::sc_time(1, sc_core::SC_PS))
    fail(fmt::format("weft_net_open: SystemC's time resolution is {}; Weft needs 1 ps",
                     sc_core::sc_get_time_resolution().to_string()));
  std::vector<std::string> keys;
  for (const char* const* key = options.set; key != nullptr && *key != nullptr; ++key)
    keys.emplace_back(*key);
  auto config = std::make_unique<weft::Config>(weft::load_config(yaml, keys));
  if (!config->plugins.empty())
    fail(fmt::format(
        "{}: key `plugins`: plugins are for the program `weft`, whose symbols they use; remove it", yaml));
  config->run.data = "none";  // messages of others have sizes only
  const auto bindings = net::remote_bindings(*config);
  opened = true;  // modules are built from here on
  made.network = std::make_unique<net::Network>(
      std::move(config),
      net::NetworkOptions{options.send_done == WEFT_NET_DONE_SENT, options.match == WEFT_NET_MATCH_BYTES});
  made.hosts = std::make_unique<net::RemoteHosts>(*made.network);
  for (const auto& [rank, channel] : bindings) made.hosts->join(rank, channel);
}

}  // namespace

weft_net* weft_net_open(const char* yaml, const weft_net_options* options) {
  try {
    auto made = std::make_unique<weft_net>();
    open(*made, yaml, options);
    open_error.clear();
    return made.release();
  } catch (const sc_core::sc_report& e) {
    open_error = e.get_msg();
  } catch (const std::exception& e) {
    open_error = e.what();
  }
  return nullptr;
}

int weft_net_close(weft_net* of) {
  if (of == nullptr) return WEFT_NET_OK;
  if (of->network->calling())
    return refuse(of, "weft_net_close: called from a callback; return from the callback first");
  std::vector<std::string> broken;
  if (!of->failed) broken = of->network->check();
  if (!broken.empty()) {
    of->error = fmt::format("weft_net_close: the model has lost something; please report this: {}",
                            fmt::join(broken, "; "));
    return WEFT_NET_FAILED;
  }
  delete of;
  return WEFT_NET_OK;
}

int weft_net_send(weft_net* of, int src, int dst, uint64_t bytes, int tag, weft_net_callback callback,
                  void* arg) {
  const char* const call = "weft_net_send";
  if (const int e = check(of, nullptr)) return e;
  if (const int e = check_rank(of, call, "src", src)) return e;
  if (const int e = check_rank(of, call, "dst", dst)) return e;
  return guarded(of, call, [&] {
    of->network->send(static_cast<uint32_t>(src), static_cast<uint32_t>(dst), bytes, tag, {callback, arg});
    return WEFT_NET_OK;
  });
}

int weft_net_recv(weft_net* of, int dst, int src, uint64_t bytes, int tag, weft_net_callback callback,
                  void* arg) {
  const char* const call = "weft_net_recv";
  if (const int e = check(of, nullptr)) return e;
  if (const int e = check_rank(of, call, "dst", dst)) return e;
  if (const int e = check_rank(of, call, "src", src)) return e;
  return guarded(of, call, [&] {
    of->network->receive(static_cast<uint32_t>(dst), static_cast<uint32_t>(src), bytes, tag, {callback, arg});
    return WEFT_NET_OK;
  });
}

int weft_net_schedule(weft_net* of, int64_t delta, weft_net_callback callback, void* arg) {
  if (const int e = check(of, nullptr)) return e;
  if (callback == nullptr) return refuse(of, "weft_net_schedule: callback is null; give a function");
  if (delta < 0 || delta > INT64_MAX - weft_net_now(of))
    return refuse(of, fmt::format("weft_net_schedule: delta is {} ps at {} ps; it must be >= 0, and the sum "
                                  "at most 2^63 - 1",
                                  delta, weft_net_now(of)));
  return guarded(of, "weft_net_schedule", [&] {
    of->network->schedule(net::Network::now() + static_cast<uint64_t>(delta), {callback, arg});
    return WEFT_NET_OK;
  });
}

int64_t weft_net_now(const weft_net* /*of*/) {
  return static_cast<int64_t>(net::Network::now());
}

int weft_net_ranks(const weft_net* of) {
  return static_cast<int>(of->network->ranks());
}

int weft_net_rank(const weft_net* of) {
  return of->network->rank();
}

int weft_net_dimensions(const weft_net* of) {
  const weft::Config& config = of->network->config();
  return config.graph != nullptr ? 0 : static_cast<int>(config.fabric_dimensions().size());
}

double weft_net_bandwidth(const weft_net* of, int dimension) {
  if (dimension < 0 || dimension >= weft_net_dimensions(of)) return -1;
  return of->network->config().fabric_dimensions()[static_cast<size_t>(dimension)].link_rate().value();
}

int weft_net_finish(weft_net* of, int rank) {
  if (const int e = check(of, nullptr)) return e;
  if (const int e = check_rank(of, "weft_net_finish", "rank", rank)) return e;
  if (of->network->finish(static_cast<uint32_t>(rank))) return WEFT_NET_OK;
  return refuse(of, fmt::format("weft_net_finish: rank {} has finished before; call it once a rank", rank));
}

int weft_net_run_until(weft_net* of, int64_t ps) {
  const char* const call = "weft_net_run_until";
  if (const int e = check(of, call)) return e;
  if (ps < weft_net_now(of))
    return refuse(of, fmt::format("{}: {} ps is in the past; it is {} ps", call, ps, weft_net_now(of)));
  return guarded(of, call, [&] {
    if (!of->hosts->empty()) return of->hosts->run_until(static_cast<uint64_t>(ps));
    return of->network->run_until(static_cast<uint64_t>(ps));
  });
}

int weft_net_step(weft_net* of) {
  if (const int e = check(of, "weft_net_step")) return e;
  if (!of->hosts->empty())
    return refuse(
        of,
        "weft_net_step: simulators have joined, and keep in step only with weft_net_run_until(); use that");
  return guarded(of, "weft_net_step", [&] { return of->network->step(); });
}

int weft_net_join(weft_net* of, int rank, const weft_net_remote* remote) {
  const char* const call = "weft_net_join";
  if (const int e = check(of, call)) return e;
  if (const int e = check_rank(of, call, "rank", rank)) return e;
  if (remote == nullptr || remote->size != sizeof(weft_net_remote))
    return refuse(of, fmt::format("{}: remote.size is {} and this library's is {}; set it to "
                                  "sizeof(weft_net_remote), and compile with this library's header",
                                  call, remote == nullptr ? 0 : remote->size, sizeof(weft_net_remote)));
  if (sc_core::sc_start_of_simulation_invoked())
    return refuse(of,
                  fmt::format("{}: the machine has run; join before the first weft_net_run_until()", call));
  if (of->hosts->has(static_cast<uint32_t>(rank)))
    return refuse(of, fmt::format("{}: rank {} has a simulator; a rank has one", call, rank));
  if (remote->latency < 0 || remote->sync_interval < 0 || remote->patience_ms < 0)
    return refuse(of, fmt::format("{}: latency is {} ps, sync_interval {} ps and patience_ms {}; none may be "
                                  "negative",
                                  call, remote->latency, remote->sync_interval, remote->patience_ms));
  net::ChannelOptions options;
  options.socket = remote->socket == nullptr ? "" : remote->socket;
  options.connects = remote->connects != 0;
  options.latency = static_cast<uint64_t>(remote->latency);
  options.sync_interval = static_cast<uint64_t>(remote->sync_interval);
  if (remote->patience_ms != 0) options.patience = std::chrono::milliseconds(remote->patience_ms);
  try {
    of->hosts->join(static_cast<uint32_t>(rank), options);
  } catch (const std::exception& e) {
    return refuse(of, fmt::format("{}: {}", call, e.what()));
  }
  return WEFT_NET_OK;
}

const char* weft_net_pending(weft_net* of) {
  of->pending = fmt::format("{}", fmt::join(of->network->pending(), "\n"));
  return of->pending.c_str();
}

const char* weft_net_error(const weft_net* of) {
  return of == nullptr ? open_error.c_str() : of->error.c_str();
}
