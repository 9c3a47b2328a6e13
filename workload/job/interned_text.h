// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_WORKLOAD_JOB_INTERNED_TEXT_H
#define WEFT_WORKLOAD_JOB_INTERNED_TEXT_H

#include <string>
#include <string_view>
#include <unordered_set>

namespace weft {

/// A text that many rows share: each has a pointer to one copy, which stays for the life of the process. For
/// texts of which there are far fewer than rows, such as names of algorithms, groups and nodes. Of one
/// thread.
class InternedText {
 public:
  InternedText() : InternedText(std::string()) {}
  InternedText(const std::string& text) : text_(&kept(text)) {}        // NOLINT(google-explicit-constructor)
  InternedText(const char* text) : InternedText(std::string(text)) {}  // NOLINT(google-explicit-constructor)

  const std::string& str() const { return *text_; }
  operator const std::string&() const { return *text_; }  // NOLINT(google-explicit-constructor)
  bool empty() const { return text_->empty(); }
  /// The same text.
  bool same(const InternedText& other) const { return text_ == other.text_; }

 private:
  static const std::string& kept(const std::string& text) {
    // Never destroyed: rows may outlive what is destroyed at the end of the process. Members of a set do not
    // move.
    static auto& all = *new std::unordered_set<std::string>;
    return *all.insert(text).first;
  }

  const std::string* text_;
};

}  // namespace weft

#endif
