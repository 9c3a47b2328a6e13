// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "configs/types.h"

namespace weft::fuzz {

bool tolerate(const std::function<void()>& function) {
  try {
    function();
    return true;
  } catch (const UserError& e) {
    const std::string text = e.what();
    expect(!text.empty(), "an error without a text");
    // Not ExitCode::internal: that asks for a report. (Its words prove nothing: the fuzzer learns to write
    // them.)
    expect(e.code() == ExitCode::usage || e.code() == ExitCode::trace, "an error with another code: " + text);
    expect(text.size() < 100000, "an error of " + std::to_string(text.size()) + " bytes");
    return false;
  }
}

void expect(bool good, const std::string& text) {
  if (good) return;
  std::fprintf(stderr, "finding: %s\n", text.c_str());
  ::abort();
}

std::vector<std::string> split_files(const uint8_t* data, size_t size, size_t most) {
  std::vector<std::string> files;
  const size_t count = size == 0 ? 1 : 1 + *data % most;
  size_t at = size == 0 ? 0 : 1;
  while (files.size() + 1 < count) {
    size_t length = 0;
    for (size_t i = 0; i < 2 && at < size; ++i, ++at) length |= size_t{data[at]} << (8 * i);
    length = length < size - at ? length : size - at;
    files.emplace_back(reinterpret_cast<const char*>(data) + at, length);
    at += length;
  }
  files.emplace_back(reinterpret_cast<const char*>(data) + at, size - at);
  return files;
}

Folder::Folder() {
  std::error_code error;
  std::string path = std::filesystem::is_directory("/dev/shm", error)
                         ? std::string("/dev/shm")
                         : std::filesystem::temp_directory_path().string();
  path += "/weft_fuzz_XXXXXX";
  expect(::mkdtemp(path.data()) != nullptr, "no folder for files could be made at " + path);
  path_ = path;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void Folder::write(const std::string& name, const std::string& content) const {
  std::ofstream out(file(name), std::ios::binary);
  out << content;
  out.close();
  expect(out.good(), file(name) + " cannot be written");
}

void Folder::remove(const std::string& name) const {
  std::error_code ignored;
  std::filesystem::remove(file(name), ignored);
}

}  // namespace weft::fuzz
