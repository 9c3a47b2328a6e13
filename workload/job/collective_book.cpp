// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/job/collective_book.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "workload/collectives/bounds.h"

namespace weft {
namespace {

constexpr size_t kLines = 16;  // about wrong data in a result

/// The phase of that number; chunks whose orders differ are told together.
CollectiveRow::Phase describe_phase(const collectives::CollectivePlan& plan, size_t p) {
  std::vector<std::string> operations;
  std::vector<std::string> dimensions;
  std::vector<std::string> algorithms;
  const auto add = [](std::vector<std::string>& list, std::string text) {
    if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(std::move(text));
  };
  for (const auto& phases : plan.orders()) {
    const auto& phase = phases[p];
    const auto& axis = plan.axes()[phase.axis];
    add(operations, to_string(phase.op));
    add(dimensions,
        axis.dimension == collectives::Axis::kFlat ? std::string("group") : std::to_string(axis.dimension));
    add(algorithms, phase.algorithm->name());
  }
  std::sort(dimensions.begin(), dimensions.end());
  std::sort(algorithms.begin(), algorithms.end());
  CollectiveRow::Phase row;
  row.operation = fmt::format("{}", fmt::join(operations, "|"));
  row.dimension = fmt::format("{}", fmt::join(dimensions, "|"));
  row.algorithm = fmt::format("{}", fmt::join(algorithms, "|"));
  for (std::string& d : dimensions) {
    if (d != "group") d.insert(0, "d");
  }
  row.what = fmt::format("{} {} {}", row.operation.str(), fmt::join(dimensions, "|"), row.algorithm.str());
  return row;
}

}  // namespace

Picoseconds bound_in_time(const Config& config, const collectives::CollectivePlan& plan, Picoseconds now,
                          const std::function<std::string()>& where) {
  Picoseconds bound = 0;
  in_time(
      [&] {
        bound = collectives::lower_bound(config, plan);
        return later(now, bound);
      },
      [&] {
        return fmt::format("{}: {} of {} B, which starts at {} ps,", where(), to_string(plan.request().op),
                           plan.request().bytes, now);
      },
      "use a smaller size or higher bandwidths");
  return bound;
}

CollectiveRow make_row(const Config& config, const collectives::CollectivePlan& plan, uint32_t stream,
                       Picoseconds now, const std::function<std::string()>& where) {
  CollectiveRow row;
  row.stream = stream;
  row.op = plan.request().op;
  row.group = plan.request().group->name;
  row.bytes = plan.request().bytes;
  row.ranks = plan.members();
  row.chunks = plan.empty() ? 0 : plan.chunks();
  row.started = now;
  row.lower_bound = bound_in_time(config, plan, row.started, where);
  for (size_t p = 0; p < plan.phases().size(); ++p) row.phases.push_back(describe_phase(plan, p));
  return row;
}

void tell_library_plan(const library::LibraryPlan& plan, Picoseconds time, CollectiveRow& row) {
  row.algorithm = library::to_string(plan.algorithm);
  row.protocol = library::to_string(plan.protocol);
  row.channels = plan.channels;
  row.chunks = static_cast<uint32_t>(std::min<uint64_t>(plan.loops, ~0u));
  row.phases.clear();
  // A program's parts are rounded to picoseconds one by one.
  row.lower_bound = std::min(row.lower_bound, time == 0 ? 0 : time - 1);
}

void CollectiveBook::record(const collectives::CollectiveDone& done, CollectiveRow& row) {
  row.started = std::min(row.started, done.started - origin_);
  row.finished = std::max(row.finished, done.finished - origin_);
  row.messages += done.messages;
  row.message_bytes += done.bytes;
  row.split.add(done.split);
  for (size_t p = 0; p < done.phases.size(); ++p) {
    row.phases[p].queue += done.phases[p].queue;
    row.phases[p].network += done.phases[p].network;
  }
  ++row.members_done;
  if (done.data) verify(done, row);
  if (row.members_done == row.ranks) {
    for (auto& phase : row.phases) {
      phase.queue /= row.ranks;
      phase.network /= row.ranks;
    }
  }
}

void CollectiveBook::verify(const collectives::CollectiveDone& done, const CollectiveRow& row) {
  auto& check = checks_.try_emplace(row.stream, *data_).first->second;
  const std::string wrong = check.check(*done.data);
  if (!wrong.empty() && wrong_streams_.insert(row.stream).second && wrong_streams_.size() <= kLines) {
    wrong_data_.push_back(fmt::format("collective {} ({}, {} B, group `{}`) delivered wrong data: {}",
                                      row.stream, to_string(row.op), row.bytes, row.group.str(), wrong));
  }
  // Wrong elements show where they end up; a rank that was told to do the impossible says where they began.
  if (!done.data->defect().empty() && defect_streams_.insert(row.stream).second &&
      defect_streams_.size() <= kLines) {
    wrong_data_.push_back(fmt::format("collective {} ({}, {} B, group `{}`): rank {}, {}", row.stream,
                                      to_string(row.op), row.bytes, row.group.str(), done.data->rank(),
                                      done.data->defect()));
  }
  if (row.members_done != row.ranks) return;
  ++collectives_;
  elements_ += check.elements();
  checks_.erase(row.stream);
}

void CollectiveBook::note_wrong_message(const std::string& line) {
  if (++wrong_messages_ <= kLines) wrong_data_.push_back(line);
}

void CollectiveBook::note_wrong_tensor(const std::string& line) {
  if (++wrong_tensors_ <= kLines) wrong_data_.push_back(line);
}

void CollectiveBook::report_wrong_data(std::vector<std::string>& lines) const {
  lines.insert(lines.end(), wrong_data_.begin(), wrong_data_.end());
  if (wrong_messages_ > kLines)
    lines.push_back(fmt::format("{} further messages delivered wrong data", wrong_messages_ - kLines));
  if (wrong_tensors_ > kLines)
    lines.push_back(fmt::format("{} further tensors were loaded with wrong data", wrong_tensors_ - kLines));
  if (wrong_streams_.size() > kLines)
    lines.push_back(
        fmt::format("{} further collectives delivered wrong data", wrong_streams_.size() - kLines));
}

}  // namespace weft
