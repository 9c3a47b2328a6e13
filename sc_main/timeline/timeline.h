// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The timeline of a run: what each NPU, NMU, link and memory does when, with arrows from where a message is
// sent to where it is received. It listens to the causal log's activities and to a few signals, and writes as
// the run goes on (trace_file.h).

#ifndef WEFT_SC_MAIN_TIMELINE_TIMELINE_H
#define WEFT_SC_MAIN_TIMELINE_TIMELINE_H

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "insight/activity_listener.h"
#include "insight/causal_log.h"
#include "sc_main/timeline/overview.h"
#include "sc_main/timeline/trace_file.h"
#include "vcd/probe_hub.h"

namespace weft::timeline {

struct Options {
  std::string path;
  Picoseconds from = 0;  ///< what touches [from, to] is recorded, whole
  Picoseconds to = kNever;
  uint64_t budget = uint64_t{64} << 20;  ///< of the file
};

/// A job on the machine, for the names of its NPUs and collectives.
struct Job {
  std::string name;            ///< empty: there is one only
  std::vector<uint32_t> npus;  ///< by rank
  uint32_t first_stream = 1;   ///< number of its first collective in the machine
};

/// Detail. The file begins with a slice for each thing. When it has used a share of its budget, things of one
/// kind after the other are summed up: a slice then stands for all of a row's things that follow each other
/// within a stretch of time, with their count and sums. Stretches grow as the budget goes, at last to the end
/// of the run, so that the file holds every row to its end, and its sums are those of the run.
class Timeline final : public insight::ActivityListener, public vcd::ProbeListener {
 public:
  /// Opens the file; errors are TraceFile's.
  explicit Timeline(const Options& options);
  /// Ends the file where the last thing that was told ended, if close() has not been called.
  ~Timeline() override;

  /// Tells names of its links. Before the machine is built; it outlives the timeline's events.
  void read_links(const insight::CausalLog& log) { log_ = &log; }
  /// Joins the hub, for states and queues. Before the machine is built.
  void listen(vcd::ProbeHub& probes) { probes.join(*this); }
  /// A remark in the file, beside what it says of itself.
  void remark(const std::string& text);
  /// Before the run, in the order of their streams.
  void add_job(const Job& job);
  /// The run begins: the machine is built.
  void begin();
  /// The run is over at `end`. What has not ended is marked. The file gets its name.
  void close(Picoseconds end);

  /// What is summed up or left out of the file, in words; empty: nothing. After close().
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// See TraceFile.
  const std::string& failure() const { return file_.failure(); }
  bool failed_of_disk() const { return file_.of_disk(); }

  // ActivityListener
  void node_began(const Node& node) override;
  void node_ended(uint32_t npu, uint32_t index, Picoseconds at) override;
  void collective_began(const Part& part) override;
  void collective_ended(uint32_t npu, uint32_t stream, Picoseconds at) override;
  void phase_began(const Phase& phase) override;
  void phase_ended(const Phase& phase) override;
  void submitted(uint32_t packet) override;
  void crossed(const Crossing& crossing) override;
  void entered(uint32_t packet, uint32_t what, uint32_t from, uint64_t bytes, Picoseconds at) override;
  void delivered(const Delivery& delivery) override;
  void combined(uint32_t packet, uint32_t what, Picoseconds at) override;

  // ProbeListener
  bool wants(std::string_view name) override;
  vcd::SignalId declared(const vcd::Signal& signal) override;
  void changed(vcd::Time t, vcd::SignalId signal, uint64_t value) override;
  void changed(vcd::Time, vcd::SignalId, double) override {}
  void changed(vcd::Time, vcd::SignalId, std::string_view) override {}
  vcd::FutureHandle expected(vcd::Time t, vcd::SignalId signal, uint64_t value) override;
  vcd::FutureHandle expected(vcd::Time, vcd::SignalId, double) override { return {}; }
  vcd::FutureHandle expected(vcd::Time, vcd::SignalId, std::string_view) override { return {}; }
  bool revoked(const vcd::FutureHandle&) override { return false; }
  void counted(const vcd::Steps&, vcd::SignalId, int) override {}

