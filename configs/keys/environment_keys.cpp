// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Keys of the environment of `weft emulate`. The loader expands its lists of ranks
// (configs/loading/environment.cpp).

#include "configs/keys/key_table.h"
#include "configs/notation.h"
#include "configs/npu_list.h"

namespace weft {
namespace {

template <auto Member>
constexpr Field in_environment = field<&Config::environment, Member>;

void leave_ranks(EmulatedClass&, const Value&) {}
Value ranks_of(const EmulatedClass& entry) {
  return npu_items(entry.ranks);
}

constexpr KeyRow kEnvironmentKeys[] = {
    {"real", Type::ranks, kOptional, kAny, no_field,
     "The real ranks: each is a process that `weft emulate` starts. `--real` comes before it."},
    {"detail", Type::choice, "restricted",
     one_of({{"restricted",
              "only real ranks are simulated; when emulated ranks send to them is measured once for each "
              "collective and size on an idle machine"},
             {"full",
              "every rank has its NMU in the fabric, and emulated ranks send all their messages: the "
              "reference"}}),
     in_environment<&EnvironmentConfig::detail>, "How much of the emulated ranks is simulated."},
    {"delay", Type::choice, "model",
     one_of({{"model", "the configured machine's"},
             {"table", "those of `delay_table`: the steps of a collective keep their share of its time"},
             {"plugin", "a function of `delay_plugin` says how long each step of a collective takes"}}),
     in_environment<&EnvironmentConfig::delay>, "Whose times collectives with emulated ranks take."},
    {"delay_table", Type::path, kOptional, kAny, in_environment<&EnvironmentConfig::delay_table>,
     "CSV file with lines `operation,algorithm,group_size,bytes,time_us`. Between sizes Weft interpolates."},
    {"delay_plugin", Type::path, kOptional, kAny, in_environment<&EnvironmentConfig::delay_plugin>,
     "Shared library with the function `weft_delay` (`weft_delay.h`)."},
    {"skew", Type::time, "0 ns", up_to("1000 s"), in_environment<&EnvironmentConfig::skew>,
     "By how much emulated ranks join a collective later than the real rank that they follow: the largest "
     "value of `uniform`, the mean of `exponential`. Drawn for each rank and collective with `run.seed`."},
    {"skew_distribution", Type::choice, "uniform",
     one_of({{"uniform", "from 0 to `skew`"}, {"exponential", "with the mean `skew`"}}),
     in_environment<&EnvironmentConfig::skew_distribution>, "Distribution of `skew`."},
    {"poll_cost", Type::time, "100 ns", from("1 ps", "1 s"), in_environment<&EnvironmentConfig::poll_cost>,
     "Time that a call takes which asks whether a request is over, so that a program that spins ends."},
};

constexpr KeyRow kClassKeys[] = {
    {"real", Type::integer, kRequired, from(0, kMaxNpus), field<&EmulatedClass::real>,
     "The real rank that they follow."},
    {"ranks", Type::ranks, kRequired, kAny, custom_field<leave_ranks, ranks_of>,
     "The emulated ranks: numbers and ranges, `[8..15]`. Real ranks among them stay real."},
};

constexpr KeyRow kCommunicatorKeys[] = {
    {"call", Type::integer, "0", from(0, 1000000), field<&CommunicatorRule::call>,
     "The entry is for the n-th such call of a rank, from 1. 0: all."},
    {"stride", Type::integer, "1", from(1, kMaxNpus), field<&CommunicatorRule::stride>,
     "Ranks from one member to the next."},
    {"count", Type::integer, kRequired, from(1, kMaxNpus), field<&CommunicatorRule::count>,
     "Members of each new communicator."},
};

constexpr KeyRow kPeerKeys[] = {
    {"rank", Type::integer, kOptional, from(0, kMaxNpus), field<&PeerRule::rank>,
     "The emulated rank that sends. Absent: all."},
    {"tag", Type::integer, kOptional, from(0, 2147483647), field<&PeerRule::tag>,
     "Tag of the messages. Absent: all."},
    {"when", Type::choice, "ready",
     one_of({{"ready", "it sends when the real rank's receive is posted"},
             {"echo", "it answers the n-th message that it gets from the real rank with its n-th"},
             {"delay", "as `ready`, and `delay` later"}}),
     field<&PeerRule::when>, "When it sends."},
    {"delay", Type::time, "0 ns", up_to("1000 s"), field<&PeerRule::delay>,
     "Time from what `when` says to the send."},
};

}  // namespace

void add_environment_keys(KeyTable& table) {
  table.add("environment", kEnvironmentKeys);
  table.add("environment.classes[]", kClassKeys);
  table.add("environment.communicators[]", kCommunicatorKeys);
  table.add("environment.peers[]", kPeerKeys);
}

}  // namespace weft
