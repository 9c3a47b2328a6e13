# SPDX-License-Identifier: Apache-2.0
# The sources of workload/job; workload/CMakeLists.txt collects them into one library.
set(WEFT_JOB_SOURCES
  job/collective_book.cpp
  job/footprint.cpp
  job/job_footprint.cpp
  job/sampled_times.cpp
  job/layer_rows.cpp
  job/rank_map.cpp
  job/rows.cpp
  job/tensor_plan.cpp
)
