// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/text/text_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "configs/input_file.h"
#include "workload/text/sha256.h"

namespace weft::text {
namespace {

constexpr const char* kLoopWords[kLoops] = {"DATA",
                                            "MODEL",
                                            "HYBRID_DATA_MODEL",
                                            "HYBRID_MODEL_DATA",
                                            "HYBRID_CUSTOMIZED",
                                            "HYBRID_TRANSFORMER",
                                            "HYBRID_TRANSFORMER_FWD_IN_BCKWD",
                                            "HYBRID_DLRM",
                                            "HYBRID_DLRM_ENHANCED",
                                            "DISTRIBUTED_INFERENCE",
                                            "MICRO"};
constexpr int kParallelisms = 4;  ///< the first words are those of a layer's own parallelism

constexpr const char* kGroupWord = "model_parallel_NPU_group:";
constexpr const char* kCheckpointsWord = "checkpoints:";
constexpr const char* kInitiatorsWord = "checkpoint_initiates:";

constexpr size_t kTokensOfLayer = 12;
constexpr const char* kColumns[kTokensOfLayer + 1] = {"name",
                                                      "reserved number",
                                                      "forward compute",
                                                      "forward communication type",
                                                      "forward communication size",
                                                      "input gradient compute",
                                                      "input gradient communication type",
                                                      "input gradient communication size",
                                                      "weight gradient compute",
                                                      "weight gradient communication type",
                                                      "weight gradient communication size",
                                                      "update time",
                                                      "parallelism"};

const InputKind kTextInput{"text workload", ExitCode::trace,
                           "check `workload.text` or --text; a text workload is a file of ASTRA-sim 1.0",
                           uint64_t{64} << 20};

std::string shown(std::string_view token) {
  std::string out(token.substr(0, 60));
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  return token.size() > 60 ? out + "..." : out;
}

bool is_parallelism(std::string_view word) {
  return std::find(kLoopWords, kLoopWords + kParallelisms, word) != kLoopWords + kParallelisms;
}

struct Token {
  std::string_view text;
  uint32_t line;
};

std::vector<Token> split(const std::string& text) {
  std::vector<Token> tokens;
  uint32_t line = 1;
  const auto blank = [](char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
  };
  size_t at = text.compare(0, 3, "\xEF\xBB\xBF") == 0 ? 3 : 0;  // the mark that some editors of Windows write
  while (at < text.size()) {
    if (blank(text[at])) {
      if (text[at++] == '\n') ++line;
      continue;
    }
    const size_t begin = at;
    while (at < text.size() && !blank(text[at])) ++at;
    tokens.push_back({std::string_view(text).substr(begin, at - begin), line});
  }
  return tokens;
}

class Parser {
 public:
  Parser(const std::string& text, const std::string& path) : path_(path), tokens_(split(text)) {
    file_.path = path;
  }

  TextFile parse() {
    if (tokens_.empty()) fail_file("is empty. A text workload begins with its type, for example DATA.");
    header();
    const uint64_t layers = number(layers_word());
    if (layers == 0) fail(at_ - 1, "the number of layers is 0. Give at least one layer.");
    const size_t left = tokens_.size() - at_;
    own_parallelism_ = check_count(layers, left);
    file_.layers.reserve(static_cast<size_t>(layers));
    for (uint64_t i = 0; i < layers; ++i) layer();
    check_header(layers);
    collect_warnings();
    return std::move(file_);
  }

 private:
  [[noreturn]] void fail_file(const std::string& what) const {
    throw UserError(ExitCode::trace, fmt::format("{}: {}", path_, what));
  }

  /// `token` counts from 0; messages count from 1.
  [[noreturn]] void fail(size_t token, const std::string& what) const {
    const uint32_t line = tokens_.empty() ? 1 : tokens_[std::min(token, tokens_.size() - 1)].line;
    throw UserError(ExitCode::trace, fmt::format("{}:{}: token {}: {}", path_, line, token + 1, what));
  }

