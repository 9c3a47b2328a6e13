// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/convert/from_flexflow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

#include "configs/input_file.h"
#include "configs/units.h"

namespace weft::convert {
namespace {

const InputKind kFlexFlowInput{"task graph", ExitCode::trace,
                               "check the path; a FlexFlow task graph is a Graphviz file (`digraph ..`)",
                               uint64_t{1} << 30};
constexpr uint64_t kMostRanks = 65536;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

bool word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

/// Reads the statements of one digraph.
class Reader {
 public:
  Reader(const std::string& path, Picoseconds unit) : text_(read_input(path, kFlexFlowInput)), unit_(unit) {
    graph_.path = path;
  }

  FlexFlowGraph read() {
    if (at("\xEF\xBB\xBF")) at_ += 3;  // how some editors mark UTF-8
    skip();
    if (word() == "strict") skip();
    if (last_ != "digraph" && word() != "digraph")
      fail(line_, "this is no Graphviz file of a directed graph: it must begin with `digraph NAME {`");
    skip();
    if (!at('{')) name();
    skip();
    if (!at('{')) fail(line_, "`{` must follow `digraph NAME`");
    ++at_;
    statements();
    skip();
    if (at_ != text_.size()) fail(line_, "there is text behind the graph's closing `}`");
    connect();
    return std::move(graph_);
  }

 private:
  struct Edge {
    std::string from, to;
    uint64_t line;
  };

  [[noreturn]] void fail(uint64_t line, const std::string& what) const {
    throw UserError(ExitCode::trace, fmt::format("{}, line {}: {}", graph_.path, line, what));
  }
  [[noreturn]] void fail(const FlexFlowTask& task, const std::string& what) const {
    fail(task.line, fmt::format("{}: {}", task.id.substr(0, 60), what));
  }

  bool at(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool at(std::string_view s) const { return text_.compare(at_, s.size(), s) == 0; }

  void skip() {
    while (at_ < text_.size()) {
      if (text_[at_] == '\n') {
        ++line_;
        ++at_;
      } else if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
        ++at_;
      } else if (at("//") || at('#')) {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (at("/*")) {
        const size_t end = text_.find("*/", at_);
        if (end == text_.npos) fail(line_, "the comment that begins here has no end; add `*/`");
        line_ += static_cast<uint64_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                  text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
        at_ = end + 2;
      } else {
        return;
      }
    }
  }
  const std::string& word() {
    last_.clear();
    while (at_ < text_.size() && word_character(text_[at_])) last_ += text_[at_++];
    return last_;
  }
  std::string quoted() {
    const uint64_t begin = line_;
    std::string value;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '"') ++at_;
      if (text_[at_] == '\n') ++line_;
      value += text_[at_];
    }
    if (at_ == text_.size()) fail(begin, "the text in quotes that begins here has no end");
    ++at_;
    return value;
  }
  /// A name, an identifier or in quotes.
  std::string name() {
    skip();
    std::string value = at('"') ? quoted() : word();
    if (value.empty())
      fail(line_, at_ < text_.size() ? fmt::format("`{}` where a node must stand", text_[at_])
                                     : "the file ends where a node must stand; it was cut");
    return value;
  }

  /// Up to the graph's closing brace. Subgraphs only group: their nodes and edges are the graph's.
  void statements() {
    for (uint64_t open = 1; open != 0;) {
      skip();
      if (at_ == text_.size())
        fail(line_, "the file ends within the graph: its closing `}` is missing; the file was cut");
      if (at('}') || at('{')) {
        open = at('{') ? open + 1 : open - 1;
        const bool closed = at('}');
        ++at_;
        skip();
        if (closed && open != 0 && at("->")) no_edges_of_subgraphs();
      } else if (at(';') || at(',')) {
        ++at_;
      } else {
        statement();
      }
    }
  }
  [[noreturn]] void no_edges_of_subgraphs() const {
    fail(line_, "an edge of a subgraph stands for many edges; write one for each pair of nodes");
  }

  /// An end of an edge, whose place on the node's box (`node1:f0:n`) says nothing.
  std::string end_of_edge() {
    skip();
    if (at('{')) no_edges_of_subgraphs();
    std::string id = name();
    for (skip(); at(':'); skip()) {
      ++at_;
      name();
    }
    return id;
  }

