// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The text form, token by token from a window on the file:
//
//     num_ranks 2
//     rank 0 {
//       l1: calc 100 cpu 0
//       l2: send 8b to 1 tag 5 cpu 0 nic 0
//       l2 requires l1
//     }
//     rank 1 { l1: recv 8b from 0 tag 5 }

#include <fmt/format.h>

#include <cctype>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "configs/stop.h"
#include "workload/goal/readers.h"

namespace weft::goal {

const InputKind kGoalInput{"GOAL", ExitCode::trace,
                           "check the path; a GOAL file is a text (`num_ranks ..`) or the binary form that "
                           "LogGOPSim reads"};

namespace {

struct Token {
  std::string text;  ///< empty: the end of the file
  uint64_t line = 1;
};

/// Words, and `:`, `{`, `}` by themselves; comments are left out.
class Tokens {
 public:
  explicit Tokens(const InputFile& file) : file_(file) {
    file.advise_sequential();
    buffer_.resize(1u << 20);
  }

  const Token& peek() {
    if (ahead_.empty()) ahead_.push_back(read());
    return ahead_.front();
  }
  const Token& peek_second() {
    peek();
    if (ahead_.size() == 1) ahead_.push_back(read());
    return ahead_[1];
  }
  Token next() {
    peek();
    Token token = std::move(ahead_.front());
    ahead_.erase(ahead_.begin());
    return token;
  }
  [[noreturn]] void fail(uint64_t line, const std::string& what) const {
    throw UserError(ExitCode::trace, fmt::format("{}, line {}: {}", file_.path(), line, what));
  }

 private:
  static constexpr size_t kLongestWord = 4096;

  int look() {
    if (at_ == filled_) {
      check_stop();
      filled_ = file_.read(offset_, &buffer_[0], buffer_.size());
      offset_ += filled_;
      at_ = 0;
      if (filled_ == 0) return -1;
    }
    return static_cast<unsigned char>(buffer_[at_]);
  }
  void skip_comment(uint64_t begin) {
    const int kind = look();
    ++at_;
    if (kind == '/') {
      for (int c = look(); c != -1 && c != '\n'; c = look()) ++at_;
      return;
    }
    for (bool star = false;;) {
      const int c = look();
      if (c == -1) fail(begin, "the comment that begins here has no end; add `*/`");
      ++at_;
      if (c == '\n') ++line_;
      if (star && c == '/') return;
      star = c == '*';
    }
  }
  Token read() {
    for (;;) {
      const int c = look();
      if (c == -1) return {"", line_};
      ++at_;
      if (c == '\n') {
        ++line_;
      } else if (c == ':' || c == '{' || c == '}') {
        return {std::string(1, static_cast<char>(c)), line_};
      } else if (c == '/') {
        const int second = look();
        if (second != '/' && second != '*') fail(line_, "a single `/`; a comment begins with `//` or `/*`");
        skip_comment(line_);
      } else if (std::isspace(c) == 0) {
        return word(c);
      }
    }
  }
  Token word(int first) {
    Token token{std::string(1, static_cast<char>(first)), line_};
    for (int c = look(); c != -1 && std::isspace(c) == 0 && c != ':' && c != '{' && c != '}' && c != '/';
         c = look()) {
      token.text.push_back(static_cast<char>(c));
      ++at_;
      if (token.text.size() > kLongestWord) fail(line_, "a word of more than 4096 characters: no GOAL text");
    }
    for (char& c : token.text)
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
        fail(token.line, "a control character: this is no GOAL text");
    return token;
  }

  const InputFile& file_;
  std::string buffer_;
  uint64_t offset_ = 0;
  size_t at_ = 0;
  size_t filled_ = 0;
  uint64_t line_ = 1;
  std::vector<Token> ahead_;
};

std::string shown(const std::string& text) {
  return text.empty() ? std::string("the end of the file") : fmt::format("`{}`", text.substr(0, 60));
}

class TextReader {
 public:
  explicit TextReader(const InputFile& file) : tokens_(file) { program_.path = file.path(); }

  Program read() {
    if (tokens_.peek().text != "num_ranks")
      tokens_.fail(tokens_.peek().line, fmt::format("{} where the text must begin with `num_ranks N`",
                                                    shown(tokens_.peek().text)));
    tokens_.next();
    const Token count = tokens_.peek();
    const uint64_t ranks = number("num_ranks", kMostRanks);
    if (ranks == 0) tokens_.fail(count.line, "num_ranks is 0; a program has at least one rank");
    program_.ranks.resize(ranks);
    seen_.resize(ranks);
    while (!tokens_.peek().text.empty()) rank_block();
    for (uint64_t r = 0; r < ranks; ++r)
      if (seen_[r] == 0)
        tokens_.fail(
            tokens_.peek().line,
            fmt::format("the file ends and rank {} has no block; num_ranks is {}. Add `rank {} {{ .. "
                        "}}` or lower num_ranks",
                        r, ranks, r));
    return std::move(program_);
  }

