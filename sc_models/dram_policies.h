// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What a DRAM controller does, by name: where an address lies, which command goes next, whether reads and
// writes are kept apart, when a row is closed, how the device is refreshed. Each kind has a registry, which
// plugins extend. Policies have no state of their own: all channels of a memory share them.

#ifndef WEFT_SC_MODELS_DRAM_POLICIES_H
#define WEFT_SC_MODELS_DRAM_POLICIES_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "configs/dram_spec.h"
#include "configs/implementation.h"
#include "configs/named_registry.h"
#include "configs/types.h"

namespace weft {

/// Where the bytes of a memory lie. `hbm.address_map`.
class AddressMap {
 public:
  virtual ~AddressMap() = default;
  /// Of the burst that holds the byte. A map is one to one: no two bursts at one place.
  virtual DramAddress place(uint64_t address) const = 0;
  /// A sequential access takes all channels and bank groups in turn, and goes through whole rows: then
  /// DramSpec::stream_efficiency() holds for it.
  virtual bool streams() const { return false; }
};

/// What the controller may do next with one bank.
struct DramCandidate {
  Picoseconds at = 0;  ///< the earliest time of the command
  uint64_t order = 0;  ///< of the request: smaller came earlier
  uint32_t bank = 0;
  uint32_t position = 0;  ///< of the request in its bank's queue
  bool column = false;    ///< a read or a write of an open row; otherwise a row is opened or closed
  bool write = false;
};

/// Which command goes next. `hbm.scheduler`.
class DramScheduler {
 public:
  virtual ~DramScheduler() = default;
  /// Requests of one bank in the window; 0: DramSpec::bank_queue().
  virtual uint32_t bank_queue() const { return 0; }
  /// First ready, first come, first served: the controller has that built in, and asks nothing below.
  virtual bool first_ready() const { return false; }
  /// Of a bank only its oldest request is a candidate, even when a younger one finds its row open.
  virtual bool oldest_of_bank() const { return false; }
  /// Nothing goes before the chosen command, not even while a refresh is waited for.
  virtual bool in_order() const { return false; }
  /// Index of the candidate that goes next; there is at least one.
  virtual size_t choose(const std::vector<DramCandidate>& candidates) const;
};

/// Whether reads and writes are kept apart. `hbm.grouping`.
class GroupingPolicy {
 public:
  virtual ~GroupingPolicy() = default;
  /// False: reads and writes go in any order.
  virtual bool separates() const { return true; }
  /// Writes go before reads now. Of the window: `reads`, `writes`; `draining`: they went first so far.
  virtual bool writes_first(uint32_t reads, uint32_t writes, bool draining) const = 0;
};

/// When a row is closed. `hbm.page_policy`.
class PagePolicy {
 public:
  virtual ~PagePolicy() = default;
  /// A column command closes its row (by auto-precharge): the `columns`th since the row was opened.
  /// `wanted`: another request in the window finds it open.
  virtual bool closes(uint32_t columns, bool wanted) const = 0;
};

/// All of a memory's; what is null is the default.
struct DramPolicies {
  uint32_t window = 64;  ///< requests of a pseudo-channel among which the controller chooses
  std::shared_ptr<const DramScheduler> scheduler;
  std::shared_ptr<const GroupingPolicy> grouping;
  std::shared_ptr<const PagePolicy> page;
  std::shared_ptr<const AddressMap> map;
};

/// What a policy is made for. `spec` outlives it.
struct DramContext {
  const DramSpec& spec;
  uint32_t stacks = 1;
  uint32_t window = 64;
};

template <typename Policy>
using PolicyMaker =
    std::function<std::shared_ptr<const Policy>(const DramContext& context, Parameters& parameters)>;
/// Changes the device: DramSpec's refi, rfc, rfc_bank and per_bank_refresh. `hbm.refresh`.
using RefreshMaker = std::function<void(DramSpec& spec, Parameters& parameters)>;

NamedRegistry<PolicyMaker<AddressMap>>& address_maps();
NamedRegistry<PolicyMaker<DramScheduler>>& dram_schedulers();
NamedRegistry<PolicyMaker<GroupingPolicy>>& grouping_policies();
NamedRegistry<PolicyMaker<PagePolicy>>& page_policies();
NamedRegistry<RefreshMaker>& refresh_policies();

/// A device and what its controllers do: all memories of a machine share one.
struct DramDevice {
  DramSpec spec;
  DramPolicies policies;
  bool detailed_streams = false;  ///< `hbm.streams`: no shortcut
};
/// The device of `hbm`, in `stacks` stacks. Errors: as of make_dram_spec().
std::shared_ptr<const DramDevice> make_dram_device(const HbmConfig& config, uint32_t stacks);
/// .. of another geometry than the preset's.
std::shared_ptr<const DramDevice> make_dram_device(const HbmConfig& config, const DramSpec& spec,
                                                   uint32_t stacks);

/// The device of `hbm`, refreshed as `hbm.refresh` says. Errors: UserError(usage) for a name or a parameter
/// that there is not.
DramSpec make_dram_spec(const HbmConfig& config);
/// The policies of `hbm` for some stacks of the device. `spec` outlives them. Errors as above.
DramPolicies make_dram_policies(const HbmConfig& config, const DramSpec& spec, uint32_t stacks);
/// Those of a configuration that names none.
DramPolicies default_dram_policies(const DramSpec& spec, uint32_t stacks = 1, uint32_t window = 64);

/// An address whose digits are, from the lowest on, those of `fields`; above them the row.
/// Each of: channel, pseudo_channel, group, bank, column; every one once, and `row` last or not at all.
class FieldMap final : public AddressMap {
 public:
  enum class Field : uint8_t { channel, pseudo_channel, group, bank, column };
  /// `permuted`: bank and bank group are moved on with the row, so that rows at large strides lie in
  /// different banks.
  FieldMap(const DramSpec& spec, uint32_t stacks, const std::vector<Field>& lowest_first,
           bool permuted = false);
  DramAddress place(uint64_t address) const override;
  bool streams() const override { return streams_; }

 private:
  struct Digit {
    uint64_t count = 1;
    uint32_t shift = 0;  ///< of a power of two
    bool power = true;
    uint64_t take(uint64_t& rest) const {
      if (power) {
        const uint64_t digit = rest & (count - 1);
        rest >>= shift;
        return digit;
      }
      const uint64_t digit = rest % count;
      rest /= count;
      return digit;
    }
  };
  static Digit digit(uint64_t count);

  Digit burst_;
  Digit digits_[5];
  Field fields_[5] = {};
  const uint32_t banks_per_group_, bank_groups_;
  const bool permuted_;
  bool streams_ = false;
  bool powers_ = false;  ///< all counts are powers of two: a part is a shift and a mask
  uint32_t shifts_[5] = {}, masks_[5] = {}, row_shift_ = 0;
};

}  // namespace weft

#endif
