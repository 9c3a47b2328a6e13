# SPDX-License-Identifier: Apache-2.0
# The sources of workload/graph; workload/CMakeLists.txt collects them into one library.
set(WEFT_GRAPH_SOURCES
  graph/bounds.cpp
  graph/checked_job.cpp
  graph/compute_cost.cpp
  graph/fidelity_rules.cpp
  graph/issue_orders.cpp
  graph/layers.cpp
  graph/folding.cpp
  graph/folding/analysis.cpp
  graph/folding/group_shapes.cpp
  graph/folding/library_nodes.cpp
  graph/folding/line_parts.cpp
  graph/folding/mixed_groups.cpp
  graph/folding/own_links.cpp
  graph/folding/partition.cpp
  graph/folding/peer_ways.cpp
  graph/folding/replicas.cpp
  graph/node_causes.cpp
  graph/p2p_matcher.cpp
  graph/rank_engine.cpp
  graph/trace_delays.cpp
)
