// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tests/relations/relation.h"

namespace weft::relations {

Relation unrelated();
Relation fidelities();
Relation fold_collectives();
Relation fold_jobs();
Relation bounds_of_collectives();
Relation bounds_of_jobs();
Relation sizes();
Relation after_another();
Relation faster();
Relation effective();
Relation waves();
Relation set_option();
Relation key_order();
Relation sums();
Relation as_trace();
Relation carried_data();
Relation dimensions_of_one();
Relation parallel_links();
Relation pairs();
Relation bigger_machine();
Relation equal_dimensions();
Relation rotated();
Relation mapped();
Relation packets();
Relation closed_forms();
Relation chunks_keep_bytes();
Relation more_compute();
Relation scaled();
Relation validated();
Relation graphs();
Relation custom_programs();
Relation traffic();
Relation several_jobs();
Relation borders();
Relation reductions();
Relation critical_path();
Relation library_collectives();
Relation library_jobs();
Relation library_unrelated();
Relation library_scales();

const std::vector<Relation>& relations() {
  static const std::vector<Relation> list = {unrelated(),
                                             fidelities(),
                                             fold_collectives(),
                                             fold_jobs(),
                                             bounds_of_collectives(),
                                             bounds_of_jobs(),
                                             sizes(),
                                             after_another(),
                                             faster(),
                                             effective(),
                                             waves(),
                                             set_option(),
                                             key_order(),
                                             sums(),
                                             as_trace(),
                                             carried_data(),
                                             dimensions_of_one(),
                                             parallel_links(),
                                             pairs(),
                                             bigger_machine(),
                                             equal_dimensions(),
                                             rotated(),
                                             mapped(),
                                             packets(),
                                             closed_forms(),
                                             chunks_keep_bytes(),
                                             more_compute(),
                                             scaled(),
                                             validated(),
                                             graphs(),
                                             custom_programs(),
                                             traffic(),
                                             several_jobs(),
                                             borders(),
                                             reductions(),
                                             critical_path(),
                                             library_collectives(),
                                             library_jobs(),
                                             library_unrelated(),
                                             library_scales()};
  return list;
}

}  // namespace weft::relations
