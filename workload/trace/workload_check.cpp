// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/workload_check.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "workload/trace/group_check.h"

namespace weft::trace {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kSingleFileCache = 64ull << 20;
constexpr uint64_t kLeastCache = 16ull << 10;
constexpr size_t kMaxFileName = 255;

[[noreturn]] void fail(const std::string& what) {
  throw UserError(ExitCode::trace, what);
}

// "<base>.<rank>.et" -> rank, if the name is of this form with the rank written plainly.
bool rank_of(const std::string& file, const std::string& base, uint64_t& rank) {
  const std::string suffix = ".et";
  if (file.size() < base.size() + 1 + 1 + suffix.size() || file.compare(0, base.size(), base) != 0 ||
      file[base.size()] != '.' || file.compare(file.size() - suffix.size(), suffix.size(), suffix) != 0) {
    return false;
  }
  const std::string digits = file.substr(base.size() + 1, file.size() - base.size() - 1 - suffix.size());
  if (digits.empty() || digits.size() > 18 || digits.find_first_not_of("0123456789") != std::string::npos ||
      (digits.size() > 1 && digits[0] == '0')) {
    return false;
  }
  rank = std::stoull(digits);
  return true;
}

std::string trace_path(const std::string& prefix, uint64_t rank) {
  return fmt::format("{}.{}.et", prefix, rank);
}

/// What a folder holds, for the message when there is no trace of the prefix asked for.
struct FolderContent {
  std::set<std::string> prefixes;  ///< of traces, with the folder
  std::set<std::string> others;    ///< names of other things
  uint64_t other_count = 0;

  static constexpr size_t kMostNames = 5;

  explicit FolderContent(const fs::path& folder) {
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      const std::string name = it->path().filename().string();
      const auto dot = name.size() < 6 || name.compare(name.size() - 3, 3, ".et") != 0
                           ? std::string::npos
                           : name.rfind('.', name.size() - 4);
      uint64_t rank = 0;
      if (dot != std::string::npos && dot > 0 && rank_of(name, name.substr(0, dot), rank)) {
        prefixes.insert((folder / name.substr(0, dot)).string());
        if (prefixes.size() > kMostNames) prefixes.erase(std::prev(prefixes.end()));
      } else {
        ++other_count;
        others.insert(name);
        if (others.size() > kMostNames) others.erase(std::prev(others.end()));
      }
    }
  }

  /// What is there, and what is expected.
  std::string text() const {
    if (!prefixes.empty())
      return fmt::format("The folder has traces with the prefix{} {}. Give {}.",
                         prefixes.size() > 1 ? "es" : "", fmt::join(prefixes, ", "),
                         prefixes.size() > 1 ? "one of them" : "that");
    if (other_count == 0)
      return "The folder is empty. Generate or copy the traces: one file <prefix>.<rank>.et for each rank.";
    return fmt::format(
        "The folder holds {} other {} ({}{}), but no file <prefix>.<rank>.et, for example llm.0.et. Name the "
        "traces so, one file for each rank, or check the path.",
        other_count, other_count == 1 ? "entry" : "entries", fmt::join(others, ", "),
        other_count > others.size() ? ", ..." : "");
  }
};

bool has_trace(const fs::path& folder, const std::string& base) {
  std::error_code error;
  uint64_t rank = 0;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (rank_of(it->path().filename().string(), base, rank)) return true;
  return false;
}

