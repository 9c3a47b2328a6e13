// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "parts/codec.h"

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace weft::parts {
namespace {

// One list of fields serves both directions: `Out` writes them, `In` reads them.

class Out {
 public:
  template <typename T>
  void value(const T& v) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes.append(reinterpret_cast<const char*>(&v), sizeof v);
  }
  void text(const std::string& v) {
    value(static_cast<uint64_t>(v.size()));
    bytes += v;
  }
  template <typename List, typename Item>
  void list(const List& v, Item&& item) {
    value(static_cast<uint64_t>(v.size()));
    for (const auto& i : v) item(*this, i);
  }
  std::string bytes;
};

class In {
 public:
  explicit In(const std::string& of) : bytes_(of) {}
  template <typename T>
  void value(T& v) {
    static_assert(std::is_trivially_copyable_v<T>);
    need(sizeof v);
    std::memcpy(&v, bytes_.data() + at_, sizeof v);
    at_ += sizeof v;
  }
  void text(std::string& v) {
    uint64_t size = 0;
    value(size);
    need(size);
    v.assign(bytes_, at_, size);
    at_ += size;
  }
  void text(InternedText& v) {
    std::string own;
    text(own);
    v = own;
  }
  template <typename T, typename Item>
  void list(std::vector<T>& v, Item&& item) {
    uint64_t size = 0;
    value(size);
    if (size > bytes_.size()) throw std::invalid_argument("a list is longer than its bytes");
    v.resize(size);
    for (T& i : v) item(*this, i);
  }
  void end() const {
    if (at_ != bytes_.size()) throw std::invalid_argument("there are bytes behind the end");
  }

 private:
  void need(uint64_t size) const {
    if (bytes_.size() - at_ < size) throw std::invalid_argument("the bytes end too early");
  }
  const std::string& bytes_;
  size_t at_ = 0;
};

template <typename Way, typename Row>
void collective(Way& way, Row& row) {
  way.value(row.stream);
  way.value(row.op);
  way.text(row.group);
  way.text(row.name);
  way.value(row.bytes);
  way.value(row.ranks);
  way.value(row.chunks);
  way.value(row.started);
  way.value(row.finished);
  way.value(row.lower_bound);
  way.value(row.messages);
  way.value(row.message_bytes);
  way.value(row.split);
  way.list(row.phases, [](auto& of, auto& phase) {
    of.text(phase.what);
    of.text(phase.operation);
    of.text(phase.dimension);
    of.text(phase.algorithm);
    of.value(phase.queue);
    of.value(phase.network);
  });
  way.value(row.members_done);
  way.value(row.fidelity_rule);
  way.text(row.algorithm);
  way.text(row.protocol);
  way.value(row.channels);
  way.value(row.folded_members);
}

template <typename Way, typename Row>
void layer(Way& way, Row& row) {
  way.text(row.iteration);
  way.text(row.layer);
  way.value(row.ranks);
  way.value(row.nodes);
  way.value(row.compute);
  way.value(row.local_memory);
  way.value(row.remote_memory);
  way.value(row.communication);
}

template <typename Way, typename Row>
void footprint(Way& way, Row& row) {
  way.value(row.rank);
  way.value(row.estimated);
  way.value(row.tensors);
  way.value(row.initial_bytes);
  way.value(row.peak_bytes);
  way.value(row.peak_at);
  way.value(row.capacity);
  way.value(row.over_from);
  way.value(row.over_for);
  way.text(row.over_node);
  way.list(row.largest, [](auto& of, auto& large) {
    of.text(large.name);
    of.value(large.bytes);
  });
}

template <typename Way, typename Part>
void job(Way& way, Part& part) {
  way.list(part.ranks, [](auto& of, auto& row) { of.value(row); });
  way.value(part.costless_nodes);
  way.value(part.messages);
  way.value(part.out_of_order_starts);
  way.value(part.memory_bytes);
  way.value(part.simulated_ranks);
  way.value(part.repeated_collectives);
  way.value(part.repeats_under_way);
  way.list(part.collectives.rows, [](auto& of, auto& row) { collective(of, row); });
  way.list(part.collectives.named_by, [](auto& of, auto& rank) { of.value(rank); });
  way.list(part.layers, [](auto& of, auto& row) { layer(of, row); });
  way.list(part.iterations, [](auto& of, auto& row) { of.value(row); });
  way.list(part.footprint, [](auto& of, auto& row) { footprint(of, row); });
  way.list(part.unmatched_rules, [](auto& of, auto& line) { of.text(line); });
}

template <typename Way, typename Row>
void link(Way& way, Row& row) {
  way.text(row.name);
  way.text(row.to);
  way.value(row.dimension);
  way.value(row.bytes);
  way.value(row.messages);
  way.value(row.busy);
  way.value(row.queued);
  way.value(row.fidelity);
  way.value(row.packets);
  way.value(row.marked);
  way.value(row.pauses);
  way.value(row.paused);
  way.value(row.overruns);
}

}  // namespace

std::string encode(const JobPart& part) {
  Out out;
  job(out, part);
  return std::move(out.bytes);
}

JobPart decode_job(const std::string& bytes) {
  JobPart part;
  In in(bytes);
  job(in, part);
  in.end();
  return part;
}

std::string encode(const MachinePart& part) {
  Out out;
  out.value(part.totals);
  out.list(part.unbalanced, [](auto& of, auto& line) { of.text(line); });
  out.value(static_cast<uint64_t>(part.links.size()));
  for (const auto& [at, row] : part.links) {
    out.value(at);
    link(out, row);
  }
  return std::move(out.bytes);
}

MachinePart decode_machine(const std::string& bytes) {
  MachinePart part;
  In in(bytes);
  in.value(part.totals);
  in.list(part.unbalanced, [](auto& of, auto& line) { of.text(line); });
  uint64_t count = 0;
  in.value(count);
  for (uint64_t i = 0; i < count; ++i) {
    Machine::LinkAt at;
    LinkRow row;
    in.value(at);
    link(in, row);
    part.links.emplace_hint(part.links.end(), at, std::move(row));
  }
  in.end();
  return part;
}

}  // namespace weft::parts
