// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A CXL.mem link with a Type-3 device behind it: flits, credits, link-level retry, switches, the device's
// controller and DRAM. Needs no SystemC kernel. docs/cxl.md has the figures and their sources.

#ifndef WEFT_SC_MODELS_CXL_CXL_LINK_H
#define WEFT_SC_MODELS_CXL_CXL_LINK_H

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "configs/implementation.h"
#include "configs/types.h"

namespace weft {

/// A flit is made of slots of 16 B. Messages take slots; what is left of a flit goes to the next message.
struct CxlFlit {
  uint32_t bytes = 68;  ///< on the wire
  uint32_t slots = 4;
  /// Slots of a message that carries or asks for 64 B, as numerator and denominator.
  struct Slots {
    uint32_t count = 0;
    uint32_t of = 1;
  };
  Slots read_request{1, 1};   ///< M2S Req
  Slots write_request{5, 1};  ///< M2S RwD: a header and four slots of data
  Slots read_data{13, 3};     ///< S2M DRS: four slots of data, and a third of a slot with three headers
  Slots write_done{1, 2};     ///< S2M NDR: two in a slot
};

struct CxlConfig {
  std::string preset = "cxl2_x16";
  double gigatransfers = 32;  ///< per second and lane
  uint32_t lanes = 16;
  CxlFlit flit;
  Picoseconds link_latency = 0;        ///< one way, of each end's port and the wire
  uint32_t switches = 0;               ///< on the way
  Picoseconds switch_latency = 0;      ///< of one switch, one way
  Picoseconds controller_latency = 0;  ///< of the device
  Picoseconds dram_latency = 0;
  Rate dram_bandwidth;         ///< of all channels of the device
  uint32_t read_credits = 0;   ///< flits of read data that the host has room for
  uint32_t write_credits = 0;  ///< flits of writes that the device has room for
  double bit_error_rate = 0;
  uint64_t seed = 1;

  /// Bytes per second of a direction on the wire.
  double raw_bandwidth() const { return gigatransfers * 1e9 / 8 * lanes; }
  /// Bytes of data per second that a stream of reads (writes) can reach on the link.
  double read_bandwidth() const;
  double write_bandwidth() const;
  /// From a read's request to its data, when nothing else moves.
  Picoseconds idle_latency() const;
};

/// The presets by name, with a line each about them.
struct CxlPreset {
  const char* name;
  const char* description;
  CxlConfig config;
};
const std::vector<CxlPreset>& cxl_presets();

/// A configuration by the parameters of `implementation: cxl(preset=.., lanes=.., ..)`. Errors:
/// UserError(usage) names the parameter.
CxlConfig cxl_config(Parameters& parameters);

class CxlLink {
 public:
  explicit CxlLink(const CxlConfig& config);

  /// An access that the host issues at `at`; it is cut into lines of 64 B, which are served in order. Calls
  /// need not come in the order of `at`: what was called first goes first. Returns when its last line is
  /// complete at the host: the data of a read, the completion of a write. Throws std::overflow_error past the
  /// end of the clock.
  Picoseconds access(uint64_t bytes, bool write, Picoseconds at);

  /// Hears of the credit of every line: the class (reads or writes) and the time in which the line has it.
  using CreditListener = std::function<void(bool write, Picoseconds from, Picoseconds until)>;
  void watch_credits(CreditListener listener) { credit_listener_ = std::move(listener); }
  uint32_t credits(bool write) const { return static_cast<uint32_t>((write ? writes_ : reads_).back.size()); }

  const CxlConfig& config() const { return config_; }
  uint64_t lines() const { return lines_; }
  /// Flits that were sent again.
  uint64_t replays() const { return replays_; }
  /// Time in which the direction with the data of reads (towards the host) or writes was taken.
  Picoseconds busy_up() const { return picoseconds(up_.busy); }
  Picoseconds busy_down() const { return picoseconds(down_.busy); }

 private:
  // Times inside are in femtoseconds: a slot of a Gen6 link takes 133.3 ps.
  using Femto = Wide;
  static Picoseconds picoseconds(Femto time) { return static_cast<Picoseconds>((time + 999) / 1000); }

  /// One direction of the link.
  struct Direction {
    Femto free = 0;
    Femto busy = 0;
    uint64_t flits = 0;   ///< that have been sent whole
    double part = 0;      ///< of the present flit
    uint64_t stream = 0;  ///< of its errors
  };
  /// Credits of one class: a line takes one, and has it until it is given back.
  struct Credits {
    std::vector<Femto> back;  ///< of each credit: when it is there again
    size_t next = 0;
  };

  Femto slots(const CxlFlit::Slots& slots) const;
  /// Sends a message; the time at which its last byte has left.
  Femto send(Direction& direction, const CxlFlit::Slots& message, Femto ready);
  Femto read_line(Femto at);
  Femto write_line(Femto at);
  Femto serve(Femto at);

  const CxlConfig config_;
  const Femto way_;     ///< one way: link and switches
  const Femto line_;    ///< a line in the DRAM
  const double error_;  ///< probability that a flit is corrupted
  Direction down_;
  Direction up_;
  Credits reads_;
  Credits writes_;
  Femto dram_free_ = 0;
  uint64_t lines_ = 0;
  uint64_t replays_ = 0;
  CreditListener credit_listener_;  ///< empty: nobody looks
};

}  // namespace weft

#endif