void check_files(const std::string& prefix, uint32_t npus) {
  if (prefix.empty()) fail("workload.trace is empty. Give the traces' prefix: rank r reads <prefix>.<r>.et.");
  const fs::path path(prefix);
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const std::string base = path.filename().string();
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory) {
      const bool name =
          error == std::errc::too_many_symbolic_link_levels || error == std::errc::filename_too_long;
      throw UserError(
          name ? ExitCode::usage : ExitCode::trace,
          fmt::format("{}: the folder of the traces cannot be opened: {}. Check `workload.trace` or "
                      "--trace.",
                      folder.string().substr(0, 300), error.message()));
    }
    fail(
        fmt::format("{}: the folder of the trace prefix {} does not exist. Check `workload.trace` (a "
                    "relative path starts "
                    "at the working folder or the configuration's).",
                    folder.string(), prefix));
  }
  if (trace_path(base, npus - 1).size() > kMaxFileName) {
    throw UserError(
        ExitCode::usage,
        fmt::format("{}...: the prefix of the traces is too long: the name {}... of a file has at most {} "
                    "characters. Give a shorter prefix.",
                    prefix.substr(0, 200), base.substr(0, 40), kMaxFileName));
  }
  // "traces/" is the folder itself, as "traces" may be.
  if (base.empty() || base == "." || base == ".." ||
      (fs::is_directory(path, error) && !has_trace(folder, base))) {
    fail(fmt::format(
        "{}: is a folder, and the prefix of the traces is wanted: rank r reads <prefix>.<r>.et. {}", prefix,
        FolderContent(path).text()));
  }
  uint64_t count = 0;
  uint64_t highest = 0;
  std::vector<bool> present(npus, false);
  fs::directory_iterator entry(folder, error);
  if (error) fail(fmt::format("{}: the folder cannot be listed: {}.", folder.string(), error.message()));
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    uint64_t rank = 0;
    if (!rank_of(entry->path().filename().string(), base, rank)) continue;
    ++count;
    highest = std::max(highest, rank);
    if (rank < npus) present[rank] = true;
  }
  if (count == 0) {
    uint64_t rank = 0;
    const auto dot = base.size() > 3 ? base.rfind('.', base.size() - 4) : std::string::npos;
    if (dot != std::string::npos && rank_of(base, base.substr(0, dot), rank)) {
      fail(fmt::format(
          "{}: is one rank's file, but a prefix is wanted. Say {}.", prefix,
          (path.has_parent_path() ? path.parent_path() / base.substr(0, dot) : fs::path(base.substr(0, dot)))
              .string()));
    }
    fail(fmt::format("{}: no trace file {} (0 found, {} needed). {}", prefix, trace_path(prefix, 0), npus,
                     FolderContent(folder).text()));
  }
  const auto missing = std::find(present.begin(), present.end(), false);
  if (missing != present.end()) {
    fail(fmt::format(
        "{}: {} trace files found, but the machine has {} NPUs and needs one each: {} is missing. Add it, or "
        "use a topology of {} NPUs.",
        prefix, count, npus, trace_path(prefix, static_cast<uint64_t>(missing - present.begin())), count));
  }
  if (count > npus) {
    fail(
        fmt::format("{}: {} trace files found (up to {}), but the machine has only {} NPUs. Use a topology "
                    "of {} NPUs, or "
                    "move the other traces away.",
                    prefix, count, trace_path(prefix, highest), npus, count));
  }
}

bool rooted(CollectiveOp op) {
  return op == CollectiveOp::broadcast || op == CollectiveOp::reduce || op == CollectiveOp::gather ||
         op == CollectiveOp::scatter;
}

uint64_t mix(uint64_t h, uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
  h *= 0xff51afd7ed558ccdull;
  return h ^ (h >> 33);
}

// Holds the ranks' communication against each other, rank by rank. Of a group, only the fingerprints of its
// lowest member's collectives are kept; of the point-to-point messages, those whose peer was not read yet.
class CommunicationCheck {
 public:
  CommunicationCheck(const Groups& groups, const std::vector<std::unique_ptr<TraceIndex>>& indices,
                     uint32_t npus)
      : groups_(groups), indices_(indices), npus_(npus), references_(groups.size()), due_(npus) {
    for (GroupId g = 0; g < groups.size(); ++g) {
      references_[g].rank = *std::min_element(groups.ranks(g).begin(), groups.ranks(g).end());
    }
    counts_.assign(groups.size(), 0);
    differs_.assign(groups.size(), kNoNode);
  }

  // Ranks must come in ascending order.
  void add(const TraceIndex& index, NodeCache& cache) {
    rank_ = index.rank();
    index_ = &index;
    cache_ = &cache;
    for (NodeIndex i = 0; i < index.size(); ++i) {
      switch (index.type(i)) {
        case NodeType::invalid:
          index.decode(cache, i, node_);
          fail(fmt::format(
              "{}: its type is INVALID, which cannot be executed. Give it one of Chakra's node types 1 "
              "(METADATA) to 7 (COMM_COLL).",
              here()));
        case NodeType::comm_coll:
          index.decode(cache, i, node_);
          if (node_.has_comm_type) collective();
          break;
        case NodeType::comm_send:
        case NodeType::comm_recv:
          index.decode(cache, i, node_);
          point_to_point();
          break;
        default:
          break;
      }
    }
    finish_group(kWorld);
    for (const GroupId g : groups_.of_rank(rank_)) finish_group(g);
    for (const uint64_t key : due_[rank_]) match(key);
    due_[rank_].clear();
    due_[rank_].shrink_to_fit();
  }

