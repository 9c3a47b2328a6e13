// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/part_results.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace weft {
namespace {

void add(CollectiveRow& row, const CollectiveRow& other) {
  row.started = std::min(row.started, other.started);
  row.finished = std::max(row.finished, other.finished);
  row.messages += other.messages;
  row.message_bytes += other.message_bytes;
  row.split.add(other.split);
  for (size_t p = 0; p < row.phases.size(); ++p) {
    row.phases[p].queue += other.phases[p].queue;
    row.phases[p].network += other.phases[p].network;
  }
  row.members_done += other.members_done;
  row.folded_members += other.folded_members;
  if (row.members_done != row.ranks) return;
  // As CollectiveBook does when the last member is done: means of the ranks.
  for (CollectiveRow::Phase& phase : row.phases) {
    phase.queue /= row.ranks;
    phase.network /= row.ranks;
  }
}

void add(LinkRow& row, const LinkRow& other) {
  row.bytes += other.bytes;
  row.messages += other.messages;
  row.busy += other.busy;
  row.queued += other.queued;
  row.packets += other.packets;
  row.marked += other.marked;
  row.pauses += other.pauses;
  row.paused += other.paused;
  row.overruns += other.overruns;
}

void add(Counters& sum, const Counters& other) {
  sum.messages_submitted += other.messages_submitted;
  sum.messages_delivered += other.messages_delivered;
  sum.bytes_submitted += other.bytes_submitted;
  sum.bytes_delivered += other.bytes_delivered;
  sum.links += other.links;
  sum.link_bytes += other.link_bytes;
  sum.link_messages += other.link_messages;
  sum.activations += other.activations;
  sum.unit_messages_in += other.unit_messages_in;
  sum.unit_messages_out += other.unit_messages_out;
  sum.unit_bytes_in += other.unit_bytes_in;
  sum.unit_bytes_out += other.unit_bytes_out;
  sum.in_flight += other.in_flight;
  sum.out_of_order_starts += other.out_of_order_starts;
  sum.packet_hops += other.packet_hops;
  sum.flits += other.flits;
  sum.trains += other.trains;
  sum.memory_bytes += other.memory_bytes;
  sum.memory_outstanding += other.memory_outstanding;
}

template <typename T>
void append(std::vector<T>& list, std::vector<T>&& more) {
  list.insert(list.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

LinkRow link_row(const LinkReport& report) {
  LinkRow row;
  row.name = report.name;
  row.to = report.to;
  row.dimension = report.dimension;
  row.bytes = report.bytes;
  row.messages = report.messages;
  row.busy = report.busy;
  row.queued = report.queued;
  row.fidelity = report.fidelity;
  row.packets = report.packets;
  row.marked = report.marked;
  row.pauses = report.pauses;
  row.paused = report.paused;
  row.overruns = report.overruns;
  return row;
}

MachinePart part_of(const Machine& machine) {
  MachinePart part;
  part.totals = machine.totals();
  part.unbalanced = machine.unbalanced_modules();
  machine.for_each_link_at([&](const Machine::LinkAt& at, const LinkReport& report) {
    part.links.emplace_hint(part.links.end(), at, link_row(report));
  });
  return part;
}

static void merge(JobPart::Collectives& into, JobPart::Collectives&& other) {
  std::unordered_map<uint32_t, size_t> places;
  for (size_t i = 0; i < into.rows.size(); ++i) places[into.rows[i].stream] = i;
  for (size_t i = 0; i < other.rows.size(); ++i) {
    CollectiveRow& theirs = other.rows[i];
    const auto [at, fresh] = places.emplace(theirs.stream, into.rows.size());
    if (fresh) {
      into.rows.push_back(std::move(theirs));
      into.named_by.push_back(other.named_by[i]);
      continue;
    }
    CollectiveRow& own = into.rows[at->second];
    if (other.named_by[i] < into.named_by[at->second]) {
      into.named_by[at->second] = other.named_by[i];
      own.name = theirs.name;
    }
    add(own, theirs);
  }
  std::vector<size_t> order(into.rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const CollectiveRow& first = into.rows[a];
    const CollectiveRow& second = into.rows[b];
    return first.started != second.started ? first.started < second.started : first.stream < second.stream;
  });
  JobPart::Collectives sorted;
  for (const size_t i : order) {
    sorted.rows.push_back(std::move(into.rows[i]));
    sorted.named_by.push_back(into.named_by[i]);
  }
  into = std::move(sorted);
}

static void merge(std::vector<IterationRow>& into, const std::vector<IterationRow>& other) {
  std::map<uint64_t, IterationRow> rows;
  for (const IterationRow& row : into) rows[row.iteration] = row;
  for (const IterationRow& more : other) {
    const auto [at, fresh] = rows.emplace(more.iteration, more);
    if (fresh) continue;
    IterationRow& row = at->second;
    row.started = std::min(row.started, more.started);
    row.finished = std::max(row.finished, more.finished);
    row.ranks += more.ranks;
    row.nodes += more.nodes;
    row.compute += more.compute;
    row.local_memory += more.local_memory;
    row.remote_memory += more.remote_memory;
    row.communication += more.communication;
  }
  into.clear();
  for (const auto& [iteration, row] : rows) into.push_back(row);
}

void merge(JobPart& into, JobPart&& other) {
  append(into.ranks, std::move(other.ranks));
  std::sort(into.ranks.begin(), into.ranks.end(),
            [](const RankRow& a, const RankRow& b) { return a.rank < b.rank; });
  into.costless_nodes += other.costless_nodes;
  into.messages += other.messages;
  into.out_of_order_starts += other.out_of_order_starts;
  into.memory_bytes += other.memory_bytes;
  into.simulated_ranks += other.simulated_ranks;
  into.repeated_collectives += other.repeated_collectives;
  into.repeats_under_way += other.repeats_under_way;
  merge(into.collectives, std::move(other.collectives));
  append(into.layers, std::move(other.layers));
  merge(into.iterations, other.iterations);
  append(into.footprint, std::move(other.footprint));
  std::sort(into.footprint.begin(), into.footprint.end(),
            [](const FootprintRow& a, const FootprintRow& b) { return a.rank < b.rank; });
  // A rule has matched nothing if it has in no part.
  std::vector<std::string>& unmatched = into.unmatched_rules;
  const auto matched_there = [&](const std::string& line) {
    return std::find(other.unmatched_rules.begin(), other.unmatched_rules.end(), line) ==
           other.unmatched_rules.end();
  };
  unmatched.erase(std::remove_if(unmatched.begin(), unmatched.end(), matched_there), unmatched.end());
}

void merge(MachinePart& into, MachinePart&& other) {
  add(into.totals, other.totals);
  for (auto& [at, row] : other.links) {
    const auto [own, fresh] = into.links.emplace(at, row);
    if (!fresh) add(own->second, row);
  }
  append(into.unbalanced, std::move(other.unbalanced));
}

}  // namespace weft
