// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/tiers/host_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "configs/blueprint/geometry.h"

namespace weft {
namespace {

using Kind = tiers::Stage::Kind;

constexpr size_t index_of(trace::Location place) {
  return place == trace::Location::host ? 0 : 1;
}

constexpr bool is_memory(Kind kind) {
  return kind == Kind::host_memory || kind == Kind::nvme_memory;
}

}  // namespace

HostContext::HostContext(const Config& of, ActivationWheel& its_wheel)
    : config(of), wheel(its_wheel), npu_link(of.host_memory->link_bandwidth, of.host_memory->link_latency) {
  for (const bool store : {false, true}) {
    paths[0][store ? 1 : 0] = tiers::path_of(of, trace::Location::host, store);
    if (of.nvme) paths[1][store ? 1 : 0] = tiers::path_of(of, trace::Location::nvme, store);
  }
  if (of.nvme) nvme_link = fabric::LinkType(of.nvme->link_bandwidth, of.nvme->link_latency);
}

HostMemory::HostMemory(sc_core::sc_module_name module_name, uint32_t first, HostContext& context,
                       const TierMemoryMaker& make)
    : sc_core::sc_module(module_name), context_(context), first_(first) {
  const Config& config = context.config;
  const uint32_t npus = config.host_memory->npus_of_host(config.npus());
  memories_[0] = make(trace::Location::host, "memory");
  if (config.nvme) memories_[1] = make(trace::Location::nvme, "nvme");
  links_.assign(size_t{2} * config.host_memory->links_of_host(config.npus()), fabric::Link(context.npu_link));
  nvme_links_.fill(fabric::Link(context.nvme_link));
  ports_.resize(npus);
  streams_.resize(size_t{npus} * kStreams);
  for (uint32_t p = 0; p < npus; ++p) {
    build_port(p);
    for (uint32_t s = 0; s < kStreams; ++s) {
      streams_[p * kStreams + s].path = &context.paths[s / 2][s % 2];
      streams_[p * kStreams + s].port = p;
    }
  }
  context.wheel.add(*this);
}

HostMemory::~HostMemory() = default;

/// Every NPU has addresses of its own: an equal part of the host's memory, and of its drives.
void HostMemory::build_port(uint32_t p) {
  const Config& config = context_.config;
  const bool data = config.run.data == "functional";
  Port& port = ports_[p];
  for (uint32_t place = 0; place < 2; ++place) {
    if (memories_[place] == nullptr) continue;
    const uint64_t capacity = place == 0 ? config.host_memory->capacity : config.nvme->capacity;
    area_[place] = capacity == 0 ? 0 : std::max<uint64_t>(1, capacity / ports_.size());
    port.dmas[place] = std::make_unique<MemoryDma>(
        fmt::format("{}_dma{}", place == 0 ? "memory" : "nvme", p).c_str(), ~0u, area_[place],
        [this](uint32_t chunk, Picoseconds at) {
          if (causes_ != nullptr) chunks_[chunk].part.last = causes_->take_answer();
          passed(chunk, at);
        },
        [this](uint32_t chunk) { return describe(chunk); });
    port.dmas[place]->begin_at(p * (capacity == 0 ? uint64_t{1} << 44 : area_[place]));
    if (data) {
      constexpr uint64_t kTiers = uint64_t{1} << 40;  // other owners are NPUs' own memories
      memories_[place]->keep_bytes();
      port.dmas[place]->carry_pieces(config.run.seed, kTiers + first_ + p,
                                     [this](uint64_t, const std::string& wrong) { piece_wrong_ = wrong; });
    }
    port.dmas[place]->socket.bind(memories_[place]->socket(p));
  }
  if (data) port.tensors.assign(2, TierTensors(port.next_piece));
}

/// A chunk that does not fit the NPU's part of a memory carries no bytes.
bool HostMemory::carries(const tiers::Path& path, const Access& access) const {
  const uint64_t chunk = (access.bytes + access.chunks - 1) / access.chunks;
  return std::all_of(path.stages.begin(), path.stages.end(), [&](const tiers::Stage& stage) {
    const uint64_t area = area_[stage.kind == Kind::host_memory ? 0 : 1];
    return !is_memory(stage.kind) || area == 0 || chunk <= area;
  });
}

/// The last chunk of an access has come.
void HostMemory::end_tensor(uint32_t s, Access& access) {
  constexpr size_t kMostWrong = 8;
  if (access.first == DmaTensors::kNone) return;
  if (s % 2 == 1) ports_[streams_[s].port].tensors[s % kStreams / 2].end_store(access.first, access.bytes);
  const bool read = s % 2 == 0 || !access.wrong.empty();  // a store may be read on its way
  if (!read || access.client->tensor_loaded(access.bytes, access.wrong)) return;
  if (!access.wrong.empty() && wrong_.size() < kMostWrong) wrong_.push_back(access.wrong);
}

void HostMemory::start(uint32_t npu, uint32_t token, trace::Location place, bool store, uint64_t bytes,
                       PoolClient& client) {
  const auto s = static_cast<uint32_t>((npu - first_) * kStreams + 2 * index_of(place) + (store ? 1 : 0));
  Stream& stream = streams_[s];
  if (free_accesses_.empty()) {
    free_accesses_.push_back(static_cast<uint32_t>(accesses_.size()));
    accesses_.emplace_back();
  }
  const uint32_t number = free_accesses_.back();
  free_accesses_.pop_back();
  Access& access = accesses_[number];
  access = {token, &client, bytes, stream.path->chunks(bytes), 0, 0};
  if (causes_ != nullptr && causes_->present() != nullptr) access.part = *causes_->present();
  Port& port = ports_[stream.port];
  if (!port.tensors.empty() && carries(*stream.path, access)) {
    TierTensors& tensors = port.tensors[index_of(place)];
    access.first = store ? tensors.begin_store(access.chunks) : tensors.load(bytes, access.chunks);
  }
  stream.pending.push_back(number);
  ++stream.open;
  started_.push_back(s);
  if (!running()) wake_at(sc_core::sc_time_stamp().value());
}

/// Among equal times the streams take turns: the order of their chunks' numbers, then that of NPUs and their
/// streams.
void HostMemory::schedule(Picoseconds at, uint32_t chunk) {
  const Chunk& c = chunks_[chunk];
  queue_.push(at, c.number << 24 | c.stream, chunk);
  if (!running()) wake_at(at);
}

void HostMemory::activate(Picoseconds now) {
  ++activations_;
  while (!started_.empty() || queue_.next() <= now) {
    if (queue_.next() <= now) {
      const uint32_t chunk = queue_.pop().payload;
      Chunk& c = chunks_[chunk];
      if (c.stage == streams_[c.stream].path->stages.size()) {
        finish(chunk, now);
      } else {
        advance(chunk, now);
      }
      continue;
    }
    std::vector<uint32_t> fresh;
    fresh.swap(started_);
    std::sort(fresh.begin(), fresh.end());
    for (bool more = true; more;) {  // a chunk of each in turns
      more = false;
      for (const uint32_t stream : fresh) more = issue(stream, now) || more;
    }
  }
  wake_at(queue_.next());
}

/// The next chunk, if there is one and the window allows it.
bool HostMemory::issue(uint32_t s, Picoseconds now, insight::ActivityId by) {
  Stream& stream = streams_[s];
  const tiers::Path& path = *stream.path;
  if (stream.pending.empty() || stream.under_way >= path.window) return false;
  const uint32_t a = stream.pending.front();
  Access& access = accesses_[a];
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(chunks_.size()));
    chunks_.emplace_back();
  }
  const uint32_t number = free_.back();
  free_.pop_back();
  Chunk& chunk = chunks_[number];
  chunk.stream = s;
  chunk.stage = 0;
  chunk.number = stream.issued++;
  // Chunks of one access are of one size, to a byte.
  chunk.bytes = access.bytes / access.chunks + (access.issued < access.bytes % access.chunks ? 1 : 0);
  chunk.access = a;
  chunk.piece = access.first == DmaTensors::kNone ? DmaTensors::kNone : access.first + access.issued;
  chunk.part = access.part;
  if (by != insight::kNoActivity) chunk.part = {access.part.access, by, now};
  ++stream.under_way;
  const bool last = ++access.issued == access.chunks;
  if (last || !path.in_order) stream.pending.pop_front();
  if (!last && !path.in_order) stream.pending.push_back(a);
  if (causes_ != nullptr && path.before != 0) tell_way(chunk, false, now);
  if (path.before == 0) {
    advance(number, now);
  } else {
    schedule(later(now, path.before), number);
  }
  return true;
}

