# SPDX-License-Identifier: Apache-2.0
# The sources of workload/generate; workload/CMakeLists.txt collects them into one library.
set(WEFT_GENERATE_SOURCES
  generate/llm.cpp
  generate/llm_attention.cpp
  generate/llm_experts.cpp
  generate/llm_figures.cpp
  generate/llm_nodes.cpp
  generate/llm_program.cpp
  generate/llm_replicas.cpp
  generate/llm_shape.cpp
  generate/moe.cpp
  generate/parameter_checks.cpp
  generate/rank_trace_writer.cpp
  generate/trace_file.cpp
  generate/collective.cpp
  generate/models/bert.cpp
  generate/models/layer_table.cpp
  generate/models/model.cpp
  generate/models/model_sizes.cpp
  generate/models/recommender.cpp
  generate/models/resnet.cpp
  generate/models/text_form.cpp
  generate/models/trace_form.cpp
)
