// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/timeline/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sc_main/decimal.h"

namespace weft::timeline {
namespace {

/// Rows of links in an NPU's folder come after its other rows.
constexpr uint32_t kRankOfLinks = 100;
/// What a row may need: to be described, with its folder, and to end with one sum in a line of its own.
constexpr uint64_t kRowBytes = 700;
constexpr uint64_t kSumBytes = 400;
constexpr uint64_t kFlowBytes = 160;
/// Notes, and what one event can take beyond its check.
constexpr uint64_t kSpareBytes = 8192;
/// Sums get longer each time that so much of the budget has gone.
constexpr uint64_t kStretchShare = 32;
/// The first ones take this part of the time that the file covers then.
constexpr Picoseconds kFirstStretch = 16;

uint32_t bins_of(uint64_t budget) {
  if (budget >= 4u << 20) return 2048;
  return budget >= 512u << 10 ? 256 : 32;
}
/// Two counters, with each bin.
uint64_t overview_bytes(uint64_t budget) {
  return uint64_t{bins_of(budget)} * 2 * 48 + 400;
}

const char* const kStates[] = {"idle", "communication", "remote memory", "local memory", "compute"};
constexpr Arg kStateArgs[] = {Arg::communication_ps, Arg::remote_memory_ps, Arg::local_memory_ps,
                              Arg::compute_ps};

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}
bool begins_with(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}
/// The number of "nmu17"; kNever: it is not named so.
uint64_t number_after(std::string_view text, std::string_view word) {
  if (!begins_with(text, word) || text.size() == word.size()) return kNever;
  uint64_t number = 0;
  for (const char c : text.substr(word.size())) {
    if (c < '0' || c > '9' || number > 100'000'000) return kNever;
    number = 10 * number + static_cast<uint64_t>(c - '0');
  }
  return number;
}
std::string_view without_scope(std::string_view name) {
  constexpr std::string_view kScope = "job.";
  return begins_with(name, kScope) ? name.substr(kScope.size()) : name;
}

/// Links have queues, too, and so have channels.
bool of_memory(std::string_view module) {
  const size_t dot = module.rfind('.');
  const std::string_view own = dot == std::string_view::npos ? module : module.substr(dot + 1);
  for (const std::string_view memory : {"hbm", "remote", "host", "nvme", "memory", "group"})
    if (own == memory || number_after(own, memory) != kNever) return true;
  return false;
}

uint64_t key_of(uint32_t npu, uint32_t number) {
  return uint64_t{npu} << 32 | number;
}

}  // namespace

Timeline::Timeline(const Options& options)
    : options_(options), file_(options.path), overview_(bins_of(options.budget)) {
  machine_ = folder("machine", 0, 0, "the whole machine, and what this file says of itself");
  npus_ = folder("NPUs", 0, 1, "NPUs with their NMUs and the links on which they send");
  fabric_ = folder("fabric", 0, 2, "switches, routers and what else sends on links");
  memory_ = folder("memory", 0, 3, "HBM, host memory, NVMe and memory groups");
  notes_ =
      file_.add_track({machine_, "about this file", 0, false, {}, "what it leaves out, and from when on"});
  reserved_ = kSpareBytes;
  summed_from_.fill(kNever);
}

Timeline::~Timeline() {
  if (!ended_) close(last_);
}

void Timeline::remark(const std::string& text) {
  note(text, options_.from);
}

void Timeline::note(const std::string& text, Picoseconds at) {
  file_.instant(notes_, {0, text}, at, {}, {});
}

void Timeline::add_job(const Job& job) {
  jobs_.push_back(job);
  for (uint32_t rank = 0; rank < job.npus.size(); ++rank) {
    if (!job.name.empty())
      npu_labels_[job.npus[rank]] = fmt::format("npu{} ({} rank {})", job.npus[rank], job.name, rank);
  }
}

void Timeline::begin() {
  for (uint32_t link = 1; log_ != nullptr && link < log_->links(); ++link) {
    if (link_classes_.size() <= link) link_classes_.resize(link + size_t{1}, ~uint32_t{0});
    link_classes_[link] = overview_.add_link(log_->link(link).link_class);
  }
  reserved_ += overview_.classes().size() * overview_bytes(options_.budget);
}

// Folders and rows

TrackId Timeline::folder(const std::string& name, TrackId parent, uint32_t rank, std::string_view about) {
  return file_.add_track({parent, name, rank, false, {}, about});
}

