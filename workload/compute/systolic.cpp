// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/compute/systolic.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "configs/types.h"

namespace weft::compute {
namespace {

constexpr std::array<const char*, kDataflows> kNames = {"os", "ws", "is", "ws_tpu"};

uint64_t parts(uint64_t whole, uint64_t part) {
  return whole / part + (whole % part != 0 ? 1 : 0);
}

uint64_t saturating(Wide a, Wide b) {
  constexpr Wide kMost = std::numeric_limits<uint64_t>::max();
  if (a == 0 || b == 0) return 0;
  return a > kMost / b ? static_cast<uint64_t>(kMost) : static_cast<uint64_t>(std::min(a * b, kMost));
}

/// What a dataflow lays along the rows and columns of the array, and what streams through it.
struct Mapping {
  uint64_t rows = 0;
  uint64_t cols = 0;
  uint64_t time = 0;
};

Mapping mapping(Dataflow dataflow, const Gemm& gemm) {
  switch (dataflow) {
    case Dataflow::output_stationary:
      return {gemm.m, gemm.n, gemm.k};
    case Dataflow::input_stationary:
      return {gemm.k, gemm.m, gemm.n};
    case Dataflow::weight_stationary:
    case Dataflow::tpu:
      break;
  }
  return {gemm.k, gemm.n, gemm.m};
}

uint64_t cycles_of(const SystolicArray& array, const Mapping& map) {
  if (map.rows == 0 || map.cols == 0 || map.time == 0) return 0;
  Wide fold = static_cast<Wide>(array.cols) + map.time;
  switch (array.dataflow) {
    case Dataflow::output_stationary:
      fold += static_cast<Wide>(array.rows) - 2;
      break;
    case Dataflow::weight_stationary:
    case Dataflow::input_stationary:
      fold += 2 * static_cast<Wide>(array.rows) - 2;
      break;
    case Dataflow::tpu:
      fold += std::min(map.rows, array.rows);
      break;
  }
  return saturating(fold, saturating(parts(map.rows, array.rows), parts(map.cols, array.cols)));
}

}  // namespace

const char* to_string(Dataflow dataflow) {
  return kNames[static_cast<size_t>(dataflow)];
}

Dataflow parse_dataflow(const std::string& name, const std::string& where) {
  for (size_t i = 0; i < kNames.size(); ++i)
    if (name == kNames[i]) return static_cast<Dataflow>(i);
  throw UserError(ExitCode::usage,
                  fmt::format("{}: '{}' is no dataflow; one of os, ws, is, ws_tpu", where, name));
}

uint64_t cycles(const SystolicArray& array, const Gemm& gemm) {
  return cycles_of(array, mapping(array.dataflow, gemm));
}

uint64_t scaled_out_cycles(const SystolicArray& array, const Gemm& gemm, uint64_t row_parts,
                           uint64_t column_parts) {
  Mapping map = mapping(array.dataflow, gemm);
  map.rows = parts(map.rows, row_parts);
  map.cols = parts(map.cols, column_parts);
  return cycles_of(array, map);
}

Gemm gemm_of(const Convolution& c, uint64_t batch) {
  const uint64_t height = parts(c.input_height - c.filter_height + c.stride, c.stride);
  const uint64_t width = parts(c.input_width - c.filter_width + c.stride, c.stride);
  return {saturating(saturating(height, width), batch),
          saturating(saturating(c.filter_height, c.filter_width), c.channels), c.filters};
}

}  // namespace weft::compute
