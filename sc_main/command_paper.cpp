// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/command_paper.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "configs/keys.h"
#include "configs/stop.h"
#include "sc_main/console.h"
#include "sc_main/output_folder.h"
#include "sc_main/paper/definition.h"
#include "sc_main/paper/figure_plot.h"
#include "sc_main/paper/outcome.h"
#include "sc_main/paper/page.h"
#include "sc_main/sweep/point_result.h"
#include "sc_main/sweep/workers.h"
#include "sc_main/table.h"
#include "sc_main/text_options.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

struct PaperOptions {
  std::vector<std::string> ids;
  std::string dir;
  std::string out = "papers";
  std::string markdown;
  size_t jobs = 0;  ///< 0: the processors
  bool check = false;
  bool fast = false;
  bool no_files = false;
};

/// configs/papers beside the program, as it is installed or built; or in the working directory.
std::string default_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  std::vector<fs::path> places;
  if (!error) {
    places.push_back(program.parent_path() / "../share/weft/papers");
    places.push_back(program.parent_path() / "../../../configs/papers");
  }
  places.emplace_back("configs/papers");
  for (const fs::path& place : places)
    if (fs::is_directory(place, error)) return place.lexically_normal().string();
  throw UserError(ExitCode::usage,
                  "the folder of the figures, configs/papers, was not found; name it with --dir");
}

std::vector<paper::Figure> chosen(const std::vector<paper::Figure>& all, const PaperOptions& o) {
  std::vector<paper::Figure> figures;
  for (const std::string& id : o.ids) {
    if (id == "all") {
      for (const paper::Figure& f : all)
        if (!o.fast || f.fast) figures.push_back(f);
      continue;
    }
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const paper::Figure& f) { return f.id == id; });
    if (found != all.end()) {
      figures.push_back(*found);
      continue;
    }
    std::vector<std::string> names{"all", "list"};
    for (const paper::Figure& f : all) names.push_back(f.id);
    const std::string near = nearest_name(id, names);
    throw UserError(ExitCode::usage,
                    fmt::format("there is no figure '{}'{}; `weft paper list` shows all", id,
                                near.empty() ? "" : fmt::format(" (did you mean {}?)", near)));
  }
  return figures;
}

ExitCode list(const std::vector<paper::Figure>& figures) {
  Table table({"id", "paper", "title", "fast"});
  for (const paper::Figure& f : figures) table.row({f.id, f.paper, f.title, f.fast ? "yes" : ""});
  print(table.str(0));
  return ExitCode::done;
}

/// A chain of commands, one after the other.
struct Chain {
  const std::vector<std::vector<std::string>>* commands = nullptr;
  std::function<void(const std::string& out)> done;  ///< with the last one's output
  std::function<void(const std::string& error)> failed;
};

/// Runs chains, several at a time.
void run_chains(const std::vector<Chain>& chains, size_t jobs) {
  struct Step {
    size_t chain = 0, command = 0;
  };
  sweep::Workers workers(jobs);
  std::deque<Step> waiting;
  std::vector<Step> started;
  for (size_t c = 0; c < chains.size(); ++c)
    if (!chains[c].commands->empty()) waiting.push_back({c, 0});
  while (!waiting.empty() || !workers.idle()) {
    check_stop();
    while (!waiting.empty() && !workers.full()) {
      const Step step = waiting.front();
      waiting.pop_front();
      started.push_back(step);
      workers.start(started.size() - 1, (*chains[step.chain].commands)[step.command]);
    }
    const auto ended = workers.wait();
    if (!ended) continue;
    Step step = started[ended->number];
    const Chain& chain = chains[step.chain];
    // A check that is not met has results all the same.
    if (ended->exit_code != 0 && ended->exit_code != static_cast<int>(ExitCode::unmet)) {
      chain.failed(fmt::format("`weft {}` failed ({}): {}", fmt::join((*chain.commands)[step.command], " "),
                               ended->exit_code, sweep::error_text(ended->err)));
    } else if (step.command + 1 < chain.commands->size()) {
      ++step.command;
      waiting.push_front(step);
    } else {
      chain.done(ended->out);
    }
  }
}

/// The figures' preparations, then the points of all figures.
void run_all(std::vector<paper::Result>& results,
             const std::vector<std::vector<std::vector<std::string>>>& preparations, size_t jobs) {
  std::vector<Chain> chains;
  for (size_t r = 0; r < results.size(); ++r)
    chains.push_back({&preparations[r], [](const std::string&) {},
                      [&result = results[r]](const std::string& error) {
                        for (paper::Point& point : result.points) point.error = error;
                      }});
  run_chains(chains, jobs);
  chains.clear();
  for (paper::Result& result : results) {
    for (paper::Point& point : result.points) {
      if (!point.error.empty()) continue;
      chains.push_back({&point.commands,
                        [&result, &point](const std::string& out) {
                          try {
                            paper::take_values(result.figure, point, out);
                          } catch (const UserError& e) {
                            point.error = e.what();
                          }
                        },
                        [&point](const std::string& error) { point.error = error; }});
    }
  }
  run_chains(chains, jobs);
}

