// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/trace_index.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include <fmt/format.h>

#include "configs/printable.h"
#include "configs/stop.h"
#include "workload/trace/chakra_stream.h"
#include "workload/trace/dependency_walk.h"
#include "workload/trace/wire.h"

namespace weft::trace {
namespace {

constexpr uint64_t kMaxOffset = uint64_t{1} << 40;

// Small numbers for the communicator groups one file names.
class GroupNumbers {
 public:
  explicit GroupNumbers(const Groups* groups) : groups_(groups) {}

  uint32_t number(const std::string& pg_name) {
    if (last_ != kNoNode && pg_name == last_name_) return last_;
    const bool world = groups_ != nullptr ? groups_->find(pg_name) == std::optional<GroupId>(kWorld)
                                          : pg_name.empty() || pg_name == "0";
    last_ = world ? kWorldNumber
                  : numbers_.emplace(pg_name, static_cast<uint32_t>(numbers_.size() + 1)).first->second;
    last_name_ = pg_name;
    return last_;
  }

  uint32_t size() const { return static_cast<uint32_t>(numbers_.size() + 1); }

 private:
  static constexpr uint32_t kWorldNumber = 0;
  const Groups* groups_;
  std::unordered_map<std::string, uint32_t> numbers_;
  std::string last_name_;
  uint32_t last_ = kNoNode;
};

}  // namespace

TraceIndex::TraceIndex(std::shared_ptr<FilePool> pool, const std::string& path, uint32_t rank,
                       const Options& options)
    : pool_(std::move(pool)),
      path_(std::make_unique<std::string>(options.made_of.empty() ? path : options.made_of)),
      rank_(rank) {
  file_ = pool_->add(path);
  ChakraStream stream(path);
  build(stream, options);
}

TraceIndex::TraceIndex(std::shared_ptr<FilePool> pool, const std::string& path,
                       std::shared_ptr<const std::string> bytes, uint32_t rank, const Options& options)
    : pool_(std::move(pool)), path_(std::make_unique<std::string>(path)), rank_(rank) {
  file_ = pool_->add(path, bytes);
  ChakraStream stream(InputFile::of_bytes(path, std::move(bytes)));
  build(stream, options);
}

TraceIndex::TraceIndex(const TraceIndex& same, uint32_t rank, const std::string& path)
    : pool_(same.pool_),
      file_(same.file_),
      path_(std::make_unique<std::string>(path)),
      rank_(rank),
      stats_(same.stats_),
      control_order_(same.control_order_),
      ascending_(same.ascending_),
      file_ordered_(same.file_ordered_),
      view_(same.view_),
      decoded_(same.decoded_) {
  if (same.shared_ == nullptr) same.shared_ = same.path_.get();
  shared_ = same.shared_;
  ids_.share(same.ids_);
  offset_low_.share(same.offset_low_);
  offset_high_.share(same.offset_high_);
  flags_.share(same.flags_);
  ordinals_.share(same.ordinals_);
  hash_.share(same.hash_);
}

void TraceIndex::build(ChakraStream& stream, const Options& options) {
  number_collectives(read_file(stream, options));
  NodeCache cache = open_cache(options.cache_bytes);
  if (!ascending_) build_hash();
  resolve_dependencies(cache);
  if (options.strict && stats_.dangling > 0) {
    std::string list;
    for (const auto& [node, missing] : stats_.first_dangling) {
      list += fmt::format("{}node {} -> {}", list.empty() ? "" : ", ", node, missing);
    }
    throw UserError(
        ExitCode::trace,
        fmt::format("{}: rank {}: {} dependencies name nodes that are not in the file ({}{}). Mend the "
                    "trace, or run without strict: they then count as met.",
                    *path_, rank_, stats_.dangling, list,
                    stats_.dangling > stats_.first_dangling.size() ? ", ..." : ""));
  }
  file_ordered_ = stats_.forward_references == 0;
  if (!file_ordered_) check_cycles(cache);
}

uint32_t TraceIndex::read_file(ChakraStream& stream, const Options& options) {
  stats_.file_bytes = stream.file_bytes();
  if (stats_.file_bytes > kMaxOffset) {
    throw UserError(ExitCode::trace,
                    fmt::format("{}: {} bytes are more than the 1 TiB a trace file may have. Split the "
                                "run into several traces.",
                                *path_, stats_.file_bytes));
  }
  GroupNumbers groups(options.groups);
  RawMessage message;
  Node node;
  Dependencies dependencies;
  while (stream.next(message)) {
    check_stop();
    const auto i = static_cast<NodeIndex>(ids_.size());
    if (i == kNoNode - 1) {
      throw UserError(ExitCode::trace,
                      fmt::format("{}: byte {}: more than {} nodes in one file. Split the trace.", *path_,
                                  message.offset, i));
    }
    const NodePlace at{path_.get(), rank_, i, message.offset};
    decode_node(message.data, message.size, at, node, &dependencies, &stats_.notes);
    if (i > 0 && ascending_ && node.id <= ids_[i - 1]) {
      // From here on only the hash table can tell what exists: every node is looked at again.
      ascending_ = false;
      stats_.forward_references = stats_.dangling = stats_.dangling_control = 0;
      stats_.first_dangling.clear();
    }
    ids_.push_back(node.id);
    offset_low_.push_back(static_cast<uint32_t>(message.offset));
    offset_high_.push_back(static_cast<uint8_t>(message.offset >> 32));
    auto flags = static_cast<uint8_t>(node.type);
    const size_t count = dependencies.size();
    stats_.dependencies += count;
    if (count > 0) flags |= count == 1 ? kOneDependency : kManyDependencies;
    if (ascending_) {
      for (const bool control : {true, false}) {
        for (const uint64_t d : control ? dependencies.control : dependencies.data) {
          if (d > node.id) {
            flags |= kUnresolved;
          } else if (d == node.id) {
            ++stats_.forward_references;
          } else if (find(d, i) == kNoNode) {
            count_dangling(i, d, control);
          }
        }
      }
    }
    flags_.push_back(flags);
    ++stats_.nodes_by_type[static_cast<size_t>(node.type)];
    uint32_t group = kNoNode;  // number_collectives() makes ordinals of it
    if (node.type == NodeType::comm_coll) {
      ++stats_.collectives;
      if (node.has_comm_type) group = groups.number(node.pg_name);
    }
    ordinals_.push_back(group);
  }
  stats_.nodes = ids_.size();
  ids_.shrink();
  offset_low_.shrink();
  offset_high_.shrink();
  flags_.shrink();
  ordinals_.shrink();
  return groups.size();
}

void TraceIndex::number_collectives(uint32_t groups) {
  std::vector<uint32_t> next(groups, 0);
  if (ascending_) {
    for (size_t i = 0; i < ordinals_.size(); ++i) {
      ordinals_[i] = ordinals_[i] == kNoNode ? 0 : next[ordinals_[i]]++;
    }
    return;
  }
  RawVector<NodeIndex> order;
  for (size_t i = 0; i < ordinals_.size(); ++i) {
    if (ordinals_[i] == kNoNode) {
      ordinals_[i] = 0;
    } else {
      order.push_back(static_cast<NodeIndex>(i));
    }
  }
  std::sort(order.data(), order.data() + order.size(),
            [&](NodeIndex a, NodeIndex b) { return ids_[a] < ids_[b]; });
  for (const NodeIndex i : order) ordinals_[i] = next[ordinals_[i]]++;
}

void TraceIndex::count_dangling(NodeIndex i, uint64_t missing, bool control) {
  ++stats_.dangling;
  if (control) ++stats_.dangling_control;
  if (stats_.first_dangling.size() < 5) stats_.first_dangling.emplace_back(ids_[i], missing);
}

void TraceIndex::fail_duplicate(NodeIndex a, NodeIndex b) const {
  const NodeIndex first = std::min(a, b);
  const NodeIndex second = std::max(a, b);
  throw UserError(
      ExitCode::trace,
      fmt::format("{}: rank {}: node id {} is used twice, by number {} of the file (byte {}) and by number "
                  "{} (byte {}). Every node needs an id of its own: mend what wrote the trace.",
                  *path_, rank_, ids_[first], first + 1, offset(first), second + 1, offset(second)));
}

uint64_t TraceIndex::hash_slot(uint64_t id) const {
  // Mix the bits (ids are often multiples of something), then scale to the table without a division.
  uint64_t h = id * 0x9e3779b97f4a7c15ull;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93ull;
  return static_cast<uint64_t>((static_cast<Wide>(h) * hash_.size()) >> 64);
}

void TraceIndex::build_hash() {
  const size_t n = ids_.size();
  hash_.reset(n + n / 4 + 1);
  for (size_t i = 0; i < n; ++i) {
    uint64_t slot = hash_slot(ids_[i]);
    while (hash_[slot] != 0) {
      const NodeIndex other = hash_[slot] - 1;
      if (ids_[other] == ids_[i]) fail_duplicate(other, static_cast<NodeIndex>(i));
      if (++slot == hash_.size()) slot = 0;
    }
    hash_[slot] = static_cast<uint32_t>(i + 1);
  }
}

NodeIndex TraceIndex::find(uint64_t id, NodeIndex near) const {
  const auto n = static_cast<uint64_t>(ids_.size());
  if (n == 0) return kNoNode;
  if (!ascending_) {
    for (uint64_t slot = hash_slot(id); hash_[slot] != 0;) {
      const NodeIndex i = hash_[slot] - 1;
      if (ids_[i] == id) return i;
      if (++slot == hash_.size()) slot = 0;
    }
    return kNoNode;
  }
  if (id < ids_[0] || id > ids_[n - 1]) return kNoNode;
  const uint64_t dense = id - ids_[0];  // its position if no id is left out; never less than the true one
  if (dense < n && ids_[dense] == id) return static_cast<NodeIndex>(dense);
  // Widening steps from `near`, then bisection.
  uint64_t low = 0;
  uint64_t high = std::min(n, dense);  // exclusive; ids_[dense] was not it
  uint64_t at = std::min<uint64_t>(near, n - 1);
  for (uint64_t step = 1; step < n; step *= 4) {
    if (at < low || at >= high) break;
    if (ids_[at] == id) return static_cast<NodeIndex>(at);
    if (ids_[at] < id) {
      low = at + 1;
      if (at + step >= high) break;
      if (ids_[at + step] > id) {
        high = at + step;
        break;
      }
      at += step;
    } else {
      high = at;
      if (at < low + step) break;
      if (ids_[at - step] < id) {
        low = at - step + 1;
        break;
      }
      at -= step;
    }
  }
  const uint64_t* found = std::lower_bound(ids_.begin() + low, ids_.begin() + high, id);
  if (found == ids_.begin() + high || *found != id) return kNoNode;
  return static_cast<NodeIndex>(found - ids_.begin());
}

void TraceIndex::resolve_dependencies(NodeCache& cache) {
  Dependencies deps;
  for (NodeIndex i = 0; i < size(); ++i) {
    if (has_no_dependency(i) || (ascending_ && (flags_[i] & kUnresolved) == 0)) continue;
    dependencies(cache, i, deps);
    for (const bool control : {true, false}) {
      for (const uint64_t d : control ? deps.control : deps.data) {
        if (ascending_ && d <= ids_[i]) continue;  // looked up while the file was read
        const NodeIndex p = find(d, i);
        if (p == kNoNode) {
          count_dangling(i, d, control);
        } else if (p >= i) {
          ++stats_.forward_references;
        }
      }
    }
  }
}

bool TraceIndex::acyclic(NodeCache& cache, std::string& cycle) const {
  DependencyWalk walk(*this, cache);
  for (NodeIndex i = walk.take(); i != kNoNode; i = walk.take()) walk.finish(i);
  if (walk.finished_count() == size()) return true;

  // From any node that is left, unmet dependencies lead into a cycle. Two walkers of different speed find it
  // without memory for the way.
  NodeIndex slow = 0;
  while (walk.finished(slow)) ++slow;
  NodeIndex fast = slow;
  do {
    slow = walk.unmet_dependency(slow);
    fast = walk.unmet_dependency(walk.unmet_dependency(fast));
  } while (slow != fast);
  constexpr uint64_t kShown = 8;
  uint64_t length = 0;
  std::string text;
  NodeIndex i = slow;
  do {
    if (length < kShown) {
      text += fmt::format("{}node {} \"{}\"", length == 0 ? "" : " waits for ", ids_[i],
                          printable(node_name(cache, i)));
    }
    ++length;
    i = walk.unmet_dependency(i);
  } while (i != slow);
  if (length > kShown) text += fmt::format(" waits for ... ({} more)", length - kShown);
  text += fmt::format(" waits for node {}", ids_[slow]);
  cycle = fmt::format("{} {}: {}", length, length == 1 ? "node, which waits for itself" : "nodes", text);
  return false;
}

void TraceIndex::check_cycles(NodeCache& cache) {
  std::string cycle;
  if (acyclic(cache, cycle)) return;
  bool met = false;  // without the control dependencies that count as met
  if (stats_.dangling_control > 0) {
    stats_.ignored_cycle = cycle;
    control_order_ = ControlOrder::backward;
    met = acyclic(cache, cycle);
    if (!met) {
      control_order_ = ControlOrder::none;
      met = acyclic(cache, cycle);
    }
  }
  if (!met) {
    throw UserError(ExitCode::trace,
                    fmt::format("{}: rank {}: cyclic dependencies among {}. No node of a cycle can ever "
                                "start: remove one of these dependencies.",
                                *path_, rank_, cycle));
  }
  Dependencies deps;
  bool ordered = true;
  for (NodeIndex i = 0; i < size(); ++i) {
    if (has_no_dependency(i)) continue;
    dependencies(cache, i, deps);
    for (const uint64_t d : deps.control) {
      const NodeIndex p = find(d, i);
      if (p != kNoNode && (control_order_ == ControlOrder::none || p >= i)) ++stats_.ignored_control;
    }
    for_each_dependency(i, deps, [&](NodeIndex p) { ordered = ordered && p < i; });
  }
  file_ordered_ = ordered;
}

NodeCache TraceIndex::open_cache(uint64_t budget_bytes) const {
  return NodeCache(pool_, file_, stats_.file_bytes, budget_bytes);
}

NodePlace TraceIndex::place(NodeIndex i) const {
  return {path_.get(), rank_, i, offset(i)};
}

TraceIndex::Body TraceIndex::body(NodeCache& cache, NodeIndex i) const {
  check_stop();  // whoever goes over a trace comes here
  const uint64_t start = offset(i);
  const uint64_t end = i + 1 < size() ? offset(i + 1) : stats_.file_bytes;
  const auto length = static_cast<size_t>(end - start);
  wire::Cursor c(cache.fetch(start, length), length);
  uint64_t size = 0;
  if (!c.varint(size) || size != c.left()) {
    throw UserError(ExitCode::trace,
                    fmt::format("{}: rank {}, byte {}: node number {} changed while it was in use. Do not "
                                "write to trace files during a run.",
                                *path_, rank_, start, i + 1));
  }
  return {c.position(), c.left()};
}

void TraceIndex::decode_as_written(NodeCache& cache, NodeIndex i, Node& node,
                                   Dependencies* dependencies) const {
  if (decoded_ != nullptr) {
    check_stop();
    node = decoded_->node(i);
    if (dependencies != nullptr) decoded_dependencies(i, *dependencies);
    return;
  }
  if (dependencies != nullptr) dependencies->clear();
  const Body b = body(cache, i);
  decode_node(b.data, b.size, place(i), node, dependencies, nullptr);
  node.index = i;
  node.ordinal = ordinals_[i];
}

void TraceIndex::decode(NodeCache& cache, NodeIndex i, Node& node, Dependencies* dependencies) const {
  decode_as_written(cache, i, node, dependencies);
  view(node);
}

void TraceIndex::decoded_dependencies(NodeIndex i, Dependencies& result) const {
  result.clear();
  result.nodes = decoded_->dependencies(i);
  result.node_count = decoded_->dependency_count(i);
}

uint64_t TraceIndex::keep_decoded(uint64_t most) {
  if (decoded_ == nullptr) decoded_ = DecodedProgram::of(*this, most);
  return decoded_ == nullptr ? 0 : decoded_->memory_bytes();
}

void TraceIndex::dependencies(NodeCache& cache, NodeIndex i, Dependencies& result) const {
  if (decoded_ != nullptr) {
    check_stop();
    decoded_dependencies(i, result);
    return;
  }
  written_dependencies(cache, i, result);
}

void TraceIndex::written_dependencies(NodeCache& cache, NodeIndex i, Dependencies& result) const {
  result.clear();
  const Body b = body(cache, i);
  decode_dependencies(b.data, b.size, place(i), result);
}

void TraceIndex::tensors(NodeCache& cache, NodeIndex i, std::vector<TensorUse>& uses) const {
  uses.clear();
  const Body b = body(cache, i);
  read_tensors(b.data, b.size, uses);
}

std::string TraceIndex::describe(NodeCache& cache, NodeIndex i) const {
  return trace::describe(place(i), ids_[i], node_name(cache, i));
}

std::string TraceIndex::node_name(NodeCache& cache, NodeIndex i) const {
  Node node;
  decode(cache, i, node);
  return node.name;
}

std::vector<TraceWarning> TraceIndex::warnings() const {
  using Kind = TraceWarning::Kind;
  std::vector<TraceWarning> result;
  const auto add = [&](Kind kind, uint64_t count, const std::string& text) {
    result.push_back({kind, count, fmt::format("{}: rank {}: {}", *path_, rank_, text)});
  };
  if (stats_.nodes == 0) add(Kind::empty, 1, "the trace has no nodes");
  if (stats_.dangling > 0) {
    const auto& [node, missing] = stats_.first_dangling.front();
    add(Kind::dangling, stats_.dangling,
        fmt::format(
            "{} dependencies name nodes that are not in the file (first: node {} -> {}); they count as met",
            stats_.dangling, node, missing));
  }
  if (stats_.ignored_control > 0) {
    add(Kind::stale_control, stats_.ignored_control,
        fmt::format(
            "control dependencies close a cycle of {}. Others name nodes that are not in the file, so "
            "they are taken to be of another numbering than the file's: {} of them, {}, count as met. "
            "If the numbering is right, remove one dependency of the cycle",
            stats_.ignored_cycle, stats_.ignored_control,
            control_order_ == ControlOrder::none ? "all there are" : "those on later nodes"));
  }
  const DecodeNotes& notes = stats_.notes;
  if (notes.unreadable_attributes > 0) {
    add(Kind::unreadable, notes.unreadable_attributes,
        fmt::format("{} attribute values of a kind that is not read, ignored (first: {})",
                    notes.unreadable_attributes, notes.first_unreadable));
  }
  if (notes.untyped_nodes > 0) {
    add(Kind::untyped, notes.untyped_nodes,
        fmt::format("{} nodes have no type and take no time (first: node {})", notes.untyped_nodes,
                    notes.first_untyped));
  }
  if (notes.untyped_collectives > 0) {
    add(Kind::no_operation, notes.untyped_collectives,
        fmt::format("{} collectives have a comm_size and no comm_type, and are not run (first: node {})",
                    notes.untyped_collectives, notes.first_untyped_collective));
  }
  if (notes.unsized_collectives > 0) {
    add(Kind::unsized, notes.unsized_collectives,
        fmt::format("{} collectives have no comm_size and move no bytes (first: node {})",
                    notes.unsized_collectives, notes.first_unsized));
  }
  if (notes.unsized_messages > 0) {
    add(Kind::unsized_message, notes.unsized_messages,
        fmt::format("{} sends and receives have no comm_size and carry no bytes (first: node {}); give them "
                    "one",
                    notes.unsized_messages, notes.first_unsized_message));
  }
  if (notes.unsized_accesses > 0) {
    add(Kind::unsized_access, notes.unsized_accesses,
        fmt::format("{} memory accesses have neither tensor_size nor a duration, and take no time (first: "
                    "node {}); give them one",
                    notes.unsized_accesses, notes.first_unsized_access));
  }
  return result;
}

uint64_t TraceIndex::memory_bytes() const {
  return ids_.bytes() + offset_low_.bytes() + offset_high_.bytes() + flags_.bytes() + ordinals_.bytes() +
         hash_.bytes() + (decoded_ != nullptr && !ids_.shared() ? decoded_->memory_bytes() : 0);
}

}  // namespace weft::trace