  std::vector<OwnAlgorithm> take_own_algorithms() { return std::move(own_algorithms_); }

  /// When all ranks are in.
  CollectiveNumbers collective_numbers() const {
    std::vector<uint32_t> counts;
    for (const Reference& reference : references_)
      counts.push_back(static_cast<uint32_t>(reference.prints.size()));
    return CollectiveNumbers(groups_, counts);
  }

 private:
  struct Reference {
    uint32_t rank = 0;  ///< the group's lowest member
    std::vector<uint64_t> prints;
  };
  struct Message {
    uint32_t tag;
    NodeIndex index;
    uint64_t bytes;
    bool operator<(const Message& o) const {
      return std::tie(tag, bytes, index) < std::tie(o.tag, o.bytes, o.index);
    }
  };
  struct Flow {
    std::vector<Message> sends;
    std::vector<Message> receives;
  };

  std::string here() const { return index_->describe(*cache_, node_.index); }

  std::string group_text(GroupId g) const {
    return g == kWorld ? std::string("of all ranks") : fmt::format("\"{}\"", groups_.name(g));
  }

  uint32_t root_of(const Node& node, GroupId g) const {
    return node.has_root ? node.root : groups_.ranks(g).front();
  }

  uint64_t fingerprint(const Node& node, GroupId g) const {
    uint64_t h = mix(1, static_cast<uint64_t>(node.op));
    if (node.op != CollectiveOp::barrier) h = mix(h, node.comm_size);
    if (rooted(node.op)) h = mix(h, root_of(node, g));
    for (const bool b : node.involved_dim) h = mix(h, b ? 3 : 2);
    for (const char c : node.algorithm) h = mix(h, static_cast<uint64_t>(static_cast<unsigned char>(c)) + 4);
    return h;
  }

  void collective() {
    const std::string refusal = group_refusal(groups_, node_.pg_name, rank_);
    if (!refusal.empty()) fail(fmt::format("{}: {}", here(), refusal));
    const GroupId g = *groups_.find(node_.pg_name);
    if (rooted(node_.op) && node_.has_root && !groups_.contains(g, node_.root)) {
      fail(fmt::format(
          "{}: the root of this {} is rank {}, which is not in group {} (members: {}). The root is a rank of "
          "the job, and a member.",
          here(), to_string(node_.op), node_.root, group_text(g), members_text(groups_, g)));
    }
    if (!node_.algorithm.empty()) note_algorithm(g);
    const uint64_t print = fingerprint(node_, g);
    Reference& reference = references_[g];
    const uint32_t k = node_.ordinal;
    ++counts_[g];
    if (rank_ == reference.rank) {
      if (reference.prints.size() <= k) reference.prints.resize(k + uint64_t{1});
      reference.prints[k] = print;
    } else if (k < reference.prints.size() && reference.prints[k] != print &&
               (differs_[g] == kNoNode || k < index_->ordinal(differs_[g]))) {
      differs_[g] = node_.index;  // judged when the rank's count is known
    }
  }

  void note_algorithm(GroupId g) {
    const bool dimensions =
        std::find(node_.involved_dim.begin(), node_.involved_dim.end(), false) != node_.involved_dim.end();
    const auto members = dimensions ? 0 : static_cast<uint32_t>(groups_.ranks(g).size());
    if (!known_algorithms_.emplace(node_.algorithm, node_.op, members).second) return;
    own_algorithms_.push_back({node_.algorithm, node_.op, members, index_->path(), here()});
  }

