// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/convert/pytorch/host_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "workload/convert/pytorch/json_file.h"

namespace weft::convert::pytorch {
namespace {

/// Bytes of all tensors in a value, however they are nested: [tensor, storage, offset, elements, element
/// bytes, device].
uint64_t tensor_bytes(const Json& value, uint64_t& unknown) {
  if (!value.is_array()) return 0;
  if (value.size() >= 5 && value[0].is_number() && value[3].is_number_integer() &&
      value[4].is_number_integer() && (value.size() == 5 || value[5].is_string())) {
    const int64_t elements = value[3].get<int64_t>();
    const int64_t each = value[4].get<int64_t>();
    if (elements < 0 || each <= 0 || elements > (int64_t{1} << 56) / each) {
      ++unknown;
      return 0;
    }
    return static_cast<uint64_t>(elements) * static_cast<uint64_t>(each);
  }
  uint64_t sum = 0;
  for (const Json& inner : value) sum += tensor_bytes(inner, unknown);
  return sum;
}

class Reader {
 public:
  Reader(const std::string& path, RankGraph& graph) : path_(path), graph_(graph) {}

  HostTrace read() {
    const Json json = read_json(path_, "PyTorch execution trace");
    check_schema(json);
    const auto nodes = json.find("nodes");
    if (nodes == json.end() || !nodes->is_array())
      fail("it has no list `nodes`; a Kineto trace goes behind --kineto");
    if (nodes->empty()) fail("its list `nodes` is empty: nothing was recorded. Record the trace again");
    // Groups first: a collective may stand before the node that lists them.
    for (const Json& node : *nodes) read_groups(node);
    for (const Json& node : *nodes) read_node(node);
    connect();
    return std::move(trace_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(ExitCode::trace, fmt::format("{}: {}", path_, what));
  }

  void check_schema(const Json& json) {
    static const std::set<std::string> known = {"1.0.1", "1.0.2-chakra.0.0.4", "1.0.3-chakra.0.0.4",
                                                "1.1.0-chakra.0.0.4", "1.1.1-chakra.0.0.4"};
    const auto it = json.find("schema");
    if (it == json.end() || !it->is_string()) fail("it has no `schema`: this is no PyTorch execution trace");
    const std::string schema = it->get<std::string>();
    if (known.count(schema) == 0)
      graph_.warnings.push_back(
          fmt::format("{}: its schema is {}; known are 1.0.1 to 1.1.1-chakra.0.0.4. It is read "
                      "as the nearest of them; compare the counts with what you expect",
                      path_, schema.substr(0, 60)));
  }

  void read_groups(const Json& node) {
    if (!node.is_object() || text(node, "name").find("process_group:init") == std::string::npos) return;
    const auto inputs = node.find("inputs");
    if (inputs == node.end()) return;
    const Json* values = inputs->is_object() && inputs->contains("values") ? &(*inputs)["values"] : nullptr;
    if (values == nullptr || !values->is_array() || values->empty() || !(*values)[0].is_string()) return;
    Json list;
    try {
      list = Json::parse((*values)[0].get<std::string>());
    } catch (const Json::parse_error&) {
      graph_.warnings.push_back(
          fmt::format("{}: the groups of a node `process_group:init` are no JSON", path_));
      return;
    }
    if (!list.is_array()) return;
    for (const Json& entry : list) {
      if (!entry.is_object()) continue;
      Group group;
      if (const auto ranks = entry.find("ranks"); ranks != entry.end() && ranks->is_array())
        for (const Json& rank : *ranks) {
          if (!rank.is_number_integer() || rank.get<int64_t>() < 0 || rank.get<int64_t>() > 1 << 24)
            fail("a group has a rank that is no number from 0 to 16777216");
          group.ranks.push_back(static_cast<uint32_t>(rank.get<int64_t>()));
        }
      group.size =
          static_cast<uint32_t>(std::clamp<int64_t>(integer(entry, "group_size").value_or(0), 0, 1 << 24));
      if (group.size == 0) group.size = static_cast<uint32_t>(group.ranks.size());
      const std::string name = text(entry, "pg_name");
      for (const char* key : {"backend_id", "uid"})
        if (const std::string alias = text(entry, key); !alias.empty()) aliases_[alias] = name;
      aliases_[name] = name;
      graph_.groups[name] = std::move(group);
    }
  }

  void read_node(const Json& json) {
    if (!json.is_object()) fail(fmt::format("entry {} of `nodes` is no object", trace_.nodes.size()));
    const auto id = integer(json, "id");
    if (!id || *id < 0) fail(fmt::format("entry {} of `nodes` has no `id`", trace_.nodes.size()));
    HostNode node;
    node.id = static_cast<uint64_t>(*id);
    node.name = text(json, "name");
    if (!index_.emplace(node.id, static_cast<uint32_t>(trace_.nodes.size())).second) {
      ++graph_.counts["duplicate nodes, of which the first counts"];
      return;
    }
    static const Json kEmpty = Json::object();
    Json attributes = Json::object();
    if (const auto list = json.find("attrs"); list != json.end() && list->is_array())
      for (const Json& attribute : *list)
        if (attribute.is_object() && attribute.contains("value"))
          attributes[text(attribute, "name")] = attribute["value"];
    const auto of = [&](const char* key) {
      return integer(attributes, key).value_or(integer(json, key).value_or(0));
    };
    node.rf_id = of("rf_id");
    node.tid = of("tid");
    node.coalesced = node.name.find("nccl:coalesced") != std::string::npos;
    for (const char* key : {"dur", "duration_us"})
      if (const auto dur = real(attributes, key); dur && *dur >= 0) node.recorded = *dur;
    // Later schemas list it, earlier ones have one number; 1.0.1 calls it parent.
    int64_t parent = -1;
    for (const char* key : {"ctrl_deps", "parent"}) {
      const auto it = json.find(key);
      if (it == json.end()) continue;
      const Json& value = it->is_array() && !it->empty() ? (*it)[0] : *it;
      if (value.is_number_integer()) parent = value.get<int64_t>();
    }
    parents_.push_back(parent);
    if (node.name == "record_param_comms") read_communication(json, attributes, node);
    if (node.name.rfind("nccl:", 0) == 0 || node.name.rfind("c10d::", 0) == 0)
      ++graph_.counts["wrappers of collectives (c10d::, nccl:), written as host nodes"];
    trace_.nodes.push_back(std::move(node));
  }

  std::string group_of(const Json& value) const {
    const Json& first = value.is_array() && !value.empty() ? value[0] : value;
    const std::string name = first.is_string() ? first.get<std::string>() : first.dump();
    const auto it = aliases_.find(name);
    return it != aliases_.end() ? it->second : name;
  }

  void read_communication(const Json& json, const Json& attributes, HostNode& node) {
    static const Json kNothing = Json::array();
    const auto inputs = json.find("inputs");
    const Json& values = inputs != json.end() && inputs->is_object() && inputs->contains("values") &&
                                 (*inputs)["values"].is_array()
                             ? (*inputs)["values"]
                             : kNothing;
    Communication& c = node.communication;
    std::string name = text(attributes, "collective_name");
    // .. tensors, sequence or [sequence, is_p2p], group, root or peer, name, splits ..
    size_t at = values.size();
    for (size_t i = 3; i < values.size() && at == values.size(); ++i)
      if (values[i].is_string() && values[i] != "<None>" && values[i] != "<Object>") at = i;
    if (at == values.size() && name.empty())  // a `wait` may have no tensors, and `init` no sequence
      for (size_t i = 0; i < values.size() && at == values.size(); ++i)
        if (values[i].is_string()) at = i;
    if (at != values.size()) {
      if (name.empty()) name = values[at].get<std::string>();
      if (at >= 1 && values[at - 1].is_number_integer())
        c.peer = static_cast<uint32_t>(std::clamp<int64_t>(values[at - 1].get<int64_t>(), 0, 1 << 24));
      if (at >= 2) c.group = group_of(values[at - 2]);
      if (at >= 3) {
        const Json& sequence = values[at - 3];
        const bool pair = sequence.is_array() && sequence.size() == 2 && sequence[0].is_number_integer();
        if (sequence.is_number_integer()) c.sequence = sequence.get<int64_t>();
        if (pair) c.sequence = sequence[0].get<int64_t>();
        c.point_to_point = pair && (sequence[1] == true || sequence[1] == 1);
      }
    }
    if (name.empty()) ++graph_.counts["collectives without a name in their inputs, written as host nodes"];
    if (attributes.contains("pg_name")) c.group = group_of(attributes["pg_name"]);
    const Call call = call_of(name, c.op);
    if (call == Call::other) return;
    if (call == Call::unknown) {
      ++graph_.counts["collectives of an unknown name, written as host nodes"];
      return;
    }
    c.present = true;
    if (call == Call::wait) {
      c.wait = true;
      return;
    }
    c.kind = call == Call::send ? Kind::send : call == Call::receive ? Kind::receive : Kind::collective;
    uint64_t unknown = 0;
    for (size_t i = 0; i < values.size() && i < at; ++i) c.bytes += tensor_bytes(values[i], unknown);
    const auto elements = integer(attributes, "in_msg_nelems");
    if (elements && *elements >= 0) {
      const uint64_t each = element_bytes(text(attributes, "dtype"));
      if (each == 0) ++unknown;
      if (each != 0 && static_cast<uint64_t>(*elements) < (uint64_t{1} << 58))
        c.bytes = static_cast<uint64_t>(*elements) * each;
    }
    if (unknown != 0) ++graph_.counts["collectives with a tensor or dtype that cannot be read"];
    ++graph_.counts["collectives of the host trace"];
  }

  void connect() {
    std::vector<HostNode>& nodes = trace_.nodes;
    std::vector<uint32_t> roots;
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      const auto it = parents_[i] < 0 ? index_.end() : index_.find(static_cast<uint64_t>(parents_[i]));
      if (it == index_.end() || it->second == i) {
        // The first node of all is its own parent, or has one that is never written.
        if (parents_[i] >= 0 && it == index_.end() && nodes[i].name.find("[pytorch") == std::string::npos)
          ++graph_.counts["dangling parents, whose nodes have none now"];
        roots.push_back(i);
      } else {
        nodes[i].parent = it->second;
        nodes[it->second].children.push_back(i);
      }
    }
    // Children begin in the order of their record functions, and have these numbers before their parents end.
    const auto earlier = [&](uint32_t a, uint32_t b) {
      const auto key = [&](uint32_t i) {
        return std::make_pair(nodes[i].rf_id > 0 ? nodes[i].rf_id : 0, nodes[i].id);
      };
      return key(a) < key(b);
    };
    for (HostNode& node : nodes) std::stable_sort(node.children.begin(), node.children.end(), earlier);
    std::stable_sort(roots.begin(), roots.end(), earlier);
    std::vector<uint32_t> stack(roots.rbegin(), roots.rend());
    while (!stack.empty()) {
      const uint32_t i = stack.back();
      stack.pop_back();
      trace_.order.push_back(i);
      stack.insert(stack.end(), nodes[i].children.rbegin(), nodes[i].children.rend());
    }
    if (trace_.order.size() == nodes.size()) return;
    std::vector<bool> reached(nodes.size());
    for (const uint32_t i : trace_.order) reached[i] = true;
    const auto lost = std::find(reached.begin(), reached.end(), false) - reached.begin();
    fail(fmt::format("node {} (\"{}\") is its own parent, by others between; mend or record the trace again",
                     nodes[static_cast<size_t>(lost)].id,
                     nodes[static_cast<size_t>(lost)].name.substr(0, 60)));
  }

  const std::string& path_;
  RankGraph& graph_;
  HostTrace trace_;
  std::vector<int64_t> parents_;
  std::unordered_map<uint64_t, uint32_t> index_;
  std::unordered_map<std::string, std::string> aliases_;  ///< of groups, to their names
};

}  // namespace

HostTrace read_host_trace(const std::string& path, RankGraph& graph) {
  for (const char* what :
       {"duplicate nodes, of which the first counts", "dangling parents, whose nodes have none now",
        "wrappers of collectives (c10d::, nccl:), written as host nodes", "collectives of the host trace"})
    graph.counts[what];
  return Reader(path, graph).read();
}

}  // namespace weft::convert::pytorch
