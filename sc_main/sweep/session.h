// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The folder beside the results file, which keeps what a sweep has done: `RESULTS.sweep` with `journal`, the
// journals of Slurm's tasks, and the folders of points.

#ifndef WEFT_SC_MAIN_SWEEP_SESSION_H
#define WEFT_SC_MAIN_SWEEP_SESSION_H

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sc_main/sweep/journal.h"

namespace weft::sweep {

/// Paths of a sweep.
class SweepFolder {
 public:
  explicit SweepFolder(const std::string& results) : path_(results + ".sweep") {}

  const std::string& path() const { return path_; }
  std::string journal() const { return path_ + "/journal"; }
  std::string lock() const { return path_ + "/lock"; }
  std::string task_journal(size_t task) const;
  std::string task_lock(size_t task) const;
  std::string script() const { return path_ + "/slurm.sh"; }
  std::string job_id() const { return path_ + "/slurm.job"; }
  std::string points() const { return path_ + "/points"; }
  /// The folder of a point's own results; points are numbered from 1 there.
  std::string point(size_t point) const;
  /// Files in it whose names begin and end so.
  std::vector<std::string> files(const std::string& begin, const std::string& end) const;

 private:
  std::string path_;
};

class Session {
 public:
  enum class Kind {
    whole,  ///< goes on with everything that no journal has
    task    ///< of a Slurm array: writes a journal of its own
  };
  struct Options {
    Kind kind = Kind::whole;
    size_t task = 0;
    bool restart = false;       ///< forget what is there
    bool retry_failed = false;  ///< points that have failed have not run
  };

  /// Makes the folder, takes the lock and reads all journals. Errors: UserError(usage) for a results file
  /// that is something else, for another sweep that is running or was begun there.
  Session(const std::string& results, const Identity& identity, size_t points, const Options& options);

  const SweepFolder& folder() const { return folder_; }
  /// What has run, by point; nothing: not yet.
  const std::vector<std::optional<PointResult>>& results() const { return results_; }
  size_t done() const;
  /// Into the journal, and then into results().
  void add(PointResult result);

 private:
  void check_results_file() const;
  void lock();
  void forget() const;
  void read(bool retry_failed);
  void check_identity(const JournalContents& contents, const std::string& path) const;

  std::string file_;
  SweepFolder folder_;
  Options options_;
  const Identity& identity_;
  std::unique_ptr<FileLock> lock_;
  std::unique_ptr<JournalWriter> writer_;
  std::vector<std::optional<PointResult>> results_;
};

}  // namespace weft::sweep

#endif