 private:
  struct Wait {
    std::string after, before;
    uint64_t line;
    bool start;
  };

  /// A whole number up to `most`; `unit`: a `b` may, or with `needs_unit` must, follow.
  uint64_t number(const char* what, uint64_t most, bool bytes = false) {
    Token token = tokens_.next();
    std::string digits = token.text;
    if (bytes && !digits.empty() && (digits.back() == 'b' || digits.back() == 'B')) digits.pop_back();
    uint64_t value = 0;
    bool good = !digits.empty();
    bool fits = true;
    for (const char c : digits) {
      if (c < '0' || c > '9') {
        good = false;
        break;
      }
      const auto digit = static_cast<uint64_t>(c - '0');
      if (value > (std::numeric_limits<uint64_t>::max() - digit) / 10) fits = false;
      value = value * 10 + digit;
    }
    if (!good)
      tokens_.fail(token.line, fmt::format("{} is {}; it must be a whole number{}{}", what, shown(token.text),
                                           bytes ? " of bytes, as in `8b`" : "", of_rank()));
    if (!fits || value > most)
      tokens_.fail(token.line, fmt::format("{} is {}; at most {} is possible{}", what, shown(token.text),
                                           most, of_rank()));
    return value;
  }
  /// As number(), and -1 for any.
  uint32_t number_or_any(const char* what, uint32_t most) {
    if (tokens_.peek().text == "-1") {
      tokens_.next();
      return kAny;
    }
    return static_cast<uint32_t>(number(what, most));
  }

  std::string of_rank() const { return in_rank_ ? fmt::format(" (rank {})", rank_) : ""; }

  void expect(const char* text, const std::string& why) {
    const Token token = tokens_.next();
    if (token.text != text)
      tokens_.fail(token.line,
                   fmt::format("{} where `{}` must stand{}: {}", shown(token.text), text, of_rank(), why));
  }

  void rank_block() {
    const Token token = tokens_.next();
    if (token.text != "rank")
      tokens_.fail(token.line, fmt::format("{} where `rank R {{` must stand (outside of every rank); check "
                                           "the braces before it",
                                           shown(token.text)));
    const uint64_t line = tokens_.peek().line;
    const uint64_t r = number("the rank", std::numeric_limits<uint32_t>::max());
    if (r >= program_.ranks.size())
      tokens_.fail(line, fmt::format("rank {} is out of range: num_ranks is {}, so ranks are 0 to {}", r,
                                     program_.ranks.size(), program_.ranks.size() - 1));
    if (seen_[r] != 0)
      tokens_.fail(line, fmt::format("rank {} has a second block; the first begins in line {}", r, seen_[r]));
    seen_[r] = line;
    rank_ = static_cast<uint32_t>(r);
    in_rank_ = true;
    expect("{", "a rank's operations are in braces");
    labels_.clear();
    waits_.clear();
    while (tokens_.peek().text != "}") {
      if (tokens_.peek().text.empty() || (tokens_.peek().text == "rank" && tokens_.peek_second().text != ":"))
        tokens_.fail(tokens_.peek().line,
                     fmt::format("{} where the block of rank {}, which begins in line {}, has no `}}` yet; "
                                 "close it",
                                 shown(tokens_.peek().text), r, line));
      statement();
    }
    tokens_.next();
    connect();
    in_rank_ = false;
  }

  void statement() {
    Token first = tokens_.next();
    if (first.text == ":" || first.text == "{")
      tokens_.fail(first.line,
                   fmt::format("{} where an operation must stand{}", shown(first.text), of_rank()));
    if (tokens_.peek().text == ":") {
      tokens_.next();
      operation(tokens_.next(), first.text);
      return;
    }
    const std::string& verb = tokens_.peek().text;
    if (verb == "requires" || verb == "irequires") {
      const bool start = verb == "irequires";
      tokens_.next();
      Token before = tokens_.next();
      if (before.text.empty() || before.text == "}" || before.text == "{" || before.text == ":")
        tokens_.fail(before.line,
                     fmt::format("{} where a label must stand{}: `{} {} LABEL`", shown(before.text),
                                 of_rank(), first.text, start ? "irequires" : "requires"));
      waits_.push_back({std::move(first.text), std::move(before.text), first.line, start});
      return;
    }
    operation(std::move(first), "");
  }

