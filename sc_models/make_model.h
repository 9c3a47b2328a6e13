// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Makes one module by its model's name, and says whose fault it is when that fails.

#ifndef WEFT_SC_MODELS_MAKE_MODEL_H
#define WEFT_SC_MODELS_MAKE_MODEL_H

#include <fmt/format.h>

#include <exception>
#include <string>

#include "configs/implementation.h"
#include "configs/named_registry.h"

namespace weft {

inline constexpr const char* kOwnModels = "weft";  ///< NamedRegistry::Entry::source of what is no plugin's

/// Errors: UserError(usage) where `wanted` is written `plugin:` or `rtl:` and the entry is not.
template <typename Entry>
void check_source(const Implementation& wanted, const Entry& entry, const std::string& what,
                  const std::string& owner) {
  if (wanted.of_plugin && entry.source == kOwnModels)
    throw UserError(ExitCode::usage,
                    fmt::format("{}: `plugin:{}`: the {} '{}' is this library's own, not a plugin's; leave "
                                "out `plugin:`",
                                owner, wanted.model, what, entry.name));
  if (wanted.of_rtl && !entry.rtl)
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: `rtl:{}`: the {} '{}' of {} is no RTL; leave out `rtl:`, or let its plugin register "
                    "it with registry.rtl()",
                    owner, wanted.model, what, entry.name, entry.source));
}

/// `call(maker, parameters)` makes the module `name`. `owner`: the key of `implementation`.
template <typename Maker, typename Call>
auto make_model(const NamedRegistry<Maker>& registry, const std::string& implementation,
                const std::string& owner, const char* name, Call&& call) {
  const Implementation wanted = parse_implementation(implementation);
  const auto& entry = registry.at(wanted.model);
  check_source(wanted, entry, registry.what(), owner);
  Parameters parameters(wanted, owner);
  const auto whose = [&] {
    return fmt::format("{}: {} '{}' of {}, module {}: ", owner, registry.what(), entry.name, entry.source,
                       name);
  };
  try {
    auto module = call(entry.make, parameters);
    if (module == nullptr) throw UserError(ExitCode::usage, whose() + "it made nothing");
    parameters.finish();
    return module;
  } catch (const UserError&) {
    throw;
  } catch (const std::exception& e) {
    throw UserError(ExitCode::usage, whose() + "its constructor failed: " + e.what());
  } catch (...) {
    throw UserError(
        ExitCode::usage,
        whose() + "its constructor threw something that is no std::exception; throw one with a text");
  }
}

}  // namespace weft

#endif