  void statement() {
    const uint64_t line = line_;
    std::string id = end_of_edge();
    if (id == "subgraph") {
      if (!at('{')) name();
      return;  // its brace comes next
    }
    if (at("->")) {
      while (at("->")) {
        at_ += 2;
        std::string to = end_of_edge();
        if (to == "subgraph") no_edges_of_subgraphs();
        edges_.push_back({id, to, line});
        id = std::move(to);
      }
      if (at('[')) attributes();
      return;
    }
    if (at('=')) {  // an attribute of the graph
      ++at_;
      name();
      return;
    }
    if (!at('['))
      fail(line, fmt::format("{} is followed by neither `[label=..]` nor `->`", id.substr(0, 60)));
    const std::string label = attributes();
    if (id == "node" || id == "edge" || id == "graph") return;
    task(id, label, line);
  }

  /// Returns the label.
  std::string attributes() {
    const uint64_t begin = line_;
    std::string label;
    for (++at_;;) {
      skip();
      if (at_ == text_.size()) fail(begin, "the attributes that begin here have no closing `]`");
      if (at(']')) break;
      if (at(',') || at(';')) {
        ++at_;
        continue;
      }
      const std::string key = name();
      skip();
      if (!at('=')) fail(line_, fmt::format("attribute {} has no value", key.substr(0, 60)));
      ++at_;
      std::string value = name();
      if (key == "label") label = std::move(value);
    }
    ++at_;
    return label;
  }

  void task(const std::string& id, const std::string& label, uint64_t line) {
    FlexFlowTask task;
    task.id = id;
    task.line = line;
    std::string_view rest = trimmed(label);
    if (rest.size() < 2 || rest.front() != '{' || rest.back() != '}')
      fail(task, "its label is not `{device_id=D | NAME | KIND | TYPE | ..}`");
    rest = rest.substr(1, rest.size() - 2);
    std::map<std::string, std::string, std::less<>> values;
    std::vector<std::string> words;
    while (true) {
      const size_t bar = rest.find('|');
      const std::string_view part = trimmed(rest.substr(0, bar));
      const size_t equals = part.find('=');
      const std::string_view key = part.substr(0, equals);
      if (equals != part.npos && std::all_of(key.begin(), key.end(), word_character)) {
        values[std::string(trimmed(key))] = std::string(trimmed(part.substr(equals + 1)));
      } else if (!part.empty()) {
        words.emplace_back(part);
      }
      if (bar == rest.npos) break;
      rest.remove_prefix(bar + 1);
    }
    if (words.size() < 3)
      fail(task, "its label has no NAME, KIND and TYPE (COMP_NODE or COMM_SEND_RECV_NODE)");
    const std::string& type = words.back();
    task.kind = words[words.size() - 2];
    task.name = words[0];
    for (size_t i = 1; i + 2 < words.size(); ++i) task.name += "|" + words[i];
    const auto number = [&](const char* key, uint64_t most) {
      const auto it = values.find(std::string_view(key));
      if (it == values.end()) fail(task, fmt::format("its label has no `{}=..`", key));
      try {
        const uint64_t n = parse_integer(it->second);
        if (n <= most) return n;
        fail(task, fmt::format("{} is {}; at most {} is possible", key, n, most));
      } catch (const UserError& e) {
        if (e.code() == ExitCode::trace) throw;
        fail(task, fmt::format("{} is '{}'; it must be a whole number", key, it->second.substr(0, 60)));
      }
    };
    if (type == "COMP_NODE") {
      task.device = static_cast<uint32_t>(number("device_id", kMostRanks - 1));
      const auto it = values.find("simulated_run_time");
      if (it == values.end()) fail(task, "its label has no `simulated_run_time=..`");
      task.time = time_of(task, it->second);
      graph_.ranks = std::max(graph_.ranks, task.device + 1);
    } else if (type == "COMM_SEND_RECV_NODE") {
      task.message = true;
      task.source = static_cast<uint32_t>(number("src_device_id", kMostRanks - 1));
      task.destination = static_cast<uint32_t>(number("dst_device_id", kMostRanks - 1));
      task.bytes = number("comm_size", uint64_t{1} << 62);
      graph_.ranks = std::max({graph_.ranks, task.source + 1, task.destination + 1});
    } else {
      fail(task,
           fmt::format("its type is {}; known are COMP_NODE and COMM_SEND_RECV_NODE", type.substr(0, 60)));
    }
    const auto [it, fresh] = index_.emplace(id, static_cast<uint32_t>(graph_.tasks.size()));
    if (!fresh)
      fail(task,
           fmt::format("a node of this name is there already, in line {}", graph_.tasks[it->second].line));
    graph_.tasks.push_back(std::move(task));
  }

