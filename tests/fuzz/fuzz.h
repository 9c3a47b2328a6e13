// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What all fuzz targets share. A target calls a reader with the bytes it gets: a UserError is the right
// answer to bad input; whatever else escapes is a finding.

#ifndef WEFT_TESTS_FUZZ_FUZZ_H
#define WEFT_TESTS_FUZZ_FUZZ_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace weft::fuzz {

/// Calls the function. False when it ended in a UserError. One that blames Weft itself (by its exit code), or
/// says nothing or far too much, is a finding, too: the process aborts.
bool tolerate(const std::function<void()>& function);

/// Aborts with the text unless `good`.
void expect(bool good, const std::string& text);

/// Cuts an input into at most `most` files: the first byte is their number less one (modulo `most`), then
/// every file but the last has two bytes for its length, the low one first, and its bytes; the last has the
/// rest.
std::vector<std::string> split_files(const uint8_t* data, size_t size, size_t most);

/// A folder in memory where there is one, removed at the end of the process.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(const std::string& name) const { return path_ + "/" + name; }
  void write(const std::string& name, const std::string& content) const;
  void remove(const std::string& name) const;

 private:
  std::string path_;
};

}  // namespace weft::fuzz

#endif
