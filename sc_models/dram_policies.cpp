// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/dram_policies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "configs/config.h"

namespace weft {
namespace {

using Field = FieldMap::Field;

// ---- address maps

const std::pair<const char*, Field> kFieldNames[] = {{"channel", Field::channel},
                                                     {"pseudo_channel", Field::pseudo_channel},
                                                     {"group", Field::group},
                                                     {"bank", Field::bank},
                                                     {"column", Field::column}};

const std::vector<Field> kInterleaved = {Field::channel, Field::pseudo_channel, Field::group, Field::column,
                                         Field::bank};
const std::vector<Field> kBankInterleaved = {Field::channel, Field::pseudo_channel, Field::group, Field::bank,
                                             Field::column};
const std::vector<Field> kRowBlocks = {Field::column, Field::channel, Field::pseudo_channel, Field::group,
                                       Field::bank};

PolicyMaker<AddressMap> field_map(const std::vector<Field>& lowest_first, bool permuted = false) {
  return [lowest_first, permuted](const DramContext& context, Parameters&) {
    return std::make_shared<FieldMap>(context.spec, context.stacks, lowest_first, permuted);
  };
}

/// "row-bank-column-group-pseudo_channel-channel", the highest first; `row` may be left out.
std::vector<Field> parse_fields(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == '-') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  const auto refuse = [&](const std::string& why) {
    throw UserError(ExitCode::usage,
                    fmt::format("order={}: {}; write `row`, `bank`, `column`, `group`, `pseudo_channel` and "
                                "`channel` once each, the highest first, with `-` between them",
                                text, why));
  };
  if (words.front() != "row") refuse("does not begin with `row`, which has to be the highest");
  std::vector<Field> fields;
  for (size_t i = words.size() - 1; i > 0; --i) {
    const auto* const known = std::find_if(std::begin(kFieldNames), std::end(kFieldNames),
                                           [&](const auto& f) { return words[i] == f.first; });
    if (known == std::end(kFieldNames)) refuse(fmt::format("'{}' is no part of an address", words[i]));
    if (std::find(fields.begin(), fields.end(), known->second) != fields.end())
      refuse(fmt::format("has '{}' twice", words[i]));
    fields.push_back(known->second);
  }
  if (fields.size() != std::size(kFieldNames)) refuse("does not name all parts");
  return fields;
}

// ---- schedulers

class FirstReady final : public DramScheduler {
 public:
  explicit FirstReady(uint32_t bank_queue) : bank_queue_(bank_queue) {}
  uint32_t bank_queue() const override { return bank_queue_; }
  bool first_ready() const override { return true; }

 private:
  const uint32_t bank_queue_;
};

/// First come, first served: of a bank, or of all banks.
class FirstCome final : public DramScheduler {
 public:
  explicit FirstCome(bool of_all) : of_all_(of_all) {}
  bool oldest_of_bank() const override { return true; }
  bool in_order() const override { return of_all_; }
  size_t choose(const std::vector<DramCandidate>& candidates) const override {
    if (!of_all_) return DramScheduler::choose(candidates);
    size_t best = 0;
    for (size_t i = 1; i < candidates.size(); ++i)
      if (candidates[i].order < candidates[best].order) best = i;
    return best;
  }

 private:
  const bool of_all_;
};

// ---- grouping

class Watermarks final : public GroupingPolicy {
 public:
  Watermarks(uint32_t high, uint32_t low) : high_(high), low_(low) {}
  bool writes_first(uint32_t, uint32_t writes, bool draining) const override {
    return writes >= high_ || (draining && writes > low_);
  }

