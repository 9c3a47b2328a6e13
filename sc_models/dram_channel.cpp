// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/dram_channel.h"

#include <algorithm>

namespace weft {

DramChannel::DramChannel(const DramSpec& spec, uint32_t window) : spec_(spec), window_(window) {
  pseudo_channels_.resize(spec.pseudo_channels);
  for (uint32_t i = 0; i < spec.pseudo_channels; ++i) {
    PseudoChannel& pc = pseudo_channels_[i];
    pc.banks.resize(spec.banks());
    pc.group_read.resize(spec.bank_groups);
    pc.group_write.resize(spec.bank_groups);
    pc.group_activate.resize(spec.bank_groups);
    if (spec.refi == 0) continue;
    // The pseudo-channels take turns.
    pc.refresh = on_clock(refresh_interval() * (i + 1) / spec.pseudo_channels);
  }
}

Picoseconds DramChannel::slot(Picoseconds t) const {
  return std::max(on_clock(t), row_free_);
}

void DramChannel::submit(uint32_t number, const DramRequest& request, Picoseconds now) {
  PseudoChannel& pc = pseudo_channels_[number];
  if (pc.window.empty()) catch_up_refreshes(pc, now);
  const Waiting waiting{request, on_clock(now + spec_.controller / 2), true};
  ++waiting_;
  if (pc.window.size() < window_) {
    pc.window.push_back(waiting);
    pc.decided = false;
  } else {
    pc.behind.push_back(waiting);
  }
}

void DramChannel::catch_up_refreshes(PseudoChannel& pc, Picoseconds now) {
  if (pc.refresh > now) return;
  if (!spec_.per_bank_refresh && now - pc.refresh > 2 * spec_.refi) {
    // All but the last of those that nobody saw.
    const Picoseconds skipped = (now - pc.refresh) / spec_.refi - 1;
    pc.refresh += skipped * spec_.refi;
    counters_.refreshes += skipped;
  }
  while (pc.refresh <= now) {
    pc.at = pc.refresh;
    for (const Bank& bank : pc.banks) {
      if (bank.row != kClosed) pc.at = std::max(pc.at, bank.precharge_ready);
    }
    refresh(pc);
  }
}

// First ready: of the column commands to open rows the one that can go soonest; beside it, on the pins of the
// row commands, the row change that can go soonest, of banks for which no request to the open row is waiting.
// Of equals the oldest.
void DramChannel::decide(PseudoChannel& pc) {
  using Next = PseudoChannel::Next;
  pc.decided = true;
  pc.command = Next::none;
  pc.at = kNever;
  if (pc.window.empty()) return;
  uint64_t hit_banks = 0;
  for (const Waiting& w : pc.window) {
    if (pc.banks[w.request.bank].row == w.request.row) hit_banks |= uint64_t{1} << w.request.bank;
  }
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
    Next command = Next::none;
    if (bank.row == w.request.row) {
      t = w.request.write ? std::max({t, bank.write_ready, pc.write_ready, pc.group_write[group]})
                          : std::max({t, bank.read_ready, pc.read_ready, pc.group_read[group]});
      t = on_clock(t);
      command = w.request.write ? Next::write : Next::read;
    } else {
      const uint64_t bit = uint64_t{1} << b;
      if (((hit_banks | seen_banks) & bit) != 0) continue;
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
  if (refresh_waits || pc.refresh <= pc.at) {
    Picoseconds t = std::max(pc.refresh, blocked_);
    for (uint32_t b = 0; b < pc.banks.size(); ++b) {
      if (spec_.per_bank_refresh && b != pc.refresh_bank) continue;
      if (pc.banks[b].row != kClosed) t = std::max(t, pc.banks[b].precharge_ready);
    }
    if (t <= pc.at) {
      pc.at = on_clock(t);
      pc.command = Next::refresh;
    }
  }
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
  if (!pc.behind.empty()) {
    pc.window.push_back(pc.behind.front());
    pc.behind.pop_front();
  }
  pc.decided = false;
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
    bank.activate_ready = std::max(bank.activate_ready, begin + spec_.rfc_bank);
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
      bank.activate_ready = std::max(bank.activate_ready, begin + spec_.rfc);
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
    while (pc.refresh <= until) {
      pc.refresh += refresh_interval();
      ++counters_.refreshes;
    }
    for (Bank& bank : pc.banks) {
      bank.row = kClosed;
      bank.activate_ready = std::max(bank.activate_ready, until);
    }
  }
}

}  // namespace weft
