#pragma once
// A case of the kernel fuzzer: a chain of operator calls, written as in `.test_shapes` of operators' blocks
// (ops/test_shapes.h), one call after the other:
//
//   nn.conv2d: (1, 3, 8, 8)f32, (4, 3, 3, 3)f32, channels=4 | add: _, (4, 1, 1)f32 | nn.relu: _
//
// `_` is the result of the call before, `_1` a field of it. A text is also the case's identity: it reproduces
// a finding, and one call of it can be pasted into an operator's block as a regression test.
#include <string>
#include <utility>
#include <vector>

#include "baton/support/base/ndarray.h"

namespace baton::fuzz {

struct CaseTensor {
  Shape shape;
  std::string element;  ///< "f32"
  bool constant = false;
  std::string values;  ///< what follows the element type: "{1, 2}", "[0, 5]" or nothing
};

struct CaseArg {
  bool tuple = false;
  std::string previous;  ///< "_" or "_1"; empty: the tensors below
  std::vector<CaseTensor> tensors;
};

struct CaseCall {
  std::string op;
  std::vector<CaseArg> args;
  std::vector<std::pair<std::string, std::string>> attrs;  ///< names and values as written
};

using KernelCase = std::vector<CaseCall>;

/// Throws std::runtime_error for malformed text.
KernelCase parse_case(const std::string& text);
/// `call` without its operator's name, as in `.test_shapes`.
std::string arguments_text(const CaseCall& call);
std::string case_text(const KernelCase& chain);

/// Splits at commas outside of brackets and quotes.
std::vector<std::string> split_list(const std::string& text);

}  // namespace baton::fuzz
