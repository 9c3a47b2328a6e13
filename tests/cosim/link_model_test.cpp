// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Models that stand in single links, and what `rtl:` asks for.

#include "sc_models/link_model.h"

#include <gtest/gtest.h>

#include <string>

#include "sc_models/make_model.h"
#include "sc_models/nmu_model.h"
#include "sc_models/router_model.h"
#include "tests/support/isolated.h"
#include "tests/support/small_machine.h"
#include "tests/support/solo_job.h"

namespace weft {
namespace {

/// Lets every message go on a time later.
class Delay final : public LinkModel {
 public:
  Delay(sc_core::sc_module_name name, const LinkContext& context, Picoseconds by)
      : LinkModel(name, context), by_(by) {}
  size_t in_flight() const override { return 0; }

 private:
  void cross(bool forward, const fabric::Crossing& crossing) override {
    fabric::Crossing later = crossing;
    later.first += by_;
    later.latency += by_;
    pass(forward, later);
  }
  Picoseconds by_;
};

LinkMaker delay() {
  return [](sc_core::sc_module_name name, const LinkContext& context, Parameters& parameters) {
    return std::make_unique<Delay>(name, context, parameters.time("by", "0 ns"));
  };
}

/// Time of an all-gather on a ring of four, or the error.
std::string outcome(const std::string& modules, const std::string& implementation,
                    Fidelity fidelity = Fidelity::message, const std::string& data = "none") {
  const auto result = test::isolated([&] {
    link_models().add({"delay", "of this test", "a plugin", delay()});
    link_models().add({"rtl_delay", "of this test", "a plugin", delay(), true});
    Config config = test::ring_4_switch_2(fidelity);
    config.collectives.chunks = 1;
    config.run.data = data;
    if (!modules.empty()) {
      ModuleChoice choice;
      choice.modules = modules;
      choice.implementation = implementation;
      choice.origin = "key";
      config.implementations.push_back(choice);
    }
    try {
      test::SoloCollectiveJob job("job", config);
      job.start(CollectiveOp::all_gather, 1 << 14);
      test::run_to_the_end(job);
      std::string text = std::to_string(job.last().time());
      for (const std::string& line : job.result().broken_invariants) text += "; " + line;
      return text;
    } catch (const UserError& e) {
      return std::string("error: ") + e.what();
    }
  });
  EXPECT_EQ(result.status, 0) << result.text;
  return result.text;
}

TEST(LinkModel, StandsInALink) {
  for (const char* const data : {"none", "functional"}) {
    const std::string plain = outcome("", "", Fidelity::message, data);
    EXPECT_EQ(outcome("nmu1.d0_plus", "delay", Fidelity::message, data), plain);
    EXPECT_EQ(outcome("*", "rtl:rtl_delay", Fidelity::message, data), plain);
    // Three rounds round the ring, each over every link; one round over the switch, two links.
    const uint64_t before = std::stoull(plain);
    EXPECT_EQ(std::stoull(outcome("nmu*.d0_plus", "delay(by=10 ns)", Fidelity::message, data)),
              before + 30000);
    EXPECT_EQ(std::stoull(outcome("switch1_*.*", "delay(by=10 ns)", Fidelity::message, data)),
              before + 20000);
    const uint64_t one = std::stoull(outcome("nmu1.d0_plus", "delay(by=10 ns)", Fidelity::message, data));
    EXPECT_GT(one, before);
    EXPECT_LE(one, before + 30000);
  }
}

TEST(LinkModel, WhatCannotBeIsTold) {
  const auto says = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  says(outcome("nmu9.d0_plus", "delay"), "'nmu9.d0_plus' applies to no link; 'delay' is a model for links");
  says(outcome("nmu1.d0_plus", "delay", Fidelity::analytical), "applies to no link");
  says(outcome("nmu1.d0_plus", "delay", Fidelity::packet), "applies to no link");
  says(outcome("nmu1.d0_plus", "rtl:delay"), "`rtl:delay`: the link model 'delay' of a plugin is no RTL");
  says(outcome("nmu1", "rtl:model"), "is no RTL");
  says(outcome("nmu1.d0_plus", "dela"), "there is no model 'dela'");
  says(outcome("nmu1.d0_plus", "delay(to=1 ns)"), "delay has no parameter 'to'");
}

}  // namespace
}  // namespace weft
