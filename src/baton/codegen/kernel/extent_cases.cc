#include "baton/codegen/kernel/extent_cases.h"

#include <algorithm>

#include "baton/ir/analysis/kernel_extents.h"
#include "baton/ir/extent.h"

namespace baton {

namespace hi = Halide::Internal;

namespace {

int64_t next_shorter(int64_t usual) {
  for (const int64_t each : kUsualExtents)
    if (each < usual) return each;
  return 1;
}

}  // namespace

std::string CaseCondition::text() const {
  std::string text;
  const auto add = [&](const std::string& condition) { text += (text.empty() ? "" : " && ") + condition; };
  for (const Dim& dim : zero) add(extent_text(dim) + " == 0");
  for (const LeastExtent& each : least) add(extent_text(each.dim) + " >= " + std::to_string(each.least));
  return text;
}

Halide::Expr CaseCondition::expr() const {
  Halide::Expr all = hi::const_true();
  for (const Dim& dim : zero) all = all && as_expr(dim) == 0;
  for (const LeastExtent& each : least) all = all && as_expr(each.dim) >= each.least;
  return hi::simplify(all);
}

std::vector<int64_t> shorter_extents(const LoweredKernel& kernel, const std::vector<LeastExtent>& missed) {
  LoweredKernel counted;
  counted.extents = kernel.extents, counted.usual = kernel.usual;
  for (const LeastExtent& each : missed) {
    bool shorter = true;
    while (shorter && counted.usual_extent(each.dim) >= each.least) {
      shorter = false;
      visit_extent_vars(each.dim, [&](Dim var) {
        int64_t& usual = counted.usual.at(static_cast<size_t>(extent_number(var)));
        shorter = shorter || usual > 1;
        usual = next_shorter(usual);
      });
    }
  }
  return counted.usual;
}

hi::LoweredFunc dispatch(const std::string& symbol, const LoweredKernel& kernel,
                         const std::vector<CaseFunction>& cases) {
  std::vector<hi::LoweredArgument> params;
  std::vector<Halide::Expr> passed;
  const auto add_buffer = [&](const Halide::Argument& argument) {
    params.emplace_back(argument);
    passed.push_back(hi::Variable::make(Halide::type_of<halide_buffer_t*>(), argument.name + ".buffer"));
  };
  for (const Halide::ImageParam& input : kernel.inputs) add_buffer(input);
  for (int i = 0; i < kernel.extents; ++i) {
    params.emplace_back(Halide::Argument(extent_param(i)));
    passed.push_back(hi::Variable::make(Halide::Int(32), extent_param(i).name()));
  }
  for (const Tensor& output : kernel.outputs)
    add_buffer(Halide::Argument(output.func().name(), Halide::Argument::OutputBuffer,
                                output.func().types().front(), output.rank(), Halide::ArgumentEstimates{}));
  hi::Stmt body;
  for (size_t i = cases.size(); i-- > 0;) {
    const hi::Stmt call = hi::Evaluate::make(
        hi::Call::make(Halide::Int(32), cases[i].name, passed, hi::Call::Extern));
    // The params of conditions are arguments: by name alone, as the case functions get them.
    body = body.defined() ? hi::IfThenElse::make(cases[i].condition.expr(), call, body) : call;
  }
  return {symbol, params, body, Halide::LinkageType::ExternalPlusArgv};
}

}  // namespace baton
