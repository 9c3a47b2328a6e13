// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Which model of a module a configuration asks for: `implementation: shared_buffer(buffer=64 KiB)`. The names
// are those of this library and of the plugins; the parameters are the model's own.

#ifndef WEFT_CONFIGS_IMPLEMENTATION_H
#define WEFT_CONFIGS_IMPLEMENTATION_H

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "configs/types.h"

namespace weft {

/// A model's name and its parameters in the order in which they are written.
struct Implementation {
  bool of_plugin = false;  ///< written `plugin:name`: a plugin must have brought it
  bool of_rtl = false;     ///< written `rtl:name`: .. and have registered it as RTL
  std::string model;
  std::vector<std::pair<std::string, std::string>> parameters;
};

/// "name" or "name(key=value, key=value)", perhaps after "plugin:" or "rtl:". Errors: UserError(usage) says
/// what is wrong with the text.
Implementation parse_implementation(std::string_view text);

/// .. as parse_implementation reads it.
std::string print_implementation(const Implementation& implementation);

/// The parameters of one module, read by the model that is made. A parameter that the model does not read is
/// an error: finish() after the model has been made.
class Parameters {
 public:
  /// `owner` begins messages, for example "topology.dimensions[0].implementation".
  Parameters(const Implementation& implementation, std::string owner);

  // Each reads one parameter; `fallback` is written like a value and holds where the parameter is absent.
  // Errors: UserError(usage) names the parameter, its value and what is allowed.
  uint64_t integer(const std::string& name, const std::string& fallback);
  double number(const std::string& name, const std::string& fallback);
  uint64_t size(const std::string& name, const std::string& fallback);  ///< bytes
  Picoseconds time(const std::string& name, const std::string& fallback);
  Rate bandwidth(const std::string& name, const std::string& fallback);
  std::string text(const std::string& name, const std::string& fallback);

  /// Throws UserError(usage): the parameter's value cannot be, `what` says why and what to do.
  [[noreturn]] void refuse(const std::string& name, const std::string& what) const;

  /// Errors: UserError(usage) for a parameter that the model has not read.
  void finish() const;

 private:
  const std::string& value(const std::string& name, const std::string& fallback);
  template <typename F>
  auto parse(const std::string& name, const std::string& fallback, F&& f);

  std::string owner_;
  std::string model_;
  std::vector<std::pair<std::string, std::string>> values_;
  std::vector<std::string> read_;
};

}  // namespace weft

#endif
