// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/paper/figure_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "configs/types.h"
#include "sc_main/svg/svg.h"
#include "sc_main/sweep/quantity.h"

namespace weft::paper {
namespace {

constexpr double kWidth = 820, kHeight = 430, kLeft = 76, kRight = 24, kTop = 44, kBottom = 74;

struct Dot {
  std::string x;  ///< as it is written
  double at = 0;  ///< as a number, of lines
  double y = 0;
};

struct Series {
  std::string name;
  std::vector<Dot> dots;
};

/// A step of 1, 2 or 5 times a power of ten.
double round_step(double span) {
  const double raw = span / 5;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double m : {1.0, 2.0, 5.0})
    if (m * power >= raw * 0.999) return m * power;
  return 10 * power;
}

std::string number_label(double value) {
  const double size = std::abs(value);
  if (size >= 1e9) return fmt::format("{:g} G", value / 1e9);
  if (size >= 1e6) return fmt::format("{:g} M", value / 1e6);
  return fmt::format("{:g}", value);
}

/// Values along one side of the drawing.
class Scale {
 public:
  Scale(double least, double most, bool log, double from, double to) : log_(log), from_(from), to_(to) {
    if (log_) {
      least_ = std::floor(std::log10(least) + 1e-9);
      most_ = std::max(std::ceil(std::log10(most) - 1e-9), least_ + 1);
      step_ = std::max(1.0, std::ceil((most_ - least_) / 6));
    } else {
      least_ = std::min(0.0, least);
      step_ = round_step(std::max(most - least_, 1e-12));
      most_ = least_ + std::ceil((most - least_) / step_ - 1e-9) * step_;
      if (most_ <= least_) most_ = least_ + step_;
    }
  }
  double place(double value) const {
    const double v = log_ ? std::log10(std::max(value, 1e-300)) : value;
    return from_ + (v - least_) / (most_ - least_) * (to_ - from_);
  }
  std::vector<double> ticks() const {
    std::vector<double> all;
    for (double v = least_; v <= most_ + step_ * 1e-6; v += step_) all.push_back(log_ ? std::pow(10, v) : v);
    return all;
  }

 private:
  bool log_;
  double from_, to_;
  double least_ = 0, most_ = 1, step_ = 1;
};

std::string cell_of(const Point& point, const std::string& column) {
  const auto value = point.values.find(column);
  if (value != point.values.end()) return value->second;
  const auto variable = std::find_if(point.variables.begin(), point.variables.end(),
                                     [&](const auto& v) { return v.first == column; });
  return variable == point.variables.end() ? "" : variable->second;
}

class Drawing {
 public:
  Drawing(const Figure& figure, const Plot& plot, const std::vector<Point>& points)
      : figure_(figure), plot_(plot) {
    for (const Point& point : points) take(point);
    if (series_.empty())
      throw UserError(ExitCode::usage, fmt::format("{}: no point has the columns of the plot ({} over {})",
                                                   figure.path, plot.y[0], plot.x));
  }

  std::string draw() const {
    std::string out = svg::begin(plot_.title.empty() ? figure_.title : plot_.title, kWidth, kHeight, kLeft);
    out += plot_.kind == "lines" ? lines() : bars();
    return out + labels() + legend() + "</svg>\n";
  }

 private:
  void take(const Point& point) {
    const std::string& run = figure_.runs[point.run].name;
    if (!plot_.runs.empty() && std::find(plot_.runs.begin(), plot_.runs.end(), run) == plot_.runs.end())
      return;
    for (const auto& [column, value] : plot_.where)
      if (cell_of(point, column) != value) return;
    const std::string x = plot_.x == "run" ? run : cell_of(point, plot_.x);
    if (x.empty()) return;
    for (const std::string& column : plot_.y) {
      const std::optional<double> y = sweep::quantity(cell_of(point, column));
      if (!y) continue;
      std::string name = plot_.series.empty()    ? (plot_.y.size() == 1 && plot_.x != "run" ? run : column)
                         : plot_.series == "run" ? run
                                                 : cell_of(point, plot_.series);
      if (!plot_.series.empty() && plot_.y.size() > 1) name += ", " + column;
      if (plot_.x == "run") name = column;
      auto found =
          std::find_if(series_.begin(), series_.end(), [&](const Series& s) { return s.name == name; });
      if (found == series_.end()) found = series_.insert(series_.end(), Series{name, {}});
      found->dots.push_back({x, sweep::quantity(x).value_or(0), *y});
      if (std::find(places_.begin(), places_.end(), x) == places_.end()) places_.push_back(x);
    }
  }

  std::string horizontal(const Scale& scale) const {
    std::string out;
    for (const double tick : scale.ticks())
      out += fmt::format(
          "<path class=\"grid\" d=\"M{:g} {:.1f}H{:g}\"/><text class=\"soft\" x=\"{:g}\" y=\"{:.1f}\" "
          "text-anchor=\"end\">{}</text>\n",
          kLeft, scale.place(tick), kWidth - kRight, kLeft - 8, scale.place(tick) + 4, number_label(tick));
    return out;
  }

  std::string under(double x, const std::string& text) const {
    return fmt::format("<text class=\"soft\" x=\"{:.1f}\" y=\"{:g}\" text-anchor=\"middle\">{}</text>\n", x,
                       kHeight - kBottom + 18, svg::escaped(text));
  }

