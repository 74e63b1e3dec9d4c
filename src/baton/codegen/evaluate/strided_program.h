#pragma once
// The fast form of interpreter programs that access memory in strides: no instruction computes an offset;
// positions are split into digits so that each access is base + sum of stride * digit. See
// docs/design/0007-strided-folding.md.
#include <cstdint>
#include <vector>

#include "baton/codegen/evaluate/interpreter_program.h"

namespace baton {

struct StridedProgram {
  struct Step {
    enum class Kind : uint8_t { kCompute, kLoad, kStore };
    Kind kind = Kind::kCompute;
    Instruction instruction;  ///< kLoad: kind, dst, table; kStore: a
    int64_t base = 0;         ///< of an access: the element index at position 0
    int group = 0;            ///< of an access: index into `strides`
  };
  std::vector<int64_t> extents;               ///< of the axes, ordered by the output's stride
  std::vector<std::vector<int64_t>> strides;  ///< [group][axis]; group 0 is the output
  std::vector<Instruction> constants;         ///< run once, before all steps
  std::vector<Step> steps;                    ///< run for each position; stores all results of the position
  std::vector<LoadTable> tables;
  int num_registers = 0;
  RegKind result_kind = RegKind::kF32;

  /// Instructions per position, not counting moves, which a compiled kernel has too.
  double work() const;
  int64_t positions() const;
  /// Computes the whole output, in parallel when it is large. False after an undefined conversion.
  bool run(LoadTable::Element element, void* output) const;
};

}  // namespace baton
