// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "insight/critical_path.h"

#include <algorithm>

namespace weft::insight {
namespace {

/// What of an activity the path comes to.
enum class Event : uint8_t {
  over,     ///< its end
  tail,     ///< a message's last byte is at the other side of the link
  head,     ///< .. its first byte
  off,      ///< .. its last byte has left
  start,    ///< .. its first byte leaves
  blocking  ///< it has the link that somebody waits for
};

bool of_way(ActivityKind kind) {
  return kind == ActivityKind::crossing || kind == ActivityKind::last_link || kind == ActivityKind::way;
}

class Walk {
 public:
  Walk(const CausalLog& log, Picoseconds origin, Picoseconds end) : log_(log), origin_(origin), at_(end) {}

  std::vector<Piece> from(ActivityId last) {
    id_ = last;
    event_ = Event::over;
    while (at_ > origin_) {
      const Activity* const a = log_.find(id_);
      if (a == nullptr) {
        id_ = kNoActivity;
        piece(origin_, log_.forgotten() != 0 ? Term::unrecorded : Term::wait, npu_);
        break;
      }
      step(*a);
    }
    std::reverse(pieces_.begin(), pieces_.end());
    return std::move(pieces_);
  }

 private:
  /// What was between `from` and where the path is now.
  void piece(Picoseconds from, Term term, uint32_t place) {
    from = std::max(from, origin_);
    if (from >= at_) return;
    pieces_.push_back({from, at_, term, place, stream_, access_ != kNoActivity ? access_ : id_, step_});
    at_ = from;
  }
  void to(ActivityId id, Event event) {
    id_ = id;
    event_ = event;
  }

  void step(const Activity& a) {
    if (a.of_kind() != ActivityKind::stage) access_ = waits_ = kNoActivity;
    switch (a.of_kind()) {
      case ActivityKind::crossing:
        stream_ = a.what;
        return crossing(a);
      case ActivityKind::last_link:
        stream_ = a.what;
        return last_link(a);
      case ActivityKind::way:
        stream_ = a.what;
        if (event_ != Event::head) {
          piece(a.end, Term::latency, a.where);
          piece(a.begin, Term::serialise, a.where);
        }
        piece(a.begin, Term::latency, a.where);
        return to(a.cause, Event::start);
      case ActivityKind::exchange:
        return exchange(a);
      case ActivityKind::sent:
        return sent(a);
      case ActivityKind::message:
        npu_ = a.where;
        stream_ = a.what;
        piece(a.end, Term::wait, npu_);
        step_ = a.before;
        piece(a.begin, Term::reduction, npu_);
        piece(a.ready, Term::endpoint, npu_);
        return to(a.cause, Event::tail);
      case ActivityKind::unit:
        piece(a.end, Term::wait, npu_);
        piece(a.ready, Term::reduction, npu_);
        return to(a.cause, Event::tail);
      case ActivityKind::endpoint:
        return stretch(a, Term::endpoint, a.what);
      case ActivityKind::compute:
        return stretch(a, Term::compute, 0);
      case ActivityKind::local_memory:
        return memory(a, Term::local_memory);
      case ActivityKind::remote_memory:
        return memory(a, Term::remote_memory);
      case ActivityKind::access:
        npu_ = a.where;
        piece(a.ready, Term::wait, npu_);
        return to(a.cause, Event::over);
      case ActivityKind::stage:
        return stage(a);
    }
  }

  /// In stages, if the memory has told of them.
  void memory(const Activity& a, Term term) {
    if (a.before == kNoActivity) return stretch(a, term, 0);
    npu_ = a.where;
    piece(a.end, Term::wait, npu_);
    to(a.before, Event::tail);
  }

  void stage(const Activity& a) {
    const Activity* const access = log_.find(a.what);
    access_ = a.what;
    const bool reduces = access != nullptr && access->foreign != 0;
    stream_ = reduces ? access->what : 0;
    if (reduces) step_ = access->before;
    if (access != nullptr) npu_ = access->where;
    piece(a.end, Term::latency, a.where);
    if (event_ == Event::blocking) {
      // An access that waits for parts of its own is being served.
      piece(a.begin, a.what != kNoActivity && a.what == waits_ ? Term::serialise : Term::queueing, a.where);
    } else {
      waits_ = a.what;
      if (a.tail_limited != 0 && access != nullptr && !reduces) {
        piece(a.begin, access->by_head != 0 ? Term::remote_memory : Term::local_memory, npu_);
      } else {
        piece(a.begin, Term::serialise, a.where);
      }
    }
    begin_of(a, a.before);
  }

