// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "emulation/job/communicators.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "emulation/job/job_error.h"

namespace weft::emulation {
namespace {

constexpr int32_t kUndefined = -32766;
constexpr uint32_t kNull = ~0u;

/// Two splits that differ put ranks into different groups: the colours are in one group or not.
bool agrees(const std::vector<uint32_t>& group, uint32_t member, bool same) {
  return std::binary_search(group.begin(), group.end(), member) == same;
}

}  // namespace

uint32_t Communicator::member(uint32_t world_rank) const {
  if (group.ranks.empty()) return world_rank < size ? world_rank : kNull;
  const auto found = index.find(world_rank);
  return found == index.end() ? kNull : found->second;
}

uint32_t Communicator::translate(uint32_t from, uint32_t like, uint32_t to) const {
  if (dimensions.empty()) return static_cast<uint32_t>((uint64_t{to} + from + size - like) % size);
  uint32_t result = 0;
  uint32_t stride = 1;
  for (size_t d = dimensions.size(); d-- > 0;) {
    const uint32_t n = dimensions[d];
    const auto at = [&](uint32_t member) { return member / stride % n; };
    result += (at(to) + at(from) + n - at(like)) % n * stride;
    stride *= n;
  }
  return result;
}

std::vector<uint32_t> Communicator::members_as_seen_by(uint32_t rank, uint32_t world) const {
  if (member(rank) != kNull) {
    std::vector<uint32_t> all = group.ranks;
    for (uint32_t m = 0; all.size() < size; ++m) all.push_back(m);
    return all;
  }
  const uint32_t stride = size > 1 && world_rank(1) > world_rank(0) ? world_rank(1) - world_rank(0) : 1;
  const Grid grid{stride, size};
  if (grid.group_of(world_rank(0), world) != group.ranks) return {};
  std::vector<uint32_t> image = grid.group_of(rank, world);
  if (image.size() != size) image.clear();
  return image;
}

std::vector<uint32_t> Grid::group_of(uint32_t member, uint32_t n) const {
  const uint64_t block = uint64_t{stride} * count;
  const uint64_t first = member / block * block + member % stride;
  std::vector<uint32_t> group;
  for (uint32_t i = 0; i < count && first + uint64_t{i} * stride < n; ++i)
    group.push_back(static_cast<uint32_t>(first + uint64_t{i} * stride));
  return group;
}

Communicators::Communicators(const Config& config, uint32_t world, const std::vector<uint32_t>& real)
    : world_(world), real_(real) {
  if (config.environment) rules_ = &config.environment->communicators;
  auto all = std::make_unique<Communicator>();
  all->size = world;
  for (const uint32_t rank : real) {
    all->ordinals[rank] = 0;
    of_rank_[rank].push_back(0);
  }
  all_[0] = std::move(all);
}

Communicator* Communicators::find(uint32_t id, uint32_t rank) {
  const auto found = all_.find(id);
  return found == all_.end() || found->second->ordinals.count(rank) == 0 ? nullptr : found->second.get();
}

const Communicator* Communicators::of_rank(uint32_t rank, uint32_t ordinal) const {
  const auto list = of_rank_.find(rank);
  if (list == of_rank_.end() || ordinal >= list->second.size()) return nullptr;
  return all_.at(list->second[ordinal]).get();
}

Communicator& Communicators::parent_of(const Asked& asked) {
  Communicator* parent = find(asked.message.parent, asked.rank);
  if (parent == nullptr)
    throw JobError({asked.rank},
                   fmt::format("rank {} makes a communicator out of communicator {}, of which it is "
                               "no member",
                               asked.rank, asked.message.parent));
  return *parent;
}

Communicator& Communicators::make(std::vector<uint32_t> ranks,
                                  const std::tuple<uint32_t, std::string, uint32_t>& key,
                                  std::vector<uint32_t> dimensions) {
  const auto known = made_.find(key);
  if (known != made_.end()) return *all_.at(known->second);
  auto made = std::make_unique<Communicator>();
  made->id = next_id_++;
  made->size = static_cast<uint32_t>(ranks.size());
  made->dimensions = std::move(dimensions);
  std::vector<uint32_t> everybody(world_);
  std::iota(everybody.begin(), everybody.end(), 0u);
  if (ranks != everybody) {
    for (uint32_t i = 0; i < ranks.size(); ++i) made->index[ranks[i]] = i;
    made->group.ranks = std::move(ranks);
  }
  made->group.id = made->id;
  made->group.name = std::to_string(made->id);
  made_[key] = made->id;
  Communicator& result = *made;
  all_[made->id] = std::move(made);
  return result;
}

Communicators::Answer Communicators::answer(const Asked& asked, Communicator& made) {
  made.ordinals[asked.rank] = static_cast<uint32_t>(of_rank_[asked.rank].size());
  of_rank_[asked.rank].push_back(made.id);
  Answer answer{asked.rank, asked.request, asked.time, {}};
  answer.comm.id = made.id;
  answer.comm.my_rank = made.member(asked.rank);
  answer.comm.count = made.size;
  answer.comm.start = made.world_rank(0);
  answer.comm.stride = made.size > 1 ? made.world_rank(1) - made.world_rank(0) : 1;
  for (uint32_t m = 0; m < made.size; ++m)
    if (made.size > 1 && (made.world_rank(1) < made.world_rank(0) ||
                          made.world_rank(m) != answer.comm.start + m * answer.comm.stride)) {
      answer.comm.ranks = made.group.ranks;
      break;
    }
  return answer;
}

std::vector<Communicators::Answer> Communicators::create(uint32_t rank, uint64_t request, Picoseconds time,
                                                         const CommNew& message) {
  Asked asked{rank, request, time, message, 0};
  switch (static_cast<CommHow>(message.how)) {
    case CommHow::ranks:
    case CommHow::cart:
      return listed(asked);
    case CommHow::split:
      asked.call = ++splits_[rank];
      return split(asked);
    case CommHow::unique:
      asked.call = ++uniques_[rank];
      return unique(asked);
  }
  throw JobError({rank}, fmt::format("rank {}: a communicator of unknown kind {}", rank, message.how));
}

std::vector<Communicators::Answer> Communicators::listed(const Asked& asked) {
  const Communicator& parent = parent_of(asked);
  const std::vector<int32_t>& values = asked.message.values;
  std::vector<uint32_t> ranks, dimensions;
  if (static_cast<CommHow>(asked.message.how) == CommHow::cart) {
    uint64_t members = 1;
    for (size_t d = 0; d < values.size() / 2; ++d) {
      if (values[d] < 1)
        throw JobError({asked.rank},
                       fmt::format("rank {}: dimension {} of a Cartesian communicator has {} ranks",
                                   asked.rank, d, values[d]));
      dimensions.push_back(static_cast<uint32_t>(values[d]));
      members *= dimensions.back();
      if (members > parent.size)
        throw JobError({asked.rank},
                       fmt::format("rank {}: a Cartesian communicator of {} ranks and more out of one of {}",
                                   asked.rank, members, parent.size));
    }
    for (uint32_t m = 0; m < members; ++m) ranks.push_back(parent.world_rank(m));
  } else if (values.empty()) {
    for (uint32_t m = 0; m < parent.size; ++m) ranks.push_back(parent.world_rank(m));
    dimensions = parent.dimensions;
  } else {
    std::set<int32_t> seen;
    for (const int32_t member : values) {
      if (member < 0 || static_cast<uint32_t>(member) >= parent.size || !seen.insert(member).second)
        throw JobError({asked.rank},
                       fmt::format("rank {}: the list of a new communicator has rank {}, which its "
                                   "parent of {} ranks does not have, or twice",
                                   asked.rank, member, parent.size));
      ranks.push_back(parent.world_rank(static_cast<uint32_t>(member)));
    }
  }
  if (std::find(ranks.begin(), ranks.end(), asked.rank) == ranks.end()) {
    Answer none{asked.rank, asked.request, asked.time, {}};
    none.comm.id = kNull;
    return {none};
  }
  const std::string what = fmt::format("{}:{}", asked.message.how, fmt::join(values, ","));
  const uint32_t ordinal = same_[{asked.rank, parent.id, what}]++;
  return {answer(asked, make(std::move(ranks), {parent.id, what, ordinal}, std::move(dimensions)))};
}

const CommunicatorRule* Communicators::rule(uint32_t call) const {
  if (rules_ == nullptr) return nullptr;
  for (const CommunicatorRule& rule : *rules_)
    if (rule.call == 0 || rule.call == call) return &rule;
  return nullptr;
}

void Communicators::ambiguous(const Asked& asked, const std::vector<Grid>& grids, const char* call) const {
  std::vector<std::string> names;
  for (const Grid& grid : grids)
    names.push_back(fmt::format("{{stride: {}, count: {}}}", grid.stride, grid.count));
  const std::string found = grids.empty()
                                ? "no regular grid fits what the real ranks ask for"
                                : fmt::format("{} regular grids fit what the real ranks ask for: {}",
                                              grids.size(), fmt::join(names, ", "));
  throw JobError(
      {asked.rank},
      fmt::format("rank {}, {} number {}{}{}: the members that are not real cannot be known: {}; add "
                  "`environment.communicators: [{{call: {}, stride: S, count: N}}]`, or more real "
                  "ranks (--real)",
                  asked.rank, call, asked.call, asked.message.site.empty() ? "" : " at ", asked.message.site,
                  found, asked.call));
}

std::vector<Grid> Communicators::split_grids(const Meeting& meeting, uint32_t n) const {
  std::vector<Grid> found;
  const auto fits = [&](const Grid& grid) {
    for (const Asked& a : meeting.asked) {
      const Communicator& parent = *all_.at(a.message.parent);
      const std::vector<uint32_t> group = grid.group_of(parent.member(a.rank), n);
      for (const Asked& b : meeting.asked)
        if (!agrees(group, parent.member(b.rank), a.message.color == b.message.color)) return false;
    }
    return true;
  };
  /// Programs number groups in order: colour = block (stride 1), or = place within (groups across).
  const auto natural = [&](const Grid& grid) {
    for (const Asked& a : meeting.asked) {
      const uint32_t member = all_.at(a.message.parent)->member(a.rank);
      const uint64_t block = uint64_t{grid.stride} * grid.count;
      const auto color = static_cast<int64_t>(member / block * grid.stride + member % grid.stride);
      if (color != a.message.color) return false;
    }
    return true;
  };
  std::vector<Grid> all;
  for (uint32_t count = 1; count <= n; ++count) {
    if (n % count != 0) continue;
    for (const uint32_t stride : {1u, n / count}) {
      const Grid grid{stride, count};
      if (std::find(all.begin(), all.end(), grid) == all.end() && fits(grid)) all.push_back(grid);
    }
  }
  // Grids that make the same groups for the real ranks and for all others are one.
  for (const Grid& grid : all)
    if (natural(grid)) found.push_back(grid);
  return found.empty() ? all : found;
}

void Communicators::check_keys(const Meeting& meeting, const Communicator& parent) const {
  for (const Asked& a : meeting.asked)
    for (const Asked& b : meeting.asked)
      if (a.message.color == b.message.color && a.rank != b.rank &&
          parent.member(a.rank) < parent.member(b.rank) && a.message.key > b.message.key)
        throw JobError(
            {a.rank, b.rank},
            fmt::format("ranks {} and {} split communicator {} with keys {} and {}: keys that turn the "
                        "order of ranks round need every rank to be real",
                        a.rank, b.rank, parent.id, a.message.key, b.message.key));
}

const std::vector<uint32_t>* Communicators::known(const Asked& asked) const {
  const auto members = known_.find({asked.rank, asked.message.how, asked.call});
  return members == known_.end() ? nullptr : &members->second;
}

bool Communicators::all_known(const Meeting& meeting) const {
  return std::all_of(meeting.asked.begin(), meeting.asked.end(), [this](const Asked& a) {
    return a.message.color == kUndefined ? !known_.empty() : known(a) != nullptr;
  });
}

/// The grid that a rule gives, or the only one that fits.
Grid Communicators::grid_of(const Meeting& meeting, const Communicator& parent) const {
  const Asked& first = meeting.asked.front();
  const std::vector<Grid> grids = split_grids(meeting, parent.size);
  Grid grid;
  if (const CommunicatorRule* by_rule = rule(first.call))
    grid = {by_rule->stride, by_rule->count};
  else if (grids.size() == 1)
    grid = grids.front();
  else
    ambiguous(first, grids, "split");
  check_keys(meeting, parent);
  return grid;
}

/// The members of a rank's part. `grid`: of count 0, if all have asked or are known.
std::vector<uint32_t> Communicators::split_ranks(const Asked& a, const Meeting& meeting,
                                                 const Communicator& parent, const Grid& grid) const {
  if (grid.count == 0 && known(a) != nullptr) return *known(a);
  std::vector<uint32_t> ranks;
  if (grid.count == 0) {
    std::vector<const Asked*> same;
    for (const Asked& b : meeting.asked)
      if (b.message.color == a.message.color) same.push_back(&b);
    std::stable_sort(same.begin(), same.end(),
                     [](const Asked* x, const Asked* y) { return x->message.key < y->message.key; });
    for (const Asked* b : same) ranks.push_back(b->rank);
    return ranks;
  }
  const std::vector<uint32_t> group = grid.group_of(parent.member(a.rank), parent.size);
  for (const Asked& b : meeting.asked)
    if (!agrees(group, parent.member(b.rank), a.message.color == b.message.color))
      throw JobError(
          {a.rank, b.rank},
          fmt::format("ranks {} and {} split communicator {} with colours {} and {}, and the rule "
                      "of `environment.communicators` (stride {}, count {}) says otherwise",
                      a.rank, b.rank, parent.id, a.message.color, b.message.color, grid.stride, grid.count));
  for (const uint32_t member : group) ranks.push_back(parent.world_rank(member));
  return ranks;
}

std::vector<Communicators::Answer> Communicators::split(const Asked& asked) {
  const Communicator& parent = parent_of(asked);
  const uint32_t ordinal = parent_splits_[{asked.rank, parent.id}]++;
  Meeting& meeting = meetings_[{parent.id, ordinal}];
  meeting.asked.push_back(asked);
  meeting.expected = 0;
  for (const uint32_t rank : real_)
    if (parent.member(rank) != kNull) ++meeting.expected;
  if (meeting.asked.size() < meeting.expected) return {};
  Meeting whole = std::move(meeting);
  meetings_.erase({parent.id, ordinal});
  std::sort(whole.asked.begin(), whole.asked.end(),
            [](const Asked& a, const Asked& b) { return a.rank < b.rank; });
  Picoseconds last = 0;
  for (const Asked& a : whole.asked) last = std::max(last, a.time);
  const bool exact = whole.expected == parent.size;
  const Grid grid = exact || all_known(whole) ? Grid{0, 0} : grid_of(whole, parent);
  std::vector<Answer> answers;
  for (Asked& a : whole.asked) {
    a.time = last;
    if (a.message.color == kUndefined) {
      Answer none{a.rank, a.request, last, {}};
      none.comm.id = kNull;
      answers.push_back(none);
      continue;
    }
    std::vector<uint32_t> ranks = split_ranks(a, whole, parent, grid);
    found_[{a.rank, a.message.how, a.call}] = ranks;
    const std::string what = fmt::format("split:{}", fmt::join(ranks, ","));
    answers.push_back(answer(a, make(std::move(ranks), {parent.id, what, ordinal})));
  }
  return answers;
}

std::vector<Grid> Communicators::unique_grids(const std::vector<Asked>& all) const {
  std::vector<Grid> found;
  const uint32_t n = all.front().message.n;
  for (uint32_t stride = 1; uint64_t{stride} * n <= world_; ++stride) {
    const Grid grid{stride, n};
    bool fits = world_ % (uint64_t{stride} * n) == 0;
    for (const Asked& a : all) {
      if (!fits) break;
      const std::vector<uint32_t> group = grid.group_of(a.rank, world_);
      fits = a.message.rank < group.size() && group[a.message.rank] == a.rank;
    }
    if (fits) found.push_back(grid);
  }
  return found;
}

Communicators::Answer Communicators::answer_unique(const Asked& a, std::vector<uint32_t> ranks) {
  if (ranks.size() != a.message.n || ranks[a.message.rank] != a.rank)
    throw JobError({a.rank},
                   fmt::format("rank {} says that it is rank {} of {} in a communicator of ranks {}", a.rank,
                               a.message.rank, a.message.n, fmt::join(ranks, ", ")));
  found_[{a.rank, a.message.how, a.call}] = ranks;
  const std::string what = fmt::format("unique:{}", fmt::join(ranks, ","));
  const uint32_t ordinal = same_[{a.rank, 0, what}]++;
  return answer(a, make(std::move(ranks), {0, what, ordinal}));
}

std::vector<Communicators::Answer> Communicators::unique(const Asked& asked) {
  const CommNew& message = asked.message;
  if (message.n == 0 || message.n > world_ || message.rank >= message.n)
    throw JobError({asked.rank},
                   fmt::format("rank {}: a communicator of {} ranks, in which it is rank {}; the job "
                               "has {} ranks",
                               asked.rank, message.n, message.rank, world_));
  if (const std::vector<uint32_t>* members = known(asked)) return {answer_unique(asked, *members)};
  Meeting& meeting = id_meetings_[asked.call];
  meeting.asked.push_back(asked);
  meeting.expected = real_.size();
  std::vector<Grid> grids = unique_grids(meeting.asked);
  const CommunicatorRule* by_rule = rule(asked.call);
  if (by_rule != nullptr) grids = {Grid{by_rule->stride, by_rule->count}};
  // One is left: nobody's arguments can change that.
  if (grids.size() != 1 && meeting.asked.size() < meeting.expected) return {};
  if (grids.size() != 1 && real_.size() != world_) ambiguous(asked, grids, "communicator of a unique id");
  std::vector<Answer> answers;
  Picoseconds last = 0;
  for (const Asked& a : meeting.asked) last = std::max(last, a.time);
  for (Asked& a : meeting.asked) {
    if (a.request == 0) continue;  // answered
    std::vector<uint32_t> ranks;
    if (grids.size() == 1) {
      ranks = grids.front().group_of(a.rank, world_);
    } else {
      std::map<uint32_t, uint32_t> by_place;
      for (const Asked& b : meeting.asked)
        if (b.message.id == a.message.id) by_place[b.message.rank] = b.rank;
      for (const auto& [place, rank] : by_place) ranks.push_back(rank);
    }
    a.time = last;
    answers.push_back(answer_unique(a, std::move(ranks)));
    a.request = 0;
  }
  return answers;
}

void Communicators::release(uint32_t rank, uint32_t id) {
  if (find(id, rank) == nullptr || id == 0)
    throw JobError({rank}, fmt::format("rank {} frees communicator {}, of which it is no member", rank, id));
  all_.at(id)->ordinals.erase(rank);
}

std::string Communicators::unresolved() const {
  std::string text;
  for (const auto& [key, meeting] : meetings_)
    for (const Asked& a : meeting.asked)
      text += fmt::format(
          "  rank {} waits since {} ps in split {} of communicator {}: {} of {} real members have come\n",
          a.rank, a.time, key.second + 1, key.first, meeting.asked.size(), meeting.expected);
  for (const auto& [call, meeting] : id_meetings_)
    for (const Asked& a : meeting.asked)
      if (a.request != 0)
        text += fmt::format(
            "  rank {} waits since {} ps for communicator {} of a unique id ({} ranks): its members "
            "cannot be told yet; add `environment.communicators: [{{call: {}, stride: S, count: "
            "{}}}]`\n",
            a.rank, a.time, call, a.message.n, call, a.message.n);
  return text;
}

}  // namespace weft::emulation
