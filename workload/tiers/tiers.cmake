# SPDX-License-Identifier: Apache-2.0
# The sources of workload/tiers; workload/CMakeLists.txt collects them into one library.
set(WEFT_TIERS_SOURCES
  tiers/tier_path.cpp
  tiers/tier_use.cpp
)
