// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_TESTS_PROGRAMS_MACHINE_TEXT_H
#define WEFT_TESTS_PROGRAMS_MACHINE_TEXT_H

#include <fstream>
#include <sstream>
#include <string>

namespace weft::test {

inline void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// A file of configs/machines, with all links at that fidelity.
inline std::string machine_text(const std::string& name, const std::string& fidelity) {
  std::ifstream file(std::string(WEFT_MACHINES) + "/" + name + ".yaml");
  std::stringstream all;
  all << file.rdbuf();
  std::string text = all.str();
  replace_all(text, "fidelity: analytical", "fidelity: " + fidelity);
  return text;
}

}  // namespace weft::test

#endif
