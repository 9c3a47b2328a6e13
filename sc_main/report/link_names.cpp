// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/report/link_names.h"

namespace weft::report {

std::string place_of(std::string_view name) {
  for (const std::string_view word : {"router", "ni_"}) {
    if (name.substr(0, word.size()) != word) continue;
    const std::string_view number = name.substr(word.size());
    if (!number.empty() && number.find_first_not_of("0123456789") == number.npos)
      return "nmu" + std::string(number);
  }
  return std::string(name);
}

LinkSender sender_of(std::string_view name) {
  const auto cut_first = [&name] {
    const size_t dot = name.find('.');
    if (dot != name.npos) name.remove_prefix(dot + 1);
  };
  cut_first();
  if (name.substr(0, 6) == "packet" && name.find('.') != name.npos) cut_first();
  const size_t last = name.rfind('.');
  if (last != name.npos) return {place_of(name.substr(0, last)), std::string(name.substr(last + 1))};
  const size_t port = name.find("_at");
  if (name.substr(0, 3) == "ni_" && port != name.npos)
    return {place_of(name.substr(0, port)), std::string(name.substr(port + 1))};
  return {place_of(name), "out"};
}

}  // namespace weft::report