TrackId Timeline::folder_of(const Row& row) {
  if (row.npu == kNoNpu) {
    Owner& own = owners_[row.owner];
    if (own.folder == 0) own.folder = folder(own.name, own.memory ? memory_ : fabric_, row.owner, {});
    return own.folder;
  }
  if (npu_folders_.size() <= row.npu)
    npu_folders_.resize(std::max<size_t>(row.npu + size_t{1}, 2 * npu_folders_.size()));
  TrackId& own = npu_folders_[row.npu];
  if (own == 0) {
    const auto label = npu_labels_.find(row.npu);
    own = folder(label == npu_labels_.end() ? fmt::format("npu{}", row.npu) : label->second, npus_, row.npu,
                 {});
  }
  return own;
}

uint32_t Timeline::owner_of(std::string_view name, bool memory) {
  const auto [known, fresh] = owner_numbers_.try_emplace(std::string(name), owners_.size());
  if (fresh) owners_.push_back({std::string(name), memory, 0});
  return known->second;
}

std::string Timeline::text_of(const Row& row) const {
  if (row.link == 0) return row.name;
  const std::string& name = log_->link(row.link).name;
  return "link " + name.substr(name.rfind('.') + 1);
}

/// A new line of the row.
TrackId Timeline::line_of(const Row& row, std::string_view after) {
  return file_.add_track({row.folder,
                          text_of(row) + std::string(after),
                          row.rank,
                          row.counter,
                          row.of_bytes ? "bytes" : "",
                          {}});
}

Timeline::Row* Timeline::new_row(const char* name, Kind kind, uint32_t rank) {
  rows_.emplace_back();
  Row& row = rows_.back();
  row.name = name;
  row.kind = kind;
  row.rank = rank;
  return &row;
}

Timeline::Row& Timeline::row_of(uint32_t npu, RowOfNpu which) {
  struct Made {
    const char* name;
    Kind kind;
  };
  static const Made kMade[kRowsOfNpu] = {{"state", Kind::nodes},
                                         {"compute", Kind::nodes},
                                         {"memory", Kind::nodes},
                                         {"communication", Kind::nodes},
                                         {"collectives", Kind::collectives},
                                         {"phases of chunks", Kind::phases},
                                         {"sent", Kind::messages},
                                         {"received", Kind::messages},
                                         {"outstanding messages", Kind::counters}};
  if (npu_rows_.size() <= npu) npu_rows_.resize(std::max<size_t>(npu + size_t{1}, 2 * npu_rows_.size()));
  Row*& row = npu_rows_[npu][which];
  if (row == nullptr) {
    row = new_row(kMade[which].name, kMade[which].kind, which);
    row->npu = npu;
    row->alone = which == kState;
    row->counter = which == kOutstanding;
  }
  return *row;
}

/// A link's name is "job.nmu3.d0_plus": it is in the folder of npu3. Others have folders of their own.
Timeline::OfLink& Timeline::of_link(uint32_t link) {
  if (links_.size() <= link) links_.resize(std::max<size_t>(link + size_t{1}, 2 * links_.size()));
  OfLink& own = links_[link];
  if (own.row != nullptr) return own;
  const std::string_view name = without_scope(log_->link(link).name);
  own.row = new_row("", Kind::messages, kRankOfLinks + link);
  own.row->link = link;
  own.row->alone = true;
  const uint64_t npu = number_after(name.substr(0, name.find('.')), "nmu");
  if (npu != kNever) {
    own.npu = own.row->npu = static_cast<uint32_t>(npu);
  } else {
    own.row->owner = owner_of(name.substr(0, name.rfind('.')), false);
  }
  return own;
}

Timeline::Row& Timeline::unit_row() {
  if (units_ == nullptr) {
    units_ = new_row("messages", Kind::messages, 0);
    units_->owner = owner_of("collective units", false);
  }
  return *units_;
}

/// Is the row in the file? It is if the budget can hold it to its end.
bool Timeline::shown(Row& row) {
  if (row.shown != Shown::unknown) return row.shown == Shown::yes;
  if (file_.bytes() + reserved_ + kRowBytes + kSumBytes > options_.budget) {
    row.shown = Shown::no;
    ++hidden_rows_;
    return false;
  }
  row.shown = Shown::yes;
  reserved_ += kSumBytes;
  row.folder = folder_of(row);
  if (row.counter) row.first.track = line_of(row, {});
  spend();
  return true;
}