  Picoseconds time_of(const FlexFlowTask& task, const std::string& text) const {
    double value = -1;
    size_t used = 0;
    try {
      value = std::stod(text, &used);
    } catch (const std::exception&) {
      used = 0;
    }
    const double time = value * static_cast<double>(unit_);
    if (used != text.size() || !(time >= 0) || time > 1.8e19)
      fail(task, fmt::format(
                     "simulated_run_time is '{}'; it must be a time that is not negative and below 213 days",
                     text.substr(0, 60)));
    return static_cast<Picoseconds>(time + 0.5);
  }

  void connect() {
    if (graph_.tasks.empty()) fail(line_, "the graph has no nodes");
    for (const Edge& edge : edges_) {
      const auto find = [&](const std::string& id) {
        const auto it = index_.find(id);
        if (it == index_.end())
          fail(edge.line, fmt::format("{} -> {}: there is no node {}; add it or take the edge out",
                                      edge.from.substr(0, 60), edge.to.substr(0, 60), id.substr(0, 60)));
        return it->second;
      };
      graph_.edges.emplace_back(find(edge.from), find(edge.to));
    }
    std::sort(graph_.edges.begin(), graph_.edges.end());
    const auto end = std::unique(graph_.edges.begin(), graph_.edges.end());
    graph_.repeated_edges = static_cast<uint64_t>(graph_.edges.end() - end);
    graph_.edges.erase(end, graph_.edges.end());
    check_circles();
  }

  void check_circles() const {
    std::vector<uint32_t> unmet(graph_.tasks.size()), ready;
    std::vector<std::vector<uint32_t>> after(graph_.tasks.size());
    for (const auto& [from, to] : graph_.edges) {
      ++unmet[to];
      after[from].push_back(to);
    }
    for (uint32_t i = 0; i < unmet.size(); ++i)
      if (unmet[i] == 0) ready.push_back(i);
    while (!ready.empty()) {
      const uint32_t i = ready.back();
      ready.pop_back();
      for (const uint32_t next : after[i])
        if (--unmet[next] == 0) ready.push_back(next);
    }
    for (uint32_t i = 0; i < unmet.size(); ++i)
      if (unmet[i] != 0)
        fail(graph_.tasks[i], "the edges go in a circle through this node, or one before it");
  }

  std::string text_;
  Picoseconds unit_;
  FlexFlowGraph graph_;
  size_t at_ = 0;
  uint64_t line_ = 1;
  std::string last_;
  std::unordered_map<std::string, uint32_t> index_;
  std::vector<Edge> edges_;
};

/// What is written on one rank.
struct Node {
  Type type = Type::comp;
  uint32_t peer = 0;
  uint32_t tag = 0;
  uint64_t bytes = 0;
  Picoseconds time = 0;
  std::string name;
  std::vector<uint64_t> before;
};

/// Gives every task its nodes: ids are 2 task + 1 and, of a receive, 2 task + 2.
class Writer {
 public:
  explicit Writer(const FlexFlowGraph& graph) : graph_(graph), ranks_(graph.ranks) {}

  Report write(const std::string& prefix) {
    Report report;
    report.prefix = prefix;
    report.ranks = graph_.ranks;
    add_tasks();
    for (const auto& [from, to] : graph_.edges) connect(from, to);
    for (uint32_t r = 0; r < graph_.ranks; ++r) {
      RankFile file(prefix, r);
      for (const auto& [id, node] : ranks_[r]) write_node(file, id, node, r);
      file.close();
      report.nodes += file.nodes();
    }
    report.count("computations", computations_);
    report.count("messages", messages_);
    report.count("bytes of messages", bytes_);
    report.count("messages within a device, written as nodes that take no time", local_);
    report.count("edges between devices without a message, written as messages of no bytes", empty_);
    report.count("edges that stand there more than once, written once", graph_.repeated_edges);
    return report;
  }

