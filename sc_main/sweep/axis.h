// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What `--vary` says: the names that are varied and their values. The points of a sweep are the cross
// product.

#ifndef WEFT_SC_MAIN_SWEEP_AXIS_H
#define WEFT_SC_MAIN_SWEEP_AXIS_H

#include <cstddef>
#include <string>
#include <vector>

namespace weft::sweep {

/// More points than this are refused, of one list and of their product.
constexpr size_t kMostPoints = 100000;

/// One `--vary`: names that vary together. A name is a key of the configuration ("npu.peak"), or an option of
/// the command with its dashes ("--size").
struct Axis {
  std::string text;  ///< as it was written
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> values;  ///< of each name; all lists are equally long

  size_t size() const { return values.front().size(); }
};

/// `NAME=VALUE,VALUE,..`, and further such parts after semicolons, which vary together with it. Commas inside
/// of brackets and quotes belong to a value; quotes around a whole value are removed. A value may also be
///
///   range(first, last, step)     both ends included, if a step hits the last
///   range(64 KiB, 1 MiB, 64 KiB) with units
///   range(first, last, xFACTOR)  each is FACTOR times the one before
///   log(first, last, count)      evenly spaced by ratio, with as many decimals as first and last have
///
/// Errors: UserError(usage) with the text, what is wrong and what to do.
Axis parse_vary(const std::string& text);

/// The points of a sweep, numbered from 0. The last axis changes fastest.
class Grid {
 public:
  /// Errors: UserError(usage) for a name that is varied twice, for two keys of which one holds the other, and
  /// for too many points.
  explicit Grid(std::vector<Axis> axes);

  size_t points() const { return points_; }
  const std::vector<std::string>& names() const { return names_; }
  /// In the order of names().
  std::vector<std::string> values(size_t point) const;
  /// "npu.peak=1 TFLOPS, --size=1MiB"
  std::string describe(size_t point) const;
  const std::vector<Axis>& axes() const { return axes_; }

 private:
  std::vector<Axis> axes_;
  std::vector<std::string> names_;
  size_t points_ = 1;
};

/// An option of the command, not a key.
inline bool is_option(const std::string& name) {
  return name.compare(0, 2, "--") == 0;
}

/// "topology.dimensions[0].latency" -> "topology.dimensions[].latency": the path in the table of keys.
std::string table_path(const std::string& key);

/// Setting one of two keys would change what the other sets: they are the same, or one holds the other. `[*]`
/// is every index.
bool keys_overlap(const std::string& a, const std::string& b);

}  // namespace weft::sweep

#endif