/// The first line of the row that is free at `begin`; it is taken until `until`.
uint32_t Timeline::take_lane(Row& row, Picoseconds begin, Picoseconds until) {
  uint32_t number = 0;
  const uint32_t lanes = row.more == nullptr ? 1 : 1 + static_cast<uint32_t>(row.more->size());
  while (!row.alone && number < lanes && lane(row, number).until > begin) ++number;
  if (number == lanes) {
    if (row.more == nullptr) row.more = std::make_unique<std::vector<Lane>>();
    row.more->emplace_back();
  }
  Lane& own = lane(row, number);
  if (own.track == 0) own.track = line_of(row, {});
  own.until = until;
  return number;
}

/// A thing that has ended, in a free line of its row.
void Timeline::write(Row& row, EventName name, Picoseconds begin, Picoseconds end, TraceFile::Flow flow,
                     const Arguments& arguments) {
  const TrackId track = track_at(row, begin, end);
  if (begin == end) {
    file_.instant(track, name, begin, flow, arguments);
  } else {
    file_.slice(track, name, begin, end, flow, arguments);
  }
  spend();
}

// Sums

Timeline::Sums& Timeline::sum_up(Row& row, Picoseconds begin, Picoseconds end, uint64_t bytes,
                                 Picoseconds busy) {
  if (row.sums == nullptr) row.sums = std::make_unique<Sums>();
  Sums& sums = *row.sums;
  if (sums.count != 0 && stretch_ != kNever && begin >= sums.begin && begin - sums.begin >= stretch_)
    flush(row);
  if (sums.count == 0) sums.begin = sums.end = std::max(begin, sums.last);
  sums.end = std::max(sums.end, end);
  ++sums.count;
  sums.bytes += bytes;
  sums.busy += busy;
  return sums;
}

void Timeline::flush(Row& row) {
  if (row.sums == nullptr || row.sums->count == 0) return;
  Sums& sums = *row.sums;
  Arguments arguments;
  arguments.add(Arg::count, sums.count);
  static const char* const kNames[kKinds] = {"accesses", "messages", "phases", "nodes", "collectives"};
  const char* name = kNames[static_cast<uint32_t>(row.kind)];
  if (row.alone && row.kind == Kind::nodes) {
    name = "states";
    for (uint32_t s = 0; s < 4; ++s) arguments.add_some(kStateArgs[s], sums.states[s]);
  } else {
    arguments.add_some(Arg::bytes, sums.bytes);
    arguments.add(Arg::busy_ps, sums.busy);
  }
  if (row.alone) {
    sums.track = track_at(row, sums.begin, sums.end);
  } else if (sums.track == 0) {
    sums.track = line_of(row, ", summed up");
  }
  file_.slice(sums.track, file_.name(name), sums.begin, sums.end, {}, arguments);
  sums.last = sums.end;
  sums.count = sums.bytes = sums.busy = 0;
  sums.states.fill(0);
  spend();
}

void Timeline::sum_from_now_on(Kind kind) {
  summed_from_[static_cast<uint32_t>(kind)] = last_;
  static const char* const kWhat[kKinds] = {"counters and accesses of memories",
                                            "messages on links (no arrows any more)", "phases of chunks",
                                            "nodes and states", "collectives"};
  note(fmt::format("from here on summed up: {}", kWhat[static_cast<uint32_t>(kind)]), last_);
}

void Timeline::lose_detail(uint64_t used) {
  const uint64_t budget = options_.budget;
  if (stretch_ == kNever) return;
  static constexpr uint64_t kSixteenths[kKinds] = {2, 8, 10, 12, 14};
  const auto threshold = [&] { return level_ < kKinds ? budget / 16 * kSixteenths[level_] : ~uint64_t{0}; };
  while (level_ < kKinds && (used >= threshold() || used + reserved_ >= budget)) {
    sum_from_now_on(static_cast<Kind>(level_++));
    if (level_ != 1) continue;
    stretch_ = std::max<Picoseconds>(1000, last_ / kFirstStretch);
    next_stretch_ = used + budget / kStretchShare;
  }
  if (used + reserved_ >= budget) {
    stretch_ = kNever;
    next_check_ = ~uint64_t{0};
    return;
  }
  if (used >= next_stretch_) {
    stretch_ *= 2;
    next_stretch_ = used + budget / kStretchShare;
  }
  next_check_ = std::min(next_stretch_, threshold());
}

// Things that begin and end

void Timeline::begin_open(Opens& of, uint64_t key, Open open) {
  saw(open.begin);
  open.fine = fine(open.row->kind) && open.begin <= options_.to && shown(*open.row);
  if (open.fine && open.name.number == 0) open.text = std::make_unique<std::string>(open.name.text);
  if (open.fine) open.lane = take_lane(*open.row, open.begin, kNever);
  of.insert_or_assign(key, std::move(open));
}

