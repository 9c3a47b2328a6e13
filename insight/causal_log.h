// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What caused what: a log of the activities of a run, each with the activity that let it begin. Going back
// from the end of the run gives the critical path (critical_path.h).
//
// Models that keep a log hold a pointer to it, which is null when nobody asks. Two rules make it work.
//  - Whoever handles the end of an activity says so by because(); whatever begins before the next such call
//    began because of it. That is the last of its dependencies: the others were met before.
//  - A message that waits for a link waits for the message before it there, not for its own past. The log
//    keeps the order of each link, so that the path can go on with that message.

#ifndef WEFT_INSIGHT_CAUSAL_LOG_H
#define WEFT_INSIGHT_CAUSAL_LOG_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "configs/types.h"

namespace weft::insight {

class ActivityListener;

/// Number of a recorded activity; 0: none, the beginning of the run.
using ActivityId = uint32_t;
constexpr ActivityId kNoActivity = 0;

/// Activity::what of a point-to-point message.
constexpr uint32_t kPointToPoint = ~uint32_t{0};

enum class ActivityKind : uint8_t {
  // What a node of a trace does. `where`: NPU, `what`: the node's index in its trace.
  compute,
  local_memory,
  remote_memory,
  // Of a message. `what`: the collective's number.
  /// A message on a link. It may begin at `ready`, has the link from `begin` to `end`, and is at the other
  /// side a latency later.
  crossing,
  /// The same seen from the receiver (analytical fidelity): head and tail are there at `begin`, `end`.
  last_link,
  way,  ///< it goes on over more links as if it were alone (analytical fidelity). `where`: all of these
  /// A round in which all members exchange with all: over at `end`; `begin`: a latency before that.
  exchange,
  sent,     ///< its last byte has left the sender
  message,  ///< the end of one: whole at `ready`, endpoint delay until `begin`, reduced until `end`
  // Of a chunk or message at an NPU (`where`).
  endpoint,  ///< delay before a send
  unit,      ///< combined by a switch. `where`: a link number
  // Of an access to a memory.
  /// It begins. `where`: NPU, `what`: the node's index in its trace. foreign: it reduces a message of the
  /// collective `what` and step `before`. by_head: to remote memory.
  access,
  /// A part of it at a server of a memory, or on a link: `where`, a link number. It waits from `ready` to
  /// `begin`, is served until `end`, and goes on a latency later. `what`: its access. tail_limited: what it
  /// did from `begin` to `end` is the memory's secret.
  stage
};
constexpr uint32_t kActivityKinds = 14;

/// Times are those of the machine. 40 bytes.
struct Activity {
  Picoseconds ready = 0;
  Picoseconds begin = 0;
  Picoseconds end = 0;
  ActivityId cause = kNoActivity;  ///< what let it become ready
  /// crossing, stage: the one before it; message: its chunk; memory: the stage that ended it, if it has told
  ActivityId before = kNoActivity;
  uint32_t what = 0;
  uint32_t where : 24;
  uint32_t kind : 4;
  uint32_t by_head : 1;       ///< crossing: ready with the head of the message, whose tail was still coming
  uint32_t tail_limited : 1;  ///< crossing: ended with the tail that came in, not by the link's own rate
  uint32_t foreign : 1;       ///< crossing: of a message that the log does not follow
  uint32_t : 1;

  Activity() : where(0), kind(0), by_head(0), tail_limited(0), foreign(0) {}
  ActivityKind of_kind() const { return static_cast<ActivityKind>(kind); }
};
static_assert(sizeof(Activity) == 40, "the log holds one for every hop of every message");

/// A part of a memory access on its way through stages.
struct AccessPart {
  ActivityId access = kNoActivity;  ///< none: of an access that the log does not follow
  ActivityId last = kNoActivity;    ///< the stage that it has passed last, or its access
  Picoseconds came = 0;             ///< it is where it is since then
};

/// A link of the log: what messages wait for.
struct LinkName {
  std::string name;        ///< as in links.csv
  std::string link_class;  ///< links that would be improved together: "dimension 0"
};

class CausalLog {
 public:
  /// Keeps at least the latest `bytes` of activities; older ones are forgotten. 0: keeps none, for who wants
  /// its listener only.
  explicit CausalLog(uint64_t bytes);
  ~CausalLog();
  CausalLog(const CausalLog&) = delete;
  CausalLog& operator=(const CausalLog&) = delete;

  /// Who hears of activities as they become known. Null: nobody.
  ActivityListener* listener() const { return listener_; }
  /// Before the machine is built. It outlives what tells the log.
  void listen(ActivityListener* listener) { listener_ = listener; }
  /// False: there is nothing but the listener.
  bool keeps() const { return blocks_kept_ != 0; }

  /// What has ended last: the cause of what begins now.
  ActivityId because() const { return because_; }
  void because(ActivityId id) { because_ = id; }

