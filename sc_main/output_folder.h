// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_OUTPUT_FOLDER_H
#define WEFT_SC_MAIN_OUTPUT_FOLDER_H

#include <cstdio>
#include <initializer_list>
#include <string>
#include <string_view>

#include "configs/file_set.h"
#include "configs/types.h"

namespace weft::cli {

/// A file that cannot be written; `number` is the system's errno. A name or folder that is wrong is a mistake
/// of usage, a disk that is full or fails is not.
class FileError : public UserError {
 public:
  FileError(const std::string& message, int number_of_error);
  const int number;
};

/// One file of results, which has its name only when it is complete (FileSet). Every failure to write throws
/// FileError: it names the file, the reason and what to do. check_stop() is called while it is written.
class ResultFile {
 public:
  /// `together`: close() leaves the file to it, which names several at once.
  explicit ResultFile(std::string path, FileSet* together = nullptr);
  ~ResultFile();
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;

  void append(std::string_view text);
  /// Must be called: only then is it known that everything is written, and the file gets its name.
  void close();

 private:
  [[noreturn]] void fail(int error);

  std::string path_;
  FileSet names_;
  FileSet* together_ = nullptr;
  std::FILE* file_ = nullptr;
};

/// A field of a CSV file (RFC 4180): in quotes where it has to be.
std::string csv_field(const std::string& text);

/// The folder of a run's results.
class OutputFolder {
 public:
  /// Creates the folder and proves that files can be written there, so that no long run is lost at its end;
  /// removes the files `old_results` of an earlier run, complete or not, that would otherwise stand beside
  /// the new ones. Throws UserError(usage) for a folder that cannot be made or written, and if one of the
  /// files is a symlink; UserError(internal) when the disk is full.
  OutputFolder(std::string path, std::initializer_list<const char*> old_results);

  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const;
  void write(std::string_view name, std::string_view text, FileSet* together = nullptr) const;

 private:
  std::string path_;
};

}  // namespace weft::cli

#endif
