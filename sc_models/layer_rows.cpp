// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/layer_rows.h"

#include <algorithm>
#include <map>

namespace weft {
namespace {

bool digit(char c) {
  return c >= '0' && c <= '9';
}

/// Less, where runs of digits compare as numbers: layer2 before layer10.
bool natural_less(const std::string& a, const std::string& b) {
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
      continue;
    }
    size_t ends[2] = {i, j};
    while (ends[0] < a.size() && digit(a[ends[0]])) ++ends[0];
    while (ends[1] < b.size() && digit(b[ends[1]])) ++ends[1];
    while (i + 1 < ends[0] && a[i] == '0') ++i;
    while (j + 1 < ends[1] && b[j] == '0') ++j;
    if (ends[0] - i != ends[1] - j) return ends[0] - i < ends[1] - j;
    const int order = a.compare(i, ends[0] - i, b, j, ends[1] - j);
    if (order != 0) return order < 0;
    i = ends[0];
    j = ends[1];
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;
}

}  // namespace

std::vector<LayerRow> layer_rows(const graph::LayerTable& table,
                                 const std::vector<std::pair<const graph::RankEngine*, uint32_t>>& engines,
                                 const std::vector<CollectiveRow>& collectives, Picoseconds end) {
  std::map<graph::LayerName, LayerRow> rows;
  for (const auto& [engine, ranks] : engines) {
    if (engine->layers() == nullptr) continue;
    const std::vector<graph::LayerTime> times = engine->layers()->times(end);
    for (size_t l = 0; l < times.size(); ++l) {
      if (times[l].nodes == 0) continue;
      LayerRow& row = rows[table.layers()[l]];
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
  for (const CollectiveRow& collective : collectives) {
    LayerRow& row = rows[graph::layer_of(collective.name)];
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

}  // namespace weft
