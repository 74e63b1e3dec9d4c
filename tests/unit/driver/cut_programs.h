#pragma once
// Programs to cut parts from.
#include <memory>
#include <string>

#include "baton/codegen/backend.h"
#include "baton/driver/cut/cut_program.h"
#include "baton/driver/initialize.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

namespace baton::cut_programs {

/// Parameters other than %x and %y are weights.
inline std::unique_ptr<CutProgram> program_of(const std::string& body) {
  initialize();
  const IRModule module = infer_types(parse_module("#[version = \"0.0.5\"]\n" + body, "test.relay"));
  BuildOptions options{.context = host_context()};
  options.context.passes->opt_level = 3;
  for (const Var& param : module->find("main")->params()) {
    const auto* type = as_type<TensorTypeNode>(param->annotation());
    if (type && param->name() != "x" && param->name() != "y")
      options.params.emplace_back(param->name(),
                                  parameter_value(param->name(), type->extents(), type->dtype()));
  }
  return std::make_unique<CutProgram>(module, options);
}

inline CutChoice by_operators(CutProgram& program, const std::string& text) {
  return program.choose({"", "", text});
}
inline CutChoice by_nodes(CutProgram& program, const std::string& text) {
  return program.choose({"", text, ""});
}

template <class Act>
std::string message_of(Act act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

inline const char* const kBlock = R"(
def @main(%x: Tensor[(1, 8, 10, 10), float32], %w1: Tensor[(8, 8, 3, 3), float32], %g: Tensor[(8), float32], %b: Tensor[(8), float32], %m: Tensor[(8), float32], %v: Tensor[(8), float32], %w2: Tensor[(8, 8, 3, 3), float32]) {
  %0 = nn.relu(%x);
  %1 = nn.conv2d(%0, %w1, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]);
  %2 = nn.batch_norm(%1, %g, %b, %m, %v);
  %3 = nn.relu(%2.0);
  %4 = nn.dropout(%3);
  %5 = nn.conv2d(%4.0, %w2, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]);
  %6 = add(%5, %0);
  nn.max_pool2d(%6, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0])
}
)";

inline const char* const kSplit = R"(
def @main(%x: Tensor[(4, 6), float32], %y: Tensor[(4, 2), float32]) {
  %0 = split(%x, indices_or_sections=3, axis=1);
  %1 = tanh(%0.0);
  %2 = (%1, %0.1, %y);
  %3 = concatenate(%2, axis=1);
  %4 = concatenate(%0, axis=0);
  (%3, %4, %0.2)
}
)";

inline const char* const kBranch = R"(
def @main(%x: Tensor[(4), float32], %y: bool) {
  %0 = tanh(%x);
  %1 = if (%y) {
    %2 = exp(%0);
    sqrt(%2)
  } else {
    %0
  };
  log(%1)
}
)";

}  // namespace baton::cut_programs