 private:
  /// What is summed up together, in the order in which it comes to that.
  enum class Kind : uint8_t { counters, messages, phases, nodes, collectives };
  static constexpr uint32_t kKinds = 5;
  /// Rows of an NPU, from the top.
  enum RowOfNpu : uint32_t {
    kState,
    kCompute,
    kMemory,
    kCommunication,
    kCollectives,
    kPhases,
    kSent,
    kReceived,
    kOutstanding,
    kRowsOfNpu
  };
  static constexpr uint32_t kNoNpu = ~uint32_t{0};
  /// One line of the picture, or several where things overlap. There are many, so it is small.
  struct Lane {
    Picoseconds until = 0;  ///< taken
    TrackId track = 0;      ///< 0: none yet
  };
  /// Things of a row that are summed up. Of a counter: a value that is not written yet.
  struct Sums {
    TrackId track = 0;
    Picoseconds last = 0;  ///< the end of the last slice of them
    Picoseconds begin = 0;
    Picoseconds end = 0;
    uint64_t count = 0;  ///< 0: none
    uint64_t bytes = 0;
    Picoseconds busy = 0;
    std::array<Picoseconds, 4> states{};
    uint64_t value = 0;
  };
  enum class Shown : uint8_t { unknown, yes, no };
  struct Row {
    const char* name = "";
    uint32_t link = 0;      ///< of a link: its number in the log, which gives its name
    uint32_t npu = kNoNpu;  ///< in whose folder it is; none: `owner`'s
    uint32_t owner = 0;     ///< in owners_
    uint32_t rank = 0;      ///< in its folder
    TrackId folder = 0;
    Kind kind = Kind::messages;
    Shown shown = Shown::unknown;  ///< is it in the file?
    bool counter = false;
    bool of_bytes = false;  ///< .. a counter of them
    bool alone = false;     ///< its things never overlap: sums stand in the same line
    Lane first;
    std::unique_ptr<std::vector<Lane>> more;  ///< null: it has one line
    std::unique_ptr<Sums> sums;               ///< null: nothing was ever summed up
  };
  /// What rows are of that are no NPU's: a switch, a memory.
  struct Owner {
    std::string name;
    bool memory = false;
    TrackId folder = 0;
  };
  /// A thing that has begun.
  struct Open {
    Row* row = nullptr;
    uint32_t lane = 0;
    bool fine = false;  ///< it has a lane
    Picoseconds begin = 0;
    EventName name;
    std::unique_ptr<std::string> text;  ///< of a name without number
    uint64_t number = 0;                ///< of the collective, or the node's id
    uint64_t bytes = 0;
    uint32_t chunk = 0;
    uint32_t phase = 0;
    Picoseconds waited = 0;  ///< before it began
  };
  using Opens = std::unordered_map<uint64_t, Open>;
  /// A message on its way.
  struct Flow {
    uint64_t id = 0;        ///< of its arrow; 0: none
    Picoseconds at = 0;     ///< where the arrow is
    uint32_t npu = kNoNpu;  ///< that has sent it
    bool live = false;
  };
  /// What every message touches, by NPU.
  struct OfNpu {
    uint32_t outstanding = 0;
    TrackId outstanding_track = 0;  ///< 0: not known to be shown
    TrackId received_track = 0;     ///< the same
    uint32_t most = 0;              ///< outstanding since `since`, when that is summed up
    Picoseconds since = kNever;     ///< kNever: nothing waits to be written
  };
  /// .. by link.
  struct OfLink {
    Row* row = nullptr;
    TrackId track = 0;  ///< 0: not known to be shown
    uint32_t npu = kNoNpu;
    Picoseconds end = 0;  ///< of its last message
  };
  struct Signal {
    enum class What : uint8_t { state, counter, queue } what = What::state;
    Row* row = nullptr;
    Row* busy = nullptr;  ///< of a queue: when it is not empty
    uint64_t value = 0;
    Picoseconds since = 0;
  };

  bool wanted(Picoseconds begin, Picoseconds end) const {
    return begin <= options_.to && end >= options_.from;
  }
  bool fine(Kind kind) const { return level_ <= static_cast<uint32_t>(kind); }
  void saw(Picoseconds at) { last_ = at > last_ ? at : last_; }

