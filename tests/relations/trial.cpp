// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tests/relations/trial.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace weft::relations {
namespace {

namespace fs = std::filesystem;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    // In memory if possible: a case writes some twenty small files.
    std::error_code error;
    const bool memory = std::getenv("TMPDIR") == nullptr && fs::is_directory("/dev/shm", error) &&
                        access("/dev/shm", W_OK) == 0;
    std::string name =
        ((memory ? fs::path("/dev/shm") : fs::temp_directory_path()) / "weft_relation_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error(name + ": the folder cannot be made");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

Outcome try_in(const Relation& relation, const Case& c, const std::string& folder) {
  Bench bench(folder);
  Outcome outcome;
  try {
    relation.check(c, bench);
  } catch (const Skipped& skipped) {
    outcome = {Outcome::State::skipped, "", skipped.why, {}};
  } catch (const Broken& broken) {
    outcome = {Outcome::State::broken, broken.kind, broken.what, {}};
  } catch (const std::exception& e) {
    outcome = {Outcome::State::broken, "results that cannot be read", e.what(), {}};
  }
  outcome.commands = bench.commands();
  return outcome;
}

}  // namespace

Outcome try_case(const Relation& relation, const Case& c, const std::string& keep) {
  if (!keep.empty()) return try_in(relation, c, keep);
  const TemporaryFolder folder;
  return try_in(relation, c, folder.path());
}

Case shrink(const Relation& relation, const Case& c, const Outcome& broken, uint32_t tries) {
  Case smallest = c;
  uint32_t tried = 0;
  for (bool smaller = true; smaller && tried < tries;) {
    smaller = false;
    for (const Case& next : simpler(smallest)) {
      if (++tried > tries) break;
      const Outcome outcome = try_case(relation, next);
      if (outcome.state != Outcome::State::broken || outcome.kind != broken.kind) continue;
      smallest = next;
      smaller = true;
      break;
    }
  }
  return smallest;
}

std::string write_down(const Relation& relation, const Case& c, const std::string& folder,
                       const std::string& origin) {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  fs::create_directories(folder);
  const Outcome outcome = try_case(relation, c, folder);
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory()) fs::remove_all(entry.path(), ignored);
  std::string text = fmt::format("# relation: {} ({})\n# broken: {}\n# {}\n# from: {}\n", relation.name,
                                 relation.what, outcome.kind, outcome.what, origin);
  for (const auto& [name, value] : c.choices) text += fmt::format("# drawn: {} = {}\n", name, value);
  if (c.job) {
    std::istringstream works(c.job->text());
    for (std::string line; std::getline(works, line);) text += "# " + line + "\n";
  }
  for (const std::string& command : outcome.commands) text += command + "\n";
  std::ofstream(fs::path(folder) / "cmd.txt") << text;
  std::ifstream machine(fs::path(folder) / "machine.yaml");
  std::string out = fmt::format("{}\nin {}:\n", text, folder);
  for (std::string line; std::getline(machine, line);) out += "    " + line + "\n";
  return out;
}

}  // namespace weft::relations