 private:
  const uint32_t high_, low_;
};

class Ungrouped final : public GroupingPolicy {
 public:
  bool separates() const override { return false; }
  bool writes_first(uint32_t, uint32_t, bool) const override { return false; }
};

std::shared_ptr<const GroupingPolicy> watermarks(const DramContext& context, Parameters& parameters) {
  // Ramulator drains a queue of 32 from above 80 % to below 20 %. Smaller windows in proportion.
  const uint64_t high =
      parameters.integer("high", std::to_string(std::max(1u, std::min(26u, context.window * 26 / 64))));
  const uint64_t low = parameters.integer("low", std::to_string(std::min(6u, context.window * 6 / 64)));
  if (high < 1 || high > context.window)
    throw UserError(ExitCode::usage, fmt::format("hbm.grouping: high={}: give from 1 to {}, the requests of "
                                                 "`hbm.window`",
                                                 high, context.window));
  if (low >= high)
    throw UserError(ExitCode::usage, fmt::format("hbm.grouping: low={}: give less than high={}", low, high));
  return std::make_shared<Watermarks>(static_cast<uint32_t>(high), static_cast<uint32_t>(low));
}

// ---- page policies

class OpenPage final : public PagePolicy {
 public:
  bool closes(uint32_t, bool) const override { return false; }
};

class ClosedPage final : public PagePolicy {
 public:
  bool closes(uint32_t, bool wanted) const override { return !wanted; }
};

class CappedPage final : public PagePolicy {
 public:
  explicit CappedPage(uint32_t columns) : columns_(columns) {}
  bool closes(uint32_t columns, bool) const override { return columns >= columns_; }

 private:
  const uint32_t columns_;
};

std::shared_ptr<const PagePolicy> capped(const DramContext&, Parameters& parameters) {
  const uint64_t columns = parameters.integer("columns", "4");
  if (columns < 1 || columns > 1'000'000)
    throw UserError(ExitCode::usage,
                    fmt::format("hbm.page_policy: columns={}: give from 1 to 1,000,000", columns));
  return std::make_shared<CappedPage>(static_cast<uint32_t>(columns));
}

// ---- refresh

RefreshMaker refresh(bool per_bank) {
  return [per_bank](DramSpec& spec, Parameters& parameters) {
    const auto time = [&](const char* name, Picoseconds fallback) {
      const Picoseconds t = parameters.time(name, fmt::format("{} ps", fallback));
      if (t == 0)
        throw UserError(ExitCode::usage,
                        fmt::format("hbm.refresh: {}: give more than 0; `none` switches refresh off", name));
      return t;
    };
    spec.per_bank_refresh = per_bank;
    spec.refi = time("interval", spec.refi);
    Picoseconds& duration = per_bank ? spec.rfc_bank : spec.rfc;
    duration = time("duration", duration);
    const Picoseconds least = spec.refresh_time() + spec.rtp + spec.rp + spec.rcd_read;
    const Picoseconds room = per_bank ? spec.refi / spec.pseudo_channels * spec.banks() : spec.refi;
    if (room < 2 * least)
      throw UserError(ExitCode::usage,
                      fmt::format("hbm.refresh: interval={} ps: leaves no time for accesses, since a refresh "
                                  "takes {} ps; give a longer interval",
                                  spec.refi, least));
  };
}

template <typename Policy>
std::shared_ptr<const Policy> make_policy(const NamedRegistry<PolicyMaker<Policy>>& registry,
                                          const std::string& text, const char* key,
                                          const DramContext& context) {
  const Implementation wanted = parse_implementation(text);
  Parameters parameters(wanted, key);
  std::shared_ptr<const Policy> policy = registry.at(wanted.model).make(context, parameters);
  if (policy == nullptr)
    throw UserError(ExitCode::usage, fmt::format("{}: the {} '{}' of {} made nothing", key, registry.what(),
                                                 wanted.model, registry.at(wanted.model).source));
  parameters.finish();
  return policy;
}

}  // namespace

// ---- the field map

FieldMap::Digit FieldMap::digit(uint64_t count) {
  Digit d;
  d.count = count;
  d.power = (count & (count - 1)) == 0;
  while (d.power && uint64_t{1} << d.shift < count) ++d.shift;
  return d;
}

