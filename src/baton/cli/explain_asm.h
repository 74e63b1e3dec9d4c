#pragma once
// `baton explain --kernel NAME --asm`: the kernel's instructions beside its operators.
#include <cstdint>
#include <string>

#include "baton/cli/common.h"
#include "baton/cli/explain_subject.h"

namespace baton::cli {

struct AsmFlags {
  bool on = false, timed = false;
  void add(Flags& flags);
};

/// Of the kernel that `node` calls; with lines of Relay in `debug_folder` unless that is empty. Throws Error
/// for an artifact, a node without code, a machine without assembler.
void write_asm(Io& io, const Subject& subject, const ModelFlags& flags, const AsmFlags& wanted, uint32_t node,
               const std::string& debug_folder, bool json);

}  // namespace baton::cli