void Timeline::end_open(Opens& of, uint64_t key, Picoseconds at, bool finished) {
  const auto found = of.find(key);
  if (found == of.end()) return;
  Open open = std::move(found->second);
  of.erase(found);
  saw(at);
  Row& row = *open.row;
  if (open.fine) lane(row, open.lane).until = at;
  if (!wanted(open.begin, at)) return;
  if (!shown(row)) {
    ++hidden_things_;
    return;
  }
  if (!open.fine || !fine(row.kind)) {
    sum_up(row, open.begin, at, open.bytes, at - open.begin);
    return;
  }
  Arguments arguments;
  arguments.add(row.kind == Kind::nodes ? Arg::node : Arg::collective, open.number);
  if (row.kind == Kind::phases) {
    arguments.add(Arg::chunk, open.chunk);
    arguments.add(Arg::phase, open.phase);
    arguments.add_some(Arg::waited_ps, open.waited);
  }
  arguments.add_some(Arg::bytes, open.bytes);
  if (!finished) arguments.add(Arg::unfinished, 1);
  if (open.name.number == 0) open.name.text = *open.text;
  file_.slice(lane(row, open.lane).track, open.name, open.begin, at, {}, arguments);
  spend();
}

void Timeline::node_began(const Node& node) {
  Open open;
  switch (node.kind) {
    case insight::NodeKind::compute:
      open.row = &row_of(node.npu, kCompute);
      break;
    case insight::NodeKind::communication:
      open.row = &row_of(node.npu, kCommunication);
      break;
    default:
      open.row = &row_of(node.npu, kMemory);
  }
  open.begin = node.at;
  const std::string without = node.name.empty() ? fmt::format("node {}", node.id) : "";
  if (fine(Kind::nodes)) open.name = file_.name(node.name.empty() ? without : node.name);
  open.bytes = node.bytes;
  open.number = node.id;
  begin_open(nodes_, key_of(node.npu, node.index), std::move(open));
}

void Timeline::node_ended(uint32_t npu, uint32_t index, Picoseconds at) {
  end_open(nodes_, key_of(npu, index), at, true);
}

uint64_t Timeline::number_of(uint32_t stream) const {
  uint32_t first = 1;
  for (const Job& job : jobs_) first = job.first_stream <= stream ? job.first_stream : first;
  return stream - first + 1;
}

/// With the number that collectives.csv gives it, and its job if there are several.
std::string Timeline::collective_text(uint32_t stream, const char* operation) const {
  const Job* own = nullptr;
  for (const Job& job : jobs_) own = job.first_stream <= stream ? &job : own;
  const std::string text = fmt::format("{} {}", operation, number_of(stream));
  return own == nullptr || own->name.empty() ? text : fmt::format("{}: {}", own->name, text);
}

void Timeline::collective_began(const Part& part) {
  const auto [known, fresh] = streams_.try_emplace(part.stream);
  if (fresh) known->second = collective_text(part.stream, part.operation);
  Open open;
  open.row = &row_of(part.npu, kCollectives);
  open.begin = part.at;
  if (fine(Kind::collectives)) open.name = file_.name(known->second);
  open.bytes = part.bytes;
  open.number = number_of(part.stream);
  begin_open(parts_, key_of(part.npu, part.stream), std::move(open));
}

void Timeline::collective_ended(uint32_t npu, uint32_t stream, Picoseconds at) {
  end_open(parts_, key_of(npu, stream), at, true);
}

namespace {

/// No chunk is in two phases at once, and of collectives at once no two are 2^24 apart.
uint64_t key_of(const insight::ActivityListener::Phase& phase) {
  return uint64_t{phase.npu} << 40 | (uint64_t{phase.stream} & 0xffffff) << 16 | (phase.chunk & 0xffff);
}

}  // namespace

void Timeline::phase_began(const Phase& phase) {
  Open open;
  open.row = &row_of(phase.npu, kPhases);
  open.begin = phase.at;
  const std::string name = fmt::format("P{} {}", phase.phase, phase.operation);
  if (fine(Kind::phases)) open.name = file_.name(name);
  open.bytes = phase.bytes;
  open.number = number_of(phase.stream);
  open.chunk = phase.chunk;
  open.phase = phase.phase;
  open.waited = phase.at - phase.ready;
  begin_open(phases_, key_of(phase), std::move(open));
}