FieldMap::FieldMap(const DramSpec& spec, uint32_t stacks, const std::vector<Field>& lowest_first,
                   bool permuted)
    : burst_(digit(spec.burst_bytes)),
      banks_per_group_(spec.banks_per_group),
      bank_groups_(spec.bank_groups),
      permuted_(permuted) {
  const auto count = [&](Field f) -> uint64_t {
    switch (f) {
      case Field::channel:
        return uint64_t{stacks} * spec.channels;
      case Field::pseudo_channel:
        return spec.pseudo_channels;
      case Field::group:
        return spec.bank_groups;
      case Field::bank:
        return spec.banks_per_group;
      case Field::column:
        return spec.bursts_per_row();
    }
    return 1;
  };
  for (size_t i = 0; i < std::size(digits_); ++i) {
    fields_[i] = lowest_first.at(i);
    digits_[i] = digit(count(fields_[i]));
  }
  powers_ = burst_.power && !permuted;
  row_shift_ = burst_.shift;
  for (size_t i = 0; i < std::size(digits_); ++i) {
    powers_ = powers_ && digits_[i].power;
    const auto part = static_cast<size_t>(fields_[i]);
    shifts_[part] = row_shift_;
    masks_[part] = static_cast<uint32_t>(digits_[i].count - 1);
    row_shift_ += digits_[i].shift;
  }
  powers_ = powers_ && row_shift_ < 64;
  // The rate of a stream follows from its refreshes when it goes through a row of every bank group at a time.
  streams_ = std::equal(lowest_first.begin(), lowest_first.end(), kInterleaved.begin(), kInterleaved.end());
}

DramAddress FieldMap::place(uint64_t address) const {
  if (powers_) {
    const auto at = [&](Field f) {
      const auto i = static_cast<size_t>(f);
      return static_cast<uint32_t>(address >> shifts_[i]) & masks_[i];
    };
    return {at(Field::channel), at(Field::pseudo_channel),
            at(Field::group) * banks_per_group_ + at(Field::bank), address >> row_shift_};
  }
  burst_.take(address);
  uint32_t part[5];
  for (size_t i = 0; i < std::size(digits_); ++i)
    part[static_cast<size_t>(fields_[i])] = static_cast<uint32_t>(digits_[i].take(address));
  uint32_t group = part[static_cast<size_t>(Field::group)];
  uint32_t bank = part[static_cast<size_t>(Field::bank)];
  if (permuted_) {
    group = static_cast<uint32_t>((group + address) % bank_groups_);
    bank = static_cast<uint32_t>((bank + address / bank_groups_) % banks_per_group_);
  }
  DramAddress a;
  a.channel = part[static_cast<size_t>(Field::channel)];
  a.pseudo_channel = part[static_cast<size_t>(Field::pseudo_channel)];
  a.bank = group * banks_per_group_ + bank;
  a.row = address;
  return a;
}

// The earliest; of equals a column command, then the oldest.
size_t DramScheduler::choose(const std::vector<DramCandidate>& candidates) const {
  size_t best = 0;
  for (size_t i = 1; i < candidates.size(); ++i) {
    const DramCandidate& a = candidates[i];
    const DramCandidate& b = candidates[best];
    if (a.at != b.at ? a.at < b.at : a.column != b.column ? a.column : a.order < b.order) best = i;
  }
  return best;
}

// ---- registries

NamedRegistry<PolicyMaker<AddressMap>>& address_maps() {
  static NamedRegistry<PolicyMaker<AddressMap>> registry = [] {
    NamedRegistry<PolicyMaker<AddressMap>> r("address map");
    r.add({"interleaved", "row | bank | column | group | pseudo-channel | channel | burst", "weft",
           field_map(kInterleaved)});
    r.add({"bank_interleaved", "row | column | bank | group | pseudo-channel | channel | burst", "weft",
           field_map(kBankInterleaved)});
    r.add({"row_blocks", "row | bank | group | pseudo-channel | channel | column | burst", "weft",
           field_map(kRowBlocks)});
    r.add({"permuted", "interleaved, with bank and group moved on with the row", "weft",
           field_map(kInterleaved, true)});
    r.add({"fields", "parts in any order", "weft", [](const DramContext& context, Parameters& parameters) {
             const std::vector<Field> fields =
                 parse_fields(parameters.text("order", "row-bank-column-group-pseudo_channel-channel"));
             return std::make_shared<FieldMap>(context.spec, context.stacks, fields);
           }});
    return r;
  }();
  return registry;
}