  void finish_group(GroupId g) {
    const Reference& reference = references_[g];
    const uint32_t count = std::exchange(counts_[g], 0);
    const NodeIndex differs = std::exchange(differs_[g], kNoNode);
    if (rank_ == reference.rank) return;
    const auto expected = static_cast<uint32_t>(reference.prints.size());
    if (count == expected && differs == kNoNode) return;

    const TraceIndex& other = *indices_[reference.rank];
    NodeCache other_cache = other.open_cache(kSingleFileCache);
    Node theirs;
    if (count == expected) {
      index_->decode(*cache_, differs, node_);
      const NodeIndex t = find(other, other_cache, g, node_.ordinal, theirs);
      fail(fmt::format(
          "{}: collective number {} of group {} {}, but on rank {} {} (n-th in ascending node id is the same "
          "collective on every rank): {}. Make the ranks' traces agree.",
          here(), node_.ordinal + 1, group_text(g), difference(node_, theirs, g, true), reference.rank,
          difference(theirs, node_, g, true), other.describe(other_cache, t)));
    }
    const uint32_t k = differs != kNoNode ? index_->ordinal(differs) : std::min(count, expected);
    const bool missing_here = count < expected;
    if (missing_here) {
      const NodeIndex t = find(other, other_cache, g, k, theirs);
      fail(fmt::format(
          "{}: rank {} never joins a collective of group {}: it has {}, rank {} has {}. The first without a "
          "partner is number {}, {} of {} bytes: {}. Add it to rank {}'s trace or mend the groups file.",
          index_->path(), rank_, group_text(g), count, reference.rank, expected, k + 1, to_string(theirs.op),
          theirs.comm_size, other.describe(other_cache, t), rank_));
    }
    find(*index_, *cache_, g, k, node_);
    fail(fmt::format(
        "{}: rank {} never joins a collective of group {}: it has {}, rank {} has {}. The first without a "
        "partner is number {}, {} of {} bytes: {}. Add it to rank {}'s trace or mend the groups file.",
        other.path(), reference.rank, group_text(g), expected, rank_, count, k + 1, to_string(node_.op),
        node_.comm_size, here(), reference.rank));
  }

  // What `a` is where it differs from `b`.
  std::string difference(const Node& a, const Node& b, GroupId g, bool verb) const {
    const char* is = verb ? "is " : "";
    if (a.op != b.op) return fmt::format("{}{} of {} bytes", is, to_string(a.op), a.comm_size);
    if (a.op != CollectiveOp::barrier && a.comm_size != b.comm_size) {
      return fmt::format("{}{} of {} bytes", is, to_string(a.op), a.comm_size);
    }
    if (rooted(a.op) && root_of(a, g) != root_of(b, g)) {
      return fmt::format("{}{} with root {}", is, to_string(a.op), root_of(a, g));
    }
    if (a.algorithm != b.algorithm)
      return fmt::format("{}{} with {}", is, to_string(a.op),
                         a.algorithm.empty() ? std::string("no algorithm of its own")
                                             : fmt::format("algorithm \"{}\"", a.algorithm));
    std::string dims;
    for (const bool d : a.involved_dim) dims += fmt::format("{}{}", dims.empty() ? "" : ", ", d);
    return fmt::format("{}{} with involved_dim [{}]", is, to_string(a.op), dims);
  }

  // The collective number k of a group in a rank's trace.
  NodeIndex find(const TraceIndex& index, NodeCache& cache, GroupId g, uint32_t k, Node& node) const {
    for (NodeIndex i = 0; i < index.size(); ++i) {
      if (index.type(i) != NodeType::comm_coll || index.ordinal(i) != k) continue;
      index.decode(cache, i, node);
      if (node.has_comm_type && groups_.find(node.pg_name) == std::optional<GroupId>(g)) return i;
    }
    return kNoNode;
  }

  void point_to_point() {
    const bool send = node_.type == NodeType::comm_send;
    const char* peer_name = send ? "comm_dst" : "comm_src";
    if (node_.peer >= npus_) {
      fail(fmt::format(
          "{}: {} is rank {}, but the machine has {} NPUs (ranks 0 to {}). Use a machine of the traces' "
          "size.",
          here(), peer_name, node_.peer, npus_, npus_ - 1));
    }
    if (node_.peer == rank_) {
      fail(
          fmt::format("{}: {} is its own rank {}: a rank cannot {} itself. Remove the node or mend its peer.",
                      here(), peer_name, rank_, send ? "send to" : "receive from"));
    }
    if (node_.has_own_end && node_.own_end != rank_) {
      fail(fmt::format(
          "{}: {} is rank {}, but the node is in the trace of rank {}: a rank {} itself. Move the node "
          "to rank {}'s trace or mend the attribute.",
          here(), send ? "comm_src" : "comm_dst", node_.own_end, rank_,
          send ? "sends only from" : "receives only at", node_.own_end));
    }
    const uint64_t source = send ? rank_ : node_.peer;
    const uint64_t target = send ? node_.peer : rank_;
    const auto [it, added] = flows_.try_emplace(source << 32 | target);
    if (added) due_[std::max(source, target)].push_back(it->first);
    (send ? it->second.sends : it->second.receives).push_back({node_.tag, node_.index, node_.comm_size});
  }

