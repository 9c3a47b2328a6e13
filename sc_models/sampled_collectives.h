// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Sampled collectives (`packet.sampling`): of collectives that a job repeats, most are not simulated. They
// end after the time that others of their kind took, which were simulated packet by packet. It is a mode of
// its own: results differ from those without it, and the run tells by how much the times given were off.
//
// A kind is one group's collectives of one operation, size and plan. Its first ones are simulated, until
// their mean time is known, and later some more, drawn evenly: they show by how much the times given since
// were off. Only collectives that are alone are samples, and only those are not simulated that begin alone:
// nothing else is on links that theirs share (link_domains.h). So nobody misses their traffic, but for what
// begins later. That time counts as uncertain. Everything else is simulated.

#ifndef WEFT_SC_MODELS_SAMPLED_COLLECTIVES_H
#define WEFT_SC_MODELS_SAMPLED_COLLECTIVES_H

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <systemc>
#include <unordered_map>
#include <utility>
#include <vector>

#include "configs/config.h"
#include "insight/causal_log.h"
#include "sc_models/link_domains.h"
#include "workload/collectives/engine.h"
#include "workload/collectives/plan.h"
#include "workload/job/sampled_figures.h"
#include "workload/job/sampled_times.h"

namespace weft {

class SampledCollectives final : public sc_core::sc_module {
 public:
  /// A member's part of a collective.
  struct Part {
    uint32_t stream = 0;  ///< the same number on every member
    uint32_t rank = 0;
    std::shared_ptr<const collectives::CollectivePlan> plan;
    uint32_t group = 0;
  };
  /// Hears of the end of a part that was not simulated.
  using Done = std::function<void(uint32_t rank, const collectives::CollectiveDone& done)>;

  /// Of a job whose rank r is NPU r, with these groups. `config` and they outlive it. `causes` may be null.
  SampledCollectives(sc_core::sc_module_name name, const Config& config,
                     const std::vector<collectives::Group>& groups, Done done, insight::CausalLog* causes);

  /// The rank's part begins now. True: it is not simulated; Done tells of its end, later.
  bool start(const Part& part);
  /// A part that was simulated is over.
  void ended(uint32_t rank, const collectives::CollectiveDone& done);
  /// A point-to-point message between ranks is on its way, or no longer.
  void message_sent(uint32_t from, uint32_t to);
  void message_arrived(uint32_t from, uint32_t to);

  /// Not simulated.
  uint64_t messages() const { return figures_.messages; }
  SampledFigures figures() const;

 private:
  struct Kind {
    std::shared_ptr<const collectives::CollectivePlan> plan;
    uint32_t group = 0;
    std::vector<uint32_t> domains;
    uint32_t members = 0;  ///< of the group, which may be those of several lines
    bool sampled = false;  ///< a sample tells the times of others: it is one collective, of all members
    SampledTimes times;
    std::map<uint32_t, collectives::CollectiveDone> parts;  ///< by rank, of the latest sample
  };
  struct Member {
    uint32_t rank = 0;
    Picoseconds started = 0;
    Picoseconds ended = 0;
  };
  struct Running {
    Kind* kind = nullptr;
    bool simulated = true;
    bool alone = true;
    uint32_t over = 0;
    std::vector<Member> members;
    Picoseconds last_start = 0;
    Picoseconds last_end = 0;
    Picoseconds met = kNever;  ///< others came
    insight::ActivityId cause = insight::kNoActivity;
  };
  using KindKey = std::pair<const collectives::CollectivePlan*, uint32_t>;

  Kind& kind_of(const Part& part);
  Running& begin(const Part& part);
  bool worth(const Kind& kind, const Part& part, bool alone) const;
  static SampledTimes::Times waits_of(Running& running);
  void give_times(uint32_t stream, Running& running);
  void end_due();
  void over(uint32_t stream, Running& running);
  void meet(const std::vector<uint32_t>& domains);

  const Config& config_;
  const LinkDomains domains_;
  const std::vector<collectives::Group>& groups_;
  Done done_;
  insight::CausalLog* causes_;
  sc_core::sc_event due_;
  std::deque<Kind> kinds_;  ///< as they turned up
  std::map<KindKey, Kind*> kind_of_;
  std::unordered_map<uint32_t, Running> running_;  ///< by stream
  std::vector<uint32_t> messages_;                 ///< by domain: point-to-point, on their way
  std::vector<std::vector<uint32_t>> streams_;     ///< by domain: collectives that are running
  std::multimap<Picoseconds, std::pair<uint32_t, uint32_t>> ends_;  ///< stream and member
  std::vector<Picoseconds> given_of_;                               ///< by rank
  SampledFigures figures_;
};

}  // namespace weft

#endif
