// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What a DRAM device is: its geometry, its timing parameters and the rates that follow from them. No kernel.

#ifndef WEFT_CONFIGS_DRAM_SPEC_H
#define WEFT_CONFIGS_DRAM_SPEC_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "configs/types.h"

namespace weft {

/// Of one channel of a stack. Times in ps, named as in JESD235 (HBM2) and JESD238 (HBM3).
struct DramSpec {
  std::string_view name;

  // Geometry.
  uint32_t channels = 8;         ///< of a stack
  uint32_t pseudo_channels = 2;  ///< of a channel; they share its row commands
  uint32_t bank_groups = 4;      ///< of a pseudo-channel
  uint32_t banks_per_group = 4;
  uint32_t row_bytes = 1024;  ///< of a pseudo-channel's row (page)
  uint32_t burst_bytes = 32;

  // Timing.
  Picoseconds clock = 1000;   ///< of commands
  Picoseconds burst = 2000;   ///< data of one burst on its pins
  Picoseconds rcd_read = 0;   ///< ACT to RD
  Picoseconds rcd_write = 0;  ///< ACT to WR
  Picoseconds rp = 0;         ///< PRE to ACT
  Picoseconds ras = 0;        ///< ACT to PRE
  Picoseconds rc = 0;         ///< ACT to ACT of a bank
  Picoseconds rtp = 0;        ///< RD to PRE
  Picoseconds wr = 0;         ///< end of write data to PRE
  Picoseconds rl = 0;         ///< RD to data
  Picoseconds wl = 0;         ///< WR to data
  Picoseconds ccd_short = 0;  ///< column command to column command, other bank group
  Picoseconds ccd_long = 0;   ///< .. same bank group
  Picoseconds rrd_short = 0;  ///< ACT to ACT, other bank group
  Picoseconds rrd_long = 0;   ///< .. same bank group
  Picoseconds faw = 0;        ///< window in which four ACTs may lie
  Picoseconds rtw = 0;        ///< RD to WR
  Picoseconds wtr_short = 0;  ///< end of write data to RD, other bank group
  Picoseconds wtr_long = 0;   ///< .. same bank group
  Picoseconds refi = 0;       ///< between refreshes of a pseudo-channel; 0: none
  Picoseconds rfc = 0;        ///< of all banks
  Picoseconds rfc_bank = 0;   ///< of one bank (per-bank refresh)
  Picoseconds controller =
      0;  ///< from a request to the earliest command for it, and from data to the answer: half each
  uint32_t act_slots = 2;  ///< row-command cycles of an ACT
  uint32_t pre_slots = 1;  ///< .. of a PRE
  bool per_bank_refresh = false;

  uint32_t banks() const { return bank_groups * banks_per_group; }
  uint32_t bursts_per_row() const { return row_bytes / burst_bytes; }
  Picoseconds refresh_time() const { return per_bank_refresh ? rfc_bank : rfc; }

  /// Requests of a bank among which the controller chooses; a further one and all behind it wait. Eight, as
  /// DRAMSys has in front of each bank (SchedulerBuffer Bankwise, RequestBufferSize 8), or as many as keep a
  /// sequential stream busy, which takes the bank groups in turn, while its next row is opened.
  uint32_t bank_queue() const;

  // What follows, in bytes a second.
  double pseudo_channel_peak() const;  ///< burst_bytes / burst
  double stack_peak() const;
  /// Fraction of the time that refresh leaves to a stream: 1 - (tRFC + tRTP + tRP + tRCD) / tREFI; 1 without
  /// or with per-bank refresh, which a stream works around.
  double stream_efficiency() const;
  /// One burst a row, at random: eta x min(peak, 4 b / tFAW, b / tRRDS, banks b / tRC), per pseudo-channel.
  double random_rate() const;
  /// No access takes less: a column command to an open row at once.
  Picoseconds least_latency() const { return controller + (wl < rl ? wl : rl); }
  /// No sequential access alone in the memory takes longer: one burst after the other, each to another row of
  /// one bank and with a refresh in its way.
  Picoseconds slowest_access(uint64_t bytes) const;
};

/// HBM2, HBM2E, HBM3, HBM3E, HBM4, with all-bank refresh.
const std::vector<DramSpec>& dram_specs();
/// Null: there is none of that name.
const DramSpec* find_dram_spec(std::string_view name);

struct HbmConfig;
/// The device of model `banked`, with its refresh as far as it has a name of this library and no parameters
/// (sc_models/dram_policies.h has all).
DramSpec dram_spec(const HbmConfig& config);
/// An upper bound of one access to an otherwise idle HBM of either model.
Picoseconds slowest_access(const HbmConfig& config, uint64_t bytes);
/// Keys that speak of the device: of no use to another model.
constexpr const char* kDramKeys[] = {"hbm.preset",      "hbm.stacks",      "hbm.refresh",
                                     "hbm.address_map", "hbm.scheduler",   "hbm.window",
                                     "hbm.grouping",    "hbm.page_policy", "hbm.streams"};

/// Where a byte of a memory of some stacks lies: row | bank | column | bank group | pseudo-channel | channel
/// of a stack | burst, highest bits first.
struct DramAddress {
  uint32_t channel = 0;  ///< stack x channels + channel
  uint32_t pseudo_channel = 0;
  uint32_t bank = 0;  ///< bank group x banks_per_group + bank in it
  uint64_t row = 0;
};
DramAddress map_address(const DramSpec& spec, uint32_t stacks, uint64_t address);

}  // namespace weft

#endif