fabric::Link& HostMemory::link_of(const tiers::Stage& stage, uint32_t port) {
  const size_t direction = stage.write ? 1 : 0;
  if (stage.kind == Kind::nvme_link) return nvme_links_[direction];
  return links_[port % (links_.size() / 2) * 2 + direction];
}

/// Into the chunk's next stage.
void HostMemory::advance(uint32_t number, Picoseconds now) {
  Chunk& chunk = chunks_[number];
  const Stream& stream = streams_[chunk.stream];
  const tiers::Stage& stage = stream.path->stages[chunk.stage];
  const insight::OnBehalf behalf(causes_, &chunk.part);
  if (is_memory(stage.kind)) {
    // `stage` is raised by the answer, which may come before start() returns.
    ports_[stream.port].dmas[stage.kind == Kind::host_memory ? 0 : 1]->start(number, stage.write, chunk.bytes,
                                                                             chunk.piece);
    return;
  }
  const fabric::Link::Slot slot =
      in_time([&] { return link_of(stage, stream.port).occupy(now, chunk.bytes); },
              [&] { return describe(number); }, "use smaller tensors, or larger bandwidths of `memory`");
  passed(number, later(slot.end, stage.latency));
}

/// The chunk's stage is over at `at`.
void HostMemory::passed(uint32_t number, Picoseconds at) {
  Chunk& chunk = chunks_[number];
  if (!piece_wrong_.empty() && accesses_[chunk.access].wrong.empty())
    accesses_[chunk.access].wrong = piece_wrong_;
  piece_wrong_.clear();
  const tiers::Path& path = *streams_[chunk.stream].path;
  const bool last = ++chunk.stage == path.stages.size();
  chunk.part.came = at;
  if (causes_ != nullptr && last && path.after != 0) tell_way(chunk, true, at);
  schedule(last ? later(at, path.after) : at, number);
}

