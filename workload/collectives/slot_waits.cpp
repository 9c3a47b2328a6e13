// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/slot_waits.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "workload/collectives/slot_circles.h"

namespace weft::collectives {

namespace {

/// The member at coordinate 0 of every axis; of a flat list the rank from which it counts.
uint32_t first_member(const std::vector<AxisView>& views, uint32_t rank) {
  uint32_t first = rank;
  for (const AxisView& view : views) {
    if (view.axis->dimension == Axis::kFlat) {
      first = view.base;
      break;
    }
    first -= view.axis->value(view.me) * view.axis->stride;
  }
  return first;
}

}  // namespace

SharedCollective::SharedCollective(const Config& config, uint32_t stream,
                                   std::shared_ptr<const CollectivePlan> plan)
    : stream_(stream), plan_(std::move(plan)) {
  for (const Axis& axis : plan_->axes()) {
    Line line;
    line.size = axis.size;
    line.inner = members_;
    for (uint32_t d = 0; d < config.dimensions.size(); ++d) {
      if (axis.crosses >> d & 1) line.latency = std::max(line.latency, config.dimensions[d].latency);
    }
    members_ *= axis.size;
    axes_.push_back(line);
  }
  here_ = members_;
  phases_ = static_cast<uint32_t>(plan_->phases().size());
  for (const Line& line : axes_) lines_ = std::max(lines_, members_ / line.size);
  begun_.resize(size_t{plan_->chunks()} * plan_->phases().size() * lines_);
  started_.resize((members_ + size_t{63}) / 64);
}

uint32_t SharedCollective::member(const std::vector<AxisView>& views) const {
  uint32_t number = 0;
  for (size_t a = 0; a < axes_.size(); ++a) number += views[a].me * axes_[a].inner;
  return number;
}

/// Of those along the phase's axis, the one that the member is on.
uint32_t SharedCollective::line(const std::vector<AxisView>& views, uint32_t chunk, uint32_t phase) const {
  // The member's number without its place on the phase's own axis numbers the lines along that axis.
  const Line& own = axes_[plan_->phases(chunk)[phase].axis];
  const uint32_t number = member(views);
  return number / (own.inner * own.size) * own.inner + number % own.inner;
}

SlotWaits::SlotWaits(const Config& config, std::function<void()> ask)
    : config_(config), ask_(std::move(ask)), circles_(std::make_unique<SlotCircles>(*this)) {}

SlotWaits::~SlotWaits() = default;

void SlotWaits::make_room(size_t ranks) {
  if (ranks_.size() >= ranks) return;
  ranks_.resize(ranks);
  missed_.resize(ranks);
  engaged_.resize(ranks);
  awaited_.resize(ranks);
  sources_.resize(ranks);
}

void SlotWaits::expect_some_of(uint32_t npus, bool tell) {
  some_ = true;
  tell_ = tell;
  make_room(npus);
}

uint32_t SlotWaits::here(SharedCollective& collective, size_t at, const Axis& axis, uint32_t base) const {
  if (!some_) return axis.size;
  if (collective.line_here_.empty()) collective.line_here_.resize(collective.begun_.size());
  uint32_t& count = collective.line_here_[at];
  if (count != 0) return count;
  for (uint32_t i = 0; i < axis.size; ++i) count += ranks_[axis.rank(base, i)] != nullptr ? 1 : 0;
  return count;
}

void SlotWaits::note_begin(SharedCollective& collective, size_t at, const Axis& axis, uint32_t base,
                           uint32_t rank, uint32_t decided) {
  if (axis.size == 1) return;
  const bool crosses = here(collective, at, axis, base) != axis.size;
  member_begins_.begun(collective.key_, at, rank, crosses, {now_, decided});
}

uint32_t SlotWaits::members_here(const SharedCollective& collective, const std::vector<AxisView>& views,
                                 uint32_t first) const {
  if (!some_) return collective.members_;
  std::vector<uint32_t> members{first};
  for (const AxisView& view : views) {
    std::vector<uint32_t> more;
    for (const uint32_t member : members)
      for (uint32_t i = 0; i < view.axis->size; ++i) more.push_back(view.axis->rank(member, i));
    members = std::move(more);
  }
  return static_cast<uint32_t>(
      std::count_if(members.begin(), members.end(), [this](uint32_t r) { return ranks_[r] != nullptr; }));
}

void SlotWaits::add(NpuId rank, SlotRank& who) {
  make_room(weft::index(rank) + size_t{1});
  ranks_[weft::index(rank)] = &who;
}

SharedCollective* SlotWaits::started(uint32_t stream, const std::shared_ptr<const CollectivePlan>& plan,
                                     NpuId rank, const std::vector<AxisView>& views) {
  // Lines of a dimension-restricted collective share a stream: the first member tells them apart.
  const uint32_t first = first_member(views, weft::index(rank));
  const uint64_t key = static_cast<uint64_t>(stream) << 32 | first;
  if (last_ == nullptr || last_key_ != key) {
    auto& entry = collectives_[key];
    if (entry == nullptr) {
      entry = std::make_unique<SharedCollective>(config_, stream, plan);
      entry->here_ = members_here(*entry, views, first);
    }
    last_ = entry.get();
    last_key_ = key;
    last_->key_ = key;
  }
  if (last_->plan_ != plan) return nullptr;
  const uint32_t member = last_->member(views);
  last_->started_[member / 64] |= uint64_t{1} << member % 64;
  return last_;
}

void SlotWaits::finished(SharedCollective& collective) {
  if (++collective.finished_ != collective.here_) return;
  if (last_ == &collective) last_ = nullptr;
  const auto it = collectives_.find(collective.key_);
  over_.push_back(std::move(it->second));  // begins of this instant may still name it
  collectives_.erase(it);
}

void SlotWaits::message_awaited(NpuId rank, NpuId source, Picoseconds now) {
  if (now != now_) advance(now);
  if (tell_) member_begins_.awaited(weft::index(rank), weft::index(source), now);
  ++awaited_[weft::index(source)];
  sources_[weft::index(rank)].push_back(weft::index(source));
  if (wanted(weft::index(rank))) look_at(weft::index(rank));
}

void SlotWaits::message_came(NpuId rank, NpuId source, Picoseconds now) {
  if (now != now_) advance(now);
  if (some_stuck_ && wanted(weft::index(rank))) {
    less_stuck_ = true;
    request();
  }
  if (tell_) member_begins_.came(weft::index(rank), weft::index(source), now);
  --awaited_[weft::index(source)];
  std::vector<uint32_t>& sources = sources_[weft::index(rank)];
  *std::find(sources.begin(), sources.end(), weft::index(source)) = sources.back();
  sources.pop_back();
}

void SlotWaits::advance(Picoseconds now) {
  book();
  begins_.clear();
  looked_at_.clear();
  over_.clear();
  asked_ = false;
  now_ = now;
}

/// Is a circle possible that this begin closes? Then the end of the instant must be looked at.
void SlotWaits::consider(const Begin& begin) {
  const Begin& first = begins_.front();
  const bool others = begin.collective != first.collective || begin.at != first.at;
  const OpenChunk* const open = find(*begin.collective, begin.at);
  const bool stuck = open != nullptr && open->stuck;
  const uint32_t own = open != nullptr ? 1 : 0;
  if (others || stuck || missed_[begin.rank] > own || awaited_[begin.rank] != 0) request();
}

void SlotWaits::look_at(uint32_t rank) {
  looked_at_.push_back(rank);
  if (some_stuck_) less_stuck_ = true;
  request();
}

void SlotWaits::request() {
  if (asked_) return;
  asked_ = true;
  ask_();
}

/// Brings the lists of open chunks up to date with the begins of the present instant.
void SlotWaits::book() {
  for (const Begin& begin : begins_) {
    SharedCollective& c = *begin.collective;
    if (find(c, begin.at) == nullptr) {
      const Axis& axis = c.plan_->axes()[c.plan_->phases(begin.chunk)[begin.phase].axis];
      if (c.begun_[begin.at] == here(c, begin.at, axis, begin.base)) continue;
      open(begin);
    }
    add_begin(begin);
  }
}

void SlotWaits::open(const Begin& begin) {
  uint32_t number = 0;
  if (free_opens_.empty()) {
    number = static_cast<uint32_t>(opens_.size());
    opens_.push_back(std::make_unique<OpenChunk>());
  } else {
    number = free_opens_.back();
    free_opens_.pop_back();
  }
  OpenChunk& o = *opens_[number];
  SharedCollective& c = *begin.collective;
  o.collective = &c;
  o.index = begin.at;
  o.axis = &c.plan_->axes()[c.plan_->phases(begin.chunk)[begin.phase].axis];
  o.chunk = begin.chunk;
  o.phase = begin.phase;
  o.base = begin.base;
  o.queue = c.plan_->queue(begin.chunk, begin.phase);
  o.members = 0;
  o.stuck = false;
  o.begun.assign((o.axis->size + size_t{63}) / 64, 0);
  for (uint32_t i = 0; i < o.axis->size; ++i) ++missed_[o.rank(i)];
  c.begun_[begin.at] = kOpen | number;
}

void SlotWaits::add_begin(const Begin& begin) {
  OpenChunk& o = *find(*begin.collective, begin.at);
  o.begun[begin.me / 64] |= uint64_t{1} << begin.me % 64;
  --missed_[begin.rank];
  ++engaged_[begin.rank];
  if (o.stuck) less_stuck_ = true;
  if (++o.members != here(*o.collective, o.index, *o.axis, o.base)) return;
  for (uint32_t i = 0; i < o.axis->size; ++i)
    if (ranks_[o.rank(i)] != nullptr) --engaged_[o.rank(i)];
  uint32_t& begun = begin.collective->begun_[begin.at];
  free_opens_.push_back(begun & ~kOpen);
  o.collective = nullptr;
  begun = o.members;
}

/// Seeds the search with what may have closed a circle. False: nothing may.
bool SlotWaits::add_changes() {
  bool any = false;
  for (const Begin& begin : begins_) {
    OpenChunk* open = find(*begin.collective, begin.at);
    if (open == nullptr || !wanted(begin.rank)) continue;
    circles_->add_chunk(*open);
    any = true;
  }
  for (const uint32_t rank : looked_at_) {
    if (!wanted(rank)) continue;
    circles_->add_rank(rank);
    any = true;
  }
  return any;
}

void SlotWaits::add_all() {
  for (const auto& open : opens_) {
    if (open->collective != nullptr) circles_->add_chunk(*open);
  }
}

void SlotWaits::settled() {
  asked_ = false;
  book();
  const bool any = add_changes();
  begins_.clear();
  looked_at_.clear();
  over_.clear();
  // What has changed reaches no stuck chunk: then it has made none stuck, and closed no circle. Otherwise a
  // circle may have closed elsewhere: among chunks that wait for those that are stuck now, or that no longer
  // are.
  const bool all = std::exchange(less_stuck_, false) || (any && circles_->reaches_stuck());
  circles_->clear();
  if (!all) return;
  bool more = true;
  for (uint32_t decided = 1; more; ++decided) {
    add_all();
    std::vector<SlotCircles::Decision> decisions = circles_->run();
    some_stuck_ = circles_->some_stuck();
    std::sort(decisions.begin(), decisions.end(),
              [](const SlotCircles::Decision& a, const SlotCircles::Decision& b) {
                return std::make_tuple(a.rank, a.chunk.collective->stream(), a.chunk.chunk) <
                       std::make_tuple(b.rank, b.chunk.collective->stream(), b.chunk.chunk);
              });
    for (const SlotCircles::Decision& d : decisions) decide(d.rank, d.chunk, now_ + d.latency, decided);
    // What is decided counts as begun, and may close a further circle.
    more = !decisions.empty();
  }
  less_stuck_ = false;
}

/// `decided`: how often at this instant, this time included.
void SlotWaits::decide(uint32_t rank, const CurrentChunk& chunk, Picoseconds at, uint32_t decided) {
  SharedCollective& c = *chunk.collective;
  std::vector<AxisView> views;
  c.plan_->views(rank, views);
  const AxisView& view = views[c.plan_->phases(chunk.chunk)[chunk.phase].axis];
  if (find(c, chunk.index) == nullptr) ++c.begun_[chunk.index];
  if (tell_) note_begin(c, chunk.index, *view.axis, view.base, rank, decided);
  // It counts as begun from now on.
  begins_.push_back({&c, chunk.index, chunk.chunk, chunk.phase, rank, view.me, view.base});
  book();
  begins_.clear();
  ranks_[rank]->start_beyond(c, chunk.chunk, at);
}

}  // namespace weft::collectives
