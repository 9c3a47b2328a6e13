// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "insight/causal_log.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "insight/activity_listener.h"

namespace weft::insight {
namespace {

constexpr uint32_t kMostLinks = (1u << 24) - 1;

}  // namespace

CausalLog::CausalLog(uint64_t bytes)
    : blocks_kept_(bytes == 0 ? 0 : std::max<uint64_t>(2, bytes / (sizeof(Activity) << kBlockBits))) {
  links_.push_back({"unknown", "unknown"});
  last_on_.push_back(kNoActivity);
}

CausalLog::~CausalLog() = default;

void CausalLog::grow() {
  if (next_ > ~ActivityId{0} - kBlockSize)
    throw UserError(
        ExitCode::usage,
        "the critical path: more than 4,294,950,911 activities are to be recorded; simulate a shorter "
        "part of the workload, or at `analytical` fidelity");
  blocks_.push_back(std::make_unique<Activity[]>(kBlockSize));
  if (blocks_.size() <= blocks_kept_) return;
  const uint64_t oldest = blocks_.size() - blocks_kept_;
  blocks_[oldest - 1].reset();
  first_ = oldest << kBlockBits;
}

ActivityId CausalLog::add(const Activity& activity) {
  if (!keeps()) return kNoActivity;
  if (next_ >> kBlockBits >= blocks_.size()) grow();
  blocks_[next_ >> kBlockBits][next_ & (kBlockSize - 1)] = activity;
  return static_cast<ActivityId>(next_++);
}

ActivityId CausalLog::stretch(ActivityKind kind, ActivityId cause, uint32_t where, uint32_t what,
                              Picoseconds begin, Picoseconds end) {
  Activity activity;
  activity.kind = static_cast<uint32_t>(kind);
  activity.cause = cause;
  activity.where = where & kMostLinks;
  activity.what = what;
  activity.ready = activity.begin = begin;
  activity.end = end;
  return add(activity);
}

void CausalLog::submitted(uint32_t packet) {
  if (keeps()) submitted(packet, because_);
  if (listener_ != nullptr) listener_->submitted(packet);
}

void CausalLog::submitted(uint32_t packet, ActivityId cause) {
  if (packet >= messages_.size())
    messages_.resize(std::max<size_t>(packet + size_t{1}, 2 * messages_.size()));
  messages_[packet] = {cause, cause, kNoActivity};
}

ActivityId CausalLog::follow(uint32_t packet, Activity activity) {
  if (!keeps()) return kNoActivity;
  if (packet >= messages_.size()) submitted(packet, kNoActivity);
  activity.cause = messages_[packet].last;
  return messages_[packet].last = add(activity);
}

void CausalLog::crossed(uint32_t packet, const Activity& crossing) {
  if (!keeps()) return;
  if (present_ != nullptr) {
    Activity stage = crossing;
    stage.by_head = stage.tail_limited = 0;
    stage.before = last_on_[crossing.where];
    last_on_[crossing.where] = pass(*present_, crossing.where, stage);
    return;
  }
  Activity activity = crossing;
  activity.kind = static_cast<uint32_t>(ActivityKind::crossing);
  activity.before = last_on_[crossing.where];
  const bool known = packet != 0 && packet < messages_.size();
  activity.foreign = known ? 0 : 1;
  const ActivityId id = known ? follow(packet, activity) : add(activity);
  last_on_[crossing.where] = id;
  if (known && messages_[packet].first == kNoActivity) messages_[packet].first = id;
}

void CausalLog::left(uint32_t packet, Picoseconds end) {
  if (!keeps() || packet >= messages_.size()) return;
  const Message& message = messages_[packet];
  Activity sent;
  sent.kind = static_cast<uint32_t>(ActivityKind::sent);
  sent.what = kPointToPoint;
  sent.cause = message.first != kNoActivity ? message.first : message.cause;
  sent.ready = sent.begin = sent.end = end;
  because_ = add(sent);
}

AccessPart CausalLog::begin_access(Activity access, ActivityId cause, Picoseconds at) {
  access.kind = static_cast<uint32_t>(ActivityKind::access);
  access.cause = cause;
  access.ready = access.begin = access.end = at;
  const ActivityId id = add(access);
  return {id, id, at};
}

ActivityId CausalLog::pass(AccessPart& part, uint32_t link, Activity stage) {
  stage.kind = static_cast<uint32_t>(ActivityKind::stage);
  stage.what = part.access;
  stage.where = link;
  stage.cause = part.last;
  if (part.access == kNoActivity) {
    stage.foreign = 1;
  } else {
    stage.ready = std::min(stage.ready, part.came);
  }
  part.came = stage.end;
  return part.last = add(stage);
}

void CausalLog::pass_way(AccessPart& part, uint32_t link, Picoseconds at, Picoseconds until) {
  if (at == until) return;
  Activity way;
  way.ready = way.begin = way.end = at;
  pass(part, link, way);
  part.came = until;
}

void CausalLog::ended(uint32_t npu, ActivityId id, Picoseconds at) {
  if (npu >= ends_.size()) ends_.resize(npu + size_t{1});
  ends_[npu] = {id, at, true};
}

void CausalLog::restart() {
  because_ = answer_ = kNoActivity;
  ends_.clear();
  std::fill(last_on_.begin(), last_on_.end(), kNoActivity);
}

uint32_t CausalLog::add_link(LinkName link) {
  if (links_.size() == kMostLinks) return 0;
  links_.push_back(std::move(link));
  last_on_.push_back(kNoActivity);
  return static_cast<uint32_t>(links_.size() - 1);
}

const Activity* CausalLog::find(ActivityId id) const {
  if (id < first_ || id >= next_) return nullptr;
  return &blocks_[id >> kBlockBits][id & (kBlockSize - 1)];
}

void CausalLog::index_passages() const {
  passages_.clear();
  for (uint64_t id = first_; id < next_; ++id)
    if (find(static_cast<ActivityId>(id))->of_kind() == ActivityKind::last_link)
      passages_.push_back(static_cast<ActivityId>(id));
  const auto key = [this](ActivityId id) {
    const Activity& a = *find(id);
    return std::make_tuple(uint32_t{a.where}, a.end, id);
  };
  std::sort(passages_.begin(), passages_.end(), [&](ActivityId a, ActivityId b) { return key(a) < key(b); });
  passages_until_ = next_;
}

ActivityId CausalLog::on_last_link(uint32_t link, Picoseconds end) const {
  if (passages_until_ != next_) index_passages();
  const auto wanted = std::make_pair(link, end);
  const auto key = [this](ActivityId id) {
    const Activity& a = *find(id);
    return std::make_pair(uint32_t{a.where}, a.end);
  };
  auto at = std::lower_bound(passages_.begin(), passages_.end(), wanted,
                             [&](ActivityId id, const auto& value) { return key(id) < value; });
  for (; at != passages_.end() && key(*at) == wanted; ++at)
    if (find(*at)->begin < end) return *at;
  return kNoActivity;
}

}  // namespace weft::insight
