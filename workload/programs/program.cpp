// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/programs/program.h"

#include <cmath>

namespace weft::library {
namespace {

Picoseconds in_picoseconds(double us) {
  const double ps = std::ceil(us * 1e6);
  if (!(ps < static_cast<double>(kNever))) time_overflow();
  return ps <= 0 ? 0 : static_cast<Picoseconds>(ps);
}

}  // namespace

uint64_t Program::wire(const Send& send) const {
  return wire_factor_ <= 1 ? send.bytes
                           : static_cast<uint64_t>(std::ceil(static_cast<double>(send.bytes) * wire_factor_));
}

ProgramBuilder::ProgramBuilder(uint32_t ranks, Buffers buffers, double wire_factor) {
  program_.ranks_ = ranks;
  program_.work_.resize(ranks);
  program_.buffers_ = std::move(buffers);
  program_.wire_factor_ = wire_factor;
}

uint32_t ProgramBuilder::add_switch(const SwitchPlace& place) {
  program_.switches_.push_back(place);
  program_.work_.push_back(0);
  return program_.members() - 1;
}

uint32_t ProgramBuilder::price(double cost, double flight, double carried) {
  program_.prices_.push_back({in_picoseconds(cost), in_picoseconds(flight), in_picoseconds(carried)});
  return static_cast<uint32_t>(program_.prices_.size() - 1);
}

uint32_t ProgramBuilder::send(const Send& send) {
  program_.sends_.push_back(send);
  program_.sends_.back().waits = 0;
  ++program_.work_[send.from];
  ++program_.work_[send.to];
  return static_cast<uint32_t>(program_.sends_.size() - 1);
}

void ProgramBuilder::after_arrival(uint32_t of, uint32_t send) {
  arrivals_.emplace_back(of, send);
  ++program_.sends_[send].waits;
}

void ProgramBuilder::after_end(uint32_t of, uint32_t send) {
  ends_.emplace_back(of, send);
  ++program_.sends_[send].waits;
}

/// In order of insertion within a list; the pairs are dropped.
void ProgramBuilder::gather(Pairs& pairs, size_t lists, Program::Edges& edges) {
  edges.begin.assign(lists + 1, 0);
  for (const auto& [of, send] : pairs) ++edges.begin[of + 1];
  for (size_t i = 1; i < edges.begin.size(); ++i) edges.begin[i] += edges.begin[i - 1];
  edges.to.resize(pairs.size());
  std::vector<uint32_t> next(edges.begin.begin(), edges.begin.end() - 1);
  for (const auto& [of, send] : pairs) edges.to[next[of]++] = send;
  Pairs().swap(pairs);
}

Program ProgramBuilder::finish() {
  Program& p = program_;
  p.first_of_lane_.assign(lanes_ + size_t{1}, 0);
  for (const Send& send : p.sends_) ++p.first_of_lane_[send.lane + 1];
  for (size_t l = 1; l < p.first_of_lane_.size(); ++l) p.first_of_lane_[l] += p.first_of_lane_[l - 1];
  p.order_.resize(p.sends_.size());
  std::vector<uint32_t> next(p.first_of_lane_.begin(), p.first_of_lane_.end() - 1);
  for (uint32_t s = 0; s < p.sends_.size(); ++s) p.order_[next[p.sends_[s].lane]++] = s;
  gather(arrivals_, p.sends_.size(), p.arrivals_);
  gather(ends_, p.sends_.size(), p.ends_);
  Pairs lanes;
  for (uint32_t l = 0; l < lanes_; ++l)
    if (p.lane_begin(l) != p.lane_begin(l + 1))
      lanes.emplace_back(p.sends_[p.order_[p.lane_begin(l)]].from, l);
  gather(lanes, p.work_.size(), p.lanes_of_);
  return std::move(program_);
}

}  // namespace weft::library
