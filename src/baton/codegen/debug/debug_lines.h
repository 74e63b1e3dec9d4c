#pragma once
// Line tables for kernels, so that gdb, perf and objdump map instructions to lines of Relay
// (/docs/design/0013): inserts `.file` and `.loc` into the assembly that Halide prints. The source file is
// the fused function's text, with one operator per line.
#include <string>
#include <vector>

#include "baton/codegen/debug/code_map.h"
#include "baton/codegen/kernel/code_shape.h"
#include "baton/codegen/kernel/kernel.h"

namespace baton {

/// The text of a fused function, one operator per line, and the operators' lines.
struct KernelSource {
  std::string text;
  std::vector<int> lines;  ///< per block of kernel_blocks(function); 1-based
  int header_line = 1;     ///< of "fn (...)": what belongs to no operator
};

/// `places`: how operators share code, shown in comments; may be empty.
KernelSource kernel_source(const FunctionNode& function, const std::string& title,
                           const std::vector<CodePlace>& places);

/// The line for a place's instructions: that of its stage's own operator, the last one computed in it.
int line_of(const CodePlace& place, const KernelSource& source);

/// The path of a kernel's source file in a folder.
std::string source_path(const std::string& folder, const std::string& symbol);

/// Writes the source into `folder` and returns the object with line information. Its instructions are
/// identical to those of listing.object. Throws Error when there is no assembler, or the folder is not
/// writable.
std::string object_with_lines(const KernelListing& listing, const FunctionNode& function,
                              const std::string& folder);

/// The default folder: in the kernel cache, else under $TMPDIR. Absolute.
std::string default_debug_folder();

}  // namespace baton
