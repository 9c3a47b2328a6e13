// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Replicas of a job that do the same at first (graph::Replicas): one of them runs for all, and each unit of
// the others begins in the state that it has reached there, shortly before something could tell them apart. A
// unit's time for that is known from a scout: a process with the first replica alone, in which collectives
// that join replicas never end. docs/folding.md says why that is exact.
//
//     in the scout                                   in the run
//     Machine machine(.., scout_options(*checked));  Machine machine(.., machine_options(*checked));
//     TraceJob job(machine, std::move(checked));     TraceJob job(machine, std::move(checked));
//     Splitting& splitting = job.split();            Splitting& splitting = job.split();
//     splitting.scout();                             splitting.follow(plan, ..);
//     job.start();                                   job.start();
//     after each instant: splitting.look(..);        sc_start as ever
//     plan = splitting.plan({});
//
// In a machine in parts every part follows the same plan with the ranks that it has. Those that are alike
// must be in the same part, and so must those that send messages to each other.

#ifndef WEFT_SC_MODELS_SPLITTING_H
#define WEFT_SC_MODELS_SPLITTING_H

#include <cstdint>
#include <functional>
#include <string>
#include <systemc>
#include <vector>

#include "configs/types.h"
#include "sc_models/message_copies.h"
#include "workload/collectives/member_begins.h"
#include "workload/graph/folding/replicas.h"
#include "workload/trace/groups.h"

namespace weft {

class Machine;

/// What Splitting asks of the job.
class SplitHost {
 public:
  virtual ~SplitHost() = default;
  /// Nothing of the rank is under way that adopt() could not take over.
  virtual bool rests(uint32_t rank) const = 0;
  /// The rank has done what `like` has. `image`: the rank in the place of one that `like` communicates with.
  virtual void adopt(uint32_t rank, uint32_t like, const std::function<uint32_t(uint32_t)>& image) = 0;
  /// The group has run the collectives that `like` has.
  virtual void adopt_collectives(trace::GroupId group, trace::GroupId like,
                                 const std::function<uint32_t(uint32_t)>& image) = 0;
};

class Splitting final : public sc_core::sc_module, private MessageCopies {
 public:
  /// When each unit begins in the replicas that follow; 0: with the job.
  using Plan = std::vector<Picoseconds>;
  /// A unit must begin before that time: a plan in which it does not was wrong.
  struct Limit {
    uint32_t unit = 0;
    Picoseconds before = 0;
  };

  /// All outlive the object. The machine has all ranks of the job, in their own places.
  Splitting(sc_core::sc_module_name name, Machine& machine, SplitHost& host, const trace::Groups& groups,
            const graph::Replicas& replicas);
  ~Splitting() override;

  // Before the job starts, one of these; without them all ranks begin with the job:
  void scout();
  /// `failed`: the plan is wrong; nothing that is done from then on counts. It does not return. `over`: all
  /// ranks have begun.
  using Failed = std::function<void(const Limit& limit, const std::string& why)>;
  void follow(Plan plan, Failed failed, std::function<void()> over);

  /// In a scout: the instant is over, and the next thing happens at `next`.
  void look(Picoseconds now, Picoseconds next);
  /// .. and all is over that can be.
  Plan plan(const std::vector<Limit>& limits) const;

  // What the job tells:
  /// Does the rank begin with the job?
  bool begins(uint32_t rank) const;
  /// A rank starts its part of a collective of the group. False: it does not, in a scout.
  bool starts(trace::GroupId group);
  /// .. the first of its members, and one of them has finished its part.
  void collective_begins(trace::GroupId group);
  void part_ends(trace::GroupId group);
  void sends(uint32_t rank, uint32_t peer);
  void arrived(uint32_t rank);

  /// The rank that is simulated for this one: another one until it has begun.
  uint32_t stands_for(uint32_t rank) const;
  /// Ranks that begin later than the job, and those of them that have not begun.
  uint64_t late() const { return late_; }
  uint64_t asleep() const;
  /// When the last ones did.
  Picoseconds split_at() const { return split_at_; }
  /// In parts: a rank that had begun has waited for a message of one that had not.
  bool waited_for_sleepers(const collectives::MemberBegins& told) const;

 private:
  static constexpr uint32_t kNone = ~0u;
  struct Place {
    uint32_t replica = kNone;  ///< kNone: of none
    uint32_t place = 0;
    uint32_t unit = 0;
  };
  struct Unit {
    std::vector<uint32_t> places;  ///< of graph::Replicas::Unit, those that are in this part of the machine
    bool asleep = false;           ///< the first replica's stands for the others'
    Picoseconds begins = 0;        ///< there
    /// In the first replica: messages to it, and parts of collectives that some member has started.
    uint64_t under_way = 0;
    std::vector<Picoseconds> rest;  ///< scout: when it could begin, ascending
    Picoseconds joins = kNever;     ///< scout: when it starts a collective that joins replicas
  };
  struct Send {
    Picoseconds at = 0;
    uint32_t from = 0;
    uint32_t to = 0;
  };

  void begin_units();
  void split(uint32_t unit);
  bool rests(uint32_t unit) const;
  bool here(uint32_t rank) const;
  void leaves(uint32_t dimension, const fabric::Transfer& transfer) override;
  void listen(MessageCopies* listener);
  void fail(uint32_t unit, const std::string& why);
  Picoseconds now() const;

  Machine& machine_;
  SplitHost& host_;
  const graph::Replicas& replicas_;
  std::vector<Place> places_;                  ///< by rank
  std::vector<std::vector<uint32_t>> joined_;  ///< by group that joins replicas: units of its members
  struct OwnGroup {
    uint32_t unit = kNone;  ///< of the first replica; kNone: it is not one of its groups
    uint32_t members = 0;   ///< in this part of the machine
  };
  std::vector<OwnGroup> own_groups_;  ///< by group
  uint32_t units_asleep_ = 0;
  std::vector<Unit> units_;
  bool scouting_ = false;
  std::vector<Send> sends_;  ///< scout: between units
  Failed failed_;
  std::function<void()> over_;
  uint64_t late_ = 0;
  Picoseconds split_at_ = 0;
  sc_core::sc_event wake_;
};

}  // namespace weft

#endif