  void operation(Token verb, const std::string& label) {
    RankProgram& rank = program_.ranks[rank_];
    Operation op;
    op.place = verb.line;
    if (verb.text == "send" || verb.text == "recv") {
      const bool send = verb.text == "send";
      op.kind = send ? Kind::send : Kind::receive;
      op.size = number("the size", std::numeric_limits<uint64_t>::max(), true);
      expect(send ? "to" : "from", send ? "`send BYTESb to RANK`" : "`recv BYTESb from RANK`");
      peer(op);
    } else if (verb.text == "calc") {
      op.kind = Kind::calc;
      op.size = number("the duration of a calc, nanoseconds,", std::numeric_limits<uint64_t>::max() / 1000);
    } else {
      tokens_.fail(verb.line,
                   fmt::format("{} is no operation{}; a rank has `send BYTESb to RANK`, `recv BYTESb "
                               "from RANK`, `calc NANOSECONDS`, `L1 requires L2` and `L1 irequires "
                               "L2`",
                               shown(verb.text), of_rank()));
    }
    options(op);
    if (rank.operations.size() >= std::numeric_limits<uint32_t>::max() - 1)
      tokens_.fail(verb.line, fmt::format("rank {} has more than 2^32-2 operations", rank_));
    const auto index = static_cast<uint32_t>(rank.operations.size());
    rank.operations.push_back(op);
    rank.names += label;
    rank.name_ends.push_back(rank.names.size());
    if (label.empty()) return;
    const auto [it, fresh] = labels_.emplace(label, index);
    if (!fresh)
      tokens_.fail(verb.line,
                   fmt::format("label {} of rank {} is there already, in line {}; labels of a rank "
                               "must differ",
                               label.substr(0, 60), rank_, rank.operations[it->second].place));
  }

  void peer(Operation& op) {
    const Token token = tokens_.peek();
    if (op.kind == Kind::receive) {
      op.peer = number_or_any("the source", kAny - 1);
      if (op.peer == kAny) return;
    } else {
      op.peer = static_cast<uint32_t>(number("the destination", kAny - 1));
    }
    if (op.peer >= program_.ranks.size())
      tokens_.fail(token.line,
                   fmt::format("rank {} {} {} rank {}, which is out of range: ranks are 0 to {}", rank_,
                               op.kind == Kind::send ? "sends" : "receives",
                               op.kind == Kind::send ? "to" : "from", op.peer, program_.ranks.size() - 1));
  }

  /// `tag T`, `cpu C`, `nic I`, in any order.
  void options(Operation& op) {
    for (;;) {
      const std::string& word = tokens_.peek().text;
      if (word != "tag" && word != "cpu" && word != "nic") return;
      const std::string& next = tokens_.peek_second().text;
      if (next == ":" || next == "requires" || next == "irequires") return;  // it is a label
      const Token option = tokens_.next();
      if (option.text == "tag") {
        if (op.kind == Kind::calc) tokens_.fail(option.line, "a calc has no tag" + of_rank());
        op.tag = op.kind == Kind::receive ? number_or_any("the tag", kAny - 1)
                                          : static_cast<uint32_t>(number("the tag", kAny - 1));
      } else if (option.text == "cpu") {
        op.cpu = static_cast<uint8_t>(number("the cpu", 255));
      } else {
        op.nic = static_cast<uint8_t>(number("the nic", 255));
      }
    }
  }

  /// A label may stand before the operation that it names.
  void connect() {
    RankProgram& rank = program_.ranks[rank_];
    const auto find = [&](const std::string& label, const Wait& wait) {
      const auto it = labels_.find(label);
      if (it == labels_.end())
        tokens_.fail(wait.line, fmt::format("rank {}: `{} {} {}`: the rank has no label {}", rank_,
                                            wait.after.substr(0, 60), wait.start ? "irequires" : "requires",
                                            wait.before.substr(0, 60), label.substr(0, 60)));
      return it->second;
    };
    rank.dependencies.reserve(waits_.size());
    for (const Wait& wait : waits_)
      rank.dependencies.push_back({find(wait.before, wait), find(wait.after, wait), wait.start});
  }

  Tokens tokens_;
  Program program_;
  std::vector<uint64_t> seen_;  ///< line of each rank's block; 0: none yet
  uint32_t rank_ = 0;
  bool in_rank_ = false;
  std::unordered_map<std::string, uint32_t> labels_;
  std::vector<Wait> waits_;
};

}  // namespace

Program read_text(const InputFile& file) {
  return TextReader(file).read();
}

}  // namespace weft::goal
