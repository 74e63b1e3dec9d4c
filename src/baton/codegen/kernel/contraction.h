#pragma once

namespace baton {

/// Whether LLVM may round a multiply and an add once (one instruction, FMA) in the kernels that this thread
/// compiles while the scope lives. Everything else of IEEE 754 always holds: kernels are compiled with
/// Halide's strict_float, which by itself would also forbid that.
class ContractionScope {
 public:
  explicit ContractionScope(bool contract);
  ~ContractionScope();
  ContractionScope(const ContractionScope&) = delete;
  ContractionScope& operator=(const ContractionScope&) = delete;

 private:
  bool outer_;
};

}  // namespace baton