  TrackId folder(const std::string& name, TrackId parent, uint32_t rank, std::string_view about);
  TrackId folder_of(const Row& row);
  uint32_t owner_of(std::string_view name, bool memory);
  std::string text_of(const Row& row) const;
  TrackId line_of(const Row& row, std::string_view after);
  Row* new_row(const char* name, Kind kind, uint32_t rank);
  Row& row_of(uint32_t npu, RowOfNpu which);
  OfLink& of_link(uint32_t link);
  void count_outstanding(uint32_t npu, int by, Picoseconds at);
  Row& unit_row();
  bool shown(Row& row);
  static Lane& lane(Row& row, uint32_t number) { return number == 0 ? row.first : (*row.more)[number - 1]; }
  uint32_t take_lane(Row& row, Picoseconds begin, Picoseconds until);
  TrackId track_at(Row& row, Picoseconds begin, Picoseconds until) {
    return lane(row, take_lane(row, begin, until)).track;
  }
  void write(Row& row, EventName name, Picoseconds begin, Picoseconds end, TraceFile::Flow flow,
             const Arguments& arguments);
  Sums& sum_up(Row& row, Picoseconds begin, Picoseconds end, uint64_t bytes, Picoseconds busy);
  void flush(Row& row);
  void begin_open(Opens& of, uint64_t key, Open open);
  void end_open(Opens& of, uint64_t key, Picoseconds at, bool finished);
  void cross(const Crossing& crossing);
  void end_burst(uint32_t link);
  void value(Row& row, Picoseconds at, uint64_t v);
  void end_state(Signal& signal, Picoseconds at);
  void end_busy(Signal& signal, Picoseconds at);
  Flow* flow_of(uint32_t packet);
  uint64_t begin_flow(Flow& flow, Picoseconds at);
  TraceFile::Flow end_flow(Flow& flow, Picoseconds at);
  void cut_off(Flow& flow, Picoseconds at);
  EventName name_of(uint32_t what);
  std::string collective_text(uint32_t stream, const char* operation) const;
  uint64_t number_of(uint32_t stream) const;
  /// After something was written: is it time for less detail?
  void spend() {
    const uint64_t used = file_.bytes();
    if (used >= next_check_ || used + reserved_ >= options_.budget) lose_detail(used);
  }
  void lose_detail(uint64_t used);
  void sum_from_now_on(Kind kind);
  void note(const std::string& text, Picoseconds at);
  void write_overview();
  void tell_what_is_missing();
  void finish(Picoseconds end);

  const Options options_;
  TraceFile file_;
  const insight::CausalLog* log_ = nullptr;
  bool ended_ = false;
  Picoseconds last_ = 0;  ///< the latest time that was told

  TrackId machine_ = 0, npus_ = 0, fabric_ = 0, memory_ = 0;  ///< folders
  TrackId notes_ = 0, cut_off_ = 0;
  std::vector<TrackId> npu_folders_;
  std::vector<Owner> owners_;
  std::unordered_map<std::string, uint32_t> owner_numbers_;
  std::deque<Row> rows_;
  std::vector<std::array<Row*, kRowsOfNpu>> npu_rows_;
  std::vector<OfLink> links_;
  std::vector<OfNpu> of_npus_;
  std::vector<uint32_t> link_classes_;
  std::vector<Crossing> bursts_;  ///< by link: what may go on; no bytes: none
  Row* units_ = nullptr;

  Opens nodes_, parts_, phases_;
  std::vector<Flow> flows_;  ///< by packet
  uint64_t flows_begun_ = 0;
  std::unordered_map<uint32_t, std::string> streams_;  ///< names
  std::unordered_map<uint32_t, EventName> stream_names_;
  uint32_t told_what_ = ~uint32_t{0} - 2;
  EventName told_name_;
  std::vector<Job> jobs_;  ///< by their first stream
  std::unordered_map<uint32_t, std::string> npu_labels_;
  std::vector<Signal> signals_;
  std::map<std::string, Row*, std::less<>> memories_;  ///< queue, by name
  Overview overview_;

  // How detail ends.
  uint32_t level_ = 0;                    ///< kinds below it are summed up
  Picoseconds stretch_ = 0;               ///< length of a sum; kNever: to the end of the run
  uint64_t next_stretch_ = ~uint64_t{0};  ///< bytes at which sums get longer
  uint64_t next_check_ = 0;               ///< bytes at which one of both happens
  uint64_t reserved_ = 0;                 ///< bytes that the rows which are shown may still need
  uint64_t hidden_rows_ = 0;
  uint64_t hidden_things_ = 0;
  uint64_t summed_messages_ = 0;
  uint64_t cut_flows_ = 0;
  std::array<Picoseconds, kKinds> summed_from_{};
  std::vector<std::string> warnings_;
};

}  // namespace weft::timeline

#endif
