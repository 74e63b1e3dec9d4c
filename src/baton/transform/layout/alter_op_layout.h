#pragma once
#include "baton/pass/pass.h"
#include "baton/target/device_sheet.h"

namespace baton {

/// AlterOpLayout for kernels that run on `machine`.
Pass alter_op_layout_for(const DeviceSheet& sheet);

}  // namespace baton