  // Both ends are read: per tag, the sizes sent and received must be the same, in whatever order.
  void match(uint64_t key) {
    const auto it = flows_.find(key);
    Flow flow = std::move(it->second);
    flows_.erase(it);
    const auto source = static_cast<uint32_t>(key >> 32);
    const auto target = static_cast<uint32_t>(key);
    std::sort(flow.sends.begin(), flow.sends.end());
    std::sort(flow.receives.begin(), flow.receives.end());
    const auto same = [](const Message& a, const Message& b) { return a.tag == b.tag && a.bytes == b.bytes; };
    if (std::equal(flow.sends.begin(), flow.sends.end(), flow.receives.begin(), flow.receives.end(), same))
      return;

    // What is left on each side once equal messages are taken away, by tag and size.
    std::vector<Message> sends;
    std::vector<Message> receives;
    auto s = flow.sends.begin();
    auto r = flow.receives.begin();
    while (s != flow.sends.end() || r != flow.receives.end()) {
      const auto order = [](const Message& a, const Message& b) {
        return std::tie(a.tag, a.bytes) < std::tie(b.tag, b.bytes);
      };
      if (r == flow.receives.end() || (s != flow.sends.end() && order(*s, *r))) {
        sends.push_back(*s++);
      } else if (s == flow.sends.end() || order(*r, *s)) {
        receives.push_back(*r++);
      } else {
        ++s;
        ++r;
      }
    }
    const auto text = [&](uint32_t rank, NodeIndex i) {
      const TraceIndex& index = *indices_[rank];
      NodeCache cache = index.open_cache(kLeastCache);
      return index.describe(cache, i);
    };
    for (const Message& m : sends) {
      const auto partner =
          std::find_if(receives.begin(), receives.end(), [&](const Message& o) { return o.tag == m.tag; });
      if (partner != receives.end()) {
        fail(fmt::format(
            "{}: sends {} bytes to rank {} with tag {}, but its receive expects {} bytes: {}. Make the two "
            "sizes equal.",
            text(source, m.index), m.bytes, target, m.tag, partner->bytes, text(target, partner->index)));
      }
    }
    if (!sends.empty()) {
      const Message& m = sends.front();
      fail(fmt::format(
          "{}: a send without a receive: {} bytes to rank {} with tag {}, but {} has no COMM_RECV left from "
          "rank {} with that tag. Add the receive or remove the send.",
          text(source, m.index), m.bytes, target, m.tag, indices_[target]->path(), source));
    }
    const Message& m = receives.front();
    fail(
        fmt::format("{}: a receive without a send: {} bytes from rank {} with tag {}, but {} has no "
                    "COMM_SEND left to rank "
                    "{} with that tag. Add the send or remove the receive.",
                    text(target, m.index), m.bytes, source, m.tag, indices_[source]->path(), target));
  }

  const Groups& groups_;
  const std::vector<std::unique_ptr<TraceIndex>>& indices_;
  uint32_t npus_;
  std::vector<Reference> references_;
  std::vector<uint32_t> counts_;    ///< of the rank being read, by group
  std::vector<NodeIndex> differs_;  ///< its first collective that differs from the reference, by group
  std::unordered_map<uint64_t, Flow> flows_;
  std::vector<std::vector<uint64_t>> due_;  ///< flows that are complete once this rank is read
  std::set<std::tuple<std::string, CollectiveOp, uint32_t>> known_algorithms_;
  std::vector<OwnAlgorithm> own_algorithms_;
  uint32_t rank_ = 0;
  const TraceIndex* index_ = nullptr;
  NodeCache* cache_ = nullptr;
  Node node_;
};

}  // namespace

std::unique_ptr<TraceFeeder> JobTrace::feeder(uint32_t rank) const {
  FeederBudget budget;
  budget.cache_bytes = cache_bytes_a_rank_;
  return std::make_unique<TraceFeeder>(*indices_.at(rank), budget);
}

