# SPDX-License-Identifier: Apache-2.0
set(WEFT_CONVERT_SOURCES
  convert/from_flexflow.cpp
  convert/from_goal.cpp
  convert/trace_set.cpp)