  std::string_view next(const std::string& what) {
    if (at_ == tokens_.size())
      fail(at_, fmt::format("the file ends where {} is expected. Add what is missing.", what));
    return tokens_[at_++].text;
  }

  uint64_t number(const std::string& what) {
    const std::string_view token = next(what);
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
    if (error == std::errc() && end == token.data() + token.size()) return value;
    const bool large = error == std::errc::result_out_of_range;
    const bool negative = token.size() > 1 && token[0] == '-';
    fail(at_ - 1, fmt::format("{} is `{}`, {}. Give a whole number from 0 to 2^64-1.", what, shown(token),
                              large      ? "which is too large"
                              : negative ? "which is negative or no number"
                                         : "which is no whole number"));
  }

  uint32_t layer_number(const std::string& what) {
    const uint64_t n = number(what);
    if (n > 0xffffffffull) fail(at_ - 1, fmt::format("{} is {}, more than any layer.", what, n));
    return static_cast<uint32_t>(n);
  }

  void word(const char* expected) {
    const std::string_view token = next(fmt::format("the word `{}`", expected));
    if (token == expected) return;
    fail(at_ - 1, fmt::format("`{}` stands where the header of {} has the word `{}`.", shown(token),
                              to_string(file_.loop), expected));
  }

  bool comes(const char* expected) const { return at_ < tokens_.size() && tokens_[at_].text == expected; }

  /// What a mistake in the number of layers says: something of the header may be missing before it.
  const char* layers_word() const {
    switch (file_.loop) {
      case Loop::hybrid_dlrm:
      case Loop::hybrid_dlrm_enhanced:
        return "the number of layers, which stands behind the index of the last bottom layer,";
      case Loop::hybrid_transformer:
        return !file_.model_group
                   ? "the number of layers, or `model_parallel_NPU_group:` with a number before it,"
                   : "the number of layers";
      default:
        return "the number of layers";
    }
  }

  void header() {
    const std::string_view type = next("the type");
    const auto* found = std::find(kLoopWords, kLoopWords + kLoops, type);
    if (found == kLoopWords + kLoops)
      fail(0, fmt::format("`{}` is no type of a text workload. The types are {}.", shown(type),
                          fmt::join(kLoopWords, kLoopWords + kLoops, ", ")));
    file_.loop = static_cast<Loop>(found - kLoopWords);
    switch (file_.loop) {
      case Loop::hybrid_dlrm:
      case Loop::hybrid_dlrm_enhanced:
        bottom_token_ = at_;
        file_.last_bottom_layer = layer_number("the last bottom layer");
        break;
      case Loop::hybrid_transformer:
        if (comes(kGroupWord)) group();
        break;
      case Loop::hybrid_transformer_fwd_in_bckwd:
        group();
        file_.checkpoints = layer_list(kCheckpointsWord, "checkpoint");
        file_.initiators = layer_list(kInitiatorsWord, "checkpoint initiator");
        break;
      default:
        break;
    }
  }

  void group() {
    word(kGroupWord);
    file_.model_group = number("the size of a model-parallel group");
    if (*file_.model_group == 0)
      fail(at_ - 1, "a model-parallel group of 0 NPUs. Give at least 1, which means no model parallelism.");
  }

  std::vector<uint32_t> layer_list(const char* expected, const char* noun) {
    word(expected);
    const uint64_t count = number(fmt::format("the number of {}s", noun));
    std::vector<uint32_t> list;
    for (uint64_t i = 0; i < count; ++i) {
      list_tokens_.push_back({at_, 0});
      list.push_back(layer_number(fmt::format("the layer of {} {}", noun, i + 1)));
      list_tokens_.back().second = list.back();
    }
    std::sort(list.begin(), list.end());
    return list;
  }