void Timeline::phase_ended(const Phase& phase) {
  end_open(phases_, key_of(phase), phase.at, true);
}

// Messages

inline Timeline::Flow* Timeline::flow_of(uint32_t packet) {
  return packet < flows_.size() && flows_[packet].live ? &flows_[packet] : nullptr;
}

/// Messages that this NPU has sent and that are not received.
void Timeline::count_outstanding(uint32_t npu, int by, Picoseconds at) {
  if (of_npus_.size() <= npu) of_npus_.resize(std::max<size_t>(npu + size_t{1}, 2 * of_npus_.size()));
  OfNpu& own = of_npus_[npu];
  own.outstanding += static_cast<uint32_t>(by);
  if (!wanted(at, at)) return;
  if (own.outstanding_track == 0) {
    Row& row = row_of(npu, kOutstanding);
    if (!shown(row)) return;
    own.outstanding_track = row.first.track;
  }
  if (fine(Kind::counters)) {
    file_.value(own.outstanding_track, at, uint64_t{own.outstanding});
    return spend();
  }
  if (own.since != kNever && stretch_ != kNever && at >= own.since && at - own.since >= stretch_) {
    file_.value(own.outstanding_track, own.since, uint64_t{own.most});
    own.since = kNever;
    spend();
  }
  own.most = own.since == kNever ? own.outstanding : std::max(own.most, own.outstanding);
  own.since = std::min(own.since, at);
}

uint64_t Timeline::begin_flow(Flow& flow, Picoseconds at) {
  flow.id = ++flows_begun_;
  flow.at = at;
  reserved_ += kFlowBytes;
  return flow.id;
}

TraceFile::Flow Timeline::end_flow(Flow& flow, Picoseconds at) {
  const uint64_t id = flow.id;
  if (id != 0) reserved_ -= kFlowBytes;
  if (flow.npu != kNoNpu) count_outstanding(flow.npu, -1, at);
  flow = {};
  return {id, true};
}

/// The message is not received, as far as the log knows: its arrow ends apart.
void Timeline::cut_off(Flow& flow, Picoseconds at) {
  const Picoseconds when = std::max(flow.at, at);
  const TraceFile::Flow end = end_flow(flow, when);
  if (end.id == 0) return;
  if (cut_off_ == 0)
    cut_off_ = file_.add_track({machine_,
                                "messages that were not received",
                                1,
                                false,
                                {},
                                "on their way when the run ended, or gone to where nobody follows them"});
  ++cut_flows_;
  file_.instant(cut_off_, file_.name("not received"), when, end, {});
}

void Timeline::submitted(uint32_t packet) {
  if (packet >= flows_.size()) flows_.resize(std::max<size_t>(packet + size_t{1}, 2 * flows_.size()));
  Flow& flow = flows_[packet];
  if (flow.live) cut_off(flow, flow.at);
  flow = {};
  flow.live = true;
}

EventName Timeline::name_of(uint32_t what) {
  if (what == told_what_) return told_name_;
  told_what_ = what;
  if (what == insight::kPointToPoint) return told_name_ = file_.name("point to point");
  if (what == insight::kFlits) return told_name_ = file_.name("flits");
  if (what == insight::kOtherTraffic) return told_name_ = file_.name("memory");
  const auto known = streams_.find(what - 1);
  if (known == streams_.end())
    return told_name_ = file_.name(streams_[what - 1] = collective_text(what - 1, "collective"));
  return told_name_ = file_.name(known->second);
}

void Timeline::crossed(const Crossing& crossing) {
  if (crossing.what != insight::kFlits) return cross(crossing);
  // Bursts without a gap between them are one.
  if (bursts_.size() <= crossing.link)
    bursts_.resize(std::max<size_t>(crossing.link + size_t{1}, 2 * bursts_.size()));
  Crossing& burst = bursts_[crossing.link];
  if (burst.bytes != 0 && burst.end == crossing.begin) {
    burst.end = crossing.end;
    burst.bytes += crossing.bytes;
    burst.busy += crossing.busy;
    return;
  }
  end_burst(crossing.link);
  burst = crossing;
}

void Timeline::end_burst(uint32_t link) {
  Crossing& burst = bursts_[link];
  if (burst.bytes != 0) cross(burst);
  burst.bytes = 0;
}

