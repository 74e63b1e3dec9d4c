#pragma once
#include "baton/pass/pass.h"
#include "baton/target/machine.h"

namespace baton {

/// AlterOpLayout for kernels that run on `machine`.
Pass alter_op_layout_for(const Machine& machine);

}  // namespace baton
