// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The parts of a machine as processes of any computers, one started for each part: by hand, or by a launcher
// of jobs. Part 0 listens, the others join it and each other over TCP. All must be the same build of the
// program, with the same configuration and traces.

#ifndef WEFT_PARTS_REMOTE_PARTS_H
#define WEFT_PARTS_REMOTE_PARTS_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "parts/connection.h"
#include "parts/parts.h"

namespace weft::parts {

/// What must be the same in all parts.
struct Common {
  std::string program;        ///< version and build
  std::string configuration;  ///< effective.yaml, and what the command line adds
  uint64_t work = 0;          ///< a hash of what the ranks do
};

class RemoteParts final : public Parts {
 public:
  /// `self`: this part's number. `at`: where part 0 listens. `wait_seconds`: so long the parts may take to
  /// come together.
  RemoteParts(Cut cut, uint32_t self, Address at, Common common, double wait_seconds);

  /// Joins the others. Throws UserError: nobody listens, or comes; another version, configuration, trace or
  /// number of parts; two parts have one number.
  std::string split() override;
  void post(uint32_t part, const PartTransfer& transfer) override;
  std::vector<std::string> gather(std::string own) override;
  [[noreturn]] void leave() override;
  [[noreturn]] void fail(ExitCode code, const std::string& text) override;

 private:
  void exchange(Word own) override;
  Batch inbox(uint32_t from) const override;
  void end_others(const std::string& why) override;

  /// To all that have joined.
  void tell_failure(ExitCode code, const std::string& text);
  void wait_for_others();
  void join_first();
  void join_each_other(int listener, const std::string& welcome);
  void admit(int socket, std::vector<Address>& addresses);
  /// Why the part that says this cannot join; empty: it can.
  std::string refusal(const std::string& hello) const;
  std::string hello(uint16_t port) const;
  /// Throws UserError, or ends the process, if the frame says so.
  void check(uint32_t from, const Frame& frame) const;
  [[noreturn]] void lose(uint32_t part) const;

  const Address at_;
  const Common common_;
  const double wait_seconds_;
  uint64_t run_ = 0;                                ///< drawn by part 0: who knows it belongs to this run
  std::vector<std::unique_ptr<Connection>> links_;  ///< by part; null: this one, or it has not joined
  std::vector<Connection*> all_;                    ///< the same
  std::vector<std::vector<PartTransfer>> outbox_;   ///< by part
  std::vector<std::vector<PartTransfer>> inbox_;
  std::string scratch_;
};

}  // namespace weft::parts

#endif
