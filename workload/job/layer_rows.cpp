// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/job/layer_rows.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "configs/natural_order.h"

namespace weft {

namespace {

void add(LayerRow& row, const LayerRow& more) {
  row.ranks += more.ranks;
  row.nodes += more.nodes;
  row.compute += more.compute;
  row.local_memory += more.local_memory;
  row.remote_memory += more.remote_memory;
  row.communication += more.communication;
}

}  // namespace

std::vector<LayerRow> layer_rows(const graph::LayerTable& table,
                                 const std::vector<std::pair<const graph::RankEngine*, uint32_t>>& engines,
                                 Picoseconds end) {
  std::vector<LayerRow> rows(table.layers().size());
  for (const auto& [engine, ranks] : engines) {
    if (engine->layers() == nullptr) continue;
    const std::vector<graph::LayerTime> times = engine->layers()->times(end);
    for (size_t l = 0; l < times.size(); ++l) {
      if (times[l].nodes == 0) continue;
      LayerRow& row = rows[l];
      row.ranks += ranks;
      row.nodes += times[l].nodes * ranks;
      const auto of = [&spent = times[l].spent, n = Wide{ranks}](graph::RankState state) {
        return n * spent[static_cast<size_t>(state)];
      };
      row.compute += of(graph::RankState::compute);
      row.local_memory += of(graph::RankState::local_memory);
      row.remote_memory += of(graph::RankState::remote_memory);
      row.communication += of(graph::RankState::communication);
    }
  }
  std::vector<LayerRow> out;
  for (size_t l = 0; l < rows.size(); ++l) {
    if (rows[l].nodes == 0) continue;
    rows[l].iteration = table.layers()[l].iteration;
    rows[l].layer = table.layers()[l].layer;
    out.push_back(std::move(rows[l]));
  }
  return out;
}

std::vector<LayerRow> layer_rows(std::vector<LayerRow>&& of_nodes,
                                 const std::vector<CollectiveRow>& collectives) {
  std::map<graph::LayerName, LayerRow> rows;
  for (const LayerRow& row : of_nodes) add(rows[{row.iteration, row.layer}], row);
  std::unordered_map<const std::string*, LayerRow*> named;  // names are shared by many collectives
  for (const CollectiveRow& collective : collectives) {
    LayerRow*& known = named[&collective.name.str()];
    if (known == nullptr) known = &rows[graph::layer_of(collective.name.str())];
    LayerRow& row = *known;
    ++row.collectives;
    row.bytes += collective.bytes;
    if (collective.started != kNever && collective.members_done == collective.ranks)
      row.collective_time += collective.time();
    if (row.phases.size() < collective.phases.size()) row.phases.resize(collective.phases.size());
    for (size_t p = 0; p < collective.phases.size(); ++p) {
      row.phases[p].queue += collective.phases[p].queue;
      row.phases[p].network += collective.phases[p].network;
    }
  }
  std::vector<LayerRow> out;
  for (auto& [name, row] : rows) {
    row.iteration = name.iteration;
    row.layer = name.layer;
    out.push_back(std::move(row));
  }
  std::sort(out.begin(), out.end(), [](const LayerRow& a, const LayerRow& b) {
    if (a.iteration != b.iteration) return natural_less(a.iteration, b.iteration);
    return natural_less(a.layer, b.layer);
  });
  return out;
}

std::vector<IterationRow> iteration_rows(
    const graph::LayerTable& table, const std::vector<std::pair<const graph::RankEngine*, uint32_t>>& engines,
    Picoseconds end) {
  std::map<uint64_t, IterationRow> rows;
  for (const auto& [engine, ranks] : engines) {
    if (engine->layers() == nullptr) continue;
    const std::vector<graph::IterationTime> times = engine->layers()->iterations(end);
    for (size_t i = 0; i < times.size(); ++i) {
      if (times[i].nodes == 0) continue;
      IterationRow& row = rows[table.iterations()[i]];
      row.started = std::min(row.started, times[i].first);
      row.finished = std::max(row.finished, times[i].last);
      row.ranks += ranks;
      row.nodes += times[i].nodes * ranks;
      const auto of = [&spent = times[i].spent, n = Wide{ranks}](graph::RankState state) {
        return n * spent[static_cast<size_t>(state)];
      };
      row.compute += of(graph::RankState::compute);
      row.local_memory += of(graph::RankState::local_memory);
      row.remote_memory += of(graph::RankState::remote_memory);
      row.communication += of(graph::RankState::communication);
    }
  }
  std::vector<IterationRow> out;
  for (auto& [number, row] : rows) {
    row.iteration = number;
    out.push_back(row);
  }
  return out;
}

}  // namespace weft
