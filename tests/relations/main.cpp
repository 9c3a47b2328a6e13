// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// test_relations: tries relations on random cases. docs/testing.md says how it is used.

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <systemc>
#include <vector>

#include "tests/relations/anomalies.h"
#include "tests/relations/trial.h"

namespace weft::relations {
namespace {

struct Options {
  std::vector<std::string> names;
  uint64_t seed = 1;
  uint64_t cases = 300;  ///< of each relation, compared; not used with minutes
  double minutes = 0;
  uint32_t jobs = 1;
  uint32_t tries = 600;   ///< runs to make a failing case smaller
  uint32_t failures = 5;  ///< that are made smaller and printed, of a relation in a worker
  int64_t only = -1;      ///< this case alone
  std::string found = "relations_found";
  bool list = false;
  std::string expect;  ///< the names as relations.cmake has them
  bool verbose = false;
};

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::vector<const Relation*> chosen(const Options& options) {
  std::vector<const Relation*> out;
  for (const Relation& relation : relations()) {
    const bool named =
        std::find(options.names.begin(), options.names.end(), relation.name) != options.names.end();
    if (options.names.empty() || named) out.push_back(&relation);
  }
  return out;
}

/// Tries every `jobs`-th case and tells the parent of each in one line: relation, state and why it was
/// skipped.
class Worker {
 public:
  Worker(const Options& options, const std::vector<const Relation*>& list, uint32_t number, int pipe)
      : options_(options), list_(list), number_(number), pipe_(pipe), broken_(list.size()) {}

  void run() {
    if (options_.only >= 0) {
      for (size_t r = 0; r < list_.size(); ++r) one(r, static_cast<uint64_t>(options_.only));
    } else if (options_.minutes > 0) {
      run_for(options_.minutes * 60);
    } else {
      for (size_t r = 0; r < list_.size(); ++r) run_cases(r);
    }
  }

 private:
  void run_cases(size_t r) {
    const uint64_t mine = options_.cases / options_.jobs + (number_ < options_.cases % options_.jobs ? 1 : 0);
    uint64_t compared = 0;
    // A generator whose draws are mostly skipped is told of at the end; it does not go on for ever.
    for (uint64_t i = 0; compared < mine && i < 3 * mine; ++i)
      if (one(r, i * options_.jobs + number_)) ++compared;
  }

  void run_for(double limit_s) {
    const double begin = seconds();
    for (uint64_t i = 0; seconds() - begin < limit_s; ++i)
      for (size_t r = 0; r < list_.size() && seconds() - begin < limit_s; ++r)
        one(r, i * options_.jobs + number_);
  }

  /// False if it was skipped.
  bool one(size_t r, uint64_t index) {
    const Relation& relation = *list_[r];
    Random random(options_.seed, relation.name, index);
    const Case c = relation.draw(random);
    const Outcome outcome = try_case(relation, c);
    const char* const states[] = {"held", "skipped", "broken"};
    const bool broken = outcome.state == Outcome::State::broken && !listed_anomaly(relation.name, c);
    if (outcome.state == Outcome::State::broken && !broken) {
      tell(fmt::format("{} listed {}", r, outcome.kind));
      return true;
    }
    tell(fmt::format("{} {} {}", r, states[static_cast<int>(outcome.state)],
                     broken ? outcome.kind : outcome.what));
    if (broken && broken_[r]++ < options_.failures) show(relation, c, outcome, index);
    return outcome.state != Outcome::State::skipped;
  }

  void tell(std::string line) const {
    line.resize(std::min<size_t>(line.size(), 400));
    std::replace(line.begin(), line.end(), '\n', ' ');
    line += '\n';
    if (write(pipe_, line.data(), line.size()) < 0) std::_Exit(1);
  }

  void show(const Relation& relation, const Case& c, const Outcome& outcome, uint64_t index) const {
    const Case small = shrink(relation, c, outcome, options_.tries);
    const std::string origin = fmt::format("--relation {} --seed {} --case {}\n# fingerprint: {}",
                                           relation.name, options_.seed, index, fingerprint(c));
    const std::string folder = std::filesystem::absolute(
        fmt::format("{}/{}_seed{}_case{}", options_.found, relation.name, options_.seed, index));
    const std::string text = "\nBROKEN\n" + write_down(relation, small, folder, origin) + "\n";
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }

  const Options& options_;
  const std::vector<const Relation*>& list_;
  const uint32_t number_;
  const int pipe_;
  std::vector<uint32_t> broken_;
};

struct Count {
  uint64_t held = 0, skipped = 0, broken = 0, listed = 0;
  std::map<std::string, uint64_t> why;    ///< skipped
  std::map<std::string, uint64_t> kinds;  ///< broken

