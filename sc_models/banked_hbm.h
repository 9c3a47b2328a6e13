// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// An NPU's HBM, model `banked`: stacks of channels with banks, rows and refresh. Small accesses are cut into
// bursts that the channels schedule one by one (DramChannel). A long sequential access is a stream: it uses
// every bank group of every channel, and its rate follows from the refresh alone
// (DramSpec::stream_efficiency). While it is alone in the memory it costs one event a piece instead of one a
// burst; beside small accesses it is simulated burst by burst like them. Streams of several initiators take
// turns, some pieces each.

#ifndef WEFT_SC_MODELS_BANKED_HBM_H
#define WEFT_SC_MODELS_BANKED_HBM_H

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "configs/dram_spec.h"
#include "sc_models/dram_channel.h"
#include "sc_models/dram_policies.h"
#include "sc_models/memory_target.h"

namespace weft {

class BankedHbm final : public MemoryTarget {
 public:
  /// `capacity` in bytes; 0: unlimited. One socket an initiator.
  BankedHbm(sc_core::sc_module_name name, std::shared_ptr<const DramDevice> device, uint32_t stacks,
            uint64_t capacity, uint32_t sockets, vcd::ProbeHub* probes);
  /// A device with the default policies.
  BankedHbm(sc_core::sc_module_name name, const DramSpec& spec, uint32_t stacks, uint64_t capacity,
            uint32_t sockets, vcd::ProbeHub* probes);

  Picoseconds busy() const override;
  void restart() override;

  /// Accesses of this many bytes and more are streams: eight bursts in every bank group.
  uint64_t stream_bytes() const { return stream_bytes_; }
  uint32_t channels() const { return stacks_ * spec_.channels; }
  /// Of the small accesses, since the last restart().
  DramChannel::Counters counters(uint32_t channel) const {
    return channels_.empty() ? DramChannel::Counters{} : channels_[channel].counters();
  }

 private:
  // Times of the protocol side are those of the simulation; all others count from the last restart().
  void begin(Ticket ticket, const Access& access, Picoseconds at) override;
  void work(Picoseconds time) override;
  void answer(Ticket ticket, Picoseconds at) {
    if (pending_[ticket].access.write) --open_writes_;
    if (causes_ != nullptr) tell_causes(ticket, at + origin_);
    finish(ticket, at + origin_);
  }

  /// For the causal log: an access is over at `at`.
  void tell_causes(Ticket ticket, Picoseconds at);

  /// What an initiator streams.
  struct Streams {
    std::deque<Ticket> waiting;
    uint64_t gone = 0;            ///< bytes of the first one that have gone, or are submitted
    uint64_t end = ~uint64_t{0};  ///< address behind the last one
  };
  Streams& streams() { return streams_[turn_]; }
  Ticket stream() const { return streams_[turn_].waiting.front(); }
  void take_turns();

  // Commands need not be issued when they are due, but before anybody can see a difference: before the next
  // request of their channel, and before what they move is there. So channels lag behind while there are
  // small accesses only, and catch up for many commands at a time. Not with per-bank refresh: what a refresh
  // has held may go at a time before it.
  bool may_lag() const {
    return streaming_clients_ == 0 && !streaming_ && !spec_.per_bank_refresh && probes_.empty() &&
           !bytes_probe_;
  }
  Picoseconds answer_after() const { return open_writes_ == 0 ? read_answer_ : any_answer_; }
  // Requests, too, need not be looked at when they come: no command that one leads to goes before it.
  bool may_collect() const { return may_lag() && streams_to_come_ == 0; }
  void arrivals_until(Picoseconds now);
  void catch_up(uint32_t channel, Picoseconds now, bool late);
  void begin_to_lag(Picoseconds now);
  void serve_lagging(Picoseconds now);
  Picoseconds when_due() const;
  void wake_when_due();

