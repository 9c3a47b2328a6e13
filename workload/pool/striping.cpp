// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/pool/striping.h"

#include <fmt/format.h>

#include <utility>

#include "configs/hash64.h"

namespace weft::pool {
namespace {

/// A Latin square: in every round of R chunks each NPU is at another group, and its switch moves on by one
/// from round to round. All links carry the same.
class Latin final : public StripingPolicy {
 public:
  Latin(uint32_t groups, uint32_t ways) : groups_(groups), ways_(ways) {}
  Place place(uint32_t u, uint64_t j) const override {
    return {static_cast<uint32_t>((j + u) % groups_), static_cast<uint32_t>((u + j / groups_) % ways_)};
  }

 private:
  uint32_t groups_;
  uint32_t ways_;
};

class Hash final : public StripingPolicy {
 public:
  Hash(uint32_t groups, uint32_t ways) : groups_(groups), ways_(ways) {}
  Place place(uint32_t u, uint64_t j) const override {
    const uint64_t h = hash64(hash64(u + 1) + j);
    return {static_cast<uint32_t>(h % groups_), static_cast<uint32_t>(hash64(h) % ways_)};
  }

 private:
  uint32_t groups_;
  uint32_t ways_;
};

/// Group and switch move on together: where their numbers have a common divisor, most of the links between
/// them are never used.
class Offset final : public StripingPolicy {
 public:
  Offset(uint32_t groups, uint32_t ways) : groups_(groups), ways_(ways) {}
  Place place(uint32_t u, uint64_t j) const override {
    return {static_cast<uint32_t>((j + u) % groups_), static_cast<uint32_t>((j + u) % ways_)};
  }

 private:
  uint32_t groups_;
  uint32_t ways_;
};

/// Another's, whose places are checked.
class Checked final : public StripingPolicy {
 public:
  Checked(std::string name, const StripingContext& context, std::unique_ptr<StripingPolicy> policy)
      : name_(std::move(name)), context_(context), policy_(std::move(policy)) {}
  Place place(uint32_t u, uint64_t j) const override {
    const Place place = policy_->place(u, j);
    if (place.group < context_.groups && place.way < context_.ways) return place;
    throw UserError(
        ExitCode::usage,
        fmt::format("key `memory.pool.striping`: '{}' puts chunk {} of NPU {} in group {} by way {}; there "
                    "are groups 0 to {} and ways 0 to {}",
                    name_, j, u, place.group, place.way, context_.groups - 1, context_.ways - 1));
  }

 private:
  std::string name_;
  StripingContext context_;
  std::unique_ptr<StripingPolicy> policy_;
};

template <typename Policy>
StripingMaker maker() {
  return
      [](const StripingContext& context) { return std::make_unique<Policy>(context.groups, context.ways); };
}

}  // namespace

NamedRegistry<StripingMaker>& striping_policies() {
  static NamedRegistry<StripingMaker> registry = [] {
    NamedRegistry<StripingMaker> r("striping policy");
    r.add({"latin", "a Latin square of NPUs, groups and switches", "weft", maker<Latin>()});
    r.add({"hash", "by a hash of NPU and chunk", "weft", maker<Hash>()});
    r.add({"offset", "groups and switches in turns, both from the NPU's number on", "weft", maker<Offset>()});
    return r;
  }();
  return registry;
}

std::unique_ptr<StripingPolicy> make_striping(const std::string& name, uint32_t groups, uint32_t ways) {
  const auto& entry = striping_policies().at(name);
  const StripingContext context{groups, ways};
  if (entry.source == "weft") return entry.make(context);
  const auto fail = [&](const std::string& what) {
    throw UserError(ExitCode::usage, fmt::format("key `memory.pool.striping`: '{}' of {}: {}", entry.name,
                                                 entry.source, what));
  };
  std::unique_ptr<StripingPolicy> policy;
  try {
    policy = entry.make(context);
  } catch (const UserError&) {
    throw;
  } catch (const std::exception& e) {
    fail(std::string("its constructor failed: ") + e.what());
  }
  if (policy == nullptr) fail("it made nothing");
  return std::make_unique<Checked>(entry.name, context, std::move(policy));
}

}  // namespace weft::pool