  uint64_t compared() const { return held + broken + listed; }
  /// Most draws must say something.
  bool wasteful() const { return skipped * 4 > compared() + skipped && compared() + skipped >= 20; }
};

void print_counts(const std::vector<const Relation*>& list, const std::vector<Count>& counts, bool reasons) {
  for (size_t r = 0; r < list.size(); ++r) {
    const Count& count = counts[r];
    fmt::print("{:24} {:6} compared {:6} skipped {:6} broken{}\n", list[r]->name, count.compared(),
               count.skipped, count.broken,
               count.wasteful() ? "   too many draws are skipped: mend the generator" : "");
    if (count.listed != 0) fmt::print("    {} listed anomalies (anomalies.cpp)\n", count.listed);
    for (const auto& [kind, n] : count.kinds) fmt::print("    broken {:5}: {}\n", n, kind);
    if (!reasons) continue;
    for (const auto& [why, n] : count.why) fmt::print("    skipped {:4}: {}\n", n, why);
  }
}

void print_total(const std::vector<Count>& counts, uint64_t seed) {
  uint64_t compared = 0, broken = 0;
  for (const Count& count : counts) compared += count.compared(), broken += count.broken;
  fmt::print("seed {}: {} broken of {} cases compared\n", seed, broken, compared);
}

void add(std::vector<Count>& counts, const std::string& line) {
  const size_t a = line.find(' ');
  const size_t b = line.find(' ', a + 1);
  Count& count = counts.at(std::stoul(line.substr(0, a)));
  const std::string state = line.substr(a + 1, b - a - 1);
  const std::string rest = line.substr(b + 1);
  if (state == "held") ++count.held;
  if (state == "listed") ++count.listed;
  if (state == "skipped") ++count.skipped, ++count.why[rest.substr(0, 160)];
  if (state == "broken") ++count.broken, ++count.kinds[rest];
}

/// Reads the workers' lines until all have ended.
std::vector<Count> collect(int pipe, const std::vector<const Relation*>& list) {
  std::vector<Count> counts(list.size());
  std::FILE* const in = fdopen(pipe, "r");
  char* line = nullptr;
  size_t room = 0;
  const double begin = seconds();
  double told = begin;
  for (ssize_t n = 0; (n = getline(&line, &room, in)) > 0;) {
    add(counts, std::string(line, static_cast<size_t>(n) - 1));
    if (seconds() - told < 10) continue;
    told = seconds();
    uint64_t compared = 0, broken = 0;
    for (const Count& count : counts) compared += count.compared(), broken += count.broken;
    fmt::print("{:.0f} s: {} cases compared, {} broken\n", told - begin, compared, broken);
    std::fflush(stdout);
  }
  std::free(line);
  std::fclose(in);
  return counts;
}

/// Every relation has an entry of ctest.
int compare_names(const std::string& expected) {
  std::string names;
  for (const Relation& relation : relations()) names += (names.empty() ? "" : ";") + relation.name;
  if (names == expected) return 0;
  fmt::print("WEFT_RELATIONS in relations.cmake:\n  {}\nrelations.cpp:\n  {}\n", expected, names);
  return 1;
}

int run(const Options& options) {
  if (!options.expect.empty()) return compare_names(options.expect);
  const std::vector<const Relation*> list = chosen(options);
  if (options.list) {
    for (const Relation* relation : list) fmt::print("{:24} {}\n", relation->name, relation->what);
    return 0;
  }
  for (const std::string& name : options.names) {
    const auto is = [&name](const Relation& relation) { return relation.name == name; };
    if (std::none_of(relations().begin(), relations().end(), is)) {
      fmt::print(stderr, "there is no relation `{}`; --list names them\n", name);
      return 2;
    }
  }
  int ends[2];
  if (pipe(ends) != 0) return 1;
  std::fflush(nullptr);
  std::vector<pid_t> workers;
  for (uint32_t w = 0; w < options.jobs; ++w) {
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      Worker(options, list, w, ends[1]).run();
      std::fflush(nullptr);
      std::_Exit(0);
    }
    workers.push_back(child);
  }
  close(ends[1]);
  const std::vector<Count> counts = collect(ends[0], list);
  bool good = true;
  for (const pid_t child : workers) {
    int status = 0;
    waitpid(child, &status, 0);
    good = good && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  if (!good) fmt::print("a worker ended early\n");
  print_counts(list, counts, options.verbose);
  print_total(counts, options.seed);
  for (const Count& count : counts) good = good && count.broken == 0 && !count.wasteful();
  return good ? 0 : 1;
}

/// SystemC prints its banner from main(), before sc_main().
__attribute__((constructor)) void no_banner() {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
}

}  // namespace
}  // namespace weft::relations

int sc_main(int argc, char** argv) {
  weft::relations::Options options;
  CLI::App app("Tries relations that must hold on random cases", "test_relations");
  app.add_option("--relation", options.names, "Only these (several: one option each)");
  app.add_option("--seed", options.seed, "Of the random cases");
  app.add_option("--cases", options.cases, "Cases of each relation that are compared");
  app.add_option("--minutes", options.minutes, "Go on that long instead, all relations in turn");
  app.add_option("--jobs", options.jobs, "Processes at a time")->check(CLI::Range(1, 256));
  app.add_option("--case", options.only, "Only the case of this number");
  app.add_option("--tries", options.tries, "Runs to make a failing case smaller");
  app.add_option("--failures", options.failures,
                 "Failing cases of a relation that are made smaller and printed");
  app.add_option("--found", options.found, "Folder of the failing cases");
  app.add_flag("--list", options.list, "Name the relations");
  app.add_option("--expect", options.expect, "Fail unless these are all names, between semicolons");
  app.add_flag("--verbose", options.verbose, "Also say why cases were skipped");
  CLI11_PARSE(app, argc, argv);
  std::signal(SIGPIPE, SIG_IGN);
  const int status = weft::relations::run(options);
  std::fflush(nullptr);
  std::_Exit(status);  // nothing was elaborated here
}