/// A folder of its own for the files of the runs, gone at the end.
class WorkFolder {
 public:
  WorkFolder() {
    std::string name = (fs::temp_directory_path() / "weft_paper_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw UserError(ExitCode::internal, fmt::format("no folder can be made in {}; set TMPDIR",
                                                      fs::temp_directory_path().string()));
    path_ = name;
  }
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void write_results(const std::vector<paper::Result>& results, const PaperOptions& o) {
  const OutputFolder folder(o.out, {});
  for (const paper::Result& r : results) {
    folder.write(r.figure.id + ".csv", paper::csv_of(r.figure, r.points));
    // Without any point of a plot there is nothing to draw; what failed has been told.
    const bool failed = std::all_of(r.points.begin(), r.points.end(),
                                    [](const paper::Point& point) { return !point.error.empty(); });
    for (size_t p = 0; p < r.figure.plots.size() && !failed; ++p)
      folder.write(paper::picture_name(r.figure, p), paper::plot_svg(r.figure, r.figure.plots[p], r.points));
  }
  if (o.markdown.empty()) return;
  const fs::path page = fs::absolute(o.markdown).lexically_normal();
  std::string pictures =
      fs::absolute(o.out).lexically_normal().lexically_relative(page.parent_path()).string();
  pictures = pictures == "." ? "" : pictures + "/";
  const OutputFolder beside(page.parent_path().string(), {});
  beside.write(page.filename().string(), paper::page_of(results, pictures));
}

ExitCode run_papers(const PaperOptions& o) {
  const std::string dir = o.dir.empty() ? default_folder() : o.dir;
  const std::vector<paper::Figure> all = paper::read_figures(dir);
  if (o.ids.size() == 1 && o.ids[0] == "list") return list(all);
  const WorkFolder work;
  std::vector<paper::Result> results;
  std::vector<std::vector<std::vector<std::string>>> preparations;
  for (const paper::Figure& figure : chosen(all, o)) {
    preparations.push_back(paper::preparation_of(figure, dir, work.path() + "/" + figure.id));
    results.push_back({figure, paper::points_of(figure, dir, work.path() + "/" + figure.id), {}});
    for (size_t p = 0; p < results.back().points.size(); ++p)
      fs::create_directories(fs::path(work.path()) / figure.id / std::to_string(p));
  }
  run_all(results, preparations, o.jobs != 0 ? o.jobs : sweep::usable_processors());
  size_t missed = 0;
  for (paper::Result& r : results) {
    r.outcome = paper::judge(r.figure, r.points);
    print(paper::text_of(r) + "\n");
    missed += r.outcome.holds() ? 0 : 1;
  }
  if (!o.no_files) {
    write_results(results, o);
    print(
        fmt::format("results  {}: a CSV file and a drawing for each of {} figures\n", o.out, results.size()));
  }
  if (missed != 0) {
    warn(fmt::format("{} of {} figures miss a given value or a claim", missed, results.size()));
    if (o.check) return ExitCode::unmet;
  }
  return ExitCode::done;
}

}  // namespace

void add_paper_command(CLI::App& app, Action& action) {
  auto o = std::make_shared<PaperOptions>();
  CLI::App* command = app.add_subcommand("paper", "The figures and tables of papers: run, compare, draw");
  command->add_option("ID", o->ids, "`list`, `all`, or figures by their names")->required();
  command->add_flag("--check", o->check, "Fail (5) where a given value or a claim of a paper does not hold");
  command->add_flag("--fast", o->fast, "Of `all` only the figures that take seconds");
  command->add_option("--jobs", o->jobs, "Runs at a time (default: the processors)")
      ->type_name("N")
      ->check(CLI::Range(size_t{1}, size_t{1024}));
  TextOptions add(*command);
  add("--dir", o->dir, "DIR", "Folder that describes the figures (default: configs/papers of this program)");
  add("--out", o->out, "DIR", "Folder of the CSV files and drawings (default: papers)");
  add("--markdown", o->markdown, "FILE", "Write a page of all figures, too");
  command->add_flag("--no-files", o->no_files, "Write no files");
  command->footer(
      "Examples:\n"
      "  weft paper list\n"
      "  weft paper table4 --out papers\n"
      "  weft paper all --check --jobs 2");
  command->callback([o, &action] { action = [o] { return run_papers(*o); }; });
}

}  // namespace weft::cli