  void make_channels();
  void arrive(Ticket ticket, Picoseconds now);
  void serve_channel(uint32_t channel, Picoseconds now);
  void complete();
  void submit(Ticket ticket, uint64_t burst, bool write, Picoseconds now);
  bool in_detail() const;
  void count_bytes(uint32_t channel, uint64_t bytes, Picoseconds t);
  void count_stream(uint64_t address, uint64_t bytes);
  void feed_stream(Picoseconds now);
  void begin_piece(Picoseconds now);
  Picoseconds rows_ready(uint64_t address, uint64_t bytes, bool write) const;
  Picoseconds row_ready(uint64_t address, bool write) const;
  void note_rows(uint64_t address, uint64_t bytes, bool write, Picoseconds start);
  void open_next_rows();
  void end_stream();

  struct Pending {
    Access access;
    uint64_t bursts = 0;   ///< submitted and not yet complete
    bool to_come = false;  ///< not all of it is submitted
    bool late = false;     ///< it is made when it comes: after the commands of this time
    Picoseconds last = 0;  ///< latest completion so far
  };

  const std::shared_ptr<const DramDevice> device_;
  const DramSpec& spec_;
  const uint32_t stacks_;
  const uint64_t stream_bytes_;
  const uint64_t piece_bytes_;         ///< of a stream: a row in every bank group
  const bool shortcut_;                ///< of streams: possible
  const double stream_rate_;           ///< bytes a picosecond
  std::vector<DramChannel> channels_;  ///< none before the first small access
  std::vector<Picoseconds> next_;      ///< command, by channel; not later than that
  bool lagging_ = false;
  std::vector<uint64_t> caught_up_;  ///< by channel: 2 x instant, + 1 if late requests were served, too
  uint64_t instant_ = 0;             ///< number of those at which requests came
  Picoseconds due_ = 0;              ///< lagging channels have to catch up
  const Picoseconds read_answer_, any_answer_;  ///< from a command to its answer, at least
  uint64_t open_writes_ = 0;                    ///< accesses that are announced and not over
  std::vector<Pending> pending_;                ///< by ticket
  fabric::TimedQueue<Ticket, uint64_t> arrivals_;
  uint64_t arrived_ = 0;
  std::vector<DramChannel::Completion> done_;
  Picoseconds origin_ = 0;

  std::vector<Streams> streams_;    ///< by initiator
  uint32_t streaming_clients_ = 0;  ///< that have some
  uint32_t streams_to_come_ = 0;    ///< announced
  uint32_t turn_ = 0;               ///< whose stream goes, or went last
  uint64_t turn_bytes_ = 0;         ///< .. in this turn
  uint64_t fed_ = 0;                ///< bursts of streams
  uint64_t fed_issued_ = 0;         ///< .. and of them issued
  uint64_t small_ = 0;              ///< small accesses so far, and short streams elsewhere
  uint64_t small_seen_ = 0;         ///< .. that the stream has been changed to burst by burst for
  uint64_t stay_ = 0;               ///< bursts of streams up to which it stays so
  bool rows_open_ = false;          ///< the rows that the stream needs next, since its last piece
  Picoseconds stream_until_ = 0;    ///< end of the current piece
  Picoseconds burst_until_ = 0;     ///< data of the bursts is on the pins until then
  bool streaming_ = false;
  bool stream_writes_ = false;  ///< direction of the last stream
  /// What a stream has left open in the banks that have one place in all groups.
  struct StreamedRow {
    uint64_t row = ~uint64_t{0};
    Picoseconds used = 0;  ///< last
    bool written = false;
  };
  std::vector<StreamedRow> streamed_rows_;  ///< by bank in its group
  uint64_t stream_end_ = ~uint64_t{0};      ///< address behind the last piece
  uint64_t submitted_ = 0;                  ///< bursts
  uint64_t issued_ = 0;
  Picoseconds stream_time_ = 0;
  uint64_t moved_ = 0;  ///< bytes

  struct ChannelProbes {
    vcd::Probe queue, hits, bytes;
    uint64_t moved = 0;
  };
  std::vector<ChannelProbes> probes_;
};

}  // namespace weft

#endif
