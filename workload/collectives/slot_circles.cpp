// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/slot_circles.h"

#include <algorithm>

namespace weft::collectives {

namespace {

template <typename F>
void for_each_zero(const std::vector<uint64_t>& bits, uint32_t size, F&& f) {
  for (uint32_t w = 0; w < bits.size(); ++w) {
    uint64_t zeros = ~bits[w];
    if (w + size_t{1} == bits.size() && size % 64 != 0) zeros &= (uint64_t{1} << size % 64) - 1;
    for (; zeros != 0; zeros &= zeros - 1) f(w * 64 + static_cast<uint32_t>(__builtin_ctzll(zeros)));
  }
}

}  // namespace

SlotCircles::SlotCircles(SlotWaits& waits)
    : waits_(waits),
      slots_(waits.config().collectives.active_chunks_per_dimension),
      threshold_(waits.config().collectives.dispatch_threshold),
      queues_(queue_count(waits.config())) {}

void SlotCircles::add_chunk(OpenChunk& open) {
  node_of(open);
}

void SlotCircles::add_rank(uint32_t rank) {
  uint32_t next = site_count_;
  site_of(rank);
  for (; next < site_count_; ++next) {
    for (const uint32_t source : waits_.awaited_by(sites_[next].rank)) {
      waits_.follows(sites_[next].rank, source);
      site_of(source);
    }
  }
}

bool SlotCircles::reaches_stuck() {
  while (expanded_ < node_count_) expand(expanded_++);
  return remove_unstuck();
}

std::vector<SlotCircles::Decision> SlotCircles::run() {
  std::vector<Decision> decisions;
  some_stuck_ = reaches_stuck();
  for (uint32_t n = 0; n < node_count_; ++n) nodes_[n].open->stuck = nodes_[n].stuck;
  if (some_stuck_) {
    draw();
    find_circles(decisions);
  }
  clear();
  return decisions;
}

void SlotCircles::clear() {
  for (uint32_t n = 0; n < node_count_; ++n) nodes_[n].open->node = kNone;
  for (uint32_t s = 0; s < site_count_; ++s) site_of_[sites_[s].rank] = kNone;
  for (uint32_t v = 0; v < vertices_; ++v) arrows_[v].clear();
  node_count_ = expanded_ = site_count_ = vertices_ = 0;
  place_at_.clear();
}

SlotCircles::Node& SlotCircles::node_of(OpenChunk& open) {
  if (open.node != kNone) return nodes_[open.node];
  open.node = node_count_++;
  if (nodes_.size() < node_count_) nodes_.emplace_back();
  Node& node = nodes_[open.node];
  node.open = &open;
  node.missing.clear();
  node.held_at.clear();
  node.stuck = node.listed = true;
  return node;
}

/// The site of a rank, with the open chunks that hold its slots as nodes.
uint32_t SlotCircles::site_of(uint32_t rank) {
  if (site_of_.size() <= rank) site_of_.resize(rank + size_t{1}, kNone);
  if (site_of_[rank] != kNone) return site_of_[rank];
  const uint32_t s = site_of_[rank] = site_count_++;
  if (sites_.size() < site_count_) sites_.emplace_back();
  Site& site = sites_[s];
  site.rank = rank;
  site.chunks.clear();
  site.missed_nodes.clear();
  site.stuck.assign(queues_, 0);
  site.all_stuck = 0;
  // What a rank does matters only if something that it holds can be stuck.
  if (waits_.engaged(rank)) waits_.rank(rank).current_chunks(site.chunks);
  site.more.assign(site.chunks.size(), {});
  for (size_t i = 0; i < site.chunks.size(); ++i) {
    const CurrentChunk& c = site.chunks[i];
    OpenChunk* open = waits_.find(*c.collective, c.index);
    site.more[i].open = open != nullptr;
    if (open == nullptr || c.state != CurrentChunk::State::holds) continue;
    node_of(*open).held_at.push_back(s);
    site.more[i].node = open->node;
    ++site.stuck[c.queue];
    ++site.all_stuck;
  }
  return s;
}

/// Finds out what the missing members of a chunk do instead.
void SlotCircles::expand(uint32_t n) {
  const OpenChunk& open = *nodes_[n].open;
  for_each_zero(open.begun, open.axis->size, [&](uint32_t i) { expand_missing(n, i); });
}

/// `i`: along the chunk's axis.
void SlotCircles::expand_missing(uint32_t n, uint32_t i) {
  const OpenChunk& open = *nodes_[n].open;
  const uint32_t rank = open.rank(i);
  if (!waits_.engaged(rank) && waits_.awaited_by(rank).empty()) return;
  bool started = false;
  if (open.collective->has_one_axis()) {
    started = open.collective->has_started(i);
  } else {
    open.collective->plan().views(rank, views_);
    started = open.collective->has_started(views_);
  }
  if (!started) {
    follow_messages(n, rank);
    return;
  }
  if (!waits_.engaged(rank)) return;
  Missing missing;
  missing.site = site_of(rank);
  Site& site = sites_[missing.site];
  for (uint32_t c = 0; c < site.chunks.size(); ++c) {
    if (site.chunks[c].collective != open.collective || site.chunks[c].chunk != open.chunk) continue;
    missing.current = c;
    missing.here = site.chunks[c].phase == open.phase;
    break;
  }
  if (missing.current == kNone) return;
  nodes_[n].missing.push_back(missing);
  site.missed_nodes.push_back(n);
}

/// The rank has not started the collective: itself, and the ranks whose messages it waits for, may be why.
void SlotCircles::follow_messages(uint32_t n, uint32_t rank) {
  std::vector<Missing>& missing = nodes_[n].missing;
  const size_t first = missing.size();
  missing.push_back({site_of(rank), kNone, false});
  for (size_t i = first; i < missing.size(); ++i) {
    const uint32_t waiting = sites_[missing[i].site].rank;
    for (const uint32_t source : waits_.awaited_by(waiting)) {
      waits_.follows(waiting, source);
      const uint32_t site = site_of(source);
      const auto known = [site](const Missing& m) { return m.site == site; };
      if (std::any_of(missing.begin() + static_cast<std::ptrdiff_t>(first), missing.end(), known)) continue;
      missing.push_back({site, kNone, false});
    }
  }
  for (size_t i = first; i < missing.size(); ++i) sites_[missing[i].site].missed_nodes.push_back(n);
}

/// A chunk that the dispatcher waits for, and that cannot go on.
bool SlotCircles::keeps_dispatcher(const Site& site, uint32_t c) const {
  const CurrentChunk& chunk = site.chunks[c];
  if (!chunk.first_phase || chunk.state == CurrentChunk::State::not_issued) return false;
  return chunk.state == CurrentChunk::State::holds ? holds_stuck(site, c) : jammed(site, chunk.queue);
}

bool SlotCircles::dispatcher_stuck(const Site& site) const {
  uint32_t kept = 0;
  for (uint32_t c = 0; c < site.chunks.size(); ++c) kept += keeps_dispatcher(site, c) ? 1 : 0;
  return kept != 0 && kept >= threshold_;
}

/// A chunk that waits here and gets no slot before a stuck one ends.
bool SlotCircles::cannot_begin(const Site& site, uint32_t c) const {
  const CurrentChunk& chunk = site.chunks[c];
  if (chunk.state == CurrentChunk::State::holds) return false;
  return jammed(site, chunk.queue) ||
         (chunk.state == CurrentChunk::State::not_issued && dispatcher_stuck(site));
}

/// Rules 1 to 4.
bool SlotCircles::blocks(const Node& node, const Missing& missing) const {
  const Site& site = sites_[missing.site];
  if (missing.current == kNone) return site.all_stuck != 0;
  return jammed(site, node.open->queue) || holds_stuck(site, missing.current) ||
         cannot_begin(site, missing.current);
}

/// Leaves the largest set of chunks that are stuck if all of them are. False: it is empty.
bool SlotCircles::remove_unstuck() {
  uint32_t stuck = node_count_;
  list_.resize(node_count_);
  for (uint32_t n = 0; n < node_count_; ++n) list_[n] = n;
  while (!list_.empty()) {
    Node& node = nodes_[list_.back()];
    list_.pop_back();
    node.listed = false;
    if (!node.stuck || std::any_of(node.missing.begin(), node.missing.end(),
                                   [&](const Missing& m) { return blocks(node, m); }))
      continue;
    node.stuck = false;
    --stuck;
    for (const uint32_t s : node.held_at) {
      Site& site = sites_[s];
      --site.stuck[node.open->queue];
      --site.all_stuck;
      for (const uint32_t n : site.missed_nodes) {
        if (!nodes_[n].stuck || nodes_[n].listed) continue;
        nodes_[n].listed = true;
        list_.push_back(n);
      }
    }
  }
  return stuck != 0;
}

/// The arrows of the rule.
void SlotCircles::draw() {
  vertices_ = node_count_;
  if (arrows_.size() < vertices_) arrows_.resize(vertices_);
  for (uint32_t s = 0; s < site_count_; ++s) {
    Site& site = sites_[s];
    if (site.all_stuck == 0) continue;
    for (uint32_t c = 0; c < site.chunks.size(); ++c) {
      if (!cannot_begin(site, c)) continue;
      site.more[c].place = vertices_++;
      if (arrows_.size() < vertices_) arrows_.resize(vertices_);
      place_at_.emplace_back(s, c);
      draw_place(site, c);
    }
  }
  for (uint32_t n = 0; n < node_count_; ++n) {
    if (!nodes_[n].stuck) continue;
    for (const Missing& missing : nodes_[n].missing) {
      if (blocks(nodes_[n], missing)) draw_missing(n, missing);
    }
  }
}

void SlotCircles::draw_to_holders(uint32_t from, const Site& site, uint32_t queue) {
  for (uint32_t c = 0; c < site.chunks.size(); ++c) {
    if (holds_stuck(site, c) && site.chunks[c].queue == queue) arrows_[from].push_back(site.more[c].node);
  }
}

void SlotCircles::draw_place(const Site& site, uint32_t c) {
  const uint32_t from = site.more[c].place;
  if (jammed(site, site.chunks[c].queue)) draw_to_holders(from, site, site.chunks[c].queue);
  if (site.chunks[c].state != CurrentChunk::State::not_issued || !dispatcher_stuck(site)) return;
  for (uint32_t other = 0; other < site.chunks.size(); ++other) {
    if (!keeps_dispatcher(site, other)) continue;
    if (holds_stuck(site, other)) {
      arrows_[from].push_back(site.more[other].node);
    } else {
      draw_to_holders(from, site, site.chunks[other].queue);
    }
  }
}

void SlotCircles::draw_missing(uint32_t n, const Missing& missing) {
  const Site& site = sites_[missing.site];
  if (missing.current == kNone) {
    draw_to_all(n, site);
    return;
  }
  std::vector<uint32_t>& to = arrows_[n];
  if (site.more[missing.current].place != kNone) to.push_back(site.more[missing.current].place);
  if (missing.here) return;
  if (holds_stuck(site, missing.current)) to.push_back(site.more[missing.current].node);
  if (jammed(site, nodes_[n].open->queue)) draw_to_holders(n, site, nodes_[n].open->queue);
}

/// To all that may keep the rank from starting a collective, or from sending a message.
void SlotCircles::draw_to_all(uint32_t from, const Site& site) {
  std::vector<uint32_t>& to = arrows_[from];
  for (uint32_t c = 0; c < site.chunks.size();) {
    uint32_t end = c;  // the chunks of a collective follow each other
    bool holds = false;
    bool open = false;
    uint32_t first = kNone;
    for (; end < site.chunks.size() && site.chunks[end].collective == site.chunks[c].collective; ++end) {
      if (holds_stuck(site, end)) to.push_back(site.more[end].node);
      holds = holds || holds_stuck(site, end);
      if (site.more[end].place == kNone) continue;
      open = open || site.more[end].open;
      if (first == kNone) first = site.more[end].place;
    }
    if (!holds && !open && first != kNone) to.push_back(first);
    for (; c < end; ++c) {
      if (!holds && site.more[c].place != kNone && site.more[c].open) to.push_back(site.more[c].place);
    }
  }
}

/// Tarjan's strongly connected components, without recursion.
void SlotCircles::find_circles(std::vector<Decision>& decisions) {
  std::vector<uint32_t> number(vertices_, 0);
  std::vector<uint32_t> lowest(vertices_, 0);
  std::vector<bool> on_stack(vertices_, false);
  std::vector<std::pair<uint32_t, size_t>> path;  // vertex, next arrow
  uint32_t next = 0;
  stack_.clear();
  for (uint32_t start = 0; start < vertices_; ++start) {
    if (number[start] != 0) continue;
    path.emplace_back(start, 0);
    while (!path.empty()) {
      const uint32_t v = path.back().first;
      if (path.back().second == 0) {
        number[v] = lowest[v] = ++next;
        stack_.push_back(v);
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
      const auto from = static_cast<size_t>(std::find(stack_.begin(), stack_.end(), v) - stack_.begin());
      if (stack_.size() - from > 1) add_circle(from, decisions);
      for (size_t i = from; i < stack_.size(); ++i) on_stack[stack_[i]] = false;
      stack_.resize(from);
    }
  }
}

/// The vertices of the stack from there on are a circle.
void SlotCircles::add_circle(size_t from, std::vector<Decision>& decisions) const {
  Picoseconds latency = 0;
  const size_t first = decisions.size();
  for (size_t i = from; i < stack_.size(); ++i) {
    if (stack_[i] < node_count_) {
      const OpenChunk& open = *nodes_[stack_[i]].open;
      latency = std::max(latency, open.collective->latency(open.chunk, open.phase));
      continue;
    }
    const auto [s, c] = place_at_[stack_[i] - node_count_];
    const CurrentChunk& chunk = sites_[s].chunks[c];
    latency = std::max(latency, chunk.collective->latency(chunk.chunk, chunk.phase));
    decisions.push_back({sites_[s].rank, chunk, 0});
  }
  for (size_t i = first; i < decisions.size(); ++i) decisions[i].latency = latency;
}

}  // namespace weft::collectives