  /// True if every layer has a parallelism of its own.
  bool check_count(uint64_t layers, size_t left) const {
    const bool custom = file_.loop == Loop::hybrid_customized;
    const auto is = [&](size_t each) { return left % each == 0 && left / each == layers; };
    if (is(kTokensOfLayer + 1)) return true;
    if (is(kTokensOfLayer) && !custom) return false;
    std::string hint;
    const size_t mixed = first_mixed(layers);
    if (mixed != 0)
      hint = fmt::format(
          " Layer {} (of 0 to {}) has not as many tokens as the one before: give all layers a 13th token, "
          "their "
          "parallelism, or none.",
          mixed, layers - 1);
    else if (custom)
      hint = " HYBRID_CUSTOMIZED needs 13 tokens a layer; the last is its parallelism.";
    else
      hint = " Check the number of layers, and that names have no blanks.";
    fail(
        tokens_.size() - 1,
        fmt::format(
            "too {} tokens: {} layers of 12 tokens (13 with a parallelism each) need {}, and {} follow "
            "the number of layers.{}",
            left / layers < kTokensOfLayer || (custom && left / layers < kTokensOfLayer + 1) ? "few" : "many",
            layers,
            custom ? fmt::format("{}", layers * 13) : fmt::format("{} or {}", layers * 12, layers * 13), left,
            hint));
  }

  /// The first layer that has a parallelism and the one before has not, or the other way round; 0: there is
  /// none.
  size_t first_mixed(uint64_t layers) const {
    size_t at = at_;
    int before = -1;
    for (uint64_t i = 0; i < layers && at + kTokensOfLayer <= tokens_.size(); ++i) {
      at += kTokensOfLayer;
      const bool own = at < tokens_.size() && is_parallelism(tokens_[at].text);
      if (own) ++at;
      if (before >= 0 && (before == 1) != own) return static_cast<size_t>(i);
      before = own ? 1 : 0;
    }
    return 0;
  }

  std::string here(size_t column) const {
    const std::string name = file_.layers.empty() ? "" : shown(file_.layers.back().name);
    return fmt::format("layer {} `{}`, {}", file_.layers.size() - 1, name, kColumns[column]);
  }

  void layer() {
    file_.layers.emplace_back();
    TextLayer& layer = file_.layers.back();
    layer.name = std::string(next("the name of a layer"));
    reserved();
    for (size_t p = 0; p < kPasses; ++p) {
      TextLayer::Step& step = layer.steps[p];
      const size_t column = 2 + 3 * p;
      step.cycles = number(here(column));
      step.op = collective(column + 1);
      step.bytes = number(here(column + 2));
      if (!step.op && step.bytes != 0)
        warn_once(0, fmt::format("{} is {} bytes, but the type is NONE: nothing is sent", here(column + 2),
                                 step.bytes));
      if (step.op && step.bytes == 0)
        warn_once(1, fmt::format("{} is 0 bytes: the {} completes at once", here(column + 2),
                                 weft::to_string(*step.op)));
    }
    layer.update_cycles = number(here(11));
    if (own_parallelism_) parallelism(layer);
  }

  void reserved() {
    const std::string_view token = next(here(1));
    int64_t ignored = 0;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), ignored);
    if (error != std::errc() || end != token.data() + token.size())
      fail(at_ - 1,
           fmt::format("{} is `{}`, which is no whole number. Files have -1 there; a name with a blank moves "
                       "the columns.",
                       here(1), shown(token)));
  }

  std::optional<CollectiveOp> collective(size_t column) {
    const std::string_view token = next(here(column));
    if (token == "NONE") return std::nullopt;
    if (token == "ALLREDUCE") return CollectiveOp::all_reduce;
    if (token == "ALLGATHER") return CollectiveOp::all_gather;
    if (token == "REDUCESCATTER") return CollectiveOp::reduce_scatter;
    if (token == "ALLTOALL") return CollectiveOp::all_to_all;
    if (token == "ALLREDUCEALLTOALL")
      fail(
          at_ - 1,
          fmt::format("{} is ALLREDUCEALLTOALL, which ASTRA-sim reads and cannot run. Make two layers of it, "
                      "one with ALLREDUCE and one with ALLTOALL.",
                      here(column)));
    fail(at_ - 1,
         fmt::format("{} is `{}`, which is no type. The types are NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER "
                     "and ALLTOALL.",
                     here(column), shown(token)));
  }

