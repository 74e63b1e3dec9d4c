#pragma once
// Calls of operators with variables for some of their extents, and their kernels at given extents.
#include <optional>
#include <string>
#include <vector>

#include "baton/codegen/compile.h"
#include "baton/ir/expr.h"

namespace baton::test {

/// A call whose parameters have variables for some extents.
struct SymbolicCall {
  Function function;            ///< typed
  std::vector<Dim> extents;     ///< kernel_extents() of it
  std::vector<int64_t> usual;   ///< the numbers that stood there
  std::vector<NDArray> inputs;  ///< at these
};

/// `function`, static and typed, whose parameters have these shapes instead; typed anew. nullopt where that
/// is no program.
std::optional<Function> with_shapes(const Function& function, const std::vector<std::vector<Dim>>& shapes);

/// `function` with one variable for all extents of parameters that are `extent`; nullopt where that is no
/// program, or its types do not follow from the variable.
std::optional<SymbolicCall> with_variable(const Function& function, const std::vector<NDArray>& inputs,
                                          int64_t extent);

/// `call` at another extent, typed anew; nullopt where that is no program, or not the one that the types of
/// `call` say.
std::optional<Function> at_number(const SymbolicCall& call, int64_t n);

/// A program with variables N and M for `$N` and `$M` in the types of its parameters. `text`: parameters and
/// body of main.
SymbolicCall symbolic_program(const std::string& text);

/// The kernels of a build at opt level 3 of such a program, whose other parameters are constants.
std::vector<KernelRequest> symbolic_kernels(const std::string& text);

/// The inputs at other extents: the values of `call.inputs`, repeated.
std::vector<NDArray> inputs_at(const SymbolicCall& call, const Function& at);

/// Runs a kernel between inputs and outputs that may not be left or written; the outputs.
std::vector<NDArray> run_guarded(const JitKernel& kernel, const Function& at,
                                 const std::vector<NDArray>& inputs, const std::vector<int64_t>& extents);

/// Where `got` and `want` differ by more than sums in another order do; empty: nowhere.
std::string difference(const std::vector<NDArray>& got, const std::vector<NDArray>& want);

}  // namespace baton::test
