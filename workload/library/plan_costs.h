// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What the parts of a plan cost with the scales of a calibration in them. The closed forms and the programs
// take their times from here alone. All times are in us.

#ifndef WEFT_WORKLOAD_LIBRARY_PLAN_COSTS_H
#define WEFT_WORKLOAD_LIBRARY_PLAN_COSTS_H

#include <algorithm>

#include "workload/library/library_plan.h"

namespace weft::library {

struct PlanCosts {
  PlanCosts(const LibraryPlan& plan, const LibraryParameters& parameters)
      : latency(plan.latency_us * parameters.latency_scale),
        sigma(plan.sigma_us * parameters.latency_scale),
        byte(of_rate(plan.bandwidth * parameters.bandwidth_scale)),
        channel_byte(of_rate(plan.channel_bandwidth * parameters.bandwidth_scale)),
        crossing_byte(std::max(channel_byte, of_rate(plan.crossing_bandwidth * parameters.bandwidth_scale))),
        way_byte(of_rate(plan.way_bandwidth * parameters.bandwidth_scale)) {}

  /// A step of a ring waits so long for the link beside the cost of its slices.
  double step_wait(const LibraryPlan& plan) const { return std::max(0.0, latency / plan.steps - sigma); }
  double slices(const LibraryPlan& plan, double chunk) const {
    return chunk > static_cast<double>(plan.least_slice) ? plan.slices : 1;
  }
  /// How long a channel is busy with a chunk of so many bytes.
  double chunk_cost(const LibraryPlan& plan, double chunk) const {
    const double n = slices(plan, chunk);
    return n * (chunk / n * channel_byte + sigma);
  }
  /// A step of a ring with chunks of so many bytes. With one slice a step waits for the link; with two the
  /// next slice is sent meanwhile.
  double ring_step(const LibraryPlan& plan, double chunk) const {
    const double n = slices(plan, chunk);
    const double tau = chunk / n * channel_byte + sigma;
    return std::max(n * tau, tau + step_wait(plan));
  }

  /// What a chunk takes longer where it crosses the network.
  double crossing(double chunk) const { return chunk * (crossing_byte - channel_byte); }

  double latency;
  double sigma;
  double byte;           ///< a byte of the call
  double channel_byte;   ///< .. of one channel's share
  double crossing_byte;  ///< .. where it crosses the network
  double way_byte;       ///< .. on its whole way through a tree

 private:
  /// Of a byte at a rate in GB/s; no rate: no time.
  static double of_rate(double rate) { return rate > 0 ? 1e-3 / rate : 0; }
};

}  // namespace weft::library

#endif