void Timeline::cross(const Crossing& whole) {
  Crossing crossing = whole;
  saw(crossing.end);
  OfLink& link = of_link(crossing.link);
  // Two messages may share the picosecond in which one ends and the next one begins: it is the first one's.
  if (crossing.begin < link.end && link.end < crossing.end) {
    if (crossing.what != insight::kFlits) crossing.busy -= std::min(crossing.busy, link.end - crossing.begin);
    crossing.begin = link.end;
  }
  link.end = std::max(link.end, crossing.end);
  if (crossing.link < link_classes_.size())
    overview_.add(link_classes_[crossing.link], crossing.begin, crossing.end, crossing.busy, crossing.bytes);
  Flow* const flow = flow_of(crossing.packet);
  if (flow != nullptr && flow->npu == kNoNpu && link.npu != kNoNpu) {
    flow->npu = link.npu;
    flow->at = crossing.ready;
    count_outstanding(link.npu, 1, crossing.ready);
  }
  if (!wanted(crossing.begin, crossing.end)) return;
  if (link.track == 0) {
    if (!shown(*link.row)) {
      ++hidden_things_;
      return;
    }
    link.track = track_at(*link.row, crossing.begin, crossing.end);
  }
  if (!fine(Kind::messages)) {
    ++summed_messages_;
    sum_up(*link.row, crossing.begin, crossing.end, crossing.bytes, crossing.busy);
    return;
  }
  if (flow != nullptr) {
    if (flow->id == 0) begin_flow(*flow, crossing.begin);
    flow->at = crossing.end;
  }
  Arguments arguments;
  arguments.add(Arg::bytes, crossing.bytes);
  if (crossing.what == insight::kFlits) {
    arguments.add(Arg::busy_ps, crossing.busy);
  } else if (crossing.what < insight::kOtherTraffic) {
    arguments.add_some(Arg::chunk, crossing.chunk);
    arguments.add_some(Arg::phase, crossing.phase);
  }
  file_.slice(link.track, name_of(crossing.what), crossing.begin, crossing.end,
              {flow != nullptr ? flow->id : 0, false}, arguments);
  spend();
}

void Timeline::entered(uint32_t packet, uint32_t what, uint32_t from, uint64_t bytes, Picoseconds at) {
  saw(at);
  Flow* const flow = flow_of(packet);
  if (flow == nullptr || flow->npu != kNoNpu || flow->id != 0) return;
  const bool npu = from < insight::kPointToPoint >> 1;
  if (npu) {
    flow->npu = from;
    flow->at = at;
    count_outstanding(from, 1, at);
  }
  if (!fine(Kind::messages) || !wanted(at, at)) return;
  Row& row = npu ? row_of(from, kSent) : unit_row();
  if (!shown(row)) return;
  const uint64_t id = begin_flow(*flow, at);
  write(row, name_of(what), at, at, {id, false}, {{Arg::bytes, bytes}});
}

void Timeline::delivered(const Delivery& delivery) {
  saw(delivery.end);
  Flow* const flow = flow_of(delivery.packet);
  const bool arrow = flow != nullptr && flow->id != 0;
  if (!arrow && (!fine(Kind::messages) || !wanted(delivery.ready, delivery.end))) {
    if (flow != nullptr) end_flow(*flow, delivery.end);
    return;
  }
  if (of_npus_.size() <= delivery.npu)
    of_npus_.resize(std::max<size_t>(delivery.npu + size_t{1}, 2 * of_npus_.size()));
  if (of_npus_[delivery.npu].received_track == 0) {
    Row& row = row_of(delivery.npu, kReceived);
    if (!shown(row)) {
      ++hidden_things_;
      if (flow != nullptr) cut_off(*flow, delivery.end);
      return;
    }
    of_npus_[delivery.npu].received_track = track_at(row, delivery.ready, delivery.ready);
  }
  Arguments arguments = {{Arg::from, delivery.from}, {Arg::bytes, delivery.bytes}};
  if (delivery.what != insight::kPointToPoint) {
    arguments.add_some(Arg::chunk, delivery.chunk);
    arguments.add_some(Arg::phase, delivery.phase);
    arguments.add(Arg::round, delivery.round);
  }
  arguments.add_some(Arg::queued_ps, delivery.queued);
  arguments.add_some(Arg::endpoint_ps, delivery.end - delivery.reduce - delivery.ready);
  arguments.add_some(Arg::reduce_ps, delivery.reduce);
  const TraceFile::Flow end = flow != nullptr ? end_flow(*flow, delivery.end) : TraceFile::Flow{};
  if (delivery.ready == delivery.end) {
    file_.instant(of_npus_[delivery.npu].received_track, name_of(delivery.what), delivery.end, end,
                  arguments);
    return spend();
  }
  write(row_of(delivery.npu, kReceived), name_of(delivery.what), delivery.ready, delivery.end, end,
        arguments);
}