void HostMemory::finish(uint32_t number, Picoseconds now) {
  Chunk& chunk = chunks_[number];
  const uint32_t s = chunk.stream;
  Stream& stream = streams_[s];
  Access& access = accesses_[chunk.access];
  const insight::ActivityId by = chunk.part.last;
  free_.push_back(number);
  --stream.under_way;
  if (++access.finished == access.chunks) {
    free_accesses_.push_back(chunk.access);
    --stream.open;
    end_tensor(s, access);
    if (causes_ != nullptr) causes_->answers(by);
    access.client->pool_done(access.token, now);
  }
  while (issue(s, now, by)) {
  }
}

void HostMemory::keep_causes(insight::CausalLog& log) {
  causes_ = &log;
  for_each_link([&](const LinkReport& link) {
    cause_links_.push_back(log.add_link({link.name, link.kind}));
  });
  for (uint32_t place = 0; place < 2; ++place) {
    if (memories_[place] == nullptr) continue;
    memories_[place]->keep_causes(
        make_memory_causes(log, memories_[place]->name(), place == 0 ? "host memory" : "NVMe"));
    for (Port& port : ports_) port.dmas[place]->keep_causes(&log);
  }
}

void HostMemory::tell_way(Chunk& chunk, bool to_npu, Picoseconds now) {
  const Stream& stream = streams_[chunk.stream];
  const size_t direction = to_npu ? 0 : 1;
  const size_t npu_link = stream.port % (links_.size() / 2) * 2 + direction;
  const Picoseconds way = context_.npu_link.latency();
  const Picoseconds far = (to_npu ? stream.path->after : stream.path->before) - way;  // of the drives' link
  Picoseconds at = now;
  if (!to_npu) causes_->pass_way(chunk.part, cause_links_[npu_link], now, at = later(now, way));
  if (far != 0) {
    const Picoseconds until = later(at, far);
    causes_->pass_way(chunk.part, cause_links_[links_.size() + direction], at, until);
    at = until;
  }
  if (to_npu) causes_->pass_way(chunk.part, cause_links_[npu_link], at, later(at, way));
}

