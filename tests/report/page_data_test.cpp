// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What the page of `weft report` gets: percentiles, sums, what is left out of large runs, and text that may
// stand in a script element.

#include "sc_main/report/page_data.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "configs/types.h"
#include "sc_main/report/collective_data.h"
#include "sc_main/report/link_data.h"
#include "sc_main/report/rank_data.h"
#include "tests/vcd/vcd_parser.h"

namespace weft::report {
namespace {

using Json = nlohmann::ordered_json;

TEST(Percentile, IsTheNearestRank) {
  std::vector<double> values;
  for (int i = 1; i <= 200; ++i) values.push_back(i);
  EXPECT_EQ(percentile(values, 0), 1);
  EXPECT_EQ(percentile(values, 50), 100);
  EXPECT_EQ(percentile(values, 99), 198);
  EXPECT_EQ(percentile(values, 99.9), 200);
  EXPECT_EQ(percentile(values, 100), 200);
  EXPECT_EQ(percentile({7}, 50), 7);
}

std::string rank_rows(int ranks) {
  std::string text =
      "rank,time_ns,compute_ns,local_memory_ns,remote_memory_ns,communication_ns,idle_ns,communicating_ns\n";
  for (int r = 0; r < ranks; ++r) text += std::to_string(r) + ",100," + std::to_string(r) + ",0,0,10,5,20\n";
  return text;
}

TEST(RankColumns, KeepsEachRankWhereThereAreFew) {
  const Json ranks = rank_columns(CsvTable("ranks.csv", rank_rows(5)), 5);
  EXPECT_EQ(ranks["of"], 5);
  EXPECT_EQ(ranks["ranks_a_row"], 1);
  EXPECT_EQ(ranks["compute_ns"], Json::parse("[0.0,1.0,2.0,3.0,4.0]"));
  EXPECT_EQ(ranks["communicating_ns"][4], 20);
}

TEST(RankColumns, SharesRowsWhereThereAreMany) {
  const Json ranks = rank_columns(CsvTable("ranks.csv", rank_rows(11)), 4);
  EXPECT_EQ(ranks["of"], 11);
  EXPECT_EQ(ranks["ranks_a_row"], 3);
  EXPECT_EQ(ranks["rank"], Json::parse("[0,3,6,9]"));
  EXPECT_EQ(ranks["compute_ns"], Json::parse("[1.0,4.0,7.0,9.5]"));  // the last row has two ranks
}

TEST(RankColumns, NamesTheLineThatIsWrong) {
  const CsvTable table(
      "ranks.csv",
      "rank,time_ns,compute_ns,local_memory_ns,remote_memory_ns,communication_ns,idle_ns\n0,1,x,"
      "0,0,0,0\n");
  try {
    rank_columns(table, 4);
    FAIL() << "no error";
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("ranks.csv: line 2: column `compute_ns`"), std::string::npos)
        << e.what();
  }
}

TEST(LayerColumns, TakesThoseWithMostTimeAndSumsUpTheRest) {
  const std::string head =
      "iteration,layer,ranks,nodes,compute_ns,local_memory_ns,remote_memory_ns,communication_ns,collectives,"
      "bytes,"
      "collective_time_ns,queue_ns,network_ns,P0_queue_ns\n";
  const Json layers = layer_columns(
      CsvTable("layers.csv", head + ",small,2,1,1,1,1,1,0,0,0,0,0,0\n" + ",long,1,1,50,0,0,1,0,0,0,0,0,0\n" +
                                 "3,wide,100,1,1,0,0,0,2,8,9,4,5,0\n"),
      2);
  EXPECT_EQ(layers["of"], 3);
  EXPECT_EQ(layers["layer"], Json::parse(R"(["wide","long"])"));
  EXPECT_EQ(layers["iteration"][0], "3");
  EXPECT_EQ(layers["network_ns"][0], 5);
  EXPECT_EQ(layers["rest"]["layers"], 1);
  EXPECT_EQ(layers["rest"]["rank_time_ns"], 8);
}

const char* const kCollectives =
    "stream,op,group,name,bytes,ranks,chunks,start_ns,end_ns,time_ns,lower_bound_ns,efficiency,algbw_GBps,"
    "busbw_GBps,"
    "queue_ns,network_ns,messages,message_bytes,message_queue_ns,message_serialise_ns,message_latency_ns,"
    "message_endpoint_ns,message_reduce_ns,fidelity_rule,folded_ranks\n"
    "1,all_reduce,,a,64,4,1,0,10,10,1,0.1,1,2,3,4,5,6,7,8,9,10,11,,0\n"
    "2,all_reduce,,b,64,4,1,0,30,30,1,0.1,1,4,3,4,5,6,7,8,9,10,11,,0\n"
    "3,all_gather,g,\"c, d\",64,4,1,5,,,1,,,,3,4,5,6,7,8,9,10,11,2,0\n"
    "4,all_gather,g,e,64,4,1,0,20,20,1,0.1,1,2,3,4,5,6,7,8,9,10,11,,0\n";

TEST(Collectives, PercentilesByOperationSizeAndRanks) {
  const Json all = operation_percentiles(CsvTable("collectives.csv", kCollectives));
  ASSERT_EQ(all["rows"].size(), 2u);
  const Json& reduce = all["rows"][0];
  EXPECT_EQ(reduce["op"], "all_reduce");
  EXPECT_EQ(reduce["count"], 2);
  EXPECT_EQ(reduce["time_ns"]["p50"], 10);
  EXPECT_EQ(reduce["time_ns"]["p99"], 30);
  EXPECT_EQ(reduce["busbw_GBps"]["max"], 4);
  EXPECT_EQ(all["rows"][1]["unfinished"], 1);
  EXPECT_EQ(all["curves"]["all_gather"].size(), 101u);
  EXPECT_EQ(all["curves"]["all_reduce"][50], 10);
  EXPECT_EQ(all["curves"]["all_reduce"][51], 30);
}

TEST(Collectives, TheLongestComeWithTheirPhases) {
  const CsvTable phases(
      "phases.csv",
      "stream,op,group,name,iteration,layer,phase,what,phase_op,dimension,algorithm,queue_ns,"
      "network_ns\n"
      "2,all_reduce,,b,,,P0,x,x,0,ring,1,2\n2,all_reduce,,b,,,P1,y,y,1,ring,3,4\n"
      "4,all_gather,g,e,,,P0,z,z,0,ring,5,6\n");
  const Json longest = longest_collectives(CsvTable("collectives.csv", kCollectives), &phases, 2);
  EXPECT_EQ(longest["of"], 4);
  EXPECT_EQ(longest["name"], Json::parse(R"(["c, d","b"])"));  // what did not finish is the longest
  EXPECT_TRUE(longest["time_ns"][0].is_null());
  EXPECT_EQ(longest["phases"][0].size(), 0u);
  EXPECT_EQ(longest["phases"][1], Json::parse(R"([["P0","x",1.0,2.0],["P1","y",3.0,4.0]])"));
  const Json sums = phase_sums(phases);
  ASSERT_EQ(sums.size(), 3u);
  EXPECT_EQ(sums[0]["op"], "all_gather");
  EXPECT_EQ(sums[2]["phase"], "P1");
  EXPECT_EQ(sums[2]["network_ns"], 4);
}

std::string link_rows(int nodes) {
  std::string text =
      "name,to,dimension,bytes,messages,busy_ns,busy_fraction,queued_ns,packets,fidelity,marked,pauses,"
      "paused_ns,"
      "overruns\n";
  for (int n = 0; n < nodes; ++n)
    for (int port = 0; port < 2; ++port)
      text += "job.nmu" + std::to_string(n) + ".d0_p" + std::to_string(port) + ",nmu0,0,8,1,0,0." +
              std::to_string(10 + n * 2 + port) + ",1,0,message,0,0,0,0\n";
  return text;
}

TEST(LinkColumns, NamesNodesAndPorts) {
  const Json links = link_columns(CsvTable("links.csv", link_rows(3)), 6);
  EXPECT_EQ(links["of"], 6);
  EXPECT_FALSE(links["summed_by_node"].get<bool>());
  EXPECT_EQ(links["nodes"], Json::parse(R"(["nmu0","nmu1","nmu2"])"));
  EXPECT_EQ(links["ports"], Json::parse(R"(["d0_p0","d0_p1"])"));
  EXPECT_EQ(links["from"], Json::parse("[0,0,1,1,2,2]"));
  EXPECT_EQ(links["dimensions"][0]["busy_max"], 0.15);
  EXPECT_EQ(links["dimensions"][0]["bytes"], 48);
}

TEST(LinkColumns, AnNpuHasOneNameAtEveryFidelity) {
  const std::string head = link_rows(0), rest = ",0,8,1,0,0.5,1,0,packet,0,0,0,0\n";
  const Json links = link_columns(
      CsvTable("links.csv", head + "job.packet0_0.router3.d0_plus,router4" + rest +
                                "job.packet.ni_0,switch_leaf0" + rest + "job.packet.ni_0_at1,switch_leaf1" +
                                rest + "job.packet.switch_leaf0.to_nmu0,nmu0" + rest +
                                "job.switch1_0.to0,nmu0" + rest),
      9);
  EXPECT_EQ(links["nodes"],
            Json::parse(R"(["nmu3","nmu4","nmu0","switch_leaf0","switch_leaf1","switch1_0"])"));
  EXPECT_EQ(links["ports"], Json::parse(R"(["d0_plus","out","at1","to_nmu0","to0"])"));
  EXPECT_EQ(links["from"], Json::parse("[0,2,2,3,5]"));
  EXPECT_EQ(links["to"], Json::parse("[1,3,4,2,2]"));
}

TEST(LinkColumns, SumsUpByNodeThenTakesTheBusiest) {
  const Json by_node = link_columns(CsvTable("links.csv", link_rows(3)), 5);
  EXPECT_TRUE(by_node["summed_by_node"].get<bool>());
  EXPECT_EQ(by_node["busy"], Json::parse("[0.11,0.13,0.15]"));
  EXPECT_EQ(by_node["links"], Json::parse("[2,2,2]"));
  EXPECT_EQ(by_node["bytes"], Json::parse("[16.0,16.0,16.0]"));
  EXPECT_EQ(by_node["dimensions"][0]["links"], 6);
  const Json busiest = link_columns(CsvTable("links.csv", link_rows(3)), 2);
  EXPECT_EQ(busiest["rows_of"], 3);
  EXPECT_EQ(busiest["busy"], Json::parse("[0.15,0.13]"));
}

TEST(ScriptJson, CannotEndTheElement) {
  const std::string text = "</script><!-- \"quoted\" '&amp; \xff";
  const std::string json = script_json(Json{{text, text}});
  EXPECT_EQ(json.find('<'), std::string::npos);
  const Json back = Json::parse(json);
  EXPECT_EQ(back.begin().key().substr(0, 13), "</script><!--");
}

class PageData : public testing::Test {
 protected:
  std::string run(const std::string& name, const std::string& summary, const std::string& path = "") const {
    const std::string folder = temporary_.path() + "/" + name;
    std::filesystem::create_directories(folder);
    write(folder + "/summary.json", summary);
    if (!path.empty()) write(folder + "/critical_path.json", path);
    return folder;
  }
  static void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

