// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/job_name.h"

#include <algorithm>
#include <array>

namespace weft {
namespace {

constexpr std::array<const char*, 6> kRunFiles = {"summary.json", "effective.yaml", "links.csv",
                                                  "flows.csv",    "waves.vcd",      "waves.gtkw"};

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

}  // namespace

std::string job_name_error(const std::string& name) {
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos)
    return "is no name of a folder, which the job's results need; leave `/` out";
  if (std::any_of(name.begin(), name.end(), is_control))
    return "has characters that cannot be printed; leave them out";
  if (std::find(kRunFiles.begin(), kRunFiles.end(), name) != kRunFiles.end())
    return "is the name of a file of the run's results, in whose folder the job's folder is; choose another";
  return "";
}

}  // namespace weft
