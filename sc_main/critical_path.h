// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// critical_path.json, critical_path.csv and the table of the critical path.

#ifndef WEFT_SC_MAIN_CRITICAL_PATH_H
#define WEFT_SC_MAIN_CRITICAL_PATH_H

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "insight/causal_log.h"
#include "insight/what_if.h"
#include "sc_main/output_folder.h"
#include "sc_main/text_options.h"
#include "sc_models/trace_job.h"

namespace weft::cli {

constexpr int kCriticalPathVersion = 1;

struct CriticalPathOptions {
  bool on = false;
  std::string memory;  ///< what the log may take; empty: the default
};
void add_critical_path_options(CLI::App& command, TextOptions& add, CriticalPathOptions& options);
/// Null: nobody asks. Throws UserError(usage) for a size that is none.
std::unique_ptr<insight::CausalLog> make_causal_log(const CriticalPathOptions& options);

/// Where pieces of the path are, in words.
struct PathNode {
  std::string job;  ///< empty: there is one only
  uint32_t rank = 0;
  uint64_t id = 0;
  std::string name;
  bool known = false;
};
struct PathCollective {
  std::string name;       ///< of its trace node
  std::string operation;  ///< "all_reduce"
  uint32_t number = 0;    ///< as in collectives.csv
  std::string job;
};
class PathNames {
 public:
  virtual ~PathNames() = default;
  virtual PathNode node(uint32_t npu, uint32_t index) const = 0;
  /// `stream`: the machine's number.
  virtual PathCollective collective(uint32_t stream) const = 0;
  /// What has ended the dependencies of a node.
  virtual std::vector<insight::ActivityId> dependencies(uint32_t npu, uint32_t index) const = 0;
};

/// Of one job, or of several on one machine.
class JobPathNames final : public PathNames {
 public:
  JobPathNames() = default;
  /// `rows`: the job's collectives. Both outlive it.
  void add(const std::string& name, TraceJob& job, const std::vector<CollectiveRow>& rows);
  PathNode node(uint32_t npu, uint32_t index) const override;
  PathCollective collective(uint32_t stream) const override;
  std::vector<insight::ActivityId> dependencies(uint32_t npu, uint32_t index) const override;

 private:
  struct Member {
    std::string name;
    TraceJob* job = nullptr;
    const std::vector<CollectiveRow>* rows = nullptr;
  };
  const Member* of_npu(uint32_t npu, uint32_t& rank) const;
  std::vector<Member> jobs_;
  std::unordered_map<uint32_t, std::pair<uint32_t, uint32_t>> ranks_;  ///< by NPU: the job and its rank
};

/// The critical path of one run, or of one size of a collective.
struct PathReport {
  std::string what;  ///< "", or "1048576 bytes"
  Picoseconds from = 0;
  Picoseconds to = 0;
  uint32_t npu = 0;  ///< where it ends
  std::vector<insight::Piece> pieces;
  std::vector<insight::Lever> levers;
  std::vector<insight::PathLength> paths;  ///< the critical one, and those that it could give way to
};

/// Of what the log holds since `from`.
PathReport make_path_report(const insight::CausalLog& log, const PathNames& names, Picoseconds from,
                            std::string what = "");

void write_critical_path(const OutputFolder& folder, const insight::CausalLog& log, const PathNames& names,
                         const std::vector<PathReport>& reports);
std::string critical_path_text(const insight::CausalLog& log, const PathNames& names,
                               const PathReport& report);

}  // namespace weft::cli

#endif
