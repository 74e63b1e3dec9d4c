#pragma once
// `baton explain --kernel NAME --asm`: annotated assembly of a kernel.
#include <cstdint>
#include <string>

#include "baton/cli/common.h"
#include "baton/cli/explain/explain_subject.h"

namespace baton::cli {

struct AsmFlags {
  bool on = false, timed = false;
  void add(Flags& flags);
};

/// Writes the listing of the kernel called by `node`; with lines of Relay in `debug_folder` unless that is
/// empty. Throws Error for an artifact, a node without code, or a machine without assembler.
void write_asm(Io& io, const Subject& subject, const ModelFlags& flags, const AsmFlags& wanted, uint32_t node,
               const std::string& debug_folder, bool json);

}  // namespace baton::cli
