// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/data_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <unordered_map>

namespace weft::collectives {

DataLayout::DataLayout(std::shared_ptr<const CollectivePlan> plan, uint32_t rank) : plan_(std::move(plan)) {
  find_members(rank);
  if (collects(op()) || distributes(op())) find_pieces();
}

std::vector<AxisView> DataLayout::views_at(uint32_t place) const {
  std::vector<AxisView> views;
  for (const Axis& axis : plan_->axes()) {
    views.push_back({&axis, 0, place % axis.size});
    place /= axis.size;
  }
  return views;
}

uint32_t DataLayout::place(const std::vector<AxisView>& views) const {
  uint32_t place = 0;
  uint32_t weight = 1;
  for (size_t a = 0; a < views.size(); ++a) {
    place += views[a].me * weight;
    weight *= plan_->axes()[a].size;
  }
  return place;
}

void DataLayout::find_members(uint32_t rank) {
  std::vector<AxisView> views;
  plan_->views(rank, views);
  uint32_t base = rank;  // the rank at coordinate 0 of every axis
  uint32_t members = 1;
  bool flat = false;
  for (size_t a = 0; a < views.size(); ++a) {
    const Axis& axis = plan_->axes()[a];
    members *= axis.size;
    flat = flat || axis.dimension == Axis::kFlat;
    base = flat ? views[a].base : base - axis.value(views[a].me) * axis.stride;
  }
  ranks_.resize(members);
  for (uint32_t p = 0; p < members; ++p) {
    uint32_t rest = p;
    ranks_[p] = base;
    for (const Axis& axis : plan_->axes()) {
      const uint32_t value = axis.value(rest % axis.size);
      ranks_[p] += flat ? value : value * axis.stride;
      rest /= axis.size;
    }
  }
  const std::vector<uint32_t>& order = plan_->request().group->ranks;
  if (!order.empty()) {
    std::unordered_map<uint32_t, uint32_t> index;
    for (uint32_t i = 0; i < order.size(); ++i) index.emplace(order[i], i);
    place_at_.resize(members);
    std::iota(place_at_.begin(), place_at_.end(), 0u);
    std::sort(place_at_.begin(), place_at_.end(),
              [&](uint32_t a, uint32_t b) { return index.at(ranks_[a]) < index.at(ranks_[b]); });
    position_.resize(members);
    for (uint32_t i = 0; i < members; ++i) position_[place_at_[i]] = i;
  }
  std::vector<AxisView> root = views;
  // Rooted operations have one order.
  for (const PhasePlan& phase : plan_->phases()) root[phase.axis].me = phase.root;
  root_place_ = place(root);
}

template <typename F>
int64_t DataLayout::walk(const std::vector<AxisView>& views, uint32_t chunk, int64_t offset, F&& f) const {
  const auto phases = static_cast<uint32_t>(plan_->phases(chunk).size());
  for (uint32_t p = 0; p < phases; ++p) {
    const PhasePlan& phase = plan_->phases(chunk)[p];
    const Split split = plan_->split(views, chunk, p);
    const auto mine = static_cast<int64_t>(split.offset(views[phase.axis].me));
    if (phase.op == CollectiveOp::all_gather && plan_->rearranged(chunk) &&
        plan_->phases(chunk)[p - 1].op != CollectiveOp::all_gather) {
      offset = static_cast<int64_t>(moved(views, chunk).gathered);
    }
    if (collects(phase.op)) offset -= mine;  // my block lies among the others'
    if (!f(p, split, offset)) break;
    if (phase.op == CollectiveOp::all_to_all) {
      offset += mine / (split.unit / element());  // in elements of the sender's buffer
    } else if (distributes(phase.op)) {
      offset += mine;
    }
  }
  return offset;
}

void DataLayout::find_pieces() {
  const uint32_t members = static_cast<uint32_t>(ranks_.size());
  const uint32_t chunks = plan_->chunks();
  pieces_.resize(static_cast<size_t>(chunks) * members);
  for (uint32_t m = 0; m < members; ++m) {
    const std::vector<AxisView> views = views_at(m);
    for (uint32_t c = 0; c < chunks; ++c) {
      Piece& piece = pieces_[static_cast<size_t>(c) * members + m];
      piece.bytes = plan_->chunk_bytes(c);
      const int64_t end = walk(views, c, 0, [&](uint32_t p, const Split& split, int64_t) {
        if (distributes(plan_->phases(c)[p].op)) {
          piece.bytes = split.size(views[plan_->phases(c)[p].axis].me) / (split.unit / element());
        }
        return true;
      });
      // What distributes begins with all of the chunk, what collects ends with it.
      piece.work = static_cast<uint64_t>(collects(op()) ? -end : end);
    }
  }
  shards_.assign(members + 1, 0);
  for (uint32_t position = 0; position < members; ++position) {
    uint64_t at = shards_[position];
    for (uint32_t c = 0; c < chunks; ++c) {
      Piece& piece = pieces_[static_cast<size_t>(c) * members + place_at(position)];
      piece.buffer = at;
      at += piece.bytes;
    }
    shards_[position + 1] = at;
  }
  // Every byte of a chunk's work belongs to one piece.
  std::vector<const Piece*> sorted(members);
  for (uint32_t c = 0; c < chunks; ++c) {
    for (uint32_t m = 0; m < members; ++m) sorted[m] = &piece(c, m);
    std::sort(sorted.begin(), sorted.end(), [](const Piece* a, const Piece* b) {
      return a->work != b->work ? a->work < b->work : a->bytes < b->bytes;
    });
    uint64_t at = 0;
    for (const Piece* piece : sorted) {
      if (piece->work != at) at = ~uint64_t{0} - piece->bytes;
      at += piece->bytes;
    }
    if (at != work_bytes(c)) {
      throw std::logic_error(fmt::format("the blocks of a {} of {} B do not tile chunk {} of {}",
                                         to_string(op()), plan_->request().bytes, c, chunks));
    }
  }
}

uint64_t DataLayout::work_bytes(uint32_t chunk) const {
  return plan_->chunk_bytes(chunk) * (collects(op()) ? members() : 1);
}

uint64_t DataLayout::input_bytes(uint32_t position) const {
  const bool root = place_at(position) == root_place_;
  if ((op() == CollectiveOp::broadcast || op() == CollectiveOp::scatter) && !root) return 0;
  return plan_->request().bytes;
}

uint64_t DataLayout::output_bytes(uint32_t position) const {
  const bool root = place_at(position) == root_place_;
  switch (op()) {
    case CollectiveOp::reduce:
      return root ? plan_->request().bytes : 0;
    case CollectiveOp::all_gather:
      return shards_.back();
    case CollectiveOp::gather:
      return root ? shards_.back() : 0;
    case CollectiveOp::reduce_scatter:
    case CollectiveOp::scatter:
      return shard_bytes(position);
    case CollectiveOp::all_to_all:
      return shard_bytes(position) * members();
    default:
      return plan_->request().bytes;
  }
}

uint32_t DataLayout::chunk_of(uint32_t position, uint64_t offset) const {
  const uint32_t last = plan_->chunks() - 1;
  if (op() == CollectiveOp::all_to_all) offset %= shard_bytes(position);
  if (collects(op())) offset %= plan_->request().bytes;
  if (!distributes(op())) {
    return static_cast<uint32_t>(std::min<uint64_t>(offset / plan_->chunk_bytes(0), last));
  }
  const uint32_t at = place_at(position);
  uint32_t chunk = 0;
  while (chunk < last && piece(chunk + 1, at).buffer - shards_[position] <= offset) ++chunk;
  return chunk;
}

uint32_t DataLayout::origin_of(uint32_t position, uint64_t offset) const {
  switch (op()) {
    case CollectiveOp::all_gather:
    case CollectiveOp::gather:
      return static_cast<uint32_t>(offset / plan_->request().bytes);
    case CollectiveOp::all_to_all:
      return static_cast<uint32_t>(offset / shard_bytes(position));
    case CollectiveOp::broadcast:
    case CollectiveOp::scatter:
      return this->position(root_place_);
    default:
      return ~0u;
  }
}

DataLayout::Moved DataLayout::moved(const std::vector<AxisView>& views, uint32_t chunk) const {
  const std::vector<PhasePlan>& phases = plan_->phases(chunk);
  Moved moved;
  const auto nest = [&](const PhasePlan& phase, uint64_t& offset, uint64_t& length) {
    length /= plan_->axes()[phase.axis].size;
    offset += views[phase.axis].me * length;
  };
  moved.bytes = plan_->chunk_bytes(chunk);
  for (auto it = phases.begin(); it->op == CollectiveOp::reduce_scatter; ++it)
    nest(*it, moved.scattered, moved.bytes);
  uint64_t length = plan_->chunk_bytes(chunk);
  for (auto it = phases.rbegin(); it->op == CollectiveOp::all_gather; ++it) nest(*it, moved.gathered, length);
  return moved;
}

std::vector<DataLayout::Moved> DataLayout::all_moved(uint32_t chunk) const {
  std::vector<Moved> all;
  for (uint32_t m = 0; m < members(); ++m) all.push_back(moved(views_at(m), chunk));
  std::sort(all.begin(), all.end(), [](const Moved& a, const Moved& b) { return a.scattered < b.scattered; });
  all.erase(std::unique(all.begin(), all.end(),
                        [](const Moved& a, const Moved& b) { return a.scattered == b.scattered; }),
            all.end());
  return all;
}

DataLayout::Region DataLayout::region(const std::vector<AxisView>& views, uint32_t chunk,
                                      uint32_t phase) const {
  Region region;
  const auto from = collects(op()) ? static_cast<int64_t>(piece(chunk, place(views)).work) : int64_t{0};
  walk(views, chunk, from, [&](uint32_t p, const Split& split, int64_t start) {
    region.split = split;
    region.start = op() == CollectiveOp::all_to_all ? 0 : static_cast<uint64_t>(start);
    return p != phase;
  });
  return region;
}

}  // namespace weft::collectives
