// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/implementation.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "configs/extension.h"
#include "configs/loader.h"

namespace weft {
namespace {

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Implementation, IsANameWithParameters) {
  const Implementation plain = parse_implementation(" crossbar ");
  EXPECT_EQ(plain.model, "crossbar");
  EXPECT_TRUE(plain.parameters.empty());
  const Implementation full = parse_implementation("shared_buffer(buffer = 64 KiB,cells=8)");
  EXPECT_EQ(full.model, "shared_buffer");
  ASSERT_EQ(full.parameters.size(), 2u);
  EXPECT_EQ(full.parameters[0].first, "buffer");
  EXPECT_EQ(full.parameters[0].second, "64 KiB");
  EXPECT_EQ(print_implementation(full), "shared_buffer(buffer=64 KiB, cells=8)");
  EXPECT_EQ(print_implementation(parse_implementation(print_implementation(full))),
            print_implementation(full));
  EXPECT_EQ(print_implementation(parse_implementation("a()")), "a");
}

TEST(Implementation, MayBeOfAPlugin) {
  const Implementation own = parse_implementation("plugin: paced(rate=1 GB/s)");
  EXPECT_TRUE(own.of_plugin);
  EXPECT_EQ(own.model, "paced");
  EXPECT_EQ(print_implementation(own), "plugin:paced(rate=1 GB/s)");
  EXPECT_FALSE(parse_implementation("paced").of_plugin);
  EXPECT_NE(error_of([] { parse_implementation("plugin:"); }).find("does not begin with a name"),
            std::string::npos);
  EXPECT_NE(error_of([] { parse_implementation("vhdl:top"); }).find("does not begin with a name"),
            std::string::npos);
}

TEST(Implementation, MayBeRtl) {
  const Implementation rtl = parse_implementation("rtl: axis_switch(width=512)");
  EXPECT_TRUE(rtl.of_rtl);
  EXPECT_FALSE(rtl.of_plugin);
  EXPECT_EQ(rtl.model, "axis_switch");
  EXPECT_EQ(print_implementation(rtl), "rtl:axis_switch(width=512)");
  EXPECT_FALSE(parse_implementation("plugin:axis_switch").of_rtl);
  EXPECT_NE(error_of([] { parse_implementation("rtl:"); }).find("does not begin with a name"),
            std::string::npos);
  EXPECT_NE(error_of([] { parse_implementation("plugin:rtl:top"); }).find("does not begin with a name"),
            std::string::npos);
}

TEST(Extension, AModelOfAnotherKindIsToldSo) {
  add_choice("nmu.implementation", "an_nmu", "for this test");
  const std::string error = error_of([] {
    parse_config(
        "weft: 1\ntopology:\n  notation: Switch(4)\n  dimensions:\n"
        "    - {bandwidth: 100 GB/s, implementation: 'rtl:an_nmu'}\n",
        "m.yaml");
  });
  EXPECT_NE(error.find("'an_nmu' is a model for `nmu.implementation`"), std::string::npos) << error;
}

TEST(Implementation, SaysWhatIsWrong) {
  const auto of = [](const char* text) { return error_of([text] { parse_implementation(text); }); };
  EXPECT_NE(of("").find("does not begin with a name"), std::string::npos);
  EXPECT_NE(of("8port").find("does not begin with a name"), std::string::npos);
  EXPECT_NE(of("a(b=1").find("no closing parenthesis"), std::string::npos);
  EXPECT_NE(of("a(b)").find("'b' where `parameter=value`"), std::string::npos);
  EXPECT_NE(of("a(b=)").find("gives the parameter 'b' no value"), std::string::npos);
  EXPECT_NE(of("a(b=1, b=2)").find("gives the parameter 'b' twice"), std::string::npos);
}

TEST(Parameters, AreReadByTypeAndAllOfThem) {
  Parameters p(parse_implementation("m(t=2 us, n=3, s=1 KiB, w=word)"), "the.key");
  EXPECT_EQ(p.time("t", "1 ns"), 2000000u);
  EXPECT_EQ(p.integer("n", "1"), 3u);
  EXPECT_EQ(p.size("s", "1 B"), 1024u);
  EXPECT_EQ(p.number("x", "0.5"), 0.5);
  EXPECT_NE(error_of([&] { p.finish(); }).find("the.key: m has no parameter 'w'; it has t, n, s, x"),
            std::string::npos);
  EXPECT_EQ(p.text("w", ""), "word");
  EXPECT_EQ(error_of([&] { p.finish(); }), "no error");
  EXPECT_NE(error_of([&] { p.time("n", "1 ns"); }).find("the.key: parameter `n` of m: "), std::string::npos);
}

TEST(Extension, ANameIsThereOnce) {
  EXPECT_NE(error_of([] { add_choice("packet.routing", "dimension_order", "again"); }).find("already"),
            std::string::npos);
  EXPECT_NE(error_of([] { add_algorithm_name("ring", "again", "a test"); }).find("already"),
            std::string::npos);
  add_choice("topology.dimensions[].implementation", "of_a_test", "for this test");
  const char* const text =
      "weft: 1\ntopology:\n  notation: Ring(2)_Switch(4)\n  dimensions:\n"
      "    - {bandwidth: 100 GB/s, implementation: 'of_a_test(a=1)'}\n";
  const Config config = parse_config(text, "m.yaml");
  EXPECT_EQ(config.dimensions[0].implementation, "crossbar");  // one entry for all is for those with switches
  EXPECT_EQ(config.dimensions[1].implementation, "of_a_test(a=1)");
}

TEST(Extension, AModelNeedsSwitchesAtItsFidelity) {
  const auto of = [](const std::string& notation, const std::string& more) {
    return error_of([&] {
      parse_config("weft: 1\ntopology:\n  notation: " + notation +
                       "\n  dimensions:\n    - {bandwidth: 100 GB/s, implementation: known" + more + "}\n",
                   "m.yaml");
    });
  };
  add_choice("topology.dimensions[].implementation", "known", "for this test");
  EXPECT_EQ(of("Switch(4)", ""), "no error");
  EXPECT_NE(of("Ring(4)", "").find("m.yaml:5: key `topology.dimensions[0].implementation`"),
            std::string::npos);
  EXPECT_NE(of("Ring(4)", "").find("has no switches"), std::string::npos);
  EXPECT_NE(of("Switch(4)", ", fidelity: analytical").find("is at `analytical`"), std::string::npos);
  EXPECT_NE(of("Ring(4)_Mesh(2)", "").find("no dimension has switches"), std::string::npos);
}

TEST(Extension, PluginsNeedAProgramThatLoadsThem) {
  const std::string text =
      "weft: 1\nplugins: [a.so]\ntopology:\n  notation: Ring(4)\n  dimensions:\n    - {bandwidth: 100 "
      "GB/s}\n";
  EXPECT_NE(error_of([&] { parse_config(text, "m.yaml"); }).find("m.yaml:2: key `plugins`: 'a.so'"),
            std::string::npos);
}

}  // namespace
}  // namespace weft