  ActivityId add(const Activity& activity);
  /// `kind` from `begin` to `end`, because of `cause`.
  ActivityId stretch(ActivityKind kind, ActivityId cause, uint32_t where, uint32_t what, Picoseconds begin,
                     Picoseconds end);

  // Messages, by the number of their packet in the pool.
  /// The message begins, because of because(); or it goes on because of another activity.
  void submitted(uint32_t packet);
  void submitted(uint32_t packet, ActivityId cause);
  /// The last activity of the message so far.
  ActivityId last(uint32_t packet) const { return packet < messages_.size() ? messages_[packet].last : 0; }
  /// `activity` goes on with the message, whose last one is its cause. Returns its number.
  ActivityId follow(uint32_t packet, Activity activity);
  /// .. which crosses a link.
  void crossed(uint32_t packet, const Activity& crossing);
  /// The last byte has left its sender, at `at`.
  void left(uint32_t packet, Picoseconds at);

  // Accesses to memories. `link`: of add_link().
  /// Begins at `at`, because of `cause`; `access`: without kind and times.
  AccessPart begin_access(Activity access, ActivityId cause, Picoseconds at);
  /// The part passes a stage; `stage`: its `ready`, `begin` and `end`, and who had the server before. It has
  /// waited since it came, if that is earlier. Returns the stage's number.
  ActivityId pass(AccessPart& part, uint32_t link, Activity stage);
  /// .. which takes no time, at `at`. The part goes on at `until`: a way of that latency.
  void pass_way(AccessPart& part, uint32_t link, Picoseconds at, Picoseconds until);
  /// Whose part uses links and memories from now on; null: those of messages do. Returns who did before.
  AccessPart* on_behalf(AccessPart* part) {
    AccessPart* const before = present_;
    present_ = part;
    return before;
  }
  AccessPart* present() const { return present_; }
  /// The memory that is about to tell of an access's end says what it ended with.
  void answers(ActivityId id) { answer_ = id; }
  /// kNoActivity: it has not said.
  ActivityId take_answer() {
    const ActivityId id = answer_;
    answer_ = kNoActivity;
    return id;
  }

  /// What an NPU has ended last.
  void ended(uint32_t npu, ActivityId id, Picoseconds at);
  struct End {
    ActivityId last = kNoActivity;
    Picoseconds at = 0;
    bool any = false;
  };
  /// By NPU.
  const std::vector<End>& ends() const { return ends_; }
  /// Another run begins: nobody has ended anything, and nothing is the cause.
  void restart();

  uint32_t add_link(LinkName link);
  const LinkName& link(uint32_t number) const { return links_[number]; }
  uint32_t links() const { return static_cast<uint32_t>(links_.size()); }

  /// Null: forgotten, or never there.
  const Activity* find(ActivityId id) const;
  /// The passage of that last link that ended at `end`. kNoActivity: unknown.
  ActivityId on_last_link(uint32_t link, Picoseconds end) const;
  uint64_t recorded() const { return next_ - 1; }
  uint64_t forgotten() const { return first_ - 1; }

 private:
  static constexpr uint32_t kBlockBits = 14;
  static constexpr uint32_t kBlockSize = 1u << kBlockBits;
  struct Message {
    ActivityId last = kNoActivity;
    ActivityId cause = kNoActivity;
    ActivityId first = kNoActivity;  ///< its first crossing
  };
  void grow();
  void index_passages() const;

  uint64_t blocks_kept_;  ///< 0: none are made
  ActivityListener* listener_ = nullptr;
  ActivityId because_ = kNoActivity;
  ActivityId answer_ = kNoActivity;
  AccessPart* present_ = nullptr;
  uint64_t next_ = 1;
  uint64_t first_ = 1;                               ///< the oldest one kept
  std::vector<std::unique_ptr<Activity[]>> blocks_;  ///< by number / kBlockSize; null: forgotten
  std::vector<Message> messages_;                    ///< by packet
  std::vector<ActivityId> last_on_;                  ///< by link
  std::vector<LinkName> links_;
  std::vector<End> ends_;
  mutable std::vector<ActivityId> passages_;  ///< of last links, by link and end; made when asked
  mutable uint64_t passages_until_ = 0;       ///< next_ when they were made
};

/// Links and memories are used on behalf of a part, as long as this is there. `log` may be null.
class OnBehalf {
 public:
  OnBehalf(CausalLog* log, AccessPart* part) : log_(log) {
    if (log_ != nullptr) before_ = log_->on_behalf(part);
  }
  ~OnBehalf() {
    if (log_ != nullptr) log_->on_behalf(before_);
  }
  OnBehalf(const OnBehalf&) = delete;
  OnBehalf& operator=(const OnBehalf&) = delete;

 private:
  CausalLog* const log_;
  AccessPart* before_ = nullptr;
};

}  // namespace weft::insight

#endif