  void parallelism(TextLayer& layer) {
    const std::string_view token = next(here(12));
    const auto* found = std::find(kLoopWords, kLoopWords + kParallelisms, token);
    const bool custom = file_.loop == Loop::hybrid_customized;
    if (custom && found != kLoopWords + kParallelisms) {
      layer.parallelism = static_cast<Parallelism>(found - kLoopWords);
      return;
    }
    if (custom)
      fail(at_ - 1, fmt::format("{} is `{}`. The parallelisms are {}.", here(12), shown(token),
                                fmt::join(kLoopWords, kLoopWords + kParallelisms, ", ")));
    if (token != to_string(file_.loop))
      fail(at_ - 1,
           fmt::format("{} is `{}`, but the header says {}. Make them equal, or leave the 13th token of all "
                       "layers out. Layers that differ need the header HYBRID_CUSTOMIZED.",
                       here(12), shown(token), to_string(file_.loop)));
  }

  void check_header(uint64_t layers) const {
    if ((file_.loop == Loop::hybrid_dlrm || file_.loop == Loop::hybrid_dlrm_enhanced) &&
        file_.last_bottom_layer >= layers)
      fail(bottom_token_, fmt::format("the last bottom layer is {}, but the layers are 0 to {}.",
                                      file_.last_bottom_layer, layers - 1));
    for (const auto& [token, number] : list_tokens_)
      if (number >= layers)
        fail(token, fmt::format("layer {} is named, but the layers are 0 to {}.", number, layers - 1));
    uint32_t before = 0;
    for (const uint32_t initiator : file_.initiators) {
      const auto after = std::upper_bound(file_.checkpoints.begin(), file_.checkpoints.end(), initiator);
      const bool found =
          after != file_.checkpoints.begin() && *(after - 1) < initiator && *(after - 1) >= before;
      if (!found) {
        const auto token = std::find_if(list_tokens_.rbegin(), list_tokens_.rend(),
                                        [&](const auto& entry) { return entry.second == initiator; });
        fail(
            token->first,
            fmt::format(
                "checkpoint initiator {} has no checkpoint between {} and {}, so it is unknown where forward "
                "begins again. Add a checkpoint there.",
                initiator, before == 0 ? std::string("layer 0") : fmt::format("initiator {}", before),
                initiator));
      }
      before = initiator;
    }
  }

  void warn_once(size_t kind, const std::string& text) {
    if (warnings_[kind].count++ == 0)
      warnings_[kind].first = fmt::format("{}:{}: token {}: {}", path_, tokens_[at_ - 1].line, at_, text);
  }

  void collect_warnings() {
    for (const Warning& warning : warnings_)
      if (warning.count > 0)
        file_.warnings.push_back(warning.count == 1
                                     ? warning.first
                                     : fmt::format("{} (and {} like it)", warning.first, warning.count - 1));
  }

  struct Warning {
    uint64_t count = 0;
    std::string first;
  };

  std::string path_;
  std::vector<Token> tokens_;
  TextFile file_;
  size_t at_ = 0;
  size_t bottom_token_ = 0;
  std::vector<std::pair<size_t, uint32_t>> list_tokens_;  ///< checkpoints and initiators: token and layer
  bool own_parallelism_ = false;
  std::array<Warning, 2> warnings_;
};

}  // namespace

const char* to_string(Loop loop) {
  return kLoopWords[static_cast<int>(loop)];
}

const char* to_string(Pass pass) {
  static const char* const names[kPasses] = {"forward", "input_gradient", "weight_gradient"};
  return names[static_cast<int>(pass)];
}

TextFile parse_text(const std::string& text, const std::string& path) {
  TextFile file = Parser(text, path).parse();
  file.sha256 = sha256(text);
  return file;
}

TextFile read_text_file(const std::string& path) {
  return parse_text(read_input(path, kTextInput), path);
}

}  // namespace weft::text
