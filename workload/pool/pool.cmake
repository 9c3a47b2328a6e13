# SPDX-License-Identifier: Apache-2.0
# The sources of workload/pool; workload/CMakeLists.txt collects them into one library.
set(WEFT_POOL_SOURCES
  pool/closed_form.cpp
  pool/graph_layout.cpp
  pool/layouts.cpp
  pool/pool_layout.cpp
  pool/striping.cpp
)
