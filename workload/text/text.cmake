# SPDX-License-Identifier: Apache-2.0
# The sources of workload/text; workload/CMakeLists.txt collects them into one library.
set(WEFT_TEXT_SOURCES
  text/layer_times.cpp
  text/sha256.cpp
  text/text_file.cpp
  text/text_files.cpp
  text/text_job.cpp
  text/text_trace.cpp
  text/training_loop.cpp
)
