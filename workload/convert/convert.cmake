# SPDX-License-Identifier: Apache-2.0
set(WEFT_CONVERT_SOURCES
  convert/from_flexflow.cpp
  convert/from_goal.cpp
  convert/from_pytorch.cpp
  convert/pytorch/host_trace.cpp
  convert/pytorch/json_file.cpp
  convert/pytorch/kineto.cpp
  convert/pytorch/rank_graph.cpp
  convert/scale_traces.cpp
  convert/trace_set.cpp)
