#pragma once
// Symbols that do not depend on what a process compiled before. Needs Halide.h: for .cc files of codegen
// only.
#include <set>
#include <string>

#include <Halide.h>

namespace baton {

/// Halide appends a number to names that it believes to have seen ("pad$3": it counts hashes of names, so any
/// kernel compiled earlier in the process may be the reason). What gets into an object of it is the names of
/// parallel loops, which become functions. Without the numbers equal kernels are equal byte by byte, whoever
/// compiled them (design D10).
///
/// Two steps: this lowering pass takes them from the loops' names ...
class StableLoopNames final : public Halide::Internal::IRMutator {
 private:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::For* node) override;
  std::set<std::string> taken_;
};

/// ... and this takes them from the names of the functions that Halide made of the loops.
Halide::Module with_stable_names(const Halide::Module& module);

}  // namespace baton
