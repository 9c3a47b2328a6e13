// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "workload/collectives/elements.h"

namespace weft::collectives {
namespace {

void copy_bytes(std::byte* to, const std::byte* from, uint64_t bytes) {
  if (bytes != 0) std::memcpy(to, from, bytes);
}

}  // namespace

DataContext::DataContext(ElementType type, ReduceOp op, uint64_t seed)
    : type_(type), op_(op), source_(std::make_unique<PatternSource>(type, op, seed)) {}

std::unique_ptr<DataContext> DataContext::make(const Config& config) {
  if (config.run.data == "none") return nullptr;
  return std::make_unique<DataContext>(element_type(config.run.element), reduce_op(config.run.reduce),
                                       config.run.seed);
}

std::shared_ptr<const DataLayout> DataContext::layout(const std::shared_ptr<const CollectivePlan>& plan,
                                                      uint32_t rank) {
  const uint32_t size = element_bytes(type_);
  if (plan->request().element_bytes != size || plan->request().bytes % size != 0) {
    throw UserError(ExitCode::usage,
                    fmt::format("a {} of {} B with elements of {} B cannot carry {} ({} B): make the plan "
                                "with that element size and a multiple of it",
                                to_string(plan->request().op), plan->request().bytes,
                                plan->request().element_bytes, to_string(type_), size));
  }
  std::vector<AxisView> views;
  plan->views(rank, views);
  uint32_t line = rank;
  for (const AxisView& view : views) {
    line = view.axis->dimension == Axis::kFlat ? view.base
                                               : line - view.axis->value(view.me) * view.axis->stride;
  }
  auto& slot = layouts_[{plan.get(), line}];
  auto layout = slot.lock();
  if (!layout) {
    layout = std::make_shared<const DataLayout>(plan, rank);
    slot = layout;
  }
  return layout;
}

double data_footprint(const CollectivePlan& plan) {
  if (plan.empty() || plan.request().op == CollectiveOp::barrier) return 0;
  const auto bytes = static_cast<double>(plan.request().bytes);
  const auto members = static_cast<double>(plan.members());
  const auto line = static_cast<double>(plan.line_members());
  // Work and output of each member; in flight at most what the work holds.
  return 3 * members * bytes * (collects(plan.request().op) ? line : 1);
}

CollectiveData::CollectiveData(DataContext& context, uint32_t stream,
                               const std::shared_ptr<const CollectivePlan>& plan, uint32_t rank,
                               const std::vector<AxisView>& views)
    : context_(context),
      layout_(context.layout(plan, rank)),
      views_(views),
      stream_(stream),
      rank_(rank),
      place_(layout_->place(views)),
      position_(layout_->position(place_)),
      moves_(plan->request().op == CollectiveOp::all_to_all),
      key_{stream, rank, position_, layout_->members(), reduces(plan->request().op)},
      chunks_(plan->chunks()),
      output_(layout_->output_bytes(position_), kUnwritten) {}

void CollectiveData::note(const std::string& defect) {
  if (defect_.empty()) defect_ = defect;
}

void CollectiveData::deliver(std::vector<std::byte> output, const std::string& defect) {
  output_ = std::move(output);
  if (!defect.empty()) note(defect);
}

void CollectiveData::load(uint32_t chunk) {
  ChunkData& data = chunks_[chunk];
  data.loaded = true;
  data.work.assign(layout_->work_bytes(chunk), kUnwritten);
  if (layout_->input_bytes(position_) == 0) return;
  const uint32_t size = layout_->element();
  const auto fill = [&](uint64_t from, uint64_t bytes, uint64_t to) {
    context_.source().fill(key_, from / size, bytes / size, data.work.data() + to);
  };
  if (distributes(layout_->op())) {
    for (uint32_t m = 0; m < layout_->members(); ++m) {
      const DataLayout::Piece& piece = layout_->piece(chunk, m);
      fill(piece.buffer, piece.bytes, piece.work);
    }
  } else {
    fill(layout_->chunk_offset(chunk), layout_->plan().chunk_bytes(chunk),
         layout_->sharded() ? layout_->piece(chunk, place_).work : 0);
  }
}

void CollectiveData::begin_phase(uint32_t chunk, uint32_t phase) {
  ChunkData& data = chunks_[chunk];
  if (!data.loaded) load(chunk);
  const DataLayout::Region region = layout_->region(views_, chunk, phase);
  const PhasePlan& plan = layout_->plan().phases(chunk)[phase];
  if (layout_->plan().rearranged(chunk) && plan.op == CollectiveOp::all_gather &&
      layout_->plan().phases(chunk)[phase - 1].op != CollectiveOp::all_gather) {
    // The pieces nest in another order from here on; this member has but its own.
    const DataLayout::Moved moved = layout_->moved(views_, chunk);
    std::vector<std::byte> next(data.work.size(), kUnwritten);
    copy_bytes(next.data() + moved.gathered, data.work.data() + moved.scattered, moved.bytes);
    data.work = std::move(next);
  }
  data.split = region.split;
  data.start = region.start;
  data.phase = phase;
  data.n = layout_->plan().axes()[plan.axis].size;
  data.me = views_[plan.axis].me;
  if (moves_) {
    data.sent.assign(data.n, false);
    data.kept.assign(data.n, {});
  }
}

uint32_t CollectiveData::gather(uint32_t chunk, const RoundSend& send) {
  ChunkData& data = chunks_[chunk];
  const uint32_t handle = context_.payloads().acquire();
  Payload& payload = context_.payloads()[handle];
  payload.source = data.me;
  payload.sequence = data.sequence++;
  payload.blocks = send.blocks;
  payload.reduce = send.reduce;
  if (moves_) {
    send.blocks.for_each(data.n, [&](uint32_t block) { gather_moved(data, block, payload); });
    return handle;
  }
  payload.bytes.resize(send.blocks.bytes(data.n, data.split));
  std::byte* to = payload.bytes.data();
  send.blocks.for_each(data.n, [&](uint32_t block) {
    const uint64_t size = data.split.size(block);
    copy_bytes(to, data.work.data() + data.start + data.split.offset(block), size);
    to += size;
  });
  return handle;
}

uint32_t CollectiveData::gather(uint32_t chunk, uint64_t from, uint64_t bytes) {
  ChunkData& data = chunks_[chunk];
  const uint32_t handle = context_.payloads().acquire();
  Payload& payload = context_.payloads()[handle];
  payload.source = data.me;
  payload.sequence = data.sequence++;
  payload.interval = true;
  payload.offset = from;
  payload.bytes.resize(bytes);
  copy_bytes(payload.bytes.data(), data.work.data() + data.start + from, bytes);
  return handle;
}

void CollectiveData::gather_moved(ChunkData& data, uint32_t block, Payload& payload) {
  const auto append = [&](const std::byte* from, uint64_t bytes, uint32_t origin) {
    payload.origins.push_back(origin);
    payload.bytes.insert(payload.bytes.end(), from, from + bytes);
  };
  if (!data.sent[block]) {
    data.sent[block] = true;
    append(data.work.data() + data.split.offset(block), data.split.size(block), data.me);
    return;
  }
  for (auto it = data.transit.begin(); it != data.transit.end(); ++it) {
    if (it->block != block) continue;
    append(it->bytes.data(), it->bytes.size(), it->origin);
    data.transit.erase(it);
    return;
  }
  note(
      fmt::format("phase {}: it is to send block {} and holds none for that destination", data.phase, block));
  const std::vector<std::byte> nothing(data.split.size(block), kUnwritten);
  append(nothing.data(), nothing.size(), data.me);
}

bool CollectiveData::fits(const ChunkData& data, uint32_t chunk, const Payload& payload) {
  if (payload.interval) {
    const uint64_t end = data.split.offset(data.n - 1) + data.split.size(data.n - 1);
    if (!moves_ && payload.offset <= end && payload.bytes.size() <= end - payload.offset) return true;
    note(fmt::format("chunk {}, phase {}: {} B from byte {} on came from the switch, of {} B here", chunk,
                     data.phase, payload.bytes.size(), payload.offset, end));
    return false;
  }
  bool inside = true;
  uint64_t bytes = 0;
  if (payload.blocks.count > data.n || payload.blocks.first >= data.n) {
    inside = false;
  } else {
    bytes = payload.blocks.bytes(data.n, data.split);
  }
  if (inside && bytes == payload.bytes.size() &&
      (!moves_ || payload.origins.size() == payload.blocks.count)) {
    return true;
  }
  note(fmt::format(
      "chunk {}, phase {}: {} B for blocks {}, {}, ... ({} of {}) came from index {} and are {} B "
      "here",
      chunk, data.phase, payload.bytes.size(), payload.blocks.first,
      payload.blocks.first + payload.blocks.stride, payload.blocks.count, data.n, payload.source, bytes));
  return false;
}

void CollectiveData::apply(uint32_t chunk, const std::vector<uint32_t>& handles) {
  ChunkData& data = chunks_[chunk];
  PayloadPool& pool = context_.payloads();
  std::vector<uint32_t> order;
  for (const uint32_t handle : handles) {
    if (fits(data, chunk, pool[handle])) order.push_back(handle);
  }
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::tie(pool[a].source, pool[a].sequence) < std::tie(pool[b].source, pool[b].sequence);
  });
  bool any_reduces = false;
  for (const uint32_t handle : order) {
    if (moves_) {
      keep(data, pool[handle]);
    } else if (pool[handle].reduce) {
      any_reduces = true;
    } else {
      place(data, pool[handle]);
    }
  }
  if (any_reduces) reduce(data, order);
  for (const uint32_t handle : handles) pool.release(handle);
}