uint64_t JobTrace::index_bytes() const {
  uint64_t sum = 0;
  for (const auto& index : indices_) sum += index->memory_bytes();
  return sum;
}

void JobTrace::collect_warnings() {
  struct Total {
    std::string first;
    uint64_t ranks = 0;
    uint64_t count = 0;
  };
  Total totals[kTraceWarningKinds];
  for (const auto& index : indices_) {
    for (auto& warning : index->warnings()) {
      Total& total = totals[static_cast<size_t>(warning.kind)];
      if (total.ranks++ == 0) total.first = std::move(warning.text);
      total.count += warning.count;
    }
  }
  for (const Total& total : totals) {
    if (total.ranks == 1) warnings_.push_back(total.first);
    if (total.ranks > 1) {
      warnings_.push_back(
          fmt::format("{} (the same in {} ranks, {} cases in all)", total.first, total.ranks, total.count));
    }
  }
}

/// Puts a job's indices together, rank by rank.
class JobOpener {
 public:
  JobOpener(Groups groups, uint32_t npus, bool strict, uint64_t cache_bytes) {
    job_.pool_ = std::make_shared<FilePool>();
    job_.groups_ = std::make_unique<Groups>(std::move(groups));
    job_.cache_bytes_a_rank_ = std::clamp(cache_bytes / npus, kLeastCache, kSingleFileCache);
    options_.strict = strict;
    options_.groups = job_.groups_.get();
    options_.cache_bytes = std::min(cache_bytes, kSingleFileCache);
    job_.indices_.reserve(npus);
    check_ = std::make_unique<CommunicationCheck>(*job_.groups_, job_.indices_, npus);
  }

  const std::shared_ptr<FilePool>& pool() const { return job_.pool_; }
  const TraceIndex::Options& options() const { return options_; }
  uint32_t rank() const { return job_.npus(); }  ///< the next one
  const TraceIndex& index(uint32_t rank) const { return job_.index(rank); }

  void add(std::unique_ptr<TraceIndex> next) {
    job_.indices_.push_back(std::move(next));
    const TraceIndex& index = *job_.indices_.back();
    job_.nodes_ += index.size();
    NodeCache cache = index.open_cache(options_.cache_bytes);
    check_->add(index, cache);
  }

  JobTrace finish(std::vector<std::string> warnings) {
    job_.warnings_ = std::move(warnings);
    job_.own_algorithms_ = check_->take_own_algorithms();
    job_.collectives_ = check_->collective_numbers();
    job_.collect_warnings();
    return std::move(job_);
  }

 private:
  JobTrace job_;
  TraceIndex::Options options_;
  std::unique_ptr<CommunicationCheck> check_;
};

JobTrace open_job(const std::string& prefix, uint32_t npus, const std::string& groups_file, bool strict,
                  uint64_t cache_bytes) {
  if (npus == 0) fail(fmt::format("{}: the machine has no NPUs.", prefix));
  check_files(prefix, npus);
  JobOpener job(groups_file.empty() ? Groups(npus) : Groups::load(groups_file, npus), npus, strict,
                cache_bytes);
  while (job.rank() < npus)
    job.add(
        std::make_unique<TraceIndex>(job.pool(), trace_path(prefix, job.rank()), job.rank(), job.options()));
  return job.finish({});
}

JobTrace open_job(MemoryTraces traces, uint64_t cache_bytes) {
  const auto npus = static_cast<uint32_t>(traces.of_rank.size());
  if (npus == 0) fail(fmt::format("{}: the machine has no NPUs.", traces.path));
  JobOpener job(traces.groups.empty() ? Groups(npus) : Groups::parse(traces.groups, traces.path, npus), npus,
                true, cache_bytes);
  std::unordered_map<const std::string*, uint32_t> first;
  while (job.rank() < npus) {
    const uint32_t rank = job.rank();
    const auto& bytes = traces.of_rank[rank];
    const auto [same, fresh] = first.try_emplace(bytes.get(), rank);
    job.add(fresh ? std::make_unique<TraceIndex>(job.pool(), traces.path, bytes, rank, job.options())
                  : std::make_unique<TraceIndex>(job.index(same->second), rank));
  }
  return job.finish(std::move(traces.warnings));
}

}  // namespace weft::trace
