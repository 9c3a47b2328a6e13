// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/calibrate/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "configs/keys.h"
#include "sc_main/calibrate/nelder_mead.h"
#include "sc_main/size_list.h"

namespace weft::calibrate {
namespace {

/// What machines with known links have.
constexpr double kLeastLatencyScale = 0.3, kMostLatencyScale = 4;
constexpr double kLeastBandwidthScale = 0.8, kMostBandwidthScale = 1.2;

/// Where a search begins: the launch as a share of the shortest time, and factors of the scales.
struct Start {
  double launch_share, latency, bandwidth;
};
/// Pulls scales to 1 where sizes do not tell them: launch and latencies can stand for each other. A scale of
/// 0.3 or 4 costs what errors of 0.2 % more do.
constexpr double kPull = 5e-4;

constexpr Start kStarts[] = {{0.4, 1, 1}, {0.1, 1.5, 1}, {0.7, 0.5, 1}, {0.2, 0.7, 0.85}, {0.05, 3, 1.15}};

/// Between the chosen parameters and the coordinates of the search: scales are searched as logarithms.
class Coordinates {
 public:
  Coordinates(const LibraryParameters& fixed, const FitChoice& choice) : fixed_(fixed), choice_(choice) {}

  Point point(const LibraryParameters& p) const {
    Point at;
    if (choice_.launch) at.push_back(p.launch_us);
    if (choice_.latency) at.push_back(std::log(p.latency_scale));
    if (choice_.bandwidth) at.push_back(std::log(p.bandwidth_scale));
    return at;
  }
  LibraryParameters parameters(const Point& at) const {
    LibraryParameters p = fixed_;
    size_t i = 0;
    if (choice_.launch) p.launch_us = at[i++];
    if (choice_.latency) p.latency_scale = std::exp(at[i++]);
    if (choice_.bandwidth) p.bandwidth_scale = std::exp(at[i++]);
    return p;
  }
  Point steps(double shortest) const {
    Point at;
    if (choice_.launch) at.push_back(0.2 * shortest);
    if (choice_.latency) at.push_back(0.3);
    if (choice_.bandwidth) at.push_back(0.1);
    return at;
  }

 private:
  const LibraryParameters fixed_;
  const FitChoice choice_;
};

double square(double value) {
  return value * value;
}

bool sane(const LibraryParameters& p) {
  const auto scale = [](double value) { return value > 1e-4 && value < 1e4; };
  return p.launch_us >= 0 && scale(p.latency_scale) && scale(p.bandwidth_scale);
}

}  // namespace

FitChoice parse_fit(const std::string& text) {
  FitChoice choice{false, false, false};
  const std::vector<std::string> names = {"t0", "latency", "bandwidth", "none"};
  const std::vector<std::string> items = cli::split_list(text);
  for (const std::string& item : items) {
    if (item == "t0")
      choice.launch = true;
    else if (item == "latency")
      choice.latency = true;
    else if (item == "bandwidth")
      choice.bandwidth = true;
    else if (item != "none" || items.size() > 1) {
      const std::string near = nearest_name(item, names);
      throw UserError(
          ExitCode::usage,
          fmt::format("--fit {}: '{}' is no parameter{}; give t0, latency and bandwidth, any of them "
                      "between commas, or none",
                      text, item, near.empty() ? "" : fmt::format(" (did you mean {}?)", near)));
    }
  }
  return choice;
}

LibraryParameters fit(const std::vector<FitRow>& rows, const LibraryParameters& start,
                      const FitChoice& choice) {
  if (choice.count() == 0 || rows.empty()) return start;
  const Coordinates coordinates(start, choice);
  std::vector<Compared> compared;
  for (const FitRow& row : rows) compared.push_back({row.bytes, row.real_us, row.real_us});
  const auto value = [&](const Point& at) {
    const LibraryParameters p = coordinates.parameters(at);
    if (!sane(p)) return static_cast<double>(INFINITY);
    for (size_t i = 0; i < rows.size(); ++i) compared[i].sim_us = std::max(1e-9, rows[i].plan.time_us(p));
    return misfit(compared) +
           kPull * (square(std::log(p.latency_scale)) + square(std::log(p.bandwidth_scale)));
  };
  double shortest = rows[0].real_us;
  for (const FitRow& row : rows) shortest = std::min(shortest, row.real_us);
  Minimum best{coordinates.point(start), INFINITY, 0};
  for (const Start& from : kStarts) {
    LibraryParameters p = start;
    p.launch_us = from.launch_share * shortest;
    p.latency_scale = from.latency;
    p.bandwidth_scale = from.bandwidth;
    Minimum found = minimise(value, coordinates.point(p), coordinates.steps(shortest));
    // A simplex can collapse at a jump of the curve: it begins once more where it ended.
    found = minimise(value, found.at, coordinates.steps(shortest));
    if (found.value < best.value) best = found;
  }
  return coordinates.parameters(best.at);
}

std::vector<std::string> implausible(const LibraryParameters& parameters, const FitChoice& choice) {
  std::vector<std::string> sentences;
  const auto check = [&](bool fitted, const char* what, double value, double least, double most,
                         const char* remedy) {
    if (!fitted || (value >= least && value <= most)) return;
    sentences.push_back(fmt::format("the fitted {} scale {:.3g} is implausible (machines have {} to {}): {}",
                                    what, value, least, most, remedy));
  };
  check(choice.latency, "latency", parameters.latency_scale, kLeastLatencyScale, kMostLatencyScale,
        "the algorithms or protocols of the plan are not those of this log; check the library's version, the "
        "nodes "
        "and the network of the machine");
  check(choice.bandwidth, "bandwidth", parameters.bandwidth_scale, kLeastBandwidthScale, kMostBandwidthScale,
        "the graph is not that of this log's machine; check links and NICs, or give the channels and their "
        "speed "
        "(`collectives.graph`)");
  return sentences;
}

}  // namespace weft::calibrate
