// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The one way in which Weft reads a file of the user. Only regular files are read: a device, a pipe or a
// folder may block or never end. A file that is read as a whole has a limit; one that is streamed has none.

#ifndef WEFT_CONFIGS_INPUT_FILE_H
#define WEFT_CONFIGS_INPUT_FILE_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "configs/types.h"

namespace weft {

/// What a reader expects of its file, for its limits and its messages.
struct InputKind {
  const char* noun;                    ///< "configuration", before "file"
  ExitCode code;                       ///< of a file that cannot be read
  const char* remedy;                  ///< "check the path; ...", the end of a sentence
  uint64_t most_bytes = ~uint64_t{0};  ///< of a file that is read as a whole
};

extern const InputKind kConfigurationInput;  ///< at most 16 MiB
extern const InputKind kRoutesInput;         ///< at most 16 MiB
extern const InputKind kGroupsInput;         ///< at most 256 MiB
extern const InputKind kPatternInput;        ///< at most 256 MiB
extern const InputKind kTraceInput;          ///< streamed, of any size

/// A regular file that is open for reading.
class InputFile {
 public:
  /// Throws UserError(kind.code) that names the path, what is wrong and what to do. A path that can be no
  /// file's (a loop of symbolic links, a name that is too long) is UserError(usage) for every kind.
  InputFile(const std::string& path, const InputKind& kind);
  /// The same, but nothing when the process (EMFILE) or the machine (ENFILE) has too many files open.
  /// Bytes of memory that are read like a file. `path` is for messages.
  static InputFile of_bytes(const std::string& path, std::shared_ptr<const std::string> bytes);
  static std::optional<InputFile> open_unless_full(const std::string& path, const InputKind& kind);
  ~InputFile();
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;

  const std::string& path() const { return path_; }
  /// When it was opened. Some files of /proc say 0 and have more.
  uint64_t bytes() const { return bytes_; }
  /// Tells the system that the file is read from its begin to its end.
  void advise_sequential() const;
  /// Reads at most `size` bytes at `offset`; less only at the end of the file. Throws UserError(kind.code).
  size_t read(uint64_t offset, void* to, size_t size) const;

 private:
  InputFile(const std::string& path, const InputKind& kind, int fd, uint64_t bytes);

  std::string path_;
  const InputKind* kind_;
  int fd_;
  uint64_t bytes_;
  std::shared_ptr<const std::string> memory_;  ///< null: a file
};

/// The whole file. Throws as InputFile does, and when it is larger than the kind allows.
std::string read_input(const std::string& path, const InputKind& kind);

/// True if a file of any type has that name, also one that cannot be read.
bool input_exists(const std::string& path);

/// From now on the observer gets the path of every file that is opened: what a command depends on. Null:
/// nobody does.
void observe_inputs(std::function<void(const std::string& path)> observer);

}  // namespace weft

#endif
