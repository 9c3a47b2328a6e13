// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/dram_channel.h"

#include <algorithm>

namespace weft {

DramChannel::DramChannel(const DramSpec& spec, uint32_t window)
    : DramChannel(spec, default_dram_policies(spec, 1, window)) {}

DramChannel::DramChannel(const DramSpec& spec, const DramPolicies& policies)
    : spec_(spec),
      policies_(policies),
      window_(policies.window),
      bank_queue_(std::min(policies.window, policies.scheduler->bank_queue() != 0
                                                ? policies.scheduler->bank_queue()
                                                : spec.bank_queue())),
      first_ready_(policies.scheduler->first_ready()),
      separate_(policies.grouping->separates()),
      may_close_(policies.page->closes(~0u, false) || policies.page->closes(~0u, true)) {
  Clocks& c = clocks_;
  c.rcd_read = on_clock(spec.rcd_read);
  c.rcd_write = on_clock(spec.rcd_write);
  c.rp = on_clock(spec.rp);
  c.ras = on_clock(spec.ras);
  c.rc = on_clock(spec.rc);
  c.rtp = on_clock(spec.rtp);
  c.write_to_precharge = on_clock(spec.wl + spec.burst + spec.wr);
  c.ccd_short = on_clock(spec.ccd_short);
  c.ccd_long = on_clock(spec.ccd_long);
  c.rrd_short = on_clock(spec.rrd_short);
  c.rrd_long = on_clock(spec.rrd_long);
  c.faw = on_clock(spec.faw);
  c.rtw = on_clock(spec.rtw);
  c.write_to_read_short = on_clock(spec.wl + spec.burst + spec.wtr_short);
  c.write_to_read_long = on_clock(spec.wl + spec.burst + spec.wtr_long);
  for (uint32_t b = 0; b < spec.banks(); ++b)
    group_of_.push_back(static_cast<uint8_t>(b / spec.banks_per_group));
  banks_of_.resize(spec.bank_groups);
  for (uint32_t b = 0; b < spec.banks(); ++b) banks_of_[group_of_[b]] |= uint64_t{1} << b;
  clocked_ = on_clock(spec.controller / 2);
  pseudo_channels_.resize(spec.pseudo_channels);
  for (uint32_t i = 0; i < spec.pseudo_channels; ++i) {
    PseudoChannel& pc = pseudo_channels_[i];
    pc.window.resize(size_t{spec.banks()} * bank_queue_);
    pc.banks.resize(spec.banks());
    pc.group_read.resize(spec.bank_groups);
    pc.group_write.resize(spec.bank_groups);
    pc.group_activate.resize(spec.bank_groups);
    pc.row_ready.resize(spec.banks(), kNever);
    pc.row_order.resize(spec.banks());
    pc.column_ready.resize(2 * size_t{spec.banks()});
    pc.column_order.resize(2 * size_t{spec.banks()});
    if (spec.refi == 0) continue;
    // All banks of a channel rest together: a stream goes over all pseudo-channels, and one that rests alone
    // would hold up the others. Single banks take turns.
    pc.refresh = spec.per_bank_refresh ? on_clock(refresh_interval() * (i + 1) / spec.pseudo_channels)
                                       : refresh_interval();
  }
}

void DramChannel::submit(uint32_t number, const DramRequest& request, Picoseconds now) {
  PseudoChannel& pc = pseudo_channels_[number];
  if (pc.queued == 0) catch_up_refreshes(pc, now);
  Waiting w;
  if (now != seen_) {
    seen_ = now;
    seen_clock_ = on_clock(now);
    clocked_ = on_clock(now + spec_.controller / 2);
  }
  w.arrival = clocked_;
  w.row = request.row;
  w.token = request.token;
  w.order =
      pc.next_order++ * Waiting::kNumber + 4 * uint64_t{request.bank} + (request.write ? Waiting::kWrite : 0);
  ++waiting_;
  if (pc.behind_first == pc.behind.size() && pc.queued < window_ &&
      pc.banks[request.bank].queued < bank_queue_) {
    push(pc, w);
    choose_direction(pc);
  } else {
    pc.behind.push_back(w);
    if (pc.behind_first + 1 == pc.behind.size()) admit(pc, now);
  }
}

// Into the window, in the order of arrival, what it has room for.
void DramChannel::admit(PseudoChannel& pc, Picoseconds now) {
  while (pc.behind_first < pc.behind.size() && pc.queued < window_) {
    Waiting& w = pc.behind[pc.behind_first];
    if (pc.banks[w.bank()].queued >= bank_queue_) break;
    w.arrival = std::max(w.arrival, now);  // no command before it was seen
    push(pc, w);
    if (++pc.behind_first < pc.behind.size()) continue;
    pc.behind.clear();
    pc.behind_first = 0;
  }
  if (pc.behind_first > 64 && 2 * pc.behind_first > pc.behind.size()) {
    pc.behind.erase(pc.behind.begin(), pc.behind.begin() + static_cast<std::ptrdiff_t>(pc.behind_first));
    pc.behind_first = 0;
  }
  choose_direction(pc);
}

void DramChannel::push(PseudoChannel& pc, const Waiting& request) {
  const uint32_t number = request.bank();
  const bool write = request.write();
  Bank& bank = pc.banks[number];
  const uint32_t position = bank.queued++;
  const uint64_t bit = uint64_t{1} << number;
  queue(pc, number)[position] = request;
  ++pc.queued;
  if (write) ++pc.writes;
  if (bank.row == request.row) {
    if ((write ? bank.write_hits : bank.read_hits)++ != 0) return;
    (write ? bank.write_hit : bank.read_hit) = position;
    (write ? pc.write_hits : pc.read_hits) |= bit;
    note_hit(pc, number, write);
    offer_hit(pc, number, write);
    undecided(pc);
    if ((pc.closings & bit) == 0) return;
    pc.closings &= ~bit;  // its row is wanted as it is
    pc.ripe_closings &= ~bit;
    if (pc.closing.bank() == number) pc.closing_known = false;
    return;
  }
  ++(write ? bank.write_misses : bank.read_misses);
  uint64_t& misses = write ? pc.write_misses : pc.read_misses;
  // Hits of the other direction in this bank need not wait any more.
  if ((misses & bit) == 0 && ((write ? pc.read_hits : pc.write_hits) & bit) != 0) set_free(pc);
  misses |= bit;
  if (bank.miss != kNone) return;
  bank.miss = position;
  undecided(pc);
  note_row_change(pc, number);
  offer_row(pc, number);
}

// Who goes first: reads, until the policy says otherwise; writes where no read waits.
void DramChannel::choose_direction(PseudoChannel& pc) {
  const uint32_t reads = pc.queued - pc.writes;
  const bool draining =
      pc.writes > 0 && (reads == 0 || policies_.grouping->writes_first(reads, pc.writes, pc.draining));
  if (draining == pc.draining) return;
  pc.draining = draining;
  set_free(pc);
}

/// Column commands that had to wait may go now: not before what set them free was seen. What could go before
/// has gone.
void DramChannel::set_free(PseudoChannel& pc) {
  pc.read_clock = std::max(pc.read_clock, seen_clock_);
  pc.write_clock = std::max(pc.write_clock, seen_clock_);
  pc.column_known = false;
  undecided(pc);
}

/// Finds out anew what the queue of a bank wants.
void DramChannel::scan(PseudoChannel& pc, uint32_t number) {
  Bank& bank = pc.banks[number];
  const Waiting* const w = queue(pc, number);
  bank.read_hit = bank.write_hit = bank.miss = kNone;
  uint32_t hits = 0, write_hits = 0, writes = 0;
  for (uint32_t i = bank.queued; i-- > 0;) {
    const bool write = w[i].write();
    const bool hit = w[i].row == bank.row;
    writes += write ? 1 : 0;
    if (hit) {
      ++hits;
      write_hits += write ? 1 : 0;
      (write ? bank.write_hit : bank.read_hit) = i;
    } else {
      bank.miss = i;
    }
  }
  bank.write_hits = write_hits;
  bank.read_hits = hits - write_hits;
  bank.write_misses = writes - write_hits;
  bank.read_misses = bank.queued - hits - bank.write_misses;
  const uint64_t bit = uint64_t{1} << number;
  const auto set = [bit](uint64_t& mask, uint32_t count) { mask = count != 0 ? mask | bit : mask & ~bit; };
  set(pc.read_hits, bank.read_hits);
  set(pc.write_hits, bank.write_hits);
  set(pc.read_misses, bank.read_misses);
  set(pc.write_misses, bank.write_misses);
  if (bank.read_hits != 0) note_hit(pc, number, false);
  if (bank.write_hits != 0) note_hit(pc, number, true);
  note_row_change(pc, number);
}

/// A request to the open row, the oldest of its kind, has got its command. What the others want is known.
void DramChannel::take_out(PseudoChannel& pc, uint32_t number, uint32_t position) {
  Bank& bank = pc.banks[number];
  Waiting* const w = queue(pc, number);
  const bool write = w[position].write();
  --bank.queued;
  --pc.queued;
  if (write) --pc.writes;
  for (uint32_t i = position; i < bank.queued; ++i) w[i] = w[i + 1];
  if (bank.miss != kNone && bank.miss > position) --bank.miss;
  uint32_t& other = write ? bank.read_hit : bank.write_hit;
  if (other != kNone && other > position) --other;
  uint32_t& first = write ? bank.write_hit : bank.read_hit;
  if (--(write ? bank.write_hits : bank.read_hits) != 0) {
    first = position;
    while (w[first].row != bank.row || w[first].write() != write) ++first;
    note_hit(pc, number, write);
    return;
  }
  first = kNone;
  (write ? pc.write_hits : pc.read_hits) &= ~(uint64_t{1} << number);
  if (!bank.wanted()) note_row_change(pc, number);
}

// ---- the next command
//
// First ready: of the column commands to open rows the one that can go soonest; beside it, on the pins of the
// row commands, the row change that can go soonest, of banks for which no request to the open row is waiting.
// Of equals the oldest.

/// Column commands against the direction (writes, or reads while writes are drained) wait while one in the
/// direction has its row open, except to a row that one in the direction waits to be closed.
uint64_t DramChannel::column_candidates(const PseudoChannel& pc, bool writes) const {
  const uint64_t hits = writes ? pc.write_hits : pc.read_hits;
  if (!separate_ || writes == pc.draining) return hits;
  if ((writes ? pc.read_hits : pc.write_hits) == 0) return hits;
  return hits & (writes ? pc.read_misses : pc.write_misses);
}

void DramChannel::find_column(PseudoChannel& pc) {
  pc.column_known = true;
  pc.column = {};
  for (uint64_t rest = column_candidates(pc, false); rest != 0; rest &= rest - 1)
    offer_column(pc, static_cast<uint32_t>(__builtin_ctzll(rest)), false);
  if (pc.write_hits == 0) return;
  for (uint64_t rest = column_candidates(pc, true); rest != 0; rest &= rest - 1)
    offer_column(pc, static_cast<uint32_t>(__builtin_ctzll(rest)), true);
}

void DramChannel::offer_column(PseudoChannel& pc, uint32_t b, bool write) const {
  const size_t place = write ? pc.banks.size() + b : b;
  const uint32_t g = group_of_[b];
  const Picoseconds t = write ? std::max({pc.column_ready[place], pc.write_clock, pc.group_write[g]})
                              : std::max({pc.column_ready[place], pc.read_clock, pc.group_read[g]});
  if (spec_.per_bank_refresh && held_by_refresh(pc, b, t)) return;
  pc.column.offer(t, pc.column_order[place], write);
}

/// A bank has a first hit of one kind: one more candidate, or the first one that the others have to wait for.
void DramChannel::offer_hit(PseudoChannel& pc, uint32_t b, bool write) {
  if (!pc.column_known) return;
  const uint64_t bit = uint64_t{1} << b;
  const uint64_t others = (write ? pc.write_hits : pc.read_hits) & ~bit;
  if (separate_ && write == pc.draining && others == 0 && (write ? pc.read_hits : pc.write_hits) != 0) {
    pc.column_known = false;
    return;
  }
  if ((column_candidates(pc, write) & bit) != 0) offer_column(pc, b, write);
}

/// What bank and request alone say of the oldest hit: called whenever that is another one, or the bank's
/// times change.
void DramChannel::note_hit(PseudoChannel& pc, uint32_t b, bool write) {
  const Bank& bank = pc.banks[b];
  const Waiting& w = queue(pc, b)[write ? bank.write_hit : bank.read_hit];
  const size_t place = write ? pc.banks.size() + b : b;
  pc.column_ready[place] = std::max({w.arrival, blocked_, write ? bank.write_clock : bank.read_clock});
  pc.column_order[place] = w.order;
}

/// What a bank alone says of its row change: called whenever its hits, its oldest miss or its times change.
void DramChannel::note_row_change(PseudoChannel& pc, uint32_t b) {
  const Bank& bank = pc.banks[b];
  const uint64_t bit = uint64_t{1} << b;
  pc.closings &= ~bit;
  pc.openings &= ~bit;
  pc.ripe_closings &= ~bit;
  pc.ripe_openings &= ~bit;
  if (bank.miss == kNone || bank.wanted()) return;
  const Waiting& w = queue(pc, b)[bank.miss];
  const bool open = bank.row != kClosed;
  pc.row_ready[b] = std::max(w.arrival, open ? bank.precharge_clock : bank.activate_clock);
  pc.row_order[b] = w.order;
  (open ? pc.closings : pc.openings) |= bit;
}

// Without branches that nobody can foresee: the earliest time, and the oldest of those that have it.
template <typename Time>
void DramChannel::find_row(PseudoChannel& pc, uint64_t banks, Best& best, Time&& time) const {
  Picoseconds at = kNever;
  uint64_t order = ~uint64_t{0};
  for (; banks != 0; banks &= banks - 1) {
    const auto b = static_cast<uint32_t>(__builtin_ctzll(banks));
    const Picoseconds t = time(b);
    const uint64_t o = pc.row_order[b];
    const bool held = spec_.per_bank_refresh && held_by_refresh(pc, b, t);
    const bool better = ((t < at) | ((t == at) & (o < order))) & !held;
    const uint64_t taken = uint64_t{0} - static_cast<uint64_t>(better);  // all ones
    at ^= (at ^ t) & taken;
    order ^= (order ^ o) & taken;
  }
  best.at = at;
  best.order = order;
}

/// Those of `banks` whose row change waits for nothing of their own at `at`. Common times do not go back.
uint64_t DramChannel::ripen(const PseudoChannel& pc, uint64_t banks, uint64_t& ripe, Picoseconds& ripe_at,
                            Picoseconds at) const {
  if (at < ripe_at) ripe = 0;
  ripe_at = at;
  for (uint64_t rest = banks & ~ripe; rest != 0; rest &= rest - 1) {
    const auto ready =
        static_cast<uint64_t>(pc.row_ready[static_cast<uint32_t>(__builtin_ctzll(rest))] <= at);
    ripe |= (rest & (~rest + 1)) & (uint64_t{0} - ready);
  }
  return ripe;
}

/// `banks` is not empty.
uint64_t DramChannel::oldest_change(const PseudoChannel& pc, uint64_t banks) const {
  uint64_t order = ~uint64_t{0};
  for (; banks != 0; banks &= banks - 1)
    order = std::min(order, pc.row_order[static_cast<uint32_t>(__builtin_ctzll(banks))]);
  return order;
}

void DramChannel::find_closing(PseudoChannel& pc) {
  pc.closing_known = true;
  const Picoseconds base = std::max(blocked_, row_free_);
  if (!spec_.per_bank_refresh) {
    const uint64_t ripe = ripen(pc, pc.closings, pc.ripe_closings, pc.closings_ripe_at, base);
    if (ripe != 0) {
      pc.closing.at = base;
      pc.closing.order = oldest_change(pc, ripe);
      return;
    }
  }
  find_row(pc, pc.closings, pc.closing, [&](uint32_t b) { return std::max(pc.row_ready[b], base); });
}

void DramChannel::find_opening(PseudoChannel& pc) {
  pc.opening_known = true;
  const Picoseconds any = opens(pc);
  if (!spec_.per_bank_refresh) {
    uint64_t ripe = ripen(pc, pc.openings, pc.ripe_openings, pc.openings_ripe_at, any);
    for (size_t g = 0; g < banks_of_.size(); ++g)
      if (pc.group_activate[g] > any) ripe &= ~banks_of_[g];
    if (ripe != 0) {
      pc.opening.at = any;
      pc.opening.order = oldest_change(pc, ripe);
      return;
    }
  }
  find_row(pc, pc.openings, pc.opening, [&](uint32_t b) {
    return std::max({pc.row_ready[b], any, pc.group_activate[group_of_[b]]});
  });
}

/// One more candidate for the row change.
void DramChannel::offer_row(PseudoChannel& pc, uint32_t b) {
  const uint64_t bit = uint64_t{1} << b;
  const bool closes = (pc.closings & bit) != 0;
  if (closes ? !pc.closing_known : !pc.opening_known || (pc.openings & bit) == 0) return;
  const Picoseconds base =
      closes ? std::max(blocked_, row_free_) : std::max(opens(pc), pc.group_activate[group_of_[b]]);
  const Picoseconds t = std::max(pc.row_ready[b], base);
  if (spec_.per_bank_refresh && held_by_refresh(pc, b, t)) return;
  (closes ? pc.closing : pc.opening).offer(t, pc.row_order[b], false);
}

// Slots that are taken meanwhile matter to what wanted them: all others come later anyhow.
void DramChannel::find_row_change(PseudoChannel& pc) {
  if (!pc.closing_known || pc.closing.at < row_free_) {
    if (pc.closings != 0) {
      find_closing(pc);
    } else {
      pc.closing_known = true;
      pc.closing = {};
    }
  }
  if (pc.opening_known && pc.opening.at >= row_free_) return;
  if (pc.openings != 0) {
    find_opening(pc);
  } else {
    pc.opening_known = true;
    pc.opening = {};
  }
}

void DramChannel::decide(PseudoChannel& pc) {
  using Next = PseudoChannel::Next;
  pc.decided = true;
  pc.command = Next::none;
  pc.at = kNever;
  if (pc.queued == 0) return;
  if (!first_ready_) return decide_by_policy(pc);
  if (!pc.column_known) find_column(pc);
  bool row = false;
  Best best = pc.column;
  // A row change goes only if it goes sooner: not always need one know when.
  if ((pc.closings | pc.openings) != 0 && std::max(blocked_, row_free_) < pc.column.at) {
    find_row_change(pc);
    const Best& change = pc.opening.before(pc.closing) ? pc.opening : pc.closing;
    row = change.at < pc.column.at;
    if (row) best = change;
  }
  if (best.at < pc.refresh || (spec_.per_bank_refresh && best.at != kNever)) {
    pc.at = best.at;
    pc.command = row ? Next::row : Next::column;
    pc.bank = best.bank();
    const Bank& bank = pc.banks[pc.bank];
    pc.position = row ? bank.miss : best.write ? bank.write_hit : bank.read_hit;
  }
  if (pc.refresh <= pc.at) decide_refresh(pc);
}

/// A scheduler that is not built in chooses.
void DramChannel::decide_by_policy(PseudoChannel& pc) {
  using Next = PseudoChannel::Next;
  const bool oldest = policies_.scheduler->oldest_of_bank();
  candidates_.clear();
  const Picoseconds any = opens(pc);
  for (uint32_t b = 0; b < pc.banks.size(); ++b) {
    const Bank& bank = pc.banks[b];
    if (bank.queued == 0) continue;
    const uint64_t bit = uint64_t{1} << b;
    const auto offer = [&](uint32_t position, bool column) {
      const Waiting& w = queue(pc, b)[position];
      Picoseconds t = 0;
      if (column) {
        const uint32_t group = group_of_[b];
        t = w.write()
                ? std::max({w.arrival, blocked_, bank.write_clock, pc.write_clock, pc.group_write[group]})
                : std::max({w.arrival, blocked_, bank.read_clock, pc.read_clock, pc.group_read[group]});
      } else {
        t = bank.row != kClosed
                ? std::max({w.arrival, bank.precharge_clock, blocked_, row_free_})
                : std::max({w.arrival, bank.activate_clock, any, pc.group_activate[group_of_[b]]});
      }
      candidates_.push_back({t, w.order, b, position, column, w.write()});
    };
    if (oldest) {  // its row may be wanted by younger ones, which have to wait
      offer(0, queue(pc, b)[0].row == bank.row);
      continue;
    }
    if ((column_candidates(pc, false) & bit) != 0) offer(bank.read_hit, true);
    if ((column_candidates(pc, true) & bit) != 0) offer(bank.write_hit, true);
    if (bank.read_hit == kNone && bank.write_hit == kNone) offer(bank.miss, false);
  }
  while (!candidates_.empty()) {
    const size_t i = policies_.scheduler->choose(candidates_);
    const DramCandidate c = candidates_.at(i);
    if (!held_by_refresh(pc, c.bank, c.at)) {
      pc.at = c.at;
      pc.command = c.column ? Next::column : Next::row;
      pc.bank = c.bank;
      pc.position = c.position;
      break;
    }
    if (policies_.scheduler->in_order()) break;
    candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (pc.refresh <= pc.at) decide_refresh(pc);
}

void DramChannel::decide_refresh(PseudoChannel& pc) {
  Picoseconds t = std::max(pc.refresh, blocked_);
  for (uint32_t b = 0; b < pc.banks.size(); ++b) {
    if (spec_.per_bank_refresh && b != pc.refresh_bank) continue;
    if (pc.banks[b].row != kClosed) t = std::max(t, pc.banks[b].precharge_ready);
  }
  if (t > pc.at) return;
  pc.at = on_clock(t);
  pc.command = PseudoChannel::Next::refresh;
}

/// Whose command is next; of equals the first one's. If there is none, its time is kNever.
inline DramChannel::PseudoChannel& DramChannel::earliest() {
  if (earliest_known_) return *earliest_;
  earliest_known_ = true;
  PseudoChannel* first = pseudo_channels_.data();
  PseudoChannel* const end = first + pseudo_channels_.size();
  if (!first->decided) decide(*first);
  for (PseudoChannel* pc = first + 1; pc < end; ++pc) {
    if (!pc->decided) decide(*pc);
    first = pc->at < first->at ? pc : first;
  }
  earliest_ = first;
  return *first;
}

Picoseconds DramChannel::next() {
  return earliest().at;
}

// All that a command leads to is one function for the compiler: calls would take a quarter of the time.
[[gnu::flatten]] void DramChannel::advance(Picoseconds now, std::vector<Completion>& done) {
  for (PseudoChannel* pc = &earliest(); pc->at <= now && pc->at != kNever; pc = &earliest()) issue(*pc, done);
}

void DramChannel::issue(PseudoChannel& pc, std::vector<Completion>& done) {
  using Next = PseudoChannel::Next;
  switch (pc.command) {
    case Next::column:
      column(pc, done);
      break;
    case Next::row:
      pc.banks[pc.bank].row == kClosed ? activate(pc) : precharge(pc);
      break;
    case Next::refresh:
      refresh(pc);
      break;
    case Next::none:
      break;
  }
}

void DramChannel::column(PseudoChannel& pc, std::vector<Completion>& done) {
  const uint32_t number = pc.bank;
  Bank& bank = pc.banks[number];
  const Waiting w = queue(pc, number)[pc.position];
  const bool write = w.write();
  const Picoseconds t = pc.at;
  const uint32_t group = group_of_[number];
  const auto after = [](Picoseconds& ready, Picoseconds at) { ready = std::max(ready, at); };
  Picoseconds end = 0;
  if (write) {
    ++counters_.writes;
    end = t + spec_.wl + spec_.burst;
    after(bank.precharge_ready, end + spec_.wr);
    after(bank.precharge_clock, t + clocks_.write_to_precharge);
    after(pc.write_clock, t + clocks_.ccd_short);
    after(pc.group_write[group], t + clocks_.ccd_long);
    after(pc.read_clock, t + clocks_.write_to_read_short);
    after(pc.group_read[group], t + clocks_.write_to_read_long);
  } else {
    ++counters_.reads;
    end = t + spec_.rl + spec_.burst;
    after(bank.precharge_ready, t + spec_.rtp);
    after(bank.precharge_clock, t + clocks_.rtp);
    after(pc.read_clock, t + clocks_.ccd_short);
    after(pc.group_read[group], t + clocks_.ccd_long);
    after(pc.write_clock, t + clocks_.rtw);
  }
  if (w.hit()) ++counters_.hits;
  done.push_back({w.token, end + spec_.controller - spec_.controller / 2});
  --waiting_;
  ++bank.columns;
  take_out(pc, number, pc.position);
  const bool closes = may_close_ && policies_.page->closes(bank.columns, bank.wanted());
  note(write ? Command::Kind::write : Command::Kind::read, pc, number, w.row, closes);
  if (closes) {
    bank.row = kClosed;
    after(bank.activate_ready, bank.precharge_ready + spec_.rp);
    bank.activate_clock = on_clock(bank.activate_ready);
    scan(pc, number);
  }
  pc.column_known = false;
  undecided(pc);
  offer_row(pc, number);
  if (pc.behind_first < pc.behind.size()) {
    admit(pc, t);
  } else {
    choose_direction(pc);
  }
}

void DramChannel::activate(PseudoChannel& pc) {
  const uint32_t number = pc.bank;
  Waiting& w = queue(pc, number)[pc.position];
  const Picoseconds t = pc.at;
  w.order |= Waiting::kNoHit;
  Bank& bank = pc.banks[number];
  bank.row = w.row;
  bank.columns = 0;
  bank.read_clock = t + clocks_.rcd_read;
  bank.write_clock = t + clocks_.rcd_write;
  bank.precharge_ready = t + spec_.ras;
  bank.precharge_clock = t + clocks_.ras;
  bank.activate_ready = t + spec_.rc;
  bank.activate_clock = t + clocks_.rc;
  pc.activate_clock = t + clocks_.rrd_short;
  pc.group_activate[group_of_[number]] = t + clocks_.rrd_long;
  pc.window_opens[pc.oldest_activate] = t + clocks_.faw;
  pc.oldest_activate = (pc.oldest_activate + 1) % static_cast<uint32_t>(pc.window_opens.size());
  ++counters_.activates;
  note(Command::Kind::activate, pc, number, w.row);
  scan(pc, number);
  pc.opening_known = false;
  undecided(pc);
  if (bank.read_hits != 0) offer_hit(pc, number, false);
  if (bank.write_hits != 0) offer_hit(pc, number, true);
  take_slots(spec_.act_slots, t);
}

void DramChannel::precharge(PseudoChannel& pc) {
  const uint32_t number = pc.bank;
  Waiting& w = queue(pc, number)[pc.position];
  const Picoseconds t = pc.at;
  w.order |= Waiting::kNoHit;
  Bank& bank = pc.banks[number];
  bank.row = kClosed;
  bank.activate_ready = std::max(bank.activate_ready, t + spec_.rp);
  bank.activate_clock = std::max(bank.activate_clock, t + clocks_.rp);
  ++counters_.precharges;
  note(Command::Kind::precharge, pc, number, w.row);
  if (bank.wanted()) {  // of another scheduler
    scan(pc, number);
  } else {
    note_row_change(pc, number);
  }
  pc.closing_known = false;
  undecided(pc);
  take_slots(spec_.pre_slots, t);
  offer_row(pc, number);
}

/// A row command has the slots from `t` on. Others that wanted them decide anew.
void DramChannel::take_slots(uint32_t slots, Picoseconds t) {
  row_free_ = t + slots * spec_.clock;
  for (PseudoChannel& any : pseudo_channels_)
    if (any.command == PseudoChannel::Next::row && any.at < row_free_) undecided(any);
}

// Open rows are precharged with it.
void DramChannel::refresh(PseudoChannel& pc) {
  const Picoseconds t = pc.at;
  ++counters_.refreshes;
  note(Command::Kind::refresh, pc, spec_.per_bank_refresh ? pc.refresh_bank : 0, 0);
  const auto rest = [&](uint32_t number, Picoseconds begin) {
    Bank& bank = pc.banks[number];
    bank.row = kClosed;
    bank.activate_ready = std::max(bank.activate_ready, begin + spec_.refresh_time());
    bank.activate_clock = on_clock(bank.activate_ready);
    if (bank.queued != 0) scan(pc, number);
  };
  if (spec_.per_bank_refresh) {
    const Bank& bank = pc.banks[pc.refresh_bank];
    rest(pc.refresh_bank, bank.row != kClosed ? t + spec_.rp : std::max(t, bank.activate_ready));
    pc.refresh_bank = (pc.refresh_bank + 1) % static_cast<uint32_t>(pc.banks.size());
  } else {
    const bool open =
        std::any_of(pc.banks.begin(), pc.banks.end(), [](const Bank& b) { return b.row != kClosed; });
    Picoseconds begin = open ? t + spec_.rp : t;
    for (const Bank& bank : pc.banks) {
      if (bank.row != kClosed) continue;
      // A precharge of before is still under way; an auto-precharge may not have begun.
      if (bank.activate_ready != 0) begin = std::max(begin, std::min(bank.activate_ready, t + spec_.rp));
      if (bank.precharge_ready > t) begin = std::max(begin, bank.precharge_ready + spec_.rp);
    }
    for (uint32_t b = 0; b < pc.banks.size(); ++b) rest(b, begin);
  }
  pc.refresh += refresh_interval();
  unknown(pc);
}

void DramChannel::block(Picoseconds until) {
  blocked_ = std::max(blocked_, on_clock(until));
  for (PseudoChannel& pc : pseudo_channels_) {
    unknown(pc);
    // The stream has paid for the refreshes in its time, and leaves the banks precharged.
    if (pc.refresh <= until) {
      const uint64_t refreshes = (until - pc.refresh) / refresh_interval() + 1;
      pc.refresh += refreshes * refresh_interval();
      counters_.refreshes += refreshes;
    }
    for (uint32_t b = 0; b < pc.banks.size(); ++b) {
      Bank& bank = pc.banks[b];
      bank.row = kClosed;
      bank.precharge_ready = 0;
      bank.activate_ready = std::max(bank.activate_ready, until);
      bank.activate_clock = on_clock(bank.activate_ready);
      if (bank.queued != 0) scan(pc, b);
    }
  }
}

void DramChannel::open(uint32_t pseudo_channel, uint32_t number, uint64_t row, Picoseconds until) {
  PseudoChannel& pc = pseudo_channels_[pseudo_channel];
  Bank& bank = pc.banks[number];
  bank.row = row;
  bank.columns = 0;
  bank.read_clock = bank.write_clock = on_clock(until);
  bank.precharge_ready = until;
  bank.precharge_clock = on_clock(until);
  scan(pc, number);
  unknown(pc);
}

// Of the refreshes by `now` that nobody saw only the last one of a bank can still be felt.
void DramChannel::skip_refreshes(PseudoChannel& pc, Picoseconds now) {
  const uint64_t round = spec_.per_bank_refresh ? pc.banks.size() : 1;
  const Picoseconds period = round * refresh_interval();
  if (period < spec_.rp + spec_.refresh_time()) return;  // they would pile up
  if (now - pc.refresh <= 2 * period) return;
  const uint64_t rounds = (now - pc.refresh) / period - 1;
  pc.refresh += rounds * period;
  counters_.refreshes += rounds * round;
}

void DramChannel::catch_up_refreshes(PseudoChannel& pc, Picoseconds now) {
  const auto one = [&] {
    pc.at = pc.refresh;
    for (const Bank& bank : pc.banks) {
      if (bank.row != kClosed) pc.at = std::max(pc.at, bank.precharge_ready);
    }
    refresh(pc);
  };
  const auto open = [](const Bank& b) { return b.row != kClosed; };
  while (pc.refresh <= now && std::any_of(pc.banks.begin(), pc.banks.end(), open)) one();
  if (pc.refresh <= now) skip_refreshes(pc, now);
  while (pc.refresh <= now) one();
}

}  // namespace weft
