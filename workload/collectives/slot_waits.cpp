// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/slot_waits.h"

#include <algorithm>
#include <deque>
#include <tuple>
#include <utility>

namespace weft::collectives {

namespace {

uint64_t collective_key(uint32_t stream, const std::vector<AxisView>& views, uint32_t rank) {
  // Lines of a dimension-restricted collective share a stream: the member at coordinate 0 tells them apart.
  uint32_t first = rank;
  for (const AxisView& view : views) {
    if (view.axis->dimension == Axis::kFlat) {
      first = view.base;
      break;
    }
    first -= view.axis->value(view.me) * view.axis->stride;
  }
  return static_cast<uint64_t>(stream) << 32 | first;
}

template <typename F>
void for_each_zero(const std::vector<uint64_t>& bits, uint32_t size, F&& f) {
  for (uint32_t w = 0; w < bits.size(); ++w) {
    uint64_t zeros = ~bits[w];
    if (w + size_t{1} == bits.size() && size % 64 != 0) zeros &= (uint64_t{1} << size % 64) - 1;
    for (; zeros != 0; zeros &= zeros - 1) f(w * 64 + static_cast<uint32_t>(__builtin_ctzll(zeros)));
  }
}

}  // namespace

uint32_t queue_index(const Config& config, const CollectivePlan& plan, uint32_t chunk, uint32_t phase) {
  const Axis& axis = plan.axes()[plan.phases(chunk)[phase].axis];
  const size_t dimension = axis.dimension == Axis::kFlat ? config.dimensions.size() : axis.dimension;
  const bool ring =
      dimension < config.dimensions.size() && (config.dimensions[dimension].kind == DimensionKind::ring ||
                                               config.dimensions[dimension].kind == DimensionKind::mesh);
  const uint32_t directions = config.collectives.queues_per_dimension;
  return static_cast<uint32_t>(dimension) * directions + (ring ? chunk % directions : 0);
}

SharedCollective::SharedCollective(const Config& config, uint32_t stream,
                                   std::shared_ptr<const CollectivePlan> plan)
    : stream_(stream), plan_(std::move(plan)) {
  for (const Axis& axis : plan_->axes()) {
    Line line;
    line.size = axis.size;
    line.inner = members_;
    const bool flat = axis.dimension == Axis::kFlat;
    for (uint32_t d = 0; d < config.dimensions.size(); ++d) {
      const bool used = !flat ? d == axis.dimension : axis.spans == 0 || (axis.spans >> d & 1) != 0;
      if (used) line.latency = std::max(line.latency, config.dimensions[d].latency);
    }
    members_ *= axis.size;
    axes_.push_back(line);
  }
  for (const Line& line : axes_) lines_ = std::max(lines_, members_ / line.size);
  begun_.resize(size_t{plan_->chunks()} * plan_->phases().size() * lines_);
  started_.resize((members_ + size_t{63}) / 64);
}

uint32_t SharedCollective::member(const std::vector<AxisView>& views) const {
  uint32_t number = 0;
  for (size_t a = 0; a < axes_.size(); ++a) number += views[a].me * axes_[a].inner;
  return number;
}

size_t SharedCollective::index(const std::vector<AxisView>& views, uint32_t chunk, uint32_t phase) const {
  // The member's number without its place on the phase's own axis numbers the lines along that axis.
  const Line& own = axes_[plan_->phases(chunk)[phase].axis];
  const uint32_t number = member(views);
  const uint32_t line = number / (own.inner * own.size) * own.inner + number % own.inner;
  return (size_t{chunk} * plan_->phases().size() + phase) * lines_ + line;
}

SlotWaits::SlotWaits(const Config& config, std::function<void()> ask)
    : config_(config), ask_(std::move(ask)) {}

SlotWaits::~SlotWaits() = default;

void SlotWaits::add(NpuId rank, SlotRank& who) {
  const size_t needed = index(rank) + size_t{1};
  if (ranks_.size() < needed) {
    ranks_.resize(needed);
    missed_.resize(needed);
    engaged_.resize(needed);
  }
  ranks_[index(rank)] = &who;
}

SharedCollective* SlotWaits::started(uint32_t stream, const std::shared_ptr<const CollectivePlan>& plan,
                                     NpuId rank, const std::vector<AxisView>& views) {
  const uint64_t key = collective_key(stream, views, index(rank));
  if (last_ == nullptr || last_key_ != key) {
    auto& entry = collectives_[key];
    if (entry == nullptr) entry = std::make_unique<SharedCollective>(config_, stream, plan);
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
  if (++collective.finished_ != collective.members_) return;
  if (last_ == &collective) last_ = nullptr;
  const auto it = collectives_.find(collective.key_);
  over_.push_back(std::move(it->second));  // begins of this instant may still name it
  collectives_.erase(it);
}

void SlotWaits::advance(Picoseconds now) {
  book();
  begins_.clear();
  came_up_.clear();
  over_.clear();
  asked_ = false;
  now_ = now;
}

/// Is a circle possible that this begin closes? Then the end of the instant must be looked at.
void SlotWaits::consider(const Begin& begin) {
  const Begin& first = begins_.front();
  const bool others = begin.collective != first.collective || begin.at != first.at;
  if (others || missed_[begin.rank] > (is_open(begin) ? 1u : 0u)) request();
}

void SlotWaits::waiting_at(uint32_t rank) {
  came_up_.push_back(rank);
  request();
}

void SlotWaits::request() {
  if (asked_) return;
  asked_ = true;
  ask_();
}

SlotWaits::Open* SlotWaits::find(const SharedCollective& collective, size_t at) {
  if ((collective.begun_[at] & kOpen) == 0) return nullptr;
  return opens_.find({&collective, at})->second.get();
}

/// Brings the lists of open chunks up to date with the begins of the present instant.
void SlotWaits::book() {
  for (const Begin& begin : begins_) {
    const SharedCollective& c = *begin.collective;
    if (!is_open(begin)) {
      if (c.begun_[begin.at] == c.axes_[c.plan_->phases(begin.chunk)[begin.phase].axis].size) continue;
      open(begin);
    }
    add_begin(begin);
  }
}

void SlotWaits::open(const Begin& begin) {
  auto entry = std::make_unique<Open>();
  Open& o = *entry;
  SharedCollective& c = *begin.collective;
  o.collective = &c;
  o.axis = c.plan_->phases(begin.chunk)[begin.phase].axis;
  o.at = begin.at;
  o.chunk = begin.chunk;
  o.phase = begin.phase;
  o.base = begin.base;
  o.size = c.axes_[o.axis].size;
  o.queue = queue_index(config_, *c.plan_, begin.chunk, begin.phase);
  o.begun.resize((o.size + size_t{63}) / 64);
  for (uint32_t i = 0; i < o.size; ++i) ++missed_[o.rank(i)];
  c.begun_[o.at] |= kOpen;
  opens_.emplace(Key{&c, o.at}, std::move(entry));
}

void SlotWaits::add_begin(const Begin& begin) {
  Open& o = *find(*begin.collective, begin.at);
  o.begun[begin.me / 64] |= uint64_t{1} << begin.me % 64;
  --missed_[begin.rank];
  ++engaged_[begin.rank];
  if (++o.members != o.size) return;
  for (uint32_t i = 0; i < o.size; ++i) --engaged_[o.rank(i)];
  begin.collective->begun_[begin.at] &= ~kOpen;
  opens_.erase({begin.collective, begin.at});
}

/// Looks for circles among the chunks that can be reached from some.
class SlotWaits::Search {
 public:
  explicit Search(SlotWaits& waits) : waits_(waits), slots_(waits.config_.collectives.active_chunks_per_dimension) {}

  void add_root(Open& open) { node_of(open); }
  void add_holders(uint32_t rank) { survey(rank); }

  /// A chunk that waits at a rank and is part of a circle.
  struct Decision {
    uint32_t rank = 0;
    CurrentChunk chunk;
    Picoseconds latency = 0;  ///< largest of the circle's links
  };
  void run(std::vector<Decision>& decisions) {
    for (size_t n = 0; n < nodes_.size(); ++n) expand(static_cast<uint32_t>(n));
    remove_unstuck();
    draw();
    find_circles(decisions);
    for (Node& node : nodes_) node.open->node = kNone;
  }

 private:
  static constexpr uint32_t kNone = ~0u;
  /// A member that has not begun the chunk, and what it does instead.
  struct Missing {
    uint32_t site = 0;
    uint32_t current = kNone;  ///< of the site: the chunk in this or an earlier phase; kNone: not started
    bool here = false;         ///< `current` waits in this phase
  };
  struct Node {
    Open* open = nullptr;
    std::vector<Missing> missing;
    std::vector<uint32_t> held_at;  ///< sites
    bool stuck = true;
    bool queued = true;
  };
  /// A rank at which something is missing.
  struct Site {
    uint32_t rank = 0;
    std::vector<CurrentChunk> chunks;
    std::vector<bool> open;              ///< by chunk
    std::vector<uint32_t> nodes;         ///< by chunk: of open ones that hold a slot; else kNone
    std::vector<uint32_t> places;        ///< by chunk: vertex of one that waits and is kept back; else kNone
    std::vector<uint32_t> stuck;         ///< by queue: stuck chunks that hold its slots
    std::vector<uint32_t> missed_nodes;  ///< that miss something here
    uint32_t all_stuck = 0;
  };

  uint32_t node_of(Open& open) {
    if (open.node == kNone) {
      open.node = static_cast<uint32_t>(nodes_.size());
      nodes_.push_back({});
      nodes_.back().open = &open;
    }
    return open.node;
  }

  uint32_t survey(uint32_t rank) {
    const auto [it, fresh] = site_of_.try_emplace(rank, static_cast<uint32_t>(sites_.size()));
    if (!fresh) return it->second;
    sites_.push_back({});
    Site& site = sites_.back();
    site.rank = rank;
    waits_.ranks_[rank]->current_chunks(site.chunks);
    site.open.resize(site.chunks.size());
    site.nodes.resize(site.chunks.size(), kNone);
    site.places.resize(site.chunks.size(), kNone);
    site.stuck.resize(queue_count(waits_.config_));
    std::vector<AxisView> views;
    const SharedCollective* viewed = nullptr;
    for (size_t i = 0; i < site.chunks.size(); ++i) {
      const CurrentChunk& c = site.chunks[i];
      if (viewed != c.collective) c.collective->plan_->views(rank, views);
      viewed = c.collective;
      Open* open = waits_.find(*c.collective, c.collective->index(views, c.chunk, c.phase));
      site.open[i] = open != nullptr;
      if (open == nullptr || c.state != CurrentChunk::State::holds) continue;
      site.nodes[i] = node_of(*open);
      nodes_[site.nodes[i]].held_at.push_back(it->second);
      ++site.stuck[c.queue];
      ++site.all_stuck;
    }
    return it->second;
  }

  /// Finds out what the missing members of a chunk do instead.
  void expand(uint32_t n) {
    const Open& open = *nodes_[n].open;
    for_each_zero(open.begun, open.size, [&](uint32_t i) {
      const uint32_t rank = open.rank(i);
      if (waits_.engaged_[rank] == 0) return;  // nothing that it holds can be stuck
      Missing missing;
      missing.site = survey(rank);
      const auto& chunks = sites_[missing.site].chunks;
      for (uint32_t c = 0; c < chunks.size(); ++c) {
        if (chunks[c].collective != open.collective || chunks[c].chunk != open.chunk) continue;
        missing.current = c;
        missing.here = chunks[c].phase == open.phase;
        break;
      }
      if (missing.current == kNone && waits_.has_started(open, rank)) return;
      nodes_[n].missing.push_back(missing);
      sites_[missing.site].missed_nodes.push_back(n);
    });
  }

  bool jammed(const Site& site, uint32_t queue) const { return site.stuck[queue] >= slots_; }
  bool holds_stuck(const Site& site, uint32_t c) const {
    return site.nodes[c] != kNone && nodes_[site.nodes[c]].stuck;
  }
  /// A chunk that the dispatcher waits for, and that cannot go on.
  bool keeps_dispatcher(const Site& site, uint32_t c) const {
    const CurrentChunk& chunk = site.chunks[c];
    if (!chunk.first_phase || chunk.state == CurrentChunk::State::not_issued) return false;
    return chunk.state == CurrentChunk::State::holds ? holds_stuck(site, c) : jammed(site, chunk.queue);
  }
  bool dispatcher_stuck(const Site& site) const {
    uint32_t kept = 0;
    for (uint32_t c = 0; c < site.chunks.size(); ++c) kept += keeps_dispatcher(site, c) ? 1 : 0;
    return kept != 0 && kept >= waits_.config_.collectives.dispatch_threshold;
  }
  /// A waiting chunk that cannot begin here.
  bool kept_back(const Site& site, uint32_t c) const {
    const CurrentChunk& chunk = site.chunks[c];
    if (chunk.state == CurrentChunk::State::holds) return false;
    return jammed(site, chunk.queue) ||
           (chunk.state == CurrentChunk::State::not_issued && dispatcher_stuck(site));
  }
  bool blocks(const Node& node, const Missing& missing) const {
    const Site& site = sites_[missing.site];
    if (jammed(site, node.open->queue)) return true;
    if (missing.current == kNone) return site.all_stuck != 0;
    return holds_stuck(site, missing.current) || kept_back(site, missing.current);
  }

  void remove_unstuck() {
    std::vector<uint32_t> list(nodes_.size());
    for (uint32_t n = 0; n < list.size(); ++n) list[n] = n;
    while (!list.empty()) {
      Node& node = nodes_[list.back()];
      list.pop_back();
      node.queued = false;
      if (!node.stuck || std::any_of(node.missing.begin(), node.missing.end(),
                                     [&](const Missing& m) { return blocks(node, m); }))
        continue;
      node.stuck = false;
      for (const uint32_t s : node.held_at) {
        Site& site = sites_[s];
        --site.stuck[node.open->queue];
        --site.all_stuck;
        for (const uint32_t n : site.missed_nodes) {
          if (!nodes_[n].stuck || nodes_[n].queued) continue;
          nodes_[n].queued = true;
          list.push_back(n);
        }
      }
    }
  }

  /// Vertices are the nodes, then the places; arrows as in the rule.
  void draw() {
    arrows_.resize(nodes_.size());
    for (uint32_t s = 0; s < sites_.size(); ++s) {
      Site& site = sites_[s];
      if (site.all_stuck == 0) continue;
      for (uint32_t c = 0; c < site.chunks.size(); ++c) {
        if (!kept_back(site, c)) continue;
        site.places[c] = static_cast<uint32_t>(arrows_.size());
        arrows_.emplace_back();
        place_at_.emplace_back(s, c);
      }
      for (uint32_t c = 0; c < site.chunks.size(); ++c) {
        if (site.places[c] != kNone) draw_place(site, c);
      }
    }
    for (uint32_t n = 0; n < nodes_.size(); ++n) {
      const Node& node = nodes_[n];
      if (!node.stuck) continue;
      for (const Missing& missing : node.missing) {
        if (blocks(node, missing)) draw_missing(n, node, missing);
      }
    }
  }

  void draw_to_holders(uint32_t from, const Site& site, uint32_t queue) {
    for (uint32_t c = 0; c < site.chunks.size(); ++c) {
      if (holds_stuck(site, c) && site.chunks[c].queue == queue) arrows_[from].push_back(site.nodes[c]);
    }
  }

  void draw_place(const Site& site, uint32_t c) {
    const uint32_t from = site.places[c];
    if (jammed(site, site.chunks[c].queue)) draw_to_holders(from, site, site.chunks[c].queue);
    if (site.chunks[c].state != CurrentChunk::State::not_issued || !dispatcher_stuck(site)) return;
    for (uint32_t other = 0; other < site.chunks.size(); ++other) {
      if (!keeps_dispatcher(site, other)) continue;
      if (holds_stuck(site, other)) {
        arrows_[from].push_back(site.nodes[other]);
      } else {
        draw_to_holders(from, site, site.chunks[other].queue);
      }
    }
  }

  /// To all that may keep the rank from starting a collective.
  void draw_to_all(uint32_t from, const Site& site) {
    std::vector<uint32_t>& to = arrows_[from];
    for (uint32_t c = 0; c < site.chunks.size();) {
      uint32_t end = c;  // the chunks of a collective follow each other
      bool holds = false;
      bool open = false;
      uint32_t first = kNone;
      for (; end < site.chunks.size() && site.chunks[end].collective == site.chunks[c].collective; ++end) {
        if (holds_stuck(site, end)) to.push_back(site.nodes[end]);
        holds = holds || holds_stuck(site, end);
        if (site.places[end] == kNone) continue;
        open = open || site.open[end];
        if (first == kNone) first = site.places[end];
      }
      for (uint32_t i = c; i < end && !holds && open; ++i) {
        if (site.places[i] != kNone && site.open[i]) to.push_back(site.places[i]);
      }
      if (!holds && !open && first != kNone) to.push_back(first);
      c = end;
    }
  }

  void draw_missing(uint32_t n, const Node& node, const Missing& missing) {
    const Site& site = sites_[missing.site];
    std::vector<uint32_t>& to = arrows_[n];
    if (missing.here) {
      if (site.places[missing.current] != kNone) to.push_back(site.places[missing.current]);
      return;
    }
    if (jammed(site, node.open->queue)) draw_to_holders(n, site, node.open->queue);
    if (missing.current != kNone) {
      if (holds_stuck(site, missing.current)) to.push_back(site.nodes[missing.current]);
      if (site.places[missing.current] != kNone) to.push_back(site.places[missing.current]);
      return;
    }
    draw_to_all(n, site);
  }

  /// Tarjan's strongly connected components, without recursion.
  void find_circles(std::vector<Decision>& decisions) {
    const auto count = static_cast<uint32_t>(arrows_.size());
    std::vector<uint32_t> number(count, 0);
    std::vector<uint32_t> lowest(count, 0);
    std::vector<bool> on_stack(count, false);
    std::vector<uint32_t> stack;
    std::vector<std::pair<uint32_t, size_t>> path;  // vertex, next arrow
    uint32_t next = 0;
    for (uint32_t start = 0; start < count; ++start) {
      if (number[start] != 0) continue;
      path.emplace_back(start, 0);
      while (!path.empty()) {
        const uint32_t v = path.back().first;
        if (path.back().second == 0) {
          number[v] = lowest[v] = ++next;
          stack.push_back(v);
          on_stack[v] = true;
        }
        if (path.back().second < arrows_[v].size()) {
          const uint32_t w = arrows_[v][path.back().second++];
          if (number[w] == 0) {
            path.emplace_back(w, 0);
          } else if (on_stack[w]) {
            lowest[v] = std::min(lowest[v], number[w]);
          }
          continue;
        }
        path.pop_back();
        if (!path.empty()) lowest[path.back().first] = std::min(lowest[path.back().first], lowest[v]);
        if (lowest[v] != number[v]) continue;
        const auto from = std::find(stack.begin(), stack.end(), v);
        if (stack.end() - from > 1) add_circle(from, stack.end(), decisions);
        for (auto it = from; it != stack.end(); ++it) on_stack[*it] = false;
        stack.erase(from, stack.end());
      }
    }
  }

  template <typename It>
  void add_circle(It from, It to, std::vector<Decision>& decisions) {
    Picoseconds latency = 0;
    const size_t first = decisions.size();
    const auto add = [&](const SharedCollective& c, uint32_t chunk, uint32_t phase) {
      latency = std::max(latency, c.axes_[c.plan_->phases(chunk)[phase].axis].latency);
    };
    for (It it = from; it != to; ++it) {
      if (*it < nodes_.size()) {
        const Open& open = *nodes_[*it].open;
        add(*open.collective, open.chunk, open.phase);
        continue;
      }
      const auto [s, c] = place_at_[*it - nodes_.size()];
      const CurrentChunk& chunk = sites_[s].chunks[c];
      add(*chunk.collective, chunk.chunk, chunk.phase);
      decisions.push_back({sites_[s].rank, chunk, 0});
    }
    for (size_t i = first; i < decisions.size(); ++i) decisions[i].latency = latency;
  }

  SlotWaits& waits_;
  uint32_t slots_;
  std::deque<Node> nodes_;
  std::deque<Site> sites_;
  std::unordered_map<uint32_t, uint32_t> site_of_;  ///< by rank
  std::vector<std::vector<uint32_t>> arrows_;
  std::vector<std::pair<uint32_t, uint32_t>> place_at_;  ///< site and chunk of each place
};

bool SlotWaits::has_started(const Open& open, uint32_t rank) const {
  std::vector<AxisView> views;
  open.collective->plan_->views(rank, views);
  const uint32_t member = open.collective->member(views);
  return (open.collective->started_[member / 64] >> member % 64 & 1) != 0;
}

void SlotWaits::settled() {
  asked_ = false;
  book();
  const std::vector<Begin> begins = std::exchange(begins_, {});
  const std::vector<uint32_t> came_up = std::exchange(came_up_, {});
  Search search(*this);
  bool any = false;
  for (const Begin& begin : begins) {
    if (!is_open(begin) || missed_[begin.rank] == 0) continue;
    search.add_root(*find(*begin.collective, begin.at));
    any = true;
  }
  for (const uint32_t rank : came_up) {
    if (missed_[rank] == 0 || engaged_[rank] == 0) continue;
    search.add_holders(rank);
    any = true;
  }
  over_.clear();
  if (!any) return;
  std::vector<Search::Decision> decisions;
  search.run(decisions);
  std::sort(decisions.begin(), decisions.end(), [](const Search::Decision& a, const Search::Decision& b) {
    return std::make_tuple(a.rank, a.chunk.collective->stream(), a.chunk.chunk) <
           std::make_tuple(b.rank, b.chunk.collective->stream(), b.chunk.chunk);
  });
  for (const Search::Decision& d : decisions) decide(d.rank, d.chunk, now_ + d.latency);
}

void SlotWaits::decide(uint32_t rank, const CurrentChunk& chunk, Picoseconds at) {
  SharedCollective& c = *chunk.collective;
  std::vector<AxisView> views;
  c.plan_->views(rank, views);
  const AxisView& view = views[c.plan_->phases(chunk.chunk)[chunk.phase].axis];
  const size_t place = c.index(views, chunk.chunk, chunk.phase);
  ++c.begun_[place];
  // It counts as begun from now on.
  begins_.push_back({&c, place, chunk.chunk, chunk.phase, rank, view.me, view.base});
  book();
  begins_.clear();
  ++decided_;
  ranks_[rank]->start_beyond(c, chunk.chunk, at);
}

}  // namespace weft::collectives