  void stretch(const Activity& a, Term term, uint32_t stream) {
    npu_ = a.where;
    piece(a.end, Term::wait, npu_);
    stream_ = stream;
    piece(a.ready, term, npu_);
    to(a.cause, Event::over);
  }

  void crossing(const Activity& a) {
    if (event_ == Event::blocking) {
      if (a.tail_limited) return to(a.cause, Event::tail);
      piece(a.begin, Term::queueing, a.where);
    } else if (event_ == Event::head) {
      piece(a.begin, Term::latency, a.where);
    } else if (event_ != Event::start) {
      piece(a.end, event_ == Event::off ? Term::wait : Term::latency, a.where);
      if (a.tail_limited) return to(a.cause, Event::tail);
      piece(a.begin, Term::serialise, a.where);
    }
    begin_of(a, a.before);
  }

  /// The path is where the activity began, on its link.
  void begin_of(const Activity& a, ActivityId before) {
    if (a.begin > a.ready && before != kNoActivity) {
      const Activity* const b = log_.find(before);
      if (b == nullptr || (!b->foreign && b->begin <= at_)) return to(before, Event::blocking);
    }
    piece(a.ready, Term::queueing, a.where);
    to(a.cause, cause_event(a));
  }

  Event cause_event(const Activity& a) const {
    const Activity* const cause = log_.find(a.cause);
    if (cause == nullptr) return Event::over;
    if (cause->of_kind() == ActivityKind::stage) return Event::tail;
    if (!of_way(cause->of_kind())) return Event::over;
    return a.by_head ? Event::head : Event::tail;
  }

  void last_link(const Activity& a) {
    if (event_ == Event::blocking) {
      piece(a.begin, Term::queueing, a.where);
    } else if (a.begin == a.ready) {
      // Nobody was before it: its way is that of a message alone.
      piece(a.end, Term::queueing, a.where);
      return to(a.cause, event_);
    } else if (event_ != Event::head) {
      piece(a.end, Term::queueing, a.where);
      piece(a.begin, Term::serialise, a.where);
    }
    if (a.begin > a.ready) {
      const ActivityId before = log_.on_last_link(a.where, a.begin);
      if (before != kNoActivity && before != id_) return to(before, Event::blocking);
      piece(a.ready, Term::queueing, a.where);
    }
    to(a.cause, Event::head);
  }

  /// Over when the most loaded link has carried what passes it, counted from the entry into the round.
  void exchange(const Activity& a) {
    stream_ = a.what;
    piece(a.end, Term::wait, a.where);
    piece(a.begin, Term::latency, a.where);
    piece(a.ready, Term::serialise, a.where);
    const Activity* way = &a;
    ActivityId root = a.cause;
    for (;;) {
      way = log_.find(root);
      if (way == nullptr) break;
      if (!of_way(way->of_kind())) break;
      root = way->cause;
    }
    to(root, Event::over);
  }

  void sent(const Activity& a) {
    const Activity* const cause = log_.find(a.cause);
    stream_ = kPointToPoint;
    piece(a.end, Term::wait, npu_);
    const bool crossing = cause != nullptr && cause->of_kind() == ActivityKind::crossing;
    to(a.cause, crossing ? Event::off : Event::over);
  }

  const CausalLog& log_;
  const Picoseconds origin_;
  Picoseconds at_;
  ActivityId id_ = kNoActivity;
  Event event_ = Event::over;
  uint32_t npu_ = 0;
  uint32_t stream_ = 0;
  uint32_t step_ = 0;
  ActivityId access_ = kNoActivity;  ///< the path is in a stage of this one
  ActivityId waits_ = kNoActivity;   ///< .. and has come to it from this one
  std::vector<Piece> pieces_;
};

}  // namespace

const char* to_string(Term term) {
  static const char* const names[kTerms] = {"compute",       "local_memory", "remote_memory", "queueing",
                                            "serialisation", "latency",      "endpoint",      "reduction",
                                            "wait",          "unrecorded"};
  return names[static_cast<uint32_t>(term)];
}

bool of_link(Term term) {
  return term == Term::queueing || term == Term::serialise || term == Term::latency;
}

std::vector<Piece> critical_path(const CausalLog& log, ActivityId last, Picoseconds origin, Picoseconds end) {
  return Walk(log, origin, end).from(last);
}

PathEnd end_of_path(const CausalLog& log) {
  PathEnd path;
  const auto& ends = log.ends();
  for (uint32_t npu = 0; npu < ends.size(); ++npu) {
    if (!ends[npu].any || (path.at != kNever && ends[npu].at <= path.at)) continue;
    path = {ends[npu].last, ends[npu].at, npu};
  }
  return path;
}

}  // namespace weft::insight
