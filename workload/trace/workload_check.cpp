// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/workload_check.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "workload/trace/class_manifest.h"
#include "workload/trace/communication_check.h"
#include "workload/trace/equal_files.h"

namespace weft::trace {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kSingleFileCache = 64ull << 20;
constexpr uint64_t kLeastCache = 16ull << 10;
constexpr uint64_t kDecodedBytes = 256ull << 20;  ///< of all programs that several ranks have
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
  JobOpener(Groups groups, uint32_t npus, bool strict, uint64_t cache_bytes, std::string made_of = {}) {
    job_.pool_ = std::make_shared<FilePool>();
    job_.groups_ = std::make_unique<Groups>(std::move(groups));
    job_.cache_bytes_a_rank_ = std::clamp(cache_bytes / npus, kLeastCache, kSingleFileCache);
    options_.strict = strict;
    options_.made_of = std::move(made_of);
    options_.groups = job_.groups_.get();
    options_.cache_bytes = std::min(cache_bytes, kSingleFileCache);
    job_.indices_.reserve(npus);
    check_ = std::make_unique<CommunicationCheck>(*job_.groups_, job_.indices_, npus);
  }

  const std::shared_ptr<FilePool>& pool() const { return job_.pool_; }
  const TraceIndex::Options& options() const { return options_; }
  uint32_t rank() const { return job_.npus(); }  ///< the next one
  const TraceIndex& index(uint32_t rank) const { return job_.index(rank); }

  /// An index of the next rank, whose trace has the bytes of that of `first`. `path` is for messages.
  std::unique_ptr<TraceIndex> same_as(uint32_t first, const std::string& path) {
    TraceIndex& of = *job_.indices_[first];
    if (of.program() == nullptr) decoded_left_ -= of.keep_decoded(decoded_left_);
    return std::make_unique<TraceIndex>(of, rank(), path);
  }
  void add(std::unique_ptr<TraceIndex> next) {
    take(std::move(next));
    check(rank() - 1);
  }
  /// .. without holding it against others.
  void take(std::unique_ptr<TraceIndex> next) {
    job_.indices_.push_back(std::move(next));
    job_.nodes_ += job_.indices_.back()->size();
  }
  void check(uint32_t rank) {
    const TraceIndex& index = job_.index(rank);
    NodeCache cache = index.open_cache(options_.cache_bytes);
    check_->add(index, cache);
  }
  CommunicationCheck& communication() { return *check_; }
  /// When only the first rank of each class was checked: the other groups of a kind have as many collectives.
  void count_as_first(const ClassManifest& manifest) {
    std::vector<uint32_t> counts = check_->collectives();
    for (GroupId g = 0; g < counts.size(); ++g) {
      if (g == kWorld) continue;
      const uint32_t member = job_.groups_->ranks(g).front();
      const uint32_t first = manifest.classes()[manifest.class_of(member)].first;
      const ClassManifest::Kind& kind = manifest.kind_of(std::stoull(job_.groups_->name(g)));
      counts[g] = counts[*job_.groups_->find(std::to_string(manifest.group(kind, first)))];
    }
    job_.collectives_ = CollectiveNumbers(*job_.groups_, counts);
    counted_ = true;
  }

  JobTrace finish(std::vector<std::string> warnings) {
    job_.warnings_ = std::move(warnings);
    job_.own_algorithms_ = check_->take_own_algorithms();
    if (!counted_) job_.collectives_ = check_->collective_numbers();
    job_.collect_warnings();
    return std::move(job_);
  }

 private:
  JobTrace job_;
  TraceIndex::Options options_;
  std::unique_ptr<CommunicationCheck> check_;
  uint64_t decoded_left_ = kDecodedBytes;
  bool counted_ = false;
};

