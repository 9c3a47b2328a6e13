# SPDX-License-Identifier: Apache-2.0
# The sources of workload/compute; workload/CMakeLists.txt collects them into one library.
set(WEFT_COMPUTE_SOURCES
  compute/systolic.cpp
)