void Timeline::combined(uint32_t packet, uint32_t what, Picoseconds at) {
  saw(at);
  Flow* const flow = flow_of(packet);
  if (flow == nullptr) return;
  Row& row = unit_row();
  if (flow->id != 0 && !shown(row)) return cut_off(*flow, at);
  const TraceFile::Flow end = end_flow(*flow, at);
  if (end.id != 0) write(row, name_of(what), at, at, end, {});
}

// Signals

bool Timeline::wants(std::string_view name) {
  name = without_scope(name);
  if (begins_with(name, "npu")) return ends_with(name, ".state");
  if (ends_with(name, ".unit.buffered")) return true;
  if (ends_with(name, ".queue")) return of_memory(name.substr(0, name.size() - 6));
  // A memory's bytes; those of links are in their slices.
  return ends_with(name, ".bytes") && memories_.count(name.substr(0, name.size() - 6)) != 0;
}

vcd::SignalId Timeline::declared(const vcd::Signal& declared) {
  const std::string_view name = without_scope(declared.name);
  const size_t dot = name.rfind('.');
  const std::string owner(name.substr(0, dot));
  const std::string_view leaf = name.substr(dot + 1);
  Signal signal;
  if (leaf == "state") {
    signal.row = &row_of(static_cast<uint32_t>(number_after(owner, "npu")), kState);
  } else {
    signal.what = leaf == "queue" ? Signal::What::queue : Signal::What::counter;
    const bool unit = leaf == "buffered";
    signal.row = new_row(unit              ? "bytes in the buffer"
                         : leaf == "queue" ? "accesses waiting or served"
                                           : "bytes moved",
                         Kind::counters, leaf == "bytes" ? 2 : 1);
    signal.row->counter = true;
    signal.row->of_bytes = leaf != "queue";
    signal.row->owner = owner_of(owner, !unit);
    if (leaf == "queue") {
      memories_[owner] = signal.row;
      signal.busy = new_row("busy", Kind::counters, 0);
      signal.busy->alone = true;
      signal.busy->owner = signal.row->owner;
    }
  }
  signals_.push_back(signal);
  return static_cast<vcd::SignalId>(signals_.size() - 1);
}

vcd::FutureHandle Timeline::expected(vcd::Time t, vcd::SignalId signal, uint64_t value) {
  changed(t, signal, value);
  return {};
}

void Timeline::changed(vcd::Time t, vcd::SignalId number, uint64_t v) {
  Signal& signal = signals_[static_cast<uint32_t>(number)];
  saw(t);
  if (signal.what == Signal::What::state) end_state(signal, t);
  if (signal.what == Signal::What::queue && (v == 0) != (signal.value == 0)) end_busy(signal, t);
  if (signal.what != Signal::What::state && v != signal.value) value(*signal.row, t, v);
  if (signal.what != Signal::What::queue || (v == 0) != (signal.value == 0)) signal.since = t;
  signal.value = v;
}

void Timeline::end_state(Signal& signal, Picoseconds at) {
  if (signal.value == 0 || signal.value > 4 || at <= signal.since || !wanted(signal.since, at)) return;
  Row& row = *signal.row;
  if (!shown(row)) {
    ++hidden_things_;
  } else if (fine(row.kind)) {
    write(row, file_.name(kStates[signal.value]), signal.since, at, {}, {});
  } else {
    sum_up(row, signal.since, at, 0, 0).states[signal.value - 1] += at - signal.since;
  }
}

void Timeline::end_busy(Signal& signal, Picoseconds at) {
  if (signal.value == 0 || at <= signal.since || !wanted(signal.since, at)) return;
  Row& row = *signal.busy;
  if (!shown(row)) {
    ++hidden_things_;
  } else if (fine(row.kind)) {
    write(row, file_.name("busy"), signal.since, at, {}, {});
  } else {
    sum_up(row, signal.since, at, 0, at - signal.since);
  }
}