NamedRegistry<PolicyMaker<DramScheduler>>& dram_schedulers() {
  static NamedRegistry<PolicyMaker<DramScheduler>> registry = [] {
    NamedRegistry<PolicyMaker<DramScheduler>> r("DRAM scheduler");
    r.add({"first_ready", "hits of open rows first, the earliest command first", "weft",
           [](const DramContext& context, Parameters& parameters) {
             const uint64_t depth = parameters.integer("bank_queue", "0");
             if (depth > context.window)
               throw UserError(ExitCode::usage,
                               fmt::format("hbm.scheduler: bank_queue={}: give from 1 to {}, the requests of "
                                           "`hbm.window`, or 0 for the device's own",
                                           depth, context.window));
             return std::make_shared<FirstReady>(static_cast<uint32_t>(depth));
           }});
    r.add({"bank_order", "each bank in the order of arrival, the earliest command first", "weft",
           [](const DramContext&, Parameters&) { return std::make_shared<FirstCome>(false); }});
    r.add({"in_order", "a pseudo-channel in the order of arrival", "weft",
           [](const DramContext&, Parameters&) { return std::make_shared<FirstCome>(true); }});
    return r;
  }();
  return registry;
}

NamedRegistry<PolicyMaker<GroupingPolicy>>& grouping_policies() {
  static NamedRegistry<PolicyMaker<GroupingPolicy>> registry = [] {
    NamedRegistry<PolicyMaker<GroupingPolicy>> r("grouping of reads and writes");
    r.add({"watermarks", "reads first; writes when so many wait", "weft", watermarks});
    r.add({"none", "reads and writes in any order", "weft",
           [](const DramContext&, Parameters&) { return std::make_shared<Ungrouped>(); }});
    return r;
  }();
  return registry;
}

NamedRegistry<PolicyMaker<PagePolicy>>& page_policies() {
  static NamedRegistry<PolicyMaker<PagePolicy>> registry = [] {
    NamedRegistry<PolicyMaker<PagePolicy>> r("page policy");
    r.add({"open", "a row stays open until another one is wanted", "weft",
           [](const DramContext&, Parameters&) { return std::make_shared<OpenPage>(); }});
    r.add({"closed", "a row is closed when no waiting request wants it", "weft",
           [](const DramContext&, Parameters&) { return std::make_shared<ClosedPage>(); }});
    r.add({"capped", "a row is closed after so many column commands", "weft", capped});
    return r;
  }();
  return registry;
}

NamedRegistry<RefreshMaker>& refresh_policies() {
  static NamedRegistry<RefreshMaker> registry = [] {
    NamedRegistry<RefreshMaker> r("refresh");
    r.add({"all_bank", "all banks of a pseudo-channel at once", "weft", refresh(false)});
    r.add({"per_bank", "one bank after the other", "weft", refresh(true)});
    r.add({"none", "never", "weft", [](DramSpec& spec, Parameters&) { spec.refi = 0; }});
    return r;
  }();
  return registry;
}

DramSpec make_dram_spec(const HbmConfig& config) {
  const DramSpec* const known = find_dram_spec(config.preset);
  DramSpec spec = known != nullptr ? *known : DramSpec{};
  const Implementation wanted = parse_implementation(config.refresh);
  Parameters parameters(wanted, "hbm.refresh");
  refresh_policies().at(wanted.model).make(spec, parameters);
  parameters.finish();
  return spec;
}

DramPolicies make_dram_policies(const HbmConfig& config, const DramSpec& spec, uint32_t stacks) {
  const DramContext context{spec, stacks, config.window};
  DramPolicies p;
  p.window = config.window;
  p.scheduler = make_policy(dram_schedulers(), config.scheduler, "hbm.scheduler", context);
  p.grouping = make_policy(grouping_policies(), config.grouping, "hbm.grouping", context);
  p.page = make_policy(page_policies(), config.page_policy, "hbm.page_policy", context);
  p.map = make_policy(address_maps(), config.address_map, "hbm.address_map", context);
  return p;
}

std::shared_ptr<const DramDevice> make_dram_device(const HbmConfig& config, const DramSpec& spec,
                                                   uint32_t stacks) {
  auto device = std::make_shared<DramDevice>();
  device->spec = spec;
  device->policies = make_dram_policies(config, device->spec, stacks);
  device->detailed_streams = config.streams == "detailed";
  return device;
}

std::shared_ptr<const DramDevice> make_dram_device(const HbmConfig& config, uint32_t stacks) {
  return make_dram_device(config, make_dram_spec(config), stacks);
}

DramPolicies default_dram_policies(const DramSpec& spec, uint32_t stacks, uint32_t window) {
  HbmConfig config;
  config.window = window;
  return make_dram_policies(config, spec, stacks);
}

}  // namespace weft
