#pragma once
// Kernels whose instructions lead gdb, perf and objdump to lines of Relay (/docs/design/0013): the assembly
// that Halide prints, with `.file` and `.loc` put in. The source file is the fused function's text, a line is
// an operator.
#include <string>
#include <vector>

#include "baton/codegen/debug/code_map.h"
#include "baton/codegen/kernel/code_shape.h"
#include "baton/codegen/kernel/kernel.h"

namespace baton {

/// The text of a fused function, one operator per line, and where its operators stand.
struct KernelSource {
  std::string text;
  std::vector<int> lines;  ///< per block of kernel_blocks(function); counts from 1
  int header_line = 1;     ///< of "fn (...)": what belongs to no operator
};

/// `places`: how operators share code, for the comments; may be empty.
KernelSource kernel_source(const FunctionNode& function, const std::string& title,
                           const std::vector<CodePlace>& places);

/// The line that a place's instructions get: that of its stage's own operator, the last one computed in it.
int line_of(const CodePlace& place, const KernelSource& source);

/// Where the source of a kernel stands in a folder.
std::string source_path(const std::string& folder, const std::string& symbol);

/// Writes the source into `folder` and returns the object with lines that lead there. Its instructions are
/// those of listing.object, byte by byte. Throws Error where there is no assembler, or the folder cannot be
/// written to.
std::string object_with_lines(const KernelListing& listing, const FunctionNode& function,
                              const std::string& folder);

/// The folder that nobody chose: in the kernel cache, else under $TMPDIR. Absolute.
std::string default_debug_folder();

}  // namespace baton
