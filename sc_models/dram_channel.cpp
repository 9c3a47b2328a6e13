// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/dram_channel.h"

#include <algorithm>

namespace weft {

DramChannel::DramChannel(const DramSpec& spec, uint32_t window)
    : spec_(spec), window_(window), bank_queue_(spec.bank_queue()) {
  pseudo_channels_.resize(spec.pseudo_channels);
  for (uint32_t i = 0; i < spec.pseudo_channels; ++i) {
    PseudoChannel& pc = pseudo_channels_[i];
    pc.banks.resize(spec.banks());
    pc.of_bank.resize(spec.banks());
    pc.group_read.resize(spec.bank_groups);
    pc.group_write.resize(spec.bank_groups);
    pc.group_activate.resize(spec.bank_groups);
    if (spec.refi == 0) continue;
    // All banks of a channel rest together: a stream goes over all pseudo-channels, and one that rests alone
    // would hold up the others. Single banks take turns.
    pc.refresh = spec.per_bank_refresh ? on_clock(refresh_interval() * (i + 1) / spec.pseudo_channels)
                                       : refresh_interval();
  }
}

Picoseconds DramChannel::slot(Picoseconds t) const {
  return std::max(on_clock(t), row_free_);
}

void DramChannel::submit(uint32_t number, const DramRequest& request, Picoseconds now) {
  PseudoChannel& pc = pseudo_channels_[number];
  if (pc.window.empty()) catch_up_refreshes(pc, now);
  pc.behind.push_back({request, on_clock(now + spec_.controller / 2), true});
  ++waiting_;
  admit(pc, now);
}

// Into the window, in the order of arrival, what it has room for. Then who goes first: reads, until the high
// watermark; writes, until the low one or until none is left. Without reads, writes.
void DramChannel::admit(PseudoChannel& pc, Picoseconds now) {
  while (!pc.behind.empty() && pc.window.size() < window_) {
    const DramRequest& request = pc.behind.front().request;
    if (pc.of_bank[request.bank] >= bank_queue_) break;
    ++pc.of_bank[request.bank];
    if (request.write) ++pc.writes;
    pc.window.push_back(pc.behind.front());
    pc.window.back().arrival = std::max(pc.window.back().arrival, now);  // no command before it was seen
    pc.behind.pop_front();
    pc.decided = false;
  }
  const bool reads = pc.writes < pc.window.size();
  pc.draining =
      pc.writes > 0 && (!reads || pc.writes >= kWriteHigh || (pc.draining && pc.writes > kWriteLow));
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

DramChannel::Wishes DramChannel::wishes(const PseudoChannel& pc) const {
  Wishes w;
  for (const Waiting& waiting : pc.window) {
    const DramRequest& request = waiting.request;
    const bool hit = pc.banks[request.bank].row == request.row;
    const uint64_t bit = uint64_t{1} << request.bank;
    if (hit) w.hits |= bit;
    if (request.write != pc.draining) continue;
    if (hit) {
      w.direction_hit = true;
    } else {
      w.direction_misses |= bit;
    }
  }
  return w;
}

// First ready: of the column commands to open rows the one that can go soonest; beside it, on the pins of the
// row commands, the row change that can go soonest, of banks for which no request to the open row is waiting.
// Of equals the oldest. Column commands against the direction (writes, or reads while writes are drained)
// wait while one in the direction has its row open, except to a row that one in the direction waits to be
// closed.
void DramChannel::decide(PseudoChannel& pc) {
  using Next = PseudoChannel::Next;
  pc.decided = true;
  pc.command = Next::none;
  pc.at = kNever;
  if (pc.window.empty()) return;
  const Wishes all = wishes(pc);
  uint64_t seen_banks = 0;
  const auto refreshing = [&](uint32_t bank, Picoseconds t) {
    return pc.refresh <= t && (!spec_.per_bank_refresh || bank == pc.refresh_bank);
  };
  bool refresh_waits = false;
  const Picoseconds four = pc.activates[pc.oldest_activate];
  const Picoseconds window_opens = four == 0 ? 0 : four - 1 + spec_.faw;
  for (uint32_t i = 0; i < pc.window.size(); ++i) {
    const Waiting& w = pc.window[i];
    const uint32_t b = w.request.bank;
    const Bank& bank = pc.banks[b];
    const uint32_t group = b / spec_.banks_per_group;
    Picoseconds t = std::max(w.arrival, blocked_);
    const uint64_t bit = uint64_t{1} << b;
    Next command = Next::none;
    if (bank.row == w.request.row) {
      const bool against = w.request.write != pc.draining;
      if (against && all.direction_hit && (all.direction_misses & bit) == 0) continue;
      t = w.request.write ? std::max({t, bank.write_ready, pc.write_ready, pc.group_write[group]})
                          : std::max({t, bank.read_ready, pc.read_ready, pc.group_read[group]});
      t = on_clock(t);
      command = w.request.write ? Next::write : Next::read;
    } else {
      if (((all.hits | seen_banks) & bit) != 0) continue;
      seen_banks |= bit;
      if (bank.row != kClosed) {
        t = slot(std::max(t, bank.precharge_ready));
        command = Next::precharge;
      } else {
        t = slot(
            std::max({t, bank.activate_ready, pc.activate_ready, pc.group_activate[group], window_opens}));
        command = Next::activate;
      }
    }
    if (refreshing(b, t)) {
      refresh_waits = true;
      continue;
    }
    const bool is_column = command == Next::read || command == Next::write;
    const bool was_column = pc.command == Next::read || pc.command == Next::write;
    if (t < pc.at || (t == pc.at && is_column && !was_column)) {
      pc.at = t;
      pc.command = command;
      pc.index = i;
    }
  }
  decide_refresh(pc, refresh_waits);
}

void DramChannel::decide_refresh(PseudoChannel& pc, bool somebody_waits) {
  if (!somebody_waits && pc.refresh > pc.at) return;
  Picoseconds t = std::max(pc.refresh, blocked_);
  for (uint32_t b = 0; b < pc.banks.size(); ++b) {
    if (spec_.per_bank_refresh && b != pc.refresh_bank) continue;
    if (pc.banks[b].row != kClosed) t = std::max(t, pc.banks[b].precharge_ready);
  }
  if (t > pc.at) return;
  pc.at = on_clock(t);
  pc.command = PseudoChannel::Next::refresh;
}

DramChannel::PseudoChannel* DramChannel::earliest() {
  PseudoChannel* first = nullptr;
  for (PseudoChannel& pc : pseudo_channels_) {
    if (!pc.decided) decide(pc);
    if (pc.at != kNever && (first == nullptr || pc.at < first->at)) first = &pc;
  }
  return first;
}

Picoseconds DramChannel::next() {
  const PseudoChannel* const pc = earliest();
  return pc == nullptr ? kNever : pc->at;
}

void DramChannel::advance(Picoseconds now, std::vector<Completion>& done) {
  for (PseudoChannel* pc = earliest(); pc != nullptr && pc->at <= now; pc = earliest()) issue(*pc, done);
}

void DramChannel::issue(PseudoChannel& pc, std::vector<Completion>& done) {
  using Next = PseudoChannel::Next;
  switch (pc.command) {
    case Next::read:
    case Next::write:
      column(pc, done);
      break;
    case Next::activate:
      activate(pc);
      break;
    case Next::precharge:
      precharge(pc);
      break;
    case Next::refresh:
      refresh(pc);
      break;
    case Next::none:
      break;
  }
}

void DramChannel::column(PseudoChannel& pc, std::vector<Completion>& done) {
  const Waiting w = pc.window[pc.index];
  const Picoseconds t = pc.at;
  Bank& bank = pc.banks[w.request.bank];
  const uint32_t group = w.request.bank / spec_.banks_per_group;
  const auto after = [](Picoseconds& ready, Picoseconds at) { ready = std::max(ready, at); };
  Picoseconds end = 0;
  if (w.request.write) {
    ++counters_.writes;
    const Picoseconds data = t + spec_.wl + spec_.burst;
    after(bank.precharge_ready, data + spec_.wr);
    after(pc.write_ready, t + spec_.ccd_short);
    after(pc.group_write[group], t + spec_.ccd_long);
    after(pc.read_ready, data + spec_.wtr_short);
    after(pc.group_read[group], data + spec_.wtr_long);
    end = data;
  } else {
    ++counters_.reads;
    after(bank.precharge_ready, t + spec_.rtp);
    after(pc.read_ready, t + spec_.ccd_short);
    after(pc.group_read[group], t + spec_.ccd_long);
    after(pc.write_ready, t + spec_.rtw);
    end = t + spec_.rl + spec_.burst;
  }
  if (w.hit) ++counters_.hits;
  note(w.request.write ? Command::Kind::write : Command::Kind::read, pc, w.request.bank, w.request.row);
  done.push_back({w.request.token, end + spec_.controller - spec_.controller / 2});
  --waiting_;
  pc.window.erase(pc.window.begin() + pc.index);
  --pc.of_bank[w.request.bank];
  if (w.request.write) --pc.writes;
  pc.decided = false;
  admit(pc, t);
}

void DramChannel::activate(PseudoChannel& pc) {
  Waiting& w = pc.window[pc.index];
  const Picoseconds t = pc.at;
  w.hit = false;
  Bank& bank = pc.banks[w.request.bank];
  const uint32_t group = w.request.bank / spec_.banks_per_group;
  bank.row = w.request.row;
  bank.read_ready = t + spec_.rcd_read;
  bank.write_ready = t + spec_.rcd_write;
  bank.precharge_ready = t + spec_.ras;
  bank.activate_ready = t + spec_.rc;
  pc.activate_ready = t + spec_.rrd_short;
  pc.group_activate[group] = t + spec_.rrd_long;
  pc.activates[pc.oldest_activate] = t + 1;  // 0: none yet
  pc.oldest_activate = (pc.oldest_activate + 1) % pc.activates.size();
  row_free_ = t + spec_.act_slots * spec_.clock;
  ++counters_.activates;
  note(Command::Kind::activate, pc, w.request.bank, w.request.row);
  for (PseudoChannel& any : pseudo_channels_) any.decided = false;
}

void DramChannel::precharge(PseudoChannel& pc) {
  Waiting& w = pc.window[pc.index];
  const Picoseconds t = pc.at;
  w.hit = false;
  Bank& bank = pc.banks[w.request.bank];
  bank.row = kClosed;
  bank.activate_ready = std::max(bank.activate_ready, t + spec_.rp);
  row_free_ = t + spec_.pre_slots * spec_.clock;
  ++counters_.precharges;
  note(Command::Kind::precharge, pc, w.request.bank, w.request.row);
  for (PseudoChannel& any : pseudo_channels_) any.decided = false;
}

// Open rows are precharged with it.
void DramChannel::refresh(PseudoChannel& pc) {
  const Picoseconds t = pc.at;
  ++counters_.refreshes;
  note(Command::Kind::refresh, pc, spec_.per_bank_refresh ? pc.refresh_bank : 0, 0);
  if (spec_.per_bank_refresh) {
    Bank& bank = pc.banks[pc.refresh_bank];
    const Picoseconds begin = bank.row != kClosed ? t + spec_.rp : std::max(t, bank.activate_ready);
    bank.row = kClosed;
    bank.activate_ready = std::max(bank.activate_ready, begin + spec_.refresh_time());
    pc.refresh_bank = (pc.refresh_bank + 1) % static_cast<uint32_t>(pc.banks.size());
  } else {
    const bool open =
        std::any_of(pc.banks.begin(), pc.banks.end(), [](const Bank& b) { return b.row != kClosed; });
    Picoseconds begin = open ? t + spec_.rp : t;
    for (const Bank& bank : pc.banks) {
      // A precharge of before is still under way.
      if (bank.row == kClosed && bank.activate_ready != 0)
        begin = std::max(begin, std::min(bank.activate_ready, t + spec_.rp));
    }
    for (Bank& bank : pc.banks) {
      bank.row = kClosed;
      bank.activate_ready = std::max(bank.activate_ready, begin + spec_.refresh_time());
    }
  }
  pc.refresh += refresh_interval();
  pc.decided = false;
}

void DramChannel::block(Picoseconds until) {
  blocked_ = std::max(blocked_, until);
  for (PseudoChannel& pc : pseudo_channels_) {
    pc.decided = false;
    // The stream has paid for the refreshes in its time, and leaves the banks precharged.
    if (pc.refresh <= until) {
      const uint64_t refreshes = (until - pc.refresh) / refresh_interval() + 1;
      pc.refresh += refreshes * refresh_interval();
      counters_.refreshes += refreshes;
    }
    for (Bank& bank : pc.banks) {
      bank.row = kClosed;
      bank.activate_ready = std::max(bank.activate_ready, until);
    }
  }
}

}  // namespace weft
