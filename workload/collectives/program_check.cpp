// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/program_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "configs/algorithms.h"
#include "configs/input_file.h"
#include "workload/collectives/custom.h"
#include "workload/collectives/rules.h"

namespace weft::collectives {
namespace {

class ProgramCheck {
 public:
  explicit ProgramCheck(const Config& config) : config_(config) {}

  /// `members`: of the group that runs them, 0 if that is not known.
  void check(const std::vector<std::string>& names, std::optional<CollectiveOp> op, uint32_t members,
             const std::string& origin) {
    for (const std::string& name : names) {
      const AlgorithmInfo* info = weft::find_algorithm(name);
      if (info == nullptr || info->argument == nullptr) continue;
      const std::string prefix(algorithm_argument(name));
      if (members == 0) members = written(prefix);
      if (members == 1) continue;  // nothing is sent
      if (!done_.emplace(prefix, op, members).second) continue;
      try {
        const auto programs = CustomAlgorithm::load(prefix, members);
        uint32_t block = 0;
        const std::string why =
            op && !rooted(*op) ? programs->disproof({*op, members, 0, 0, false, 0}, block) : std::string{};
        if (!why.empty()) throw UserError(ExitCode::trace, why);
      } catch (const UserError& e) {
        throw UserError(e.code(), fmt::format("{}: {}", origin, e.what()));
      }
    }
  }

 private:
  /// Programs there are one after the other, from member 0; all NPUs', if there is none.
  uint32_t written(const std::string& prefix) const {
    uint32_t count = 0;
    while (count < config_.npus() && input_exists(CustomAlgorithm::file(prefix, count))) ++count;
    return count == 0 ? config_.npus() : count;
  }

  const Config& config_;
  std::set<std::tuple<std::string, std::optional<CollectiveOp>, uint32_t>> done_;
};

}  // namespace

void check_programs(const Config& config) {
  ProgramCheck check(config);
  const std::string file = config.file.empty() ? "configuration" : config.file;
  for (int op = 0; op < kCollectiveOps; ++op) {
    const auto operation = static_cast<CollectiveOp>(op);
    check.check(config.collectives.algorithms[op], operation, 0,
                fmt::format("{}: key `collectives.{}`", file, to_string(operation)));
  }
  for (const CollectiveRule& rule : config.collectives.rules)
    check.check(rule.algorithms, rule.operation, 0, rule.origin);
}

void check_programs(const Config& config, const trace::JobTrace& traces) {
  ProgramCheck check(config);
  for (const trace::OwnAlgorithm& own : traces.own_algorithms()) {
    const size_t slash = own.path.rfind('/');
    const auto names =
        parse_algorithms(own.algorithm, config.dimensions.size(),
                         slash == std::string::npos ? "." : own.path.substr(0, slash + 1), own.where);
    check.check(names, own.op, own.members, own.where);
  }
}

}  // namespace weft::collectives
