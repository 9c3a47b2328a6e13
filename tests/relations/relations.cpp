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

const std::vector<Relation>& relations() {
  static const std::vector<Relation> list = {
      unrelated(),      fidelities(), fold_collectives(), fold_jobs(), bounds_of_collectives(),
      bounds_of_jobs(), sizes(),      after_another(),    faster()};
  return list;
}

}  // namespace weft::relations
