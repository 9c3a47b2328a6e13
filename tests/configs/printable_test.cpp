// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/printable.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(Printable, ControlCharactersBecomeQuestionMarks) {
  EXPECT_EQ(printable("mb0.forward, \"layer\" 1"), "mb0.forward, \"layer\" 1");
  EXPECT_EQ(printable("a\x1b[31mb\nc\td\x7f"), "a?[31mb?c?d?");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a?b");
  EXPECT_EQ(printable("a\x1b\nb\tc", "\n\t"), "a?\nb\tc");
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, LettersBeyondAsciiStay) {
  EXPECT_EQ(printable("\u00e4\u00a0\u03bc"), "\u00e4\u00a0\u03bc");
  EXPECT_EQ(printable("a\xc2\x9b"
                      "31mb"),
            "a?31mb")
      << "U+009B, which terminals may take for ESC [";
  EXPECT_EQ(printable("a\xc2"), "a\xc2");
}

}  // namespace
}  // namespace weft
