// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/nccl_tests_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "sc_main/calibrate/measurement.h"
#include "workload/collectives/data_layout.h"

namespace weft::cli {
namespace {

/// More ranks than this are summed up in a line.
constexpr uint32_t kListedRanks = 1024;

bool has_root(CollectiveOp op) {
  return op == CollectiveOp::broadcast || op == CollectiveOp::reduce || op == CollectiveOp::gather ||
         op == CollectiveOp::scatter;
}

/// Five digits of us, as nccl-tests prints them.
std::string time_field(double us) {
  return us >= 10000 ? fmt::format("{:.0f}", us)
         : us >= 100 ? fmt::format("{:.1f}", us)
                     : fmt::format("{:.2f}", us);
}

std::string program_of(CollectiveOp op) {
  return op == CollectiveOp::all_to_all ? "alltoall_perf" : fmt::format("{}_perf", to_string(op));
}

struct Size {
  uint64_t bytes;     ///< as nccl-tests counts
  uint64_t elements;  ///< of a rank's part
};

Size size_of(CollectiveOp op, uint64_t comm_bytes, uint32_t ranks, uint64_t element_bytes) {
  const bool gathers = calibrate::counts_all_ranks(op);
  const bool parts =
      op == CollectiveOp::reduce_scatter || op == CollectiveOp::all_to_all || op == CollectiveOp::scatter;
  const uint64_t bytes = gathers ? comm_bytes * ranks : comm_bytes;
  return {bytes, (gathers || parts ? bytes / ranks : bytes) / element_bytes};
}

/// How each size follows from the one before: by a factor, or by as many bytes more. 1 byte where neither
/// holds for all of them, which nccl-tests has no word for.
std::string step_of(const std::vector<Size>& sizes) {
  if (sizes.size() < 2 || sizes[1].bytes <= sizes[0].bytes) return "1(bytes)";
  const uint64_t factor = sizes[0].bytes > 0 ? sizes[1].bytes / sizes[0].bytes : 0;
  const uint64_t increment = sizes[1].bytes - sizes[0].bytes;
  bool by_factor = factor > 1, by_increment = true;
  for (size_t i = 1; i < sizes.size(); ++i) {
    // Two sizes say little: 1 and 2 MiB are read as a factor, as with `-f 2`.
    by_factor = by_factor && sizes[i].bytes % factor == 0 && sizes[i].bytes / factor == sizes[i - 1].bytes;
    by_increment = by_increment && sizes[i].bytes > sizes[i - 1].bytes &&
                   sizes[i].bytes - sizes[i - 1].bytes == increment;
  }
  if (by_factor) return fmt::format("{}(factor)", factor);
  return fmt::format("{}(bytes)", by_increment ? increment : 1);
}

std::string header(const Config& config, CollectiveOp op, const std::vector<Size>& sizes) {
  uint64_t least = sizes.empty() ? 0 : sizes.front().bytes, most = 0;
  for (const Size& size : sizes) least = std::min(least, size.bytes), most = std::max(most, size.bytes);
  std::string text = fmt::format("# Collective test starting: {}\n", program_of(op));
  text += fmt::format(
      "# nThread 1 nGpus 1 minBytes {} maxBytes {} step: {} warmup iters: 0 iters: 1 agg iters: 1 "
      "validation: {} graph: 0\n#\n# Using devices\n",
      least, most, step_of(sizes), config.run.data != "none" ? 1 : 0);
  const uint32_t in_node = config.dimensions.empty() ? config.npus() : config.dimensions.front().size;
  const uint32_t listed = std::min(config.npus(), kListedRanks);
  for (uint32_t rank = 0; rank < listed; ++rank) {
    const uint32_t device = in_node == 0 ? rank : rank % in_node;
    text += fmt::format("#  Rank {:2} Group  0 Pid {:6} on {:>10} device {:2} [{:04x}:{:02x}:00] Weft NPU\n",
                        rank, rank + 1, fmt::format("node{}", in_node == 0 ? 0 : rank / in_node), device, 0,
                        device + 1);
  }
  if (listed < config.npus()) text += fmt::format("#  and {} ranks more\n", config.npus() - listed);
  return text;
}

}  // namespace

std::string nccl_tests_text(const Config& config, CollectiveOp op, uint32_t root,
                            const std::vector<uint64_t>& asked, const std::vector<NcclTestsRow>& rows,
                            bool finished) {
  const bool elements = config.run.data != "none";
  const uint64_t element_bytes = elements && config.run.element == "bf16" ? 2 : 4;
  const char* type = !elements || config.run.element == "fp32" ? "float"
                     : element_bytes == 2                      ? "bfloat16"
                                                               : "int32";
  const bool reduces = collectives::reduces(op);
  const std::string redop = !reduces ? "none" : elements ? config.run.reduce : "sum";
  const auto sized = [&](uint64_t bytes) { return size_of(op, bytes, config.npus(), element_bytes); };
  std::vector<Size> sizes;
  for (const uint64_t bytes : asked) sizes.push_back(sized(bytes));
  std::string text = header(config, op, sizes);
  text += fmt::format("#\n#{:>67}{:>41}\n", "out-of-place", "in-place");
  text += fmt::format("#{:>12}{:>14}{:>10}{:>8}{:>8}{:>8}{:>8}{:>8}{:>7}{:>9}{:>8}{:>8}{:>7}\n", "size",
                      "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "time", "algbw",
                      "busbw", "#wrong");
  text +=
      fmt::format("#{:>12}{:>14}{:>10}{:>8}{:>8}{:>8}{:>8}{:>8}{:>7}{:>9}{:>8}{:>8}{:>7}\n", "(B)",
                  "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)", "(GB/s)", "(GB/s)", "");
  double sum = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const CollectiveRow& row = rows[i].row;
    const Size size = sized(row.bytes);
    const double us = static_cast<double>(row.time()) / 1e6;
    const double algbw = us > 0 ? static_cast<double>(size.bytes) / us / 1000 : 0;
    const double busbw = algbw * calibrate::bus_factor(op, config.npus());
    sum += busbw;
    const std::string measured = fmt::format("{:>8}{:>8.2f}{:>8.2f}{:>7}", time_field(us), algbw, busbw,
                                             rows[i].verified ? "0" : "N/A");
    text += fmt::format("{:>13}{:>14}{:>10}{:>8}{:>8}{} {}\n", size.bytes, size.elements, type, redop,
                        has_root(op) ? std::to_string(root) : "-1", measured, measured);
  }
  if (!finished) return text;
  text += "# Out of bounds values : 0 OK\n";
  text += fmt::format("# Avg bus bandwidth    : {:.4f} \n#\n# Collective test concluded: {}\n",
                      rows.empty() ? 0.0 : sum / static_cast<double>(rows.size()), program_of(op));
  return text;
}

}  // namespace weft::cli
