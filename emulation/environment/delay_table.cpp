// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "emulation/environment/delay_table.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

namespace weft::emulation {
namespace {

const CollectiveOp* find_operation(const std::string& name) {
  static const std::vector<CollectiveOp> all = [] {
    std::vector<CollectiveOp> list;
    for (int op = 0; op < kCollectiveOps; ++op) list.push_back(static_cast<CollectiveOp>(op));
    return list;
  }();
  for (const CollectiveOp& op : all)
    if (name == to_string(op)) return &op;
  return nullptr;
}

}  // namespace

DelayTable::DelayTable(const std::string& path) : path_(path) {
  std::ifstream in(path);
  if (!in)
    throw UserError(ExitCode::usage, fmt::format("`environment.delay_table`: {} cannot be read", path));
  std::string line;
  for (unsigned number = 1; std::getline(in, line); ++number) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || line[0] == '#' || (number == 1 && line.rfind("operation,", 0) == 0)) continue;
    std::vector<std::string> fields;
    std::istringstream cut(line);
    for (std::string field; std::getline(cut, field, ',');) fields.push_back(field);
    const CollectiveOp* op = fields.size() == 5 ? find_operation(fields[0]) : nullptr;
    char* rest[3] = {};
    unsigned long members = 0;
    unsigned long long bytes = 0;
    double us = -1;
    if (op != nullptr) {
      members = std::strtoul(fields[2].c_str(), &rest[0], 10);
      bytes = std::strtoull(fields[3].c_str(), &rest[1], 10);
      us = std::strtod(fields[4].c_str(), &rest[2]);
    }
    if (op == nullptr || *rest[0] != 0 || *rest[1] != 0 || *rest[2] != 0 || members < 2 || !(us > 0) ||
        us > 1e12)
      throw UserError(ExitCode::usage,
                      fmt::format("{}:{}: a line must be `operation,algorithm,group_size,bytes,time_us`, "
                                  "as `all_reduce,ring,8,1048576,92.5`",
                                  path, number));
    times_[{*op, static_cast<uint32_t>(members)}][bytes] = us * 1e6;
  }
}

double DelayTable::retime(const collectives::CollectivePlan& plan, Picoseconds idle, OperationTimes& times) {
  const collectives::CollectiveRequest& request = plan.request();
  const double factor =
      static_cast<double>(time(request.op, plan.members(), request.bytes)) / static_cast<double>(idle);
  scale(times, factor);
  return factor;
}

Picoseconds DelayTable::time(CollectiveOp op, uint32_t members, uint64_t bytes) const {
  const auto found = times_.find({op, members});
  if (found == times_.end())
    throw UserError(ExitCode::usage, fmt::format("{}: there is no line for {} of {} ranks; add one", path_,
                                                 to_string(op), members));
  const std::map<uint64_t, double>& sizes = found->second;
  const auto above = sizes.lower_bound(bytes);
  if (above == sizes.end()) {
    const auto& [size, time] = *sizes.rbegin();
    return static_cast<Picoseconds>(
        size == 0 ? time : time * static_cast<double>(bytes) / static_cast<double>(size));
  }
  if (above->first == bytes || above == sizes.begin()) return static_cast<Picoseconds>(above->second);
  const auto below = std::prev(above);
  if (below->first == 0) return static_cast<Picoseconds>(above->second);
  const double x = std::log(static_cast<double>(bytes) / static_cast<double>(below->first)) /
                   std::log(static_cast<double>(above->first) / static_cast<double>(below->first));
  return static_cast<Picoseconds>(std::exp((1 - x) * std::log(below->second) + x * std::log(above->second)));
}

}  // namespace weft::emulation
