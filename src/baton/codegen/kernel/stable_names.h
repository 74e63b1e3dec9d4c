#pragma once
// Symbols that do not depend on earlier compilations in the process. Needs Halide.h: for .cc files of codegen
// only.
#include <set>
#include <string>

#include <Halide.h>

namespace baton {

/// Halide appends a counter to names it may have seen before ("pad$3": it counts hashes of names, so any
/// kernel compiled earlier in the process may cause it). Of these, only the names of parallel loops, which
/// become functions, reach the object. Without the counters, equal kernels are equal byte by byte in every
/// process (design D10).
///
/// Two steps: this lowering pass removes them from the loops' names ...
class StableLoopNames final : public Halide::Internal::IRMutator {
 private:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::For* node) override;
  std::set<std::string> taken_;
};

/// ... and this function removes them from the names of the functions that Halide makes of the loops.
Halide::Module with_stable_names(const Halide::Module& module);

}  // namespace baton
