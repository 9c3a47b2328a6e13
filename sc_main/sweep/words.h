// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Texts of the command line, cut where a user means it.

#ifndef WEFT_SC_MAIN_SWEEP_WORDS_H
#define WEFT_SC_MAIN_SWEEP_WORDS_H

#include <string>
#include <string_view>
#include <vector>

namespace weft::sweep {

/// Without blanks at both ends.
std::string_view trimmed(std::string_view text);

/// The parts between separators that are outside of quotes and of (), [] and {}. Errors: UserError(usage) for
/// a quote or bracket without its other half.
std::vector<std::string> split_outside(std::string_view text, char separator);

/// A text that is quoted as a whole, 'a' or "a", without its quotes; a doubled quote inside is one. Any other
/// text as it is.
std::string unquoted(std::string_view text);

/// For messages: at most 120 characters of a text.
std::string shortened(std::string_view text);

/// A word of a POSIX shell's command line, quoted if need be.
std::string shell_word(std::string_view text);

}  // namespace weft::sweep

#endif
