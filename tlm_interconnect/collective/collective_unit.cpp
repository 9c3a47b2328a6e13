// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/collective/collective_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace weft::fabric {
namespace {

std::string text(const CollectiveUnit::BlockId& id) {
  return fmt::format("collective {} chunk {} phase {} block {}", id.stream, id.chunk, id.phase, id.slot);
}

}  // namespace

CollectiveUnit::CollectiveUnit(const Parameters& parameters, uint32_t ports)
    : parameters_(parameters), ingress_free_(ports, 0) {}

void CollectiveUnit::push(Picoseconds time, What what, const Contribution& contribution) {
  events_.push(time, pushed_++, {what, contribution});
}

void CollectiveUnit::arrive(const Contribution& contribution) {
  if (parameters_.buffer != 0 &&
      (contribution.bytes > parameters_.buffer || contribution.bytes > parameters_.reserve)) {
    throw std::logic_error(fmt::format("{} of {} B does not fit the collective unit's buffer",
                                       text(contribution.block), contribution.bytes));
  }
  push(contribution.head, What::arrived, contribution);
}

void CollectiveUnit::advance(Picoseconds now, Output& output) {
  while (events_.next() <= now) {
    const Picoseconds time = events_.next();
    due_.clear();
    while (events_.next() == time) due_.push_back(events_.pop().payload);
    // What an instant brings is taken in a declared order, whichever it came in.
    std::sort(due_.begin(), due_.end(), [](const Event& a, const Event& b) {
      return std::tie(a.what, a.contribution.block, a.contribution.contributor) <
             std::tie(b.what, b.contribution.block, b.contribution.contributor);
    });
    bool admitted = false;
    for (const Event& event : due_) {
      if (event.what > What::arrived && !admitted) {
        admit(time);
        admitted = true;
      }
      switch (event.what) {
        case What::freed:
          used_ -= event.contribution.bytes;
          blocks_.erase(event.contribution.block);
          break;
        case What::arrived:
          arrived(event.contribution);
          break;
        case What::entered:
          reduce(event.contribution, time);
          break;
        case What::ready:
          finish(event.contribution.block, time, output);
          break;
      }
    }
    if (!admitted) admit(time);
  }
}

void CollectiveUnit::arrived(const Contribution& contribution) {
  Block& block = blocks_[contribution.block];
  if (!block.arrived.empty() &&
      (block.arrived.size() == block.contributors || block.contributors != contribution.contributors ||
       block.bytes != contribution.bytes)) {
    throw std::logic_error(fmt::format("{}: contributor {} is one too many or differs from the others",
                                       text(contribution.block), contribution.contributor));
  }
  ++contributions_;
  block.bytes = contribution.bytes;
  block.contributors = contribution.contributors;
  block.arrived.push_back(contribution);
  if (block.open) {
    enter(block.arrived.back(), contribution.head);
    return;
  }
  waiting_.insert(contribution.block);
  if (block.arrived.size() == block.contributors) complete_.insert(contribution.block);
}

void CollectiveUnit::admit(Picoseconds now) {
  const auto fits = [&](const BlockId& id, uint64_t kept) {
    return parameters_.buffer == 0 || used_ + blocks_[id].bytes + kept <= parameters_.buffer;
  };
  while (!waiting_.empty() && fits(*waiting_.begin(), parameters_.reserve)) {
    const BlockId id = *waiting_.begin();
    open(id, blocks_[id], now);
  }
  while (!complete_.empty() && fits(*complete_.begin(), 0)) {
    const BlockId id = *complete_.begin();
    open(id, blocks_[id], now);
  }
}

void CollectiveUnit::open(const BlockId& id, Block& block, Picoseconds now) {
  waiting_.erase(id);
  complete_.erase(id);
  block.open = true;
  used_ += block.bytes;
  most_used_ = std::max(most_used_, used_);
  std::sort(block.arrived.begin(), block.arrived.end(),
            [](const Contribution& a, const Contribution& b) { return a.contributor < b.contributor; });
  for (Contribution& contribution : block.arrived) enter(contribution, now);
}

template <typename F>
void CollectiveUnit::timed(const BlockId& id, F&& f) {
  in_time(
      f, [&] { return text(id) + " in a switch's collective unit"; },
      "use a smaller size, or raise the bandwidths of topology.dimensions[].collective_unit");
}

void CollectiveUnit::enter(Contribution& contribution, Picoseconds now) {
  contribution.waited = now - contribution.head;
  waited_ += contribution.waited;
  Picoseconds start = now;
  Picoseconds end = std::max(start, contribution.tail);
  if (parameters_.ingress.bytes_per_second != 0) {
    Picoseconds& free = ingress_free_[contribution.port];
    if (contribution.waited == 0) start -= std::min(start, contribution.before);
    start = std::max(start, free);
    timed(contribution.block, [&] {
      end = std::max(contribution.tail, later(start, transfer_time(contribution.bytes, parameters_.ingress)));
    });
    free = end;
  }
  push(end, What::entered, contribution);
}

void CollectiveUnit::reduce(const Contribution& contribution, Picoseconds now) {
  Block& block = blocks_.at(contribution.block);
  timed(contribution.block, [&] {
    Picoseconds done = now;
    if (contribution.reduces && parameters_.reduction.bytes_per_second != 0) {
      done = later(std::max(now, reduction_free_), transfer_time(contribution.bytes, parameters_.reduction));
      reduction_free_ = done;
    }
    block.reduced = std::max(block.reduced, done);
    block.last = contribution.contributor;
    if (++block.entered == block.contributors)
      push(later(block.reduced, parameters_.latency), What::ready, contribution);
  });
}

void CollectiveUnit::finish(const BlockId& id, Picoseconds now, Output& output) {
  Block& block = blocks_.at(id);
  std::sort(block.arrived.begin(), block.arrived.end(),
            [](const Contribution& a, const Contribution& b) { return a.contributor < b.contributor; });
  for (size_t i = 1; i < block.arrived.size(); ++i) {
    if (block.arrived[i].contributor != block.arrived[i - 1].contributor) continue;
    throw std::logic_error(
        fmt::format("{}: contributor {} came twice", text(id), block.arrived[i].contributor));
  }
  Result result;
  result.block = id;
  result.bytes = block.bytes;
  result.contributions = &block.arrived;
  while (block.arrived[result.last].contributor != block.last) ++result.last;
  ++results_;
  block.sent = true;
  const Picoseconds left = output.send(result, now);
  if (left != kNever) push(std::max(left, now), What::freed, block.arrived.front());
}

void CollectiveUnit::left(const BlockId& id, Picoseconds when) {
  push(when, What::freed, blocks_.at(id).arrived.front());
}

std::vector<CollectiveUnit::Pending> CollectiveUnit::pending(size_t limit) const {
  std::vector<Pending> list;
  for (const auto& [id, block] : blocks_) {
    if (list.size() == limit) break;
    if (block.sent) continue;
    Pending pending{id, block.bytes, block.contributors, block.open, {}};
    std::vector<bool> here(block.contributors, false);
    for (const Contribution& c : block.arrived) {
      if (c.contributor < here.size()) here[c.contributor] = true;
    }
    for (uint32_t i = 0; i < here.size() && block.contributors > 1; ++i) {
      if (!here[i]) pending.missing.push_back(i);
    }
    list.push_back(std::move(pending));
  }
  return list;
}

}  // namespace weft::fabric
