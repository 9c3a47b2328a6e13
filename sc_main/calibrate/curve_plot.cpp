// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/calibrate/curve_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "configs/units.h"
#include "sc_main/svg/svg.h"

namespace weft::calibrate {
namespace {

constexpr double kWidth = 820, kLeft = 70, kRight = 30;
constexpr double kTop = 46, kTimes = 330, kGap = 34, kErrors = 110, kBottom = 48;
constexpr size_t kColours = 4;

using svg::escaped;

/// "1 KiB" at powers of two, as sizes are written.
std::string size_label(double bytes) {
  return print_size(static_cast<uint64_t>(std::llround(bytes)));
}

std::string time_label(double us) {
  if (us >= 1e6) return fmt::format("{:g} s", us / 1e6);
  if (us >= 1e3) return fmt::format("{:g} ms", us / 1e3);
  return fmt::format("{:g} us", us);
}

class Plot {
 public:
  Plot(const std::vector<Curve>& curves, const std::vector<Crossover>& crossovers)
      : curves_(curves), crossovers_(crossovers) {
    for (const Curve& curve : curves_)
      for (const Prediction& row : curve.rows) include(row.times);
    least_time_ = std::floor(least_time_);
    most_time_ = std::max(std::ceil(most_time_), least_time_ + 1);
    if (most_size_ <= least_size_) most_size_ = least_size_ + 1;
    // Whole steps of 5, 10, 20 or more per cent; a few wild sizes do not hide all others.
    most_error_ = std::min(100.0, std::max(5.0, most_error_));
    const double step = most_error_ <= 10 ? 5 : most_error_ <= 20 ? 10 : most_error_ <= 50 ? 25 : 50;
    error_step_ = step;
    most_error_ = std::ceil(most_error_ / step) * step;
  }

  std::string draw(const std::string& title) const {
    std::string out = svg::begin(title, kWidth, height(), kLeft);
    out += axes() + changes();
    for (size_t i = 0; i < curves_.size(); ++i) out += curve(curves_[i], i % kColours);
    return out + legend() + "</svg>\n";
  }

 private:
  static double height() { return kTop + kTimes + kGap + kErrors + kBottom; }

  void include(const Compared& row) {
    const double size = std::log2(static_cast<double>(std::max<uint64_t>(1, row.bytes)));
    if (most_size_ < least_size_) least_time_ = most_time_ = std::log10(row.real_us);
    least_size_ = std::min(least_size_, size);
    most_size_ = std::max(most_size_, size);
    for (const double us : {row.real_us, row.sim_us}) {
      least_time_ = std::min(least_time_, std::log10(std::max(us, 1e-6)));
      most_time_ = std::max(most_time_, std::log10(std::max(us, 1e-6)));
    }
    most_error_ = std::max(most_error_, 100 * std::abs(row.error()));
  }

  double x(double bytes) const {
    return kLeft + (std::log2(std::max(bytes, 1.0)) - least_size_) / (most_size_ - least_size_) *
                       (kWidth - kLeft - kRight);
  }
  double y(double us) const {
    return kTop + (most_time_ - std::log10(std::max(us, 1e-6))) / (most_time_ - least_time_) * kTimes;
  }
  double error_y(double percent) const {
    const double shown = std::clamp(percent, -most_error_, most_error_);
    return kTop + kTimes + kGap + (most_error_ - shown) / (2 * most_error_) * kErrors;
  }

  std::string horizontal(double at, const std::string& label) const {
    return fmt::format(
        "<path class=\"grid\" d=\"M{:g} {:.1f}H{:g}\"/><text class=\"soft\" x=\"{:g}\" y=\"{:.1f}\" "
        "text-anchor=\"end\">{}</text>\n",
        kLeft, at, kWidth - kRight, kLeft - 8, at + 4, label);
  }

  std::string axes() const {
    std::string out;
    for (double power = least_time_; power <= most_time_ + 0.01; power += 1) {
      const double us = std::pow(10, power);
      out += horizontal(y(us), time_label(us));
    }
    for (double percent = -most_error_; percent <= most_error_ + 0.01; percent += error_step_)
      out += horizontal(error_y(percent), percent == 0 ? "0 %" : fmt::format("{:+g} %", percent));
    const double bottom = kTop + kTimes + kGap + kErrors;
    const int step = std::max(1, static_cast<int>(std::ceil((most_size_ - least_size_) / 9)));
    for (int power = static_cast<int>(std::ceil(least_size_)); power <= most_size_; power += step) {
      const double at = x(std::exp2(power));
      out += fmt::format("<path class=\"grid\" d=\"M{:.1f} {:g}V{:g}M{:.1f} {:g}V{:g}\"/>", at, kTop,
                         kTop + kTimes, at, kTop + kTimes + kGap, bottom);
      out += fmt::format("<text class=\"soft\" x=\"{:.1f}\" y=\"{:g}\" text-anchor=\"middle\">{}</text>\n",
                         at, bottom + 16, size_label(std::exp2(power)));
    }
    out +=
        fmt::format("<path class=\"axis\" d=\"M{:g} {:.1f}H{:g}\"/>\n", kLeft, error_y(0), kWidth - kRight);
    out += fmt::format("<text class=\"soft\" x=\"{:g}\" y=\"{:g}\">error of the prediction</text>\n", kLeft,
                       kTop + kTimes + kGap - 8);
    return out;
  }

