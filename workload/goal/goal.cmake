# SPDX-License-Identifier: Apache-2.0
set(WEFT_GOAL_SOURCES
  goal/binary_reader.cpp
  goal/check.cpp
  goal/loggops.cpp
  goal/program.cpp
  goal/text_reader.cpp)