std::string HostMemory::describe(uint32_t number) const {
  const Chunk& chunk = chunks_[number];
  const Stream& stream = streams_[chunk.stream];
  const uint32_t s = chunk.stream % kStreams;
  return fmt::format("{}: NPU {}'s {} of {} B {} {}", name(), first_ + stream.port,
                     s % 2 == 1 ? "store" : "load", accesses_[chunk.access].bytes, s % 2 == 1 ? "to" : "from",
                     s / 2 == 0 ? "host memory" : "NVMe");
}

void HostMemory::count(Counters& counters) const {
  counters.activations += activations_;
  for (const auto& memory : memories_) {
    if (memory == nullptr) continue;
    Counters own;
    memory->count(own);
    counters.activations += own.activations;
    counters.memory_outstanding += own.memory_outstanding;
  }
  for_each_link([&](const LinkReport& link) {
    ++counters.links;
    counters.link_bytes += link.bytes;
    counters.link_messages += link.messages;
  });
}

void HostMemory::for_each_link_as(const std::string& name, uint32_t first, const LinkVisitor& visit) const {
  const uint32_t none = Geometry::of_fabric(context_.config).dimensions();  // of the machine's
  const auto report = [&](const fabric::Link& link, std::string own, std::string to, const char* kind) {
    LinkReport row(link);
    row.kind = kind;
    row.name = std::move(own);
    row.to = std::move(to);
    row.dimension = none;
    visit(row);
  };
  const std::string parent = name.substr(0, name.rfind('.') + 1);
  const size_t links = links_.size() / 2;
  for (size_t i = 0; i < links; ++i) {
    // A link of several NPUs is named after the first of them.
    const std::string npu = fmt::format("{}npu{}", parent, first + i);
    report(links_[2 * i], fmt::format("{}.pcie{}.down", name, i), npu, "PCIe links of hosts");
    report(links_[2 * i + 1], fmt::format("{}.pcie{}.up", name, i), name, "PCIe links of hosts");
  }
  if (memories_[1] == nullptr) return;
  report(nvme_links_[0], name + ".nvme.down", name, "PCIe links of drives");
  report(nvme_links_[1], name + ".nvme.up", name + ".nvme", "PCIe links of drives");
}

std::string HostMemory::stall_text() const {
  std::string text;
  for (size_t s = 0; s < streams_.size(); ++s) {
    const Stream& stream = streams_[s];
    if (stream.open == 0) continue;
    text += fmt::format("  {}: {} accesses of NPU {} {} {} wait, {} of their chunks are under way\n", name(),
                        stream.open, first_ + stream.port, s % 2 == 1 ? "to" : "from",
                        s % kStreams / 2 == 0 ? "host memory" : "NVMe", stream.under_way);
  }
  return text;
}

void HostMemory::find_unbalanced(std::vector<std::string>& lines) const {
  lines.insert(lines.end(), wrong_.begin(), wrong_.end());
  for (const Stream& stream : streams_)
    if (stream.open != 0 || stream.under_way != 0)
      lines.push_back(
          fmt::format("{}: {} accesses of NPU {} never ended", name(), stream.open, first_ + stream.port));
}

}  // namespace weft
