// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What `weft run` left in a folder, read again.

#ifndef WEFT_SC_MAIN_REPORT_RESULT_FOLDER_H
#define WEFT_SC_MAIN_REPORT_RESULT_FOLDER_H

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sc_main/report/csv_table.h"

namespace weft::report {

/// The version of summary.json that is read. sc_main/results.h writes it.
constexpr int kReadSummaryVersion = 1;

/// A folder of results. Every error is a UserError(usage) that names the folder or file and what to do.
class ResultFolder {
 public:
  using Json = nlohmann::ordered_json;

  enum class Unfinished { allowed, refused };

  /// Reads summary.json. Throws for a folder that is none, has no summary, has one that is cut off or of
  /// another version of its format, and, if refused, for a run that did not finish.
  explicit ResultFolder(std::string path, Unfinished unfinished = Unfinished::allowed);

  const std::string& path() const { return path_; }
  /// The last part of the path: "out".
  std::string name() const;
  /// Of one of its files.
  std::string file(std::string_view name) const;
  bool has(std::string_view name) const;

  /// Its members in the order of the file. Numbers have lost digits: summary_text() has all.
  const Json& summary() const { return summary_; }
  const std::string& summary_text() const { return summary_text_; }
  /// A member by its path ("/links/count"): null if there is none.
  const Json* find(const std::string& pointer) const;
  /// Nothing for a member that is missing or null; throws for one of another type.
  std::optional<double> number(const std::string& pointer) const;
  std::string text(const std::string& pointer) const;

  /// False: after a stall or a signal. Some files may be missing then.
  bool finished() const { return finished_; }
  /// Several jobs ran on the machine: each has a folder of its own in this one.
  bool of_several_jobs() const { return find("/jobs") != nullptr; }
  /// The names of these folders.
  std::vector<std::string> jobs() const;

  /// Nothing if there is no such file. Throws for a file that is cut off, also one of which only whole rows
  /// are missing, as far as summary.json says how many there are.
  std::optional<CsvTable> table(std::string_view name) const;
  /// Throws if there is no such file.
  CsvTable need_table(std::string_view name) const;
  /// effective.yaml; "" if it is missing.
  std::string effective_yaml() const;

 private:
  void check_folder() const;
  void check_summary() const;
  /// How many rows summary.json promises.
  std::optional<size_t> promised_rows(std::string_view name) const;

  std::string path_;
  std::string summary_text_;
  Json summary_;
  bool finished_ = true;
};

}  // namespace weft::report

#endif