  const std::string kSummary = R"({"weft_summary": 1, "finished": true, "time_ns": 1, "npus": 2})";
  vcd::test::TemporaryFolder temporary_;
};

TEST_F(PageData, ARunWithoutTablesHasWhatThereIs) {
  const Json data = page_data({run("a", kSummary)}, "0.1.0");
  ASSERT_EQ(data["runs"].size(), 1u);
  EXPECT_EQ(data["runs"][0]["label"], "a");
  EXPECT_EQ(data["runs"][0]["summary"]["npus"], 2);
  EXPECT_FALSE(data["runs"][0].contains("ranks"));
}

TEST_F(PageData, LabelsOfEqualNamesArePaths) {
  const std::string a = run("x/out", kSummary), b = run("y/out", kSummary), c = run("c", kSummary);
  const Json data = page_data({a, b, c}, "0.1.0");
  EXPECT_EQ(data["runs"][0]["label"], a);
  EXPECT_EQ(data["runs"][1]["label"], b);
  EXPECT_EQ(data["runs"][2]["label"], "c");
}

TEST_F(PageData, JobsFollowTheirMachine) {
  const std::string both =
      run("both",
          R"({"weft_summary": 1, "finished": true, "time_ns": 1, "jobs": [{"name": "a"}, {"name": "b"}]})");
  run("both/a", kSummary);
  run("both/b", kSummary);
  const Json data = page_data({both}, "0.1.0");
  ASSERT_EQ(data["runs"].size(), 3u);
  EXPECT_EQ(data["runs"][2]["label"], "both / b");
  EXPECT_EQ(data["runs"][2]["job"], "b");
}

TEST_F(PageData, TheCriticalPathIsCut) {
  const std::string path = R"({"weft_critical_path": 1, "paths": [{"time_ps": 9, "links": [1, 2, 3]}]})";
  Limits limits;
  limits.path_rows = 2;
  limits.path_pieces = 2;
  const std::string folder = run("a", kSummary, path);
  const std::string head =
      "path,from_ps,to_ps,time_ps,term,place,collective,chunk,phase,rank,node,name,layer\n";
  write(folder + "/critical_path.csv",
        head + "0,0,5,5,compute,npu0,,,,0,7,\"a, b\",\n" +
            "0,5,6,1,latency,l,c,0,0,,,,\n0,6,9,3,serialisation,l,c,0,0,,,,\n");
  const Json one = page_data({folder}, "0.1.0", limits)["runs"][0];
  EXPECT_EQ(one["critical_path"]["paths"][0]["links"].size(), 2u);
  EXPECT_EQ(one["critical_path"]["left_out"]["/paths/0/links"], 3);
  EXPECT_EQ(one["path_pieces"]["of"], 3);
  EXPECT_EQ(one["path_pieces"]["term"], Json::parse(R"(["compute","serialisation"])"));
  EXPECT_EQ(one["path_pieces"]["name"][0], "a, b");
  EXPECT_THROW(page_data({run("b", kSummary, path.substr(0, 30))}, "0.1.0"), UserError);
  EXPECT_THROW(page_data({run("c", kSummary, R"({"weft_critical_path": 2})")}, "0.1.0"), UserError);
  EXPECT_THROW(page_data({run("d", kSummary, "{}")}, "0.1.0"), UserError);
}

}  // namespace
}  // namespace weft::report
