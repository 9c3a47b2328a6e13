// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tests/relations/job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <stdexcept>

#include "tests/relations/random.h"
#include "workload/trace/chakra.pb.h"
#include "workload/trace/chakra_writer.h"

namespace weft::relations {
namespace {

using Node = ChakraProtoMsg::Node;

void attribute(Node& node, const char* name, uint64_t value) {
  auto* a = node.add_attr();
  a->set_name(name);
  a->set_int64_val(static_cast<int64_t>(value));
}

ChakraProtoMsg::CollectiveCommType type_of(const std::string& op) {
  static const std::map<std::string, ChakraProtoMsg::CollectiveCommType> types = {
      {"all_reduce", ChakraProtoMsg::ALL_REDUCE}, {"reduce", ChakraProtoMsg::REDUCE},
      {"all_gather", ChakraProtoMsg::ALL_GATHER}, {"gather", ChakraProtoMsg::GATHER},
      {"scatter", ChakraProtoMsg::SCATTER},       {"broadcast", ChakraProtoMsg::BROADCAST},
      {"all_to_all", ChakraProtoMsg::ALL_TO_ALL}, {"reduce_scatter", ChakraProtoMsg::REDUCE_SCATTER},
      {"barrier", ChakraProtoMsg::BARRIER}};
  return types.at(op);
}

void fill_collective(Node& node, const Work& work) {
  node.set_type(ChakraProtoMsg::COMM_COLL_NODE);
  attribute(node, "comm_type", type_of(work.op));
  attribute(node, "comm_size", work.amount);
  if (rooted(work.op)) attribute(node, "root", work.root);
  if (work.group.empty()) return;
  auto* group = node.add_attr();
  group->set_name("pg_name");
  group->set_string_val(work.group);
}

void fill_message(Node& node, const Work& work, size_t index, uint32_t rank) {
  const bool sends = rank == work.ranks[0];
  node.set_type(sends ? ChakraProtoMsg::COMM_SEND_NODE : ChakraProtoMsg::COMM_RECV_NODE);
  attribute(node, sends ? "comm_dst" : "comm_src", work.ranks[sends ? 1 : 0]);
  attribute(node, "comm_size", work.amount);
  attribute(node, "comm_tag", index);
}

Node make(const Job& job, size_t index, uint32_t rank) {
  const auto id = [&job](size_t i) { return job.ids == 0 ? i : i * job.ids + 7; };
  const Work& work = job.works[index];
  Node node;
  node.set_id(id(index));
  node.set_name(work.name);
  for (const size_t i : work.after)
    if (job.works[i].has(rank)) node.add_data_deps(id(i));
  switch (work.kind) {
    case Work::Kind::compute:
      node.set_type(ChakraProtoMsg::COMP_NODE);
      node.set_duration_micros(work.amount);
      break;
    case Work::Kind::load:
    case Work::Kind::store:
      node.set_type(work.kind == Work::Kind::load ? ChakraProtoMsg::MEM_LOAD_NODE
                                                  : ChakraProtoMsg::MEM_STORE_NODE);
      attribute(node, "tensor_size", work.amount);
      break;
    case Work::Kind::remote_load:
      node.set_type(ChakraProtoMsg::MEM_LOAD_NODE);
      attribute(node, "tensor_size", work.amount);
      attribute(node, "is_remote", 1);
      break;
    case Work::Kind::invalid:
      node.set_type(ChakraProtoMsg::INVALID_NODE);
      break;
    case Work::Kind::collective:
      fill_collective(node, work);
      break;
    case Work::Kind::message:
      fill_message(node, work, index, rank);
      break;
  }
  return node;
}

/// The nodes of a rank in the order of its file. That is also the order in which the rank issues what becomes
/// ready at one instant. A random order is drawn for each node by itself, so that it stays when another node
/// goes.
std::vector<size_t> file_order(const Job& job, uint32_t rank) {
  std::vector<std::pair<uint64_t, size_t>> order;
  for (size_t i = 0; i < job.works.size(); ++i) {
    if (!job.works[i].has(rank)) continue;
    const uint64_t place =
        job.order == 0 ? 0 : Random(job.order, job.works[i].name, rank).below(~uint64_t{0});
    order.emplace_back(place, i);
  }
  std::sort(order.begin(), order.end());
  std::vector<size_t> works;
  for (const auto& entry : order) works.push_back(entry.second);
  return works;
}

}  // namespace

bool Work::has(uint32_t rank) const {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

bool rooted(const std::string& op) {
  return op == "broadcast" || op == "reduce" || op == "gather" || op == "scatter";
}

Job Job::without(size_t index) const {
  Job job = *this;
  const std::vector<size_t> inherited = works[index].after;
  job.works.erase(job.works.begin() + static_cast<std::ptrdiff_t>(index));
  for (Work& work : job.works) {
    std::set<size_t> after;
    for (const size_t i : work.after) {
      if (i == index)
        after.insert(inherited.begin(), inherited.end());
      else
        after.insert(i > index ? i - 1 : i);
    }
    work.after.assign(after.begin(), after.end());
  }
  return job;
}

Job Job::without_extra() const {
  Job job = *this;
  for (size_t i = job.works.size(); i-- > 0;)
    if (job.works[i].extra) job = job.without(i);
  return job;
}

Job Job::renumbered(const std::vector<uint32_t>& to) const {
  Job job = *this;
  const auto renumber = [&to](std::vector<uint32_t>& ranks) {
    std::vector<uint32_t> out;
    for (const uint32_t r : ranks)
      if (to[r] != kGone) out.push_back(to[r]);
    ranks = std::move(out);
  };
  for (auto& [name, ranks] : job.groups) renumber(ranks);
  for (size_t i = job.works.size(); i-- > 0;) {
    Work& work = job.works[i];
    const size_t before = work.ranks.size();
    renumber(work.ranks);
    const bool broken = work.kind == Work::Kind::message && work.ranks.size() != before;
    const bool lonely = work.kind == Work::Kind::collective && work.ranks.size() < 2;
    if (work.ranks.empty() || broken || lonely) {
      job = job.without(i);
      continue;
    }
    if (work.kind != Work::Kind::message) std::sort(work.ranks.begin(), work.ranks.end());
    work.root = work.root < to.size() && to[work.root] != kGone ? to[work.root] : work.ranks.front();
  }
  for (auto group = job.groups.begin(); group != job.groups.end();)
    group = group->second.empty() ? job.groups.erase(group) : std::next(group);
  return job;
}

std::string Job::text() const {
  const char* const kinds[] = {"compute us", "load B",        "store B", "",
                               "message B",  "remote load B", "invalid"};
  std::string out;
  for (const Work& work : works) {
    const std::string kind =
        work.kind == Work::Kind::collective ? work.op + " B" : kinds[static_cast<int>(work.kind)];
    out += fmt::format("{}: {} {} on {}{}{}", work.name, kind, work.amount, fmt::join(work.ranks, ","),
                       work.group.empty() ? "" : " group " + work.group,
                       rooted(work.op) ? fmt::format(" root {}", work.root) : "");
    for (const size_t i : work.after) out += " after " + works[i].name;
    out += work.extra ? " (extra)\n" : "\n";
  }
  if (order != 0) out += fmt::format("nodes in the files in random order {}\n", order);
  return out;
}

void Job::write(const std::string& prefix, uint32_t ranks) const {
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    trace::ChakraWriter writer(fmt::format("{}.{}.et", prefix, rank));
    for (const size_t i : file_order(*this, rank)) writer.write(make(*this, i, rank));
    writer.close();
  }
  std::vector<std::string> entries;
  for (const auto& [name, members] : groups)
    entries.push_back(fmt::format("\"{}\": [{}]", name, fmt::join(members, ", ")));
  if (key_order != 0) {
    Random random(key_order);
    random.shuffle(entries);
  }
  std::ofstream(prefix + ".groups.json") << fmt::format("{{{}}}\n", fmt::join(entries, ",\n "));
}

}  // namespace weft::relations
