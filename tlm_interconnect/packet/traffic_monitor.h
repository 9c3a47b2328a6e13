// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What one run of synthetic traffic measures.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_TRAFFIC_MONITOR_H
#define WEFT_TLM_INTERCONNECT_PACKET_TRAFFIC_MONITOR_H

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "tlm_interconnect/packet/network_interface.h"
#include "tlm_interconnect/packet/random.h"

namespace weft::packet {

/// Latencies by the cycle; those beyond the bins one by one.
class Histogram {
 public:
  void add(uint64_t value) {
    if (value >= kBins) {
      beyond_.push_back(value);
    } else {
      if (bins_.size() <= value) bins_.resize(value + 1, 0);
      ++bins_[value];
    }
    ++count_;
    sum_ += value;
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
  }
  uint64_t count() const { return count_; }
  double mean() const { return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_); }
  uint64_t min() const { return count_ == 0 ? 0 : min_; }
  uint64_t max() const { return max_; }
  double percentile(double p) const {
    const double wanted = p * static_cast<double>(count_);
    uint64_t seen = 0;
    for (uint64_t bin = 0; bin < bins_.size(); ++bin) {
      seen += bins_[bin];
      if (static_cast<double>(seen) >= wanted) return static_cast<double>(bin);
    }
    if (beyond_.empty()) return 0;
    std::vector<uint64_t> sorted = beyond_;
    std::sort(sorted.begin(), sorted.end());
    for (const uint64_t value : sorted)
      if (static_cast<double>(++seen) >= wanted) return static_cast<double>(value);
    return static_cast<double>(max_);
  }

 private:
  static constexpr uint64_t kBins = 1u << 20;
  std::vector<uint64_t> bins_;
  std::vector<uint64_t> beyond_;
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  uint64_t min_ = ~uint64_t{0};
  uint64_t max_ = 0;
};

/// What arrives: latencies of the packets created in [from, to), flits that arrive in it.
class Monitor final : public PacketSink {
 public:
  Monitor(Ticks cycle, Ticks from, Ticks to) : cycle_(cycle), from_(from), to_(to) {}

  void packet_arrives(const fabric::Packet& packet, uint32_t, Ticks at) override {
    // Order-independent, and only up to the end of the measurement: a router may announce arrivals in any
    // order, and how far ahead depends on how long its bursts are.
    if (at < to_) digest_ += hash64(hash64(packet.id_low) ^ hash64(at) ^ packet.destination);
    if (packet.submitted < from_ || packet.submitted >= to_) return;
    const uint64_t latency = (at - packet.submitted) / cycle_;
    ++measured_;
    last_ = std::max(last_, at);
    if (at < to_) {
      latency_.add(latency);
    } else {
      late_.emplace_back(at, latency);
    }
  }
  void flits_arrive(uint32_t flits, Ticks first, Ticks flit_time) override {
    const Ticks last = first + static_cast<Ticks>(flits - 1) * flit_time;
    if (first >= from_ && last < to_) {
      flits_ += flits;
    } else if (last >= from_ && first < to_) {
      for (uint32_t i = 0; i < flits; ++i) {
        const Ticks t = first + static_cast<Ticks>(i) * flit_time;
        if (t >= from_ && t < to_) ++flits_;
      }
    }
  }
  void message_arrives(const Message&, Picoseconds) override {}

  /// Measured packets whose arrival is announced, and the last of these arrivals.
  uint64_t measured() const { return measured_; }
  Ticks last() const { return last_; }
  /// Of those that arrive before `end`, at the earliest the end of the measurement.
  Histogram latency(Ticks end) const {
    Histogram all = latency_;
    for (const auto& [at, latency] : late_)
      if (at < end) all.add(latency);
    return all;
  }
  uint64_t flits() const { return flits_; }
  uint64_t digest() const { return digest_; }

 private:
  const Ticks cycle_;
  const Ticks from_;
  const Ticks to_;
  Histogram latency_;
  std::vector<std::pair<Ticks, uint64_t>> late_;  ///< after the measurement: arrival, latency
  uint64_t measured_ = 0;
  Ticks last_ = 0;
  uint64_t flits_ = 0;
  uint64_t digest_ = 0;
};

}  // namespace weft::packet

#endif
