// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A machine whose ranks are somebody else's: what stands behind weft_net.h.

#ifndef WEFT_NETWORK_INTERFACE_NETWORK_H
#define WEFT_NETWORK_INTERFACE_NETWORK_H

#include <cstdint>
#include <exception>
#include <memory>
#include <queue>
#include <string>
#include <systemc>
#include <vector>

#include "configs/config.h"
#include "network_interface/match_table.h"
#include "network_interface/weft_net.h"
#include "sc_models/fabric_service.h"
#include "sc_models/machine.h"

namespace weft::network_interface {

struct NetworkOptions {
  bool done_when_sent = false;  ///< WEFT_NET_DONE_SENT
  bool merges = false;          ///< WEFT_NET_MATCH_BYTES
};

/// Calls the user's functions at their times, one after the other: the only process that does.
class Caller final : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Caller);
  explicit Caller(const sc_core::sc_module_name& name);

  /// At the absolute time `at` (>= now), after what was asked for this time before. `rank`: whose it is.
  void call(Picoseconds at, Callback callback, int rank) { add(at, callback, rank, true); }
  /// .. before everything that call() has for that time.
  void call_first(Picoseconds at, Callback callback, int rank) { add(at, callback, rank, false); }
  /// A function of the user's is running.
  bool calling() const { return calling_; }
  /// The rank of the running function; -1: none.
  int rank() const { return rank_; }
  /// The kernel has something to do at the time `at` (>= now), were it nothing.
  void arm(Picoseconds at);
  /// Nothing more is called; the kernel pauses.
  void stop();
  /// What a function has thrown; null: nothing.
  std::exception_ptr thrown() const { return thrown_; }

 private:
  struct Due {
    Picoseconds at = 0;
    uint64_t sequence = 0;
    Callback callback;
    int rank = -1;
    bool late = true;  ///< not by call_first()
    bool operator>(const Due& o) const {
      if (at != o.at) return at > o.at;
      return late != o.late ? late : sequence > o.sequence;
    }
  };
  void add(Picoseconds at, Callback callback, int rank, bool late);
  void process();
  void wake();

  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  uint64_t sequence_ = 0;
  bool calling_ = false;
  bool stopped_ = false;
  int rank_ = -1;
  std::exception_ptr thrown_;
  sc_core::sc_event wake_;
};

class Network final : private NmuClient {
 public:
  /// Throws UserError for a configuration that is wrong.
  Network(std::unique_ptr<Config> config, const NetworkOptions& options);
  ~Network() override;

  const Config& config() const { return *config_; }
  uint32_t ranks() const { return machine_.npus(); }
  bool calling() const { return caller_.calling(); }
  int rank() const { return caller_.rank(); }
  static Picoseconds now() { return sc_core::sc_time_stamp().value(); }

  // The ranks exist; times do not pass kNever.
  void send(uint32_t source, uint32_t destination, uint64_t bytes, int tag, Callback callback);
  void receive(uint32_t destination, uint32_t source, uint64_t bytes, int tag, Callback callback);
  void schedule(Picoseconds at, Callback callback) { caller_.call(at, callback, -1); }
  /// Something of outside comes to a rank at the time `at`, before everything of the same time.
  void enter(Picoseconds at, Callback callback, uint32_t rank) {
    caller_.call_first(at, callback, static_cast<int>(rank));
  }
  /// False: the rank has finished before.
  bool finish(uint32_t rank);
  bool finished() const { return unfinished_ == 0; }

  /// WEFT_NET_OK, _IDLE or _FINISHED. Throws what the simulation or a user's function has thrown. `until` is
  /// not in the past.
  int run_until(Picoseconds until);
  int step();

  std::vector<std::string> pending() const { return table_.waiting(); }
  /// Broken laws of conservation, when nothing is under way; else nothing.
  std::vector<std::string> check() const;

 private:
  /// A message under way.
  struct Message {
    uint32_t source = 0;
    uint32_t destination = 0;
    uint64_t bytes = 0;
    int tag = 0;
    uint64_t ordinal = 0;  ///< MatchTable::sent
    Callback callback;
  };
  void collective_done(NpuId, const collectives::CollectiveDone&) override {}
  void message_injected(NpuId rank, NpuId destination, const MessageId& id) override;
  void message_arrived(NpuId rank, const Completion& completion) override;

  uint32_t keep(const Message& message);
  void arrived(const Message& message);
  void call_all(uint32_t rank);
  int state() const;
  void advance(sc_core::sc_time by, sc_core::sc_starvation_policy policy);
  void settle();
  void begin();

  const std::unique_ptr<Config> config_;
  const NetworkOptions options_;
  Machine machine_;
  Caller caller_;
  MatchTable table_;
  std::vector<Message> messages_;  ///< by MessageId::stream
  std::vector<uint32_t> free_;     ///< places in messages_
  std::vector<Callback> complete_;
  std::vector<bool> has_finished_;
  uint32_t unfinished_ = 0;
};

}  // namespace weft::network_interface

#endif