  std::string changes() const {
    std::string out;
    int row = -1;
    for (const Crossover& crossover : crossovers_) {
      if (!crossover.predicted_bytes) continue;
      const double at = x(static_cast<double>(*crossover.predicted_bytes));
      row = (row + 1) % 4;  // names of neighbours stand at different heights
      out += fmt::format("<path class=\"change\" d=\"M{:.1f} {:g}V{:g}\"/>", at, kTop, kTop + kTimes);
      const bool left = at > kWidth - 150;
      out += fmt::format(
          "<text class=\"soft small\" x=\"{:.1f}\" y=\"{:g}\" text-anchor=\"{}\">{}</text>\n",
          left ? at - 3 : at + 3, kTop + kTimes - 8 - 13 * row, left ? "end" : "start",
          escaped(crossover.change.substr(std::min(crossover.change.size(), after_arrow(crossover.change)))));
    }
    return out;
  }

  /// Of "ring LL -> nvls Simple" what is new; of a chunk all.
  static size_t after_arrow(const std::string& change) {
    const size_t arrow = change.find("-> ");
    return arrow == change.npos || change.find(" chunk ") != change.npos ? 0 : arrow + 3;
  }

  std::string curve(const Curve& curve, size_t colour) const {
    std::string line, dots;
    for (const Prediction& row : curve.rows) {
      const double at = x(static_cast<double>(row.times.bytes));
      line += fmt::format("{}{:.1f} {:.1f}", line.empty() ? "M" : "L", at, y(row.times.sim_us));
      const std::string kind = row.fitted ? fmt::format("f{}", colour) : fmt::format("open s{}", colour);
      dots += fmt::format(
          "<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.4\"><title>{}: measured {:.2f} us, "
          "predicted {:.2f} us ({:+.1f} %)</title></circle>\n",
          kind, at, y(row.times.real_us), size_label(static_cast<double>(row.times.bytes)), row.times.real_us,
          row.times.sim_us, 100 * row.times.error());
      dots += fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.8\"/>\n", kind, at,
                          error_y(100 * row.times.error()));
    }
    return fmt::format("<path class=\"line s{}\" d=\"{}\"/>\n", colour, line) + dots;
  }

  std::string legend() const {
    std::string out;
    double at = kLeft;
    const double low = height() - 8;
    for (size_t i = 0; i < curves_.size(); ++i) {
      const std::string name = to_string(curves_[i].operation);
      out +=
          fmt::format("<path class=\"line s{}\" d=\"M{:g} {:g}h22\"/><text x=\"{:g}\" y=\"{:g}\">{}</text>\n",
                      i % kColours, at, low - 4, at + 28, low, escaped(name));
      at += 60 + 7.0 * static_cast<double>(name.size());
    }
    out += fmt::format(
        "<circle class=\"f0\" cx=\"{:g}\" cy=\"{:g}\" r=\"3.4\"/><text x=\"{:g}\" y=\"{:g}\">measured, "
        "fitted</text>\n<circle class=\"open s0\" cx=\"{:g}\" cy=\"{:g}\" r=\"3.4\"/><text x=\"{:g}\" "
        "y=\"{:g}\">measured, predicted</text>\n",
        at + 10, low - 4, at + 18, low, at + 135, low - 4, at + 143, low);
    return out;
  }

  const std::vector<Curve>& curves_;
  const std::vector<Crossover>& crossovers_;
  double least_size_ = 64, most_size_ = -1;  ///< log2 of bytes
  double least_time_ = 0, most_time_ = 0;    ///< log10 of us
  double most_error_ = 0, error_step_ = 5;   ///< per cent
};

}  // namespace

std::string plot_svg(const std::string& title, const std::vector<Curve>& curves,
                     const std::vector<Crossover>& crossovers) {
  return Plot(curves, crossovers).draw(title);
}

}  // namespace weft::calibrate
