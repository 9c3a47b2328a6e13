// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What a sweep has done so far, on disk: a file of lines, each with a checksum. The first line says which
// sweep it is, every other line is a point that has run. A line is written at once; one that is damaged or
// half written does not count.

#ifndef WEFT_SC_MAIN_SWEEP_JOURNAL_H
#define WEFT_SC_MAIN_SWEEP_JOURNAL_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sc_main/sweep/identity.h"
#include "sc_main/sweep/point_result.h"

namespace weft::sweep {

struct JournalContents {
  bool any = false;                  ///< there is at least one whole line
  std::optional<Identity> identity;  ///< of the first line
  std::vector<PointResult> results;  ///< in the order of the file
  uint64_t whole_bytes = 0;          ///< up to the end of the last whole line
};

/// What is in the text of a journal. Reads whatever it is.
JournalContents parse_journal(std::string_view text);
/// The same of a file; nothing is in a file that is not there.
JournalContents read_journal(const std::string& path);

std::string identity_line(const Identity& identity);
std::string result_line(const PointResult& result);

class JournalWriter {
 public:
  /// Goes on behind the last whole line of `contents`, which were read from the file; writes the first line
  /// if there is none. Errors: UserError.
  JournalWriter(std::string path, const JournalContents& contents, const Identity& identity);
  ~JournalWriter();
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  void append(const PointResult& result) { write(result_line(result)); }

 private:
  void write(const std::string& line);
  [[noreturn]] void fail(int error) const;

  std::string path_;
  int fd_ = -1;
};

/// A file that one process at a time holds; the system frees it when the process ends, however it ends.
class FileLock {
 public:
  /// Errors: UserError(usage) that names the process that holds it.
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  /// "process 4711 on node7" if somebody holds the lock of that file, else "".
  static std::string holder(const std::string& path);

 private:
  int fd_ = -1;
};

}  // namespace weft::sweep

#endif
