// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Watches one AXI4 boundary, edge by edge, whoever drives it. The rules (AMBA AXI4, ARM IHI 0022):
//
//   withdrawn   VALID stays high until READY
//   changed     what a channel carries stays while VALID waits
//   reset       no VALID while the reset is active
//   boundary    no burst crosses a multiple of 4 KiB
//   burst       FIXED up to 16 beats; WRAP of 2, 4, 8 or 16 beats from an aligned address; no reserved type
//   size        a beat is not wider than the data
//   wlast       WLAST is on the last beat of a burst, and on no other
//   strobe      WSTRB only on bytes of the beat's address and size
//   b_early     no response before the last beat of its burst
//   b_unknown   a write response has the id of a request
//   r_unknown   read data has the id of a request
//   rlast       RLAST is on the last beat of a burst, and on no other
//   exokay      EXOKAY only for exclusive accesses
//   open        every request has its response (at the end of the run)
//   stuck       a VALID that waits gets its READY (at the end of the run)

#ifndef WEFT_COSIM_AXI_AXI_CHECKER_H
#define WEFT_COSIM_AXI_AXI_CHECKER_H

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "configs/types.h"
#include "cosim/axi/axi_pins.h"

namespace weft::cosim {

class AxiChecker {
 public:
  struct Violation {
    std::string rule;
    Picoseconds at = 0;
    std::string text;  ///< names block, pins, rule and time
  };
  using Report = std::function<void(const Violation&)>;

  /// By default a violation is thrown as UserError(usage). The pins outlive the checker.
  explicit AxiChecker(const AxiPins& pins);
  /// Who hears of violations instead.
  void report_to(Report report) { report_ = std::move(report); }

  /// At a rising edge, before anything is written.
  void edge(Picoseconds now, bool reset);
  /// After the run: what is still open.
  void finish(Picoseconds now);

  /// A handshake that waits, and requests without a response, in words; "": nothing.
  std::string stall_text() const;

  uint64_t bursts() const { return bursts_; }
  uint64_t violations() const { return violations_; }

 private:
  enum Channel : uint8_t { aw, w, b, ar, r, kChannels };
  struct Seen {
    AxiSignal valid{}, ready{};
    std::vector<AxiSignal> carried;
    std::vector<std::vector<uint32_t>> now, then;
    bool waits = false;
    bool beat = false;  ///< taken at this edge
    Picoseconds since = 0;
  };
  struct Burst {
    uint64_t address = 0;
    uint32_t beats = 1;
    uint32_t size = 0;
    uint32_t type = 1;
    uint64_t id = 0;
    bool exclusive = false;
    uint32_t done = 0;
  };

  void broken(const char* rule, Picoseconds now, const std::string& what);
  void sample(Seen& channel, Picoseconds now, bool reset);
  Burst request(bool write, Picoseconds now);
  void write_beats(Picoseconds now);
  void responses(Picoseconds now);
  uint64_t beat_address(const Burst& burst, uint32_t beat) const;

  const AxiPins& pins_;
  std::string port_;
  std::array<Seen, kChannels> seen_;
  std::deque<Burst> writes_;  ///< requests in their order, up to their last beat
  struct Beat {
    bool last = false;
    std::vector<uint32_t> strobes;
  };
  std::deque<Beat> early_;                        ///< beats that came before their request
  std::map<uint64_t, std::deque<Burst>> owed_b_;  ///< by id: bursts whose data is complete
  std::map<uint64_t, std::deque<Burst>> owed_r_;
  uint64_t bursts_ = 0;
  uint64_t violations_ = 0;
  Report report_;
};

}  // namespace weft::cosim

#endif