void CollectiveData::place(ChunkData& data, const Payload& payload) {
  const std::byte* from = payload.bytes.data();
  if (payload.interval) {
    copy_bytes(data.work.data() + data.start + payload.offset, from, payload.bytes.size());
    return;
  }
  payload.blocks.for_each(data.n, [&](uint32_t block) {
    const uint64_t size = data.split.size(block);
    copy_bytes(data.work.data() + data.start + data.split.offset(block), from, size);
    from += size;
  });
}

void CollectiveData::keep(ChunkData& data, Payload& payload) {
  const std::byte* from = payload.bytes.data();
  size_t i = 0;
  payload.blocks.for_each(data.n, [&](uint32_t block) {
    const uint64_t size = data.split.size(block);
    const uint32_t origin = payload.origins[i++];
    std::vector<std::byte> bytes(from, from + size);
    from += size;
    if (block != data.me) {
      data.transit.push_back({block, origin, std::move(bytes)});
    } else if (origin >= data.n || !data.kept[origin].empty()) {
      note(fmt::format("phase {}: block {} of index {} came twice", data.phase, block, origin));
    } else {
      data.kept[origin] = std::move(bytes);
    }
  });
}

void CollectiveData::reduce(ChunkData& data, const std::vector<uint32_t>& handles) {
  struct Operand {
    uint32_t block;
    uint32_t source;
    uint32_t sequence;
    const std::byte* bytes;
    bool operator<(const Operand& o) const {
      return std::tie(block, source, sequence) < std::tie(o.block, o.source, o.sequence);
    }
  };
  std::vector<Operand> all;
  std::vector<bool> touched(data.n, false);
  for (const uint32_t handle : handles) {
    const Payload& payload = context_.payloads()[handle];
    if (!payload.reduce) continue;
    const std::byte* from = payload.bytes.data();
    payload.blocks.for_each(data.n, [&](uint32_t block) {
      all.push_back({block, payload.source, payload.sequence, from});
      if (!touched[block]) {
        touched[block] = true;
        all.push_back({block, data.me, 0, data.work.data() + data.start + data.split.offset(block)});
      }
      from += data.split.size(block);
    });
  }
  std::sort(all.begin(), all.end());
  std::vector<const std::byte*> operands;
  for (size_t i = 0; i < all.size();) {
    const uint32_t block = all[i].block;
    operands.clear();
    for (; i < all.size() && all[i].block == block; ++i) operands.push_back(all[i].bytes);
    combine(context_.type(), context_.op(), operands, data.split.size(block) / layout_->element(),
            data.work.data() + data.start + data.split.offset(block));
  }
}