namespace {

/// The ranks of a manifest whose messages and collectives stand for all others': the first of each class, and
/// their peers. Empty: every rank is to be checked.
std::set<uint32_t> sample_of(const ClassManifest& manifest, JobOpener& job, std::set<uint32_t>& firsts) {
  std::set<uint32_t> sample;
  for (uint32_t c = 0; c < manifest.classes().size(); ++c) {
    const ClassManifest::Class& own = manifest.classes()[c];
    const TraceIndex& index = job.index(own.first);
    NodeCache cache = index.open_cache(kSingleFileCache);
    firsts.insert(own.first);
    sample.insert(own.first);
    Node node;
    for (NodeIndex i = 0; i < index.size(); ++i) {
      const NodeType type = index.type(i);
      if (type != NodeType::comm_coll && type != NodeType::comm_send && type != NodeType::comm_recv) continue;
      index.decode_as_written(cache, i, node);
      if (type == NodeType::comm_coll) {
        const ClassManifest::Kind* const kind = manifest.kind(node.pg_name);
        if (!node.has_comm_type) continue;
        if (kind == nullptr) return {};
        // Members of other classes?
        for (const uint32_t a : kind->axes)
          if (own.fixed[a] != ClassManifest::kAny) return {};
      } else {
        if (node.peer >= manifest.ranks()) return {};
        // Is every rank's peer of the class that the first one's is of?
        const auto& theirs = manifest.classes()[manifest.class_of(node.peer)].fixed;
        for (uint32_t a = 0; a < theirs.size(); ++a)
          if (theirs[a] != ClassManifest::kAny && own.fixed[a] == ClassManifest::kAny) return {};
        sample.insert(node.peer);
      }
    }
  }
  return sample;
}

JobTrace open_classes(const std::string& path, uint32_t npus, const std::string& groups_file, bool strict,
                      uint64_t cache_bytes) {
  const auto manifest = ClassManifest::load(path);
  if (manifest->ranks() != npus)
    fail(fmt::format("{}: it is of {} ranks, and there are {} NPUs. Use a topology of {} NPUs.", path,
                     manifest->ranks(), npus, manifest->ranks()));
  if (!groups_file.empty())
    fail(fmt::format("{}: it has the groups of its ranks; leave {} out (workload.groups, --groups).", path,
                     groups_file));
  JobOpener job(Groups::parse(manifest->groups_text(), path, npus), npus, strict, cache_bytes);
  while (job.rank() < npus) {
    const uint32_t rank = job.rank();
    const uint32_t c = manifest->class_of(rank);
    const ClassManifest::Class& of = manifest->classes()[c];
    if (of.first != rank) {
      job.take(job.same_as(of.first, of.program));
      continue;
    }
    auto index = std::make_unique<TraceIndex>(job.pool(), of.program, rank, job.options());
    index->set_view(ClassManifest::view(manifest, c));
    job.take(std::move(index));
  }
  std::set<uint32_t> firsts;
  const std::set<uint32_t> sample = sample_of(*manifest, job, firsts);
  if (sample.empty()) {
    for (uint32_t r = 0; r < npus; ++r) job.check(r);
    return job.finish({});
  }
  job.communication().sample(firsts);
  for (const uint32_t r : sample) job.check(r);
  job.count_as_first(*manifest);
  return job.finish({});
}

}  // namespace

JobTrace open_job(const std::string& prefix, uint32_t npus, const std::string& groups_file, bool strict,
                  uint64_t cache_bytes, MadeOf made_of) {
  if (npus == 0) fail(fmt::format("{}: the machine has no NPUs.", prefix));
  if (const std::string manifest = ClassManifest::find(prefix); !manifest.empty())
    return open_classes(manifest, npus, groups_file, strict, cache_bytes);
  check_files(prefix, npus);
  JobOpener job(groups_file.empty() ? Groups(npus) : Groups::load(groups_file, npus), npus, strict,
                cache_bytes, made_of.path);
  EqualFiles files;
  while (job.rank() < npus) {
    const std::string path = trace_path(prefix, job.rank());
    const std::optional<uint32_t> same = files.add(path);
    job.add(same ? job.same_as(*same, made_of.path.empty() ? path : made_of.path)
                 : std::make_unique<TraceIndex>(job.pool(), path, job.rank(), job.options()));
  }
  return job.finish(std::move(made_of.warnings));
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
                  : job.same_as(same->second, traces.path));
  }
  return job.finish(std::move(traces.warnings));
}

}  // namespace weft::trace
