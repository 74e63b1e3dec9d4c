#pragma once
// The sheet of the processor that a target's options name: what kernels of -mcpu, -mattr and -mtriple are
// compiled for, which may be another processor than this one.
#include "baton/target/device_sheet.h"
#include "baton/target/target.h"

namespace baton {

/// Whether a target of kind "llvm" has an option that decides code: -mtriple (-target), -march, -mcpu, -mattr
/// or -num-cores.
bool names_processor(const Target& target);

/// The sheet of the processor that `target` names; `host`'s own where it names none, or `-mcpu=native`. A
/// triple without -mcpu means the least processor of that architecture. Caches and costs are those of a
/// typical processor of the kind (docs/design/0034), cores those of `host` unless -num-cores gives them.
/// UsageError for an architecture, an operating system or a processor that no code can be made for.
DeviceSheet processor_sheet(const Target& target, const DeviceSheet& host);

/// UsageError for a name of -mcpu that no processor is known by. processor_sheet() takes the host for it
/// where there is no triple, as scripts for TVM expect, which are warned.
void require_known_processor(const Target& target);

/// Sets what follows from the features of `code_target`: lanes, registers, and the costs that depend on them.
void set_vector_widths(DeviceSheet& sheet);

}  // namespace baton
