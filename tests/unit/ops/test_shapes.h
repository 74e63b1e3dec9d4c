#pragma once
// The calls that `.test_shapes` of an operator's block describes, one text each: the inputs, then attributes.
//
//   (2, 3)f32              a tensor of values in [-1, 1), integers in [0, 10)
//   (2, 3)i32[-4, 5]       with values in [-4, 5)
//   (3)i32{2, 0, 1}        these values, repeated for further elements
//   (2)i64={4, 3}          the same as a constant of the program
//   [(2)f32, (3)f32]       a tuple
//   axis=-1, layout=NHWC, equation="ij->ji", keepdims=True, size=[2, 3], epsilon=1., start=()i32{1}
//                          attributes; a tensor among them is a constant
//
// Element types: f16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 bool.
#include <string>
#include <utility>
#include <vector>

#include "baton/ir/expr.h"

namespace baton::test {

struct TestCase {
  Function function;            ///< typed; its body is the call
  std::vector<NDArray> inputs;  ///< one per parameter
};

/// All operators that have a compute.
std::vector<const OpDef*> computed_ops();

/// Throws std::runtime_error for malformed text, DiagnosticError for an ill-typed call.
TestCase test_case(const OpDef& op, const std::string& text);

/// Several calls, one after the other: an argument `_` is the result of the call before, `_1` its field 1.
TestCase test_chain(const std::vector<std::pair<const OpDef*, std::string>>& calls);

}  // namespace baton::test