void CollectiveData::end_phase(uint32_t chunk) {
  ChunkData& data = chunks_[chunk];
  if (!moves_) return;
  interleave(data);
  if (!data.transit.empty()) {
    note(fmt::format("chunk {}, phase {}: block {} of index {} was never passed on", chunk, data.phase,
                     data.transit.front().block, data.transit.front().origin));
    data.transit.clear();
  }
}

/// The block that stays here becomes the next phase's work: each element now as wide as all origins together.
void CollectiveData::interleave(ChunkData& data) {
  const uint64_t size = data.split.size(data.me);
  const uint64_t wide = data.split.unit;
  std::vector<std::byte> next(size * data.n, kUnwritten);
  for (uint32_t origin = 0; origin < data.n; ++origin) {
    const std::byte* from = data.kept[origin].data();
    if (origin == data.me) {
      from = data.work.data() + data.split.offset(data.me);
    } else if (data.kept[origin].size() != size) {
      continue;
    }
    for (uint64_t k = 0; k < size / wide; ++k) {
      std::memcpy(next.data() + (k * data.n + origin) * wide, from + k * wide, wide);
    }
  }
  data.work = std::move(next);
}

void CollectiveData::finish_chunk(uint32_t chunk) {
  ChunkData& data = chunks_[chunk];
  const DataLayout& layout = *layout_;
  if (!data.loaded) load(chunk);
  if (!output_.empty()) {
    if (moves_) {
      // An element of the work is one element of each origin, in the order of the phases' axes.
      const DataLayout::Piece& mine = layout.piece(chunk, place_);
      const uint64_t behind = mine.buffer - layout.shard_offset(position_);
      const uint64_t shard = layout.shard_bytes(position_);
      const uint32_t element = layout.element();
      const uint64_t wide = static_cast<uint64_t>(element) * layout.members();
      std::vector<uint32_t> weights(layout.plan().axes().size());
      uint32_t weight = 1;
      for (const Axis& axis : layout.plan().axes()) {
        weights[static_cast<size_t>(&axis - layout.plan().axes().data())] = weight;
        weight *= axis.size;
      }
      for (uint32_t i = 0; i < layout.members(); ++i) {
        uint32_t rest = i;
        uint32_t origin = 0;
        // The last phase varies slowest.
        for (const PhasePlan& phase : layout.plan().phases(chunk)) {
          const uint32_t n = layout.plan().axes()[phase.axis].size;
          origin += rest % n * weights[phase.axis];
          rest /= n;
        }
        std::byte* to = output_.data() + layout.position(origin) * shard + behind;
        for (uint64_t k = 0; k < mine.bytes / element; ++k) {
          std::memcpy(to + k * element, data.work.data() + k * wide + i * element, element);
        }
      }
    } else if (collects(layout.op())) {
      for (uint32_t m = 0; m < layout.members(); ++m) {
        const DataLayout::Piece& piece = layout.piece(chunk, m);
        copy_bytes(output_.data() + piece.buffer, data.work.data() + piece.work, piece.bytes);
      }
    } else if (distributes(layout.op())) {
      const DataLayout::Piece& mine = layout.piece(chunk, place_);
      copy_bytes(output_.data() + mine.buffer - layout.shard_offset(position_), data.work.data() + mine.work,
                 mine.bytes);
    } else if (layout.plan().rearranged(chunk)) {
      for (const DataLayout::Moved& piece : layout.all_moved(chunk)) {
        copy_bytes(output_.data() + layout.chunk_offset(chunk) + piece.scattered,
                   data.work.data() + piece.gathered, piece.bytes);
      }
    } else {
      copy_bytes(output_.data() + layout.chunk_offset(chunk), data.work.data(), data.work.size());
    }
  }
  data = ChunkData{};
}

}  // namespace weft::collectives
