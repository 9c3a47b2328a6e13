// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/packet/dcqcn_rate.h"

#include <algorithm>
#include <cmath>

#include "configs/types.h"

namespace weft::packet {

DcqcnRate::DcqcnRate(const DcqcnConfig& config, uint64_t line_rate, Ticks t)
    : config_(&config),
      line_(line_rate),
      current_(line_rate),
      target_(line_rate),
      lowest_(line_rate),
      g_(static_cast<uint64_t>(std::llround(config.g * static_cast<double>(kOne)))) {
  cut(t);
}

void DcqcnRate::cut(Ticks t) {
  target_ = current_;
  current_ -= static_cast<uint64_t>(static_cast<Wide>(current_) * alpha_ / (2 * kOne));
  current_ = std::max(current_, std::min(config_->min_rate, line_));
  lowest_ = std::min(lowest_, current_);
  alpha_ += g_ - alpha_ * g_ / kOne;
  timer_count_ = 0;
  byte_count_ = 0;
  bytes_ = 0;
  next_decay_ = t + config_->alpha_timer;
  next_increase_ = t + config_->rate_timer;
}

void DcqcnRate::increase(Ticks t) {
  if (std::min(timer_count_, byte_count_) > config_->fast_recovery) {
    target_ += config_->rate_hai;
  } else if (std::max(timer_count_, byte_count_) > config_->fast_recovery) {
    target_ += config_->rate_ai;
  }
  target_ = std::min(target_, line_);
  current_ = (target_ + current_ + 1) / 2;  // rounded up: it gets there
  if (current_ == line_) released_ = t;
}

void DcqcnRate::advance(Ticks t) {
  while (next_increase_ <= t && !released()) {
    ++timer_count_;
    increase(next_increase_);
    next_increase_ += config_->rate_timer;
  }
  while (next_decay_ <= t && !released()) {  // alpha and the rate meet only in notifications
    alpha_ -= alpha_ * g_ / kOne;
    next_decay_ += config_->alpha_timer;
  }
}

void DcqcnRate::notify(Ticks t) {
  advance(t);
  if (released()) return;
  cut(t);
}

void DcqcnRate::send(Ticks t, uint64_t bytes) {
  advance(t);
  bytes_ += bytes;
  while (bytes_ >= config_->byte_counter && !released()) {
    bytes_ -= config_->byte_counter;
    ++byte_count_;
    increase(t);
  }
}

}  // namespace weft::packet
