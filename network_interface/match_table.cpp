// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "network_interface/match_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace weft::network_interface {

size_t MatchTable::Hash::operator()(const MatchKey& k) const {
  uint64_t hash = 0;
  const auto add = [&hash](uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 29;
  };
  add(static_cast<uint64_t>(static_cast<uint32_t>(k.source)) << 32 | static_cast<uint32_t>(k.destination));
  add(static_cast<uint32_t>(k.tag));
  add(k.bytes);
  return static_cast<size_t>(hash);
}

MatchTable::Place& MatchTable::place(Flow& flow, uint64_t number) {
  const uint64_t at = number - flow.first;
  if (at >= flow.places.size()) flow.places.resize(static_cast<size_t>(at) + 1);
  return flow.places[static_cast<size_t>(at)];
}

/// Takes what is complete off the flow's front.
void MatchTable::settle(Flow& flow, std::vector<Callback>& complete) {
  while (!flow.receives.empty() && flow.receives.front().bytes <= flow.there) {
    flow.there -= flow.receives.front().bytes;
    complete.push_back(flow.receives.front().callback);
    flow.receives.pop_front();
  }
  while (!flow.places.empty() && flow.places.front().arrived && flow.places.front().posted) {
    flow.places.pop_front();
    ++flow.first;
  }
}

uint64_t MatchTable::sent(int source, int destination, int tag, uint64_t bytes) {
  Flow& flow = find(source, destination, tag, bytes)->second;
  ++flow.under_way;
  return flow.sent++;
}

void MatchTable::arrived(int source, int destination, int tag, uint64_t bytes, uint64_t ordinal,
                         std::vector<Callback>& complete) {
  const auto it = find(source, destination, tag, bytes);
  Flow& flow = it->second;
  --flow.under_way;
  if (merges_) {
    flow.there += bytes;
  } else {
    Place& own = place(flow, ordinal);
    own.arrived = true;
    if (own.posted) complete.push_back(own.callback);
  }
  settle(flow, complete);
  forget(it);
}

void MatchTable::posted(int source, int destination, int tag, uint64_t bytes, Callback callback,
                        std::vector<Callback>& complete) {
  const auto it = find(source, destination, tag, bytes);
  Flow& flow = it->second;
  if (merges_) {
    flow.receives.push_back({bytes, callback});
  } else {
    Place& own = place(flow, flow.posted++);
    own.posted = true;
    own.callback = callback;
    if (own.arrived) complete.push_back(callback);
  }
  settle(flow, complete);
  forget(it);
}

std::vector<std::string> MatchTable::waiting() const {
  std::vector<const Flows::value_type*> flows;
  for (const auto& flow : flows_) flows.push_back(&flow);
  std::sort(flows.begin(), flows.end(), [](const auto* a, const auto* b) {
    const auto key = [](const MatchKey& k) { return std::tie(k.source, k.destination, k.tag, k.bytes); };
    return key(a->first) < key(b->first);
  });
  std::vector<std::string> lines;
  for (const auto* entry : flows) {
    const Flow& flow = entry->second;
    std::string what;
    const auto say = [&what](const std::string& text) { what += (what.empty() ? "" : ", ") + text; };
    uint64_t unreceived = 0;
    uint64_t unsent = flow.receives.size();
    for (const Place& p : flow.places) {
      unreceived += p.arrived && !p.posted ? 1 : 0;
      unsent += p.posted && !p.arrived ? 1 : 0;
    }
    if (flow.under_way != 0) say(fmt::format("{} messages under way", flow.under_way));
    if (unreceived != 0) say(fmt::format("{} messages that nobody received", unreceived));
    if (flow.there != 0) say(fmt::format("{} B that nobody received", flow.there));
    if (unsent != 0) say(fmt::format("{} receives that wait", unsent));
    lines.push_back(fmt::format("from rank {} to rank {}, tag {}{}: {}", entry->first.source,
                                entry->first.destination, entry->first.tag,
                                merges_ ? std::string() : fmt::format(", {} B", entry->first.bytes), what));
  }
  return lines;
}

}  // namespace weft::network_interface