 private:
  static uint64_t first(uint32_t task) { return uint64_t{task} * 2 + 1; }

  void add_tasks() {
    for (uint32_t i = 0; i < graph_.tasks.size(); ++i) {
      const FlexFlowTask& task = graph_.tasks[i];
      const std::string name = fmt::format("{} {}", task.kind, task.name);
      if (!task.message) {
        ++computations_;
        ranks_[task.device][first(i)] = {Type::comp, 0, 0, 0, task.time, name, {}};
      } else if (task.source == task.destination) {
        ++local_;
        ranks_[task.source][first(i)] = {Type::metadata, 0, 0, 0, 0, name, {}};
      } else {
        ++messages_;
        bytes_ += task.bytes;
        message(task.source, first(i), task.destination, first(i) + 1, task.bytes, name);
      }
    }
  }

  void message(uint32_t source, uint64_t send, uint32_t destination, uint64_t receive, uint64_t bytes,
               const std::string& name) {
    const uint32_t tag = tag_++;
    ranks_[source][send] = {Type::send, destination, tag, bytes, 0, name, {}};
    ranks_[destination][receive] = {Type::receive, source, tag, bytes, 0, name, {}};
  }

  /// The rank on which a task ends, or begins.
  static uint32_t end_of(const FlexFlowTask& task) { return task.message ? task.destination : task.device; }
  static uint32_t begin_of(const FlexFlowTask& task) { return task.message ? task.source : task.device; }
  uint64_t last(uint32_t task) const {
    const FlexFlowTask& t = graph_.tasks[task];
    return first(task) + (t.message && t.source != t.destination ? 1 : 0);
  }

  void connect(uint32_t from, uint32_t to) {
    const uint32_t at = end_of(graph_.tasks[from]);
    const uint32_t next = begin_of(graph_.tasks[to]);
    if (at == next) {
      ranks_[at][first(to)].before.push_back(last(from));
      return;
    }
    ++empty_;
    const uint64_t send = uint64_t{graph_.tasks.size()} * 2 + 2 * empty_;
    message(at, send, next, send + 1, 0, fmt::format("{} -> {}", graph_.tasks[from].id, graph_.tasks[to].id));
    ranks_[at][send].before.push_back(last(from));
    ranks_[next][first(to)].before.push_back(send + 1);
  }

  static void write_node(RankFile& file, uint64_t id, const Node& node, uint32_t rank) {
    file.begin(id, node.name, node.type);
    for (const uint64_t before : node.before) file.data(before);
    file.flag("is_cpu_op", false);
    if (node.type == Type::comp) file.duration(node.time);
    if (node.type == Type::send || node.type == Type::receive) {
      const bool send = node.type == Type::send;
      file.number("comm_src", send ? rank : node.peer);
      file.number("comm_dst", send ? node.peer : rank);
      file.number("comm_tag", node.tag);
      file.number("comm_size", node.bytes);
    }
    file.end();
  }

  const FlexFlowGraph& graph_;
  std::vector<std::map<uint64_t, Node>> ranks_;
  uint32_t tag_ = 0;
  uint64_t computations_ = 0, messages_ = 0, bytes_ = 0, local_ = 0, empty_ = 0;
};

}  // namespace

Picoseconds flexflow_unit(const std::string& unit) {
  try {
    return parse_time("1 " + unit);
  } catch (const UserError&) {
    throw UserError(ExitCode::usage, fmt::format("--time-unit '{}': must be ns, us, ms or s", unit));
  }
}

FlexFlowGraph read_flexflow(const std::string& path, Picoseconds unit) {
  return Reader(path, unit).read();
}

Report from_flexflow(const FlexFlowGraph& graph, const std::string& prefix) {
  return Writer(graph).write(prefix);
}

}  // namespace weft::convert