  std::string lines() const {
    double least_x = 1e300, most_x = -1e300, least_y = 1e300, most_y = -1e300;
    for (const Series& s : series_) {
      for (const Dot& d : s.dots) {
        least_x = std::min(least_x, d.at);
        most_x = std::max(most_x, d.at);
        least_y = std::min(least_y, d.y);
        most_y = std::max(most_y, d.y);
      }
    }
    const Scale y(least_y, most_y, plot_.log_y && least_y > 0, kHeight - kBottom, kTop);
    const bool log_x = plot_.log_x && least_x > 0;
    const double from = log_x ? std::log2(least_x) : least_x;
    const double to = std::max(log_x ? std::log2(most_x) : most_x, from + 1e-9);
    const auto x = [&](double at) {
      return kLeft + ((log_x ? std::log2(at) : at) - from) / (to - from) * (kWidth - kLeft - kRight);
    };
    std::string out = horizontal(y);
    const size_t every = std::max<size_t>(1, (places_.size() + 8) / 9);
    for (size_t i = 0; i < places_.size(); i += every)
      out += under(x(sweep::quantity(places_[i]).value_or(0)), places_[i]);
    for (size_t i = 0; i < series_.size(); ++i) {
      std::vector<Dot> dots = series_[i].dots;
      std::stable_sort(dots.begin(), dots.end(), [](const Dot& a, const Dot& b) { return a.at < b.at; });
      std::string path, marks;
      for (const Dot& d : dots) {
        path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x(d.at), y.place(d.y));
        marks += fmt::format(
            "<circle class=\"f{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>{}, {}: "
            "{:g}</title></circle>\n",
            i % svg::kColours, x(d.at), y.place(d.y), svg::escaped(series_[i].name), svg::escaped(d.x), d.y);
      }
      out += fmt::format("<path class=\"line s{}\" d=\"{}\"/>\n", i % svg::kColours, path) + marks;
    }
    return out;
  }

  double value_at(const Series& series, const std::string& place) const {
    for (const Dot& d : series.dots)
      if (d.x == place) return d.y;
    return 0;
  }

  std::string bars() const {
    const bool stacked = plot_.kind == "stack";
    double most = 0;
    for (const std::string& place : places_) {
      double sum = 0;
      for (const Series& s : series_) {
        sum += value_at(s, place);
        most = std::max(most, stacked ? sum : value_at(s, place));
      }
    }
    const Scale y(0, std::max(most, 1e-12), false, kHeight - kBottom, kTop);
    std::string out = horizontal(y);
    const double room = (kWidth - kLeft - kRight) / static_cast<double>(places_.size());
    const double width = room * 0.76 / (stacked ? 1 : static_cast<double>(series_.size()));
    for (size_t p = 0; p < places_.size(); ++p) {
      double base = 0;
      for (size_t i = 0; i < series_.size(); ++i) {
        const double value = value_at(series_[i], places_[p]);
        const double left = kLeft + room * static_cast<double>(p) + room * 0.12 +
                            (stacked ? 0 : width * static_cast<double>(i));
        const double top = y.place(base + value);
        out += fmt::format(
            "<rect class=\"f{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"><title>{}, {}: "
            "{:g}</title></rect>\n",
            i % svg::kColours, left, top, std::max(width - 1.5, 1.0), std::max(y.place(base) - top, 0.0),
            svg::escaped(places_[p]), svg::escaped(series_[i].name), value);
        if (stacked) base += value;
      }
      out += under(kLeft + room * (static_cast<double>(p) + 0.5), places_[p]);
    }
    return out;
  }

  std::string labels() const {
    std::string out = fmt::format("<path class=\"axis\" d=\"M{:g} {:g}H{:g}\"/>\n", kLeft, kHeight - kBottom,
                                  kWidth - kRight);
    if (!plot_.x_label.empty())
      out += fmt::format("<text class=\"soft\" x=\"{:g}\" y=\"{:g}\" text-anchor=\"middle\">{}</text>\n",
                         (kLeft + kWidth - kRight) / 2, kHeight - kBottom + 36, svg::escaped(plot_.x_label));
    if (!plot_.y_label.empty())
      out += fmt::format(
          "<text class=\"soft\" transform=\"translate(16 {:g}) rotate(-90)\" "
          "text-anchor=\"middle\">{}</text>\n",
          (kTop + kHeight - kBottom) / 2, svg::escaped(plot_.y_label));
    return out;
  }

  std::string legend() const {
    std::string out;
    double at = kLeft;
    for (size_t i = 0; i < series_.size(); ++i) {
      out += fmt::format(
          "<rect class=\"f{}\" x=\"{:g}\" y=\"{:g}\" width=\"12\" height=\"12\"/><text x=\"{:g}\" "
          "y=\"{:g}\">{}</text>\n",
          i % svg::kColours, at, kHeight - 20, at + 18, kHeight - 10, svg::escaped(series_[i].name));
      at += 44 + 6.6 * static_cast<double>(series_[i].name.size());
    }
    return out;
  }

  const Figure& figure_;
  const Plot& plot_;
  std::vector<Series> series_;
  std::vector<std::string> places_;  ///< along x, in the order of the points
};

}  // namespace

std::string plot_svg(const Figure& figure, const Plot& plot, const std::vector<Point>& points) {
  return Drawing(figure, plot, points).draw();
}

}  // namespace weft::paper