/// Of a counter that is summed up: the largest value of each stretch.
void Timeline::value(Row& row, Picoseconds at, uint64_t v) {
  if (!wanted(at, at)) return;
  if (!shown(row)) {
    ++hidden_things_;
    return;
  }
  if (fine(row.kind)) {
    file_.value(row.first.track, at, v);
    return spend();
  }
  if (row.sums == nullptr) row.sums = std::make_unique<Sums>();
  Sums& sums = *row.sums;
  if (sums.count != 0 && stretch_ != kNever && at >= sums.begin && at - sums.begin >= stretch_) {
    file_.value(row.first.track, sums.begin, sums.value);
    sums.count = 0;
    spend();
  }
  sums.value = sums.count == 0 ? v : std::max(sums.value, v);
  if (sums.count++ == 0) sums.begin = at;
}

// The end

void Timeline::write_overview() {
  for (const Overview::Class& of : overview_.classes()) {
    if (of.bins.empty()) continue;
    const uint32_t rank = 10 + 2 * static_cast<uint32_t>(&of - overview_.classes().data());
    const TrackId rate =
        file_.add_track({machine_, of.name + ": bandwidth of all links", rank, true, "GB/s", {}});
    const TrackId busy =
        file_.add_track({machine_, of.name + ": links that are busy", rank + 1, true, "%", {}});
    double last_rate = 0;
    double last_busy = 0;
    for (size_t b = 0; b <= of.bins.size(); ++b) {
      const Picoseconds at = b * overview_.width();
      const Overview::Bin bin = b < of.bins.size() ? of.bins[b] : Overview::Bin{};
      const auto width = static_cast<double>(overview_.width());
      const double now_rate = bin.bytes * 1000 / width;
      const double now_busy = 100 * bin.busy / (width * static_cast<double>(of.links));
      if (now_rate != last_rate || b == 0) file_.value(rate, at, now_rate);
      if (now_busy != last_busy || b == 0) file_.value(busy, at, now_busy);
      last_rate = now_rate;
      last_busy = now_busy;
    }
  }
}

void Timeline::tell_what_is_missing() {
  const auto& from = summed_from_;
  std::string text;
  if (level_ != 0) {
    static const char* const kShort[kKinds] = {"counters", "messages", "phases", "nodes", "collectives"};
    for (uint32_t k = 0; k < level_; ++k)
      text +=
          fmt::format("{}{} from {} on", text.empty() ? "" : ", ", kShort[k], cli::readable_time(from[k]));
    text = fmt::format("things are summed up there ({})", text);
    if (summed_messages_ != 0)
      text += fmt::format("; {} passages of messages over links have no slices of their own and no arrows",
                          cli::grouped(summed_messages_));
  }
  if (hidden_rows_ != 0)
    text += fmt::format("{}{} rows with {} things had no room and are left out", text.empty() ? "" : "; ",
                        cli::grouped(hidden_rows_), cli::grouped(hidden_things_));
  if (text.empty()) return;
  note(text, last_);
  warnings_.push_back(
      fmt::format("timeline.pftrace is kept within its budget of {}: {}; raise output.timeline_budget "
                  "(--timeline-budget), "
                  "or choose a part of the time (--timeline-window)",
                  cli::readable_size(options_.budget), text));
}

void Timeline::finish(Picoseconds end) {
  for (uint32_t link = 0; link < bursts_.size(); ++link) end_burst(link);
  for (Opens* of : {&nodes_, &parts_, &phases_}) {
    std::vector<uint64_t> keys;
    for (const auto& [key, open] : *of) keys.push_back(key);
    std::sort(keys.begin(), keys.end());
    for (const uint64_t key : keys) end_open(*of, key, std::max(end, of->at(key).begin), false);
  }
  for (Flow& flow : flows_) {
    if (flow.id != 0) cut_off(flow, end);
  }
  for (Signal& signal : signals_) {
    if (signal.what == Signal::What::state) end_state(signal, end);
    if (signal.what == Signal::What::queue) end_busy(signal, end);
  }
  for (Row& row : rows_) {
    if (row.shown != Shown::yes || row.sums == nullptr) continue;
    if (!row.counter) {
      flush(row);
    } else if (row.sums->count != 0) {
      file_.value(row.first.track, row.sums->begin, row.sums->value);
    }
  }
  for (const OfNpu& own : of_npus_) {
    if (own.since != kNever) file_.value(own.outstanding_track, own.since, uint64_t{own.most});
  }
}

void Timeline::close(Picoseconds end) {
  if (ended_) return;
  ended_ = true;
  finish(end);
  overview_.settle();
  write_overview();
  if (cut_flows_ != 0)
    note(fmt::format("{} messages are not received in this file: see `messages that were not received`",
                     cli::grouped(cut_flows_)),
         last_);
  tell_what_is_missing();
  file_.close();
}

}  // namespace weft::timeline
