// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Files that are complete or not there: each is written under another name, and gets its own when all of them
// are complete. What a killed program leaves behind is named so that nobody takes it for a result.

#ifndef WEFT_CONFIGS_FILE_SET_H
#define WEFT_CONFIGS_FILE_SET_H

#include <string>
#include <utility>
#include <vector>

namespace weft {

/// What the name of an incomplete file ends with.
inline constexpr const char* kPartSuffix = ".part";

class FileSet {
 public:
  FileSet() = default;
  /// Removes the files that have not got their names.
  ~FileSet();
  FileSet(const FileSet&) = delete;
  FileSet& operator=(const FileSet&) = delete;

  /// The name to write `path` under. Devices and pipes are written directly. Throws UserError(usage) if a
  /// symlink is there: what it points to is not this program's to replace.
  std::string add(const std::string& path);
  /// Gives the files their names, in the order in which they were added, and forgets them. The files must be
  /// closed. Throws UserError(internal).
  void finish();
  /// The same files, to be finished by `other`.
  void move_to(FileSet& other);

 private:
  std::vector<std::pair<std::string, std::string>> files_;  ///< temporary and final names
};

/// Throws UserError(usage) if `path` is a symlink.
void refuse_symlink(const std::string& path);

}  // namespace weft

#endif
