// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "source_rules.h"

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace weft::test {
namespace {

namespace fs = std::filesystem;

const std::map<std::string, std::set<std::string>> kMayInclude = {
    {"sc_main",
     {"sc_main", "parts", "emulation", "cosim", "sc_models", "workload", "tlm_interconnect", "insight", "vcd",
      "configs"}},
    {"network_interface", {"network_interface", "sc_models", "workload", "configs"}},
    {"parts", {"parts", "sc_models", "configs"}},
    {"emulation", {"emulation", "sc_models", "workload", "insight", "configs"}},
    {"cosim", {"cosim", "sc_models", "workload", "tlm_interconnect", "insight", "vcd", "configs"}},
    {"sc_models", {"sc_models", "workload", "tlm_interconnect", "insight", "vcd", "configs"}},
    {"workload", {"workload", "insight", "configs"}},
    {"tlm_interconnect", {"tlm_interconnect", "vcd", "configs"}},
    {"insight", {"insight", "configs"}},
    {"vcd", {"vcd"}},
    {"configs", {"configs"}},
};
const std::set<std::string> kWithoutKernel = {"workload", "insight", "vcd", "configs"};
const std::set<std::string> kOutside = {"tests", "bench", "examples"};
/// Who knows kinds of dimensions: the blueprint, and those that read and write their words. Files and
/// folders.
const std::vector<std::string> kKnowKinds = {
    "configs/blueprint/", "configs/config.h", "configs/keys/",     "configs/loading/", "configs/notation.cpp",
    "configs/notation.h", "configs/tree.cpp", "configs/types.cpp", "configs/types.h"};

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool is_header(const std::string& path) {
  return ends_with(path, ".h") || ends_with(path, ".hpp");
}
bool is_cpp(const std::string& path) {
  return is_header(path) || ends_with(path, ".cpp") || ends_with(path, ".cc");
}
bool is_source(const std::string& path) {
  return is_cpp(path) || ends_with(path, "CMakeLists.txt") || ends_with(path, ".cmake") ||
         ends_with(path, ".sh") || ends_with(path, ".py") || ends_with(path, ".proto");
}

std::string first_part(const std::string& path) {
  return path.substr(0, path.find('/'));
}

class Check {
 public:
  Check(const Sources& sources, const std::string& path, const std::string& text,
        std::vector<std::string>& found)
      : sources_(sources), path_(path), found_(found) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines_.push_back(line);
  }

  void run(std::map<std::string, std::string>& guards) {
    licence();
    if (!is_cpp(path_)) return;
    for (line_ = 0; line_ < lines_.size(); ++line_) {
      include(lines_[line_]);
      kinds(lines_[line_]);
      fidelity(lines_[line_]);
      static const std::regex using_namespace(R"(^\s*using\s+namespace\b)");
      if (is_header(path_) && std::regex_search(lines_[line_], using_namespace))
        say("`using namespace` in a header");
    }
    line_ = 0;
    if (is_header(path_)) guard(guards);
  }

 private:
  void say(const std::string& what) {
    found_.push_back(path_ + ":" + std::to_string(line_ + 1) + ": " + what);
  }

  void licence() {
    bool licence = false;
    bool owner = !is_cpp(path_);
    // A script's first line is its interpreter.
    for (size_t i = 0; i < lines_.size() && i < 3; ++i) {
      licence = licence || lines_[i].find("SPDX-License-Identifier: Apache-2.0") != std::string::npos;
      owner = owner || lines_[i].find("Copyright the Weft authors") != std::string::npos;
    }
    if (!licence || !owner) say("no licence tag (SPDX-License-Identifier and copyright, the first lines)");
  }

  void include(const std::string& line) {
    static const std::regex directive(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
    std::smatch match;
    if (!std::regex_search(line, match, directive)) return;
    const bool quoted = match[1] == "\"";
    const std::string target = match[2];
    if (target == "systemc.h" || ends_with(target, "/systemc.h")) say("include <systemc>, not systemc.h");

    const std::string room = first_part(path_);
    const auto rule = kMayInclude.find(room);
    if (rule == kMayInclude.end()) {
      if (room != "tests" && first_part(target) == "tests")
        say("includes " + target + ": nothing includes tests");
      return;
    }
    static const std::regex kernel(R"(^(systemc|tlm|sysc/|tlm_core/|tlm_utils/|tlm_core$|tlm\.h|sc_))");
    static const std::regex room_path("^(sc_main|parts|emulation|cosim|sc_models|tlm_interconnect)/");
    if (kWithoutKernel.count(room) != 0 && std::regex_search(target, kernel) &&
        !std::regex_search(target, room_path)) {
      say("includes " + target + ": " + room + " knows no SystemC");
    }
    if (target.rfind("..", 0) == 0 || target.find("/..") != std::string::npos) {
      say("includes " + target + ": write the path from the root, as \"room/file.h\"");
      return;
    }
    const std::string to = first_part(target);
    if (kOutside.count(to) != 0) say("includes " + target + ": a room includes no " + to);
    if (kMayInclude.count(to) != 0 && target.find('/') != std::string::npos) {
      if (rule->second.count(to) == 0) say("includes " + target + ": " + room + " may not include " + to);
    } else if (quoted) {
      // A path beside the file works, but not for a user of the installed headers.
      const std::string beside = (fs::path(path_).parent_path() / target).lexically_normal().generic_string();
      if (sources_.count(beside) != 0)
        say("includes " + target + ": write the path from the root, \"" + beside + "\"");
    }
  }

  /// Everybody else asks a Shape.
  void kinds(const std::string& line) {
    if (kMayInclude.count(first_part(path_)) == 0 && first_part(path_) != "examples") return;
    for (const std::string& knows : kKnowKinds)
      if (path_.compare(0, knows.size(), knows) == 0) return;
    static const std::regex word(R"(\bDimensionKind\b)");
    if (std::regex_search(line.substr(0, line.find("//")), word))
      say("names DimensionKind: ask the dimension's Shape (configs/blueprint/shape.h)");
  }

  /// Everybody else asks for the carrier.
  void fidelity(const std::string& line) {
    if (kMayInclude.count(first_part(path_)) == 0 || first_part(path_) == "configs") return;
    if (path_ == "sc_models/link_report.h") return;
    static const std::regex asks(R"([!=]= Fidelity::|case Fidelity::|Fidelity::\w+ [!=]=)");
    if (std::regex_search(line.substr(0, line.find("//")), asks))
      say("asks for a fidelity: ask for the dimension's carrier (configs/blueprint/carrier.h)");
  }

  void guard(std::map<std::string, std::string>& guards) {
    static const std::regex ifndef(R"(^#ifndef (WEFT_[A-Z0-9_]+_H)$)");
    for (size_t i = 0; i + 1 < lines_.size(); ++i) {
      std::smatch match;
      if (!std::regex_match(lines_[i], match, ifndef)) continue;
      const std::string name = match[1];
      if (lines_[i + 1] != "#define " + name) break;
      const auto [other, fresh] = guards.emplace(name, path_);
      if (!fresh) say("its include guard is that of " + other->second);
      return;
    }
    say("no include guard WEFT_..._H");
  }

  const Sources& sources_;
  const std::string& path_;
  std::vector<std::string>& found_;
  std::vector<std::string> lines_;
  size_t line_ = 0;
};

}  // namespace

Sources read_sources(const std::string& root) {
  Sources sources;
  for (const char* folder :
       {"bench", "cmake", "configs", "cosim", "emulation", "examples", "insight", "network_interface",
        "parts", "sc_main", "sc_models", "scripts", "tests", "tlm_interconnect", "vcd", "workload"}) {
    if (!fs::exists(fs::path(root) / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(root) / folder)) {
      const std::string path = fs::relative(entry.path(), root).generic_string();
      if (!entry.is_regular_file() || !is_source(path)) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      std::ostringstream text;
      text << in.rdbuf();
      sources[path] = text.str();
    }
  }
  return sources;
}

std::vector<std::string> violations(const Sources& sources) {
  std::vector<std::string> found;
  std::map<std::string, std::string> guards;
  for (const auto& [path, text] : sources) Check(sources, path, text, found).run(guards);
  return found;
}

}  // namespace weft::test
