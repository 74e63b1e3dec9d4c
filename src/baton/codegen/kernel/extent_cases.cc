#include "baton/codegen/kernel/extent_cases.h"

#include <algorithm>

#include "baton/ir/extent.h"
#include "baton/ir/extents/kernel_extents.h"

namespace baton {

namespace hi = Halide::Internal;

namespace {

int64_t next_shorter(const UsualExtents& usual, int64_t extent) {
  for (const int64_t each : usual)
    if (each < extent) return each;
  return 1;
}

/// Whether the last of tiles of `least` is less in vain than that of tiles of `rival`, or costs little beside
/// all others.
Halide::Expr fits_better(const LeastExtent& each) {
  constexpr int kManyTiles = 8;
  const int many = kManyTiles * each.least;
  const Halide::Expr extent = min(as_expr(each.dim), many);  // products of longer ones might overflow
  const auto rounded = [&](int tile) { return (extent + tile - 1) / tile * tile; };
  return extent >= many || rounded(each.least) * 10 <= rounded(each.rival) * 11;
}

}  // namespace

std::string CaseCondition::text() const {
  std::string text;
  const auto add = [&](const std::string& condition) { text += (text.empty() ? "" : " && ") + condition; };
  for (const Dim& dim : zero) add(extent_text(dim) + " == 0");
  for (const LeastExtent& each : least) {
    std::string condition = extent_text(each.dim) + " >= " + std::to_string(each.least);
    if (each.rival) condition += " (and tiles of " + std::to_string(each.rival) + " fit no better)";
    add(condition);
  }
  return text;
}

Halide::Expr CaseCondition::expr() const {
  Halide::Expr all = hi::const_true();
  for (const Dim& dim : zero) all = all && as_expr(dim) == 0;
  for (const LeastExtent& each : least) {
    all = all && as_expr(each.dim) >= each.least;
    if (each.rival) all = all && fits_better(each);
  }
  return hi::simplify(all);
}

std::vector<int64_t> shorter_extents(const LoweredKernel& kernel, const UsualExtents& usual) {
  LoweredKernel counted;
  counted.extents = kernel.extents, counted.usual = kernel.usual;
  for (const LeastExtent& each : kernel.least) {
    bool shorter = true;
    while (shorter && counted.usual_extent(each.dim) >= each.least) {
      shorter = false;
      visit_extent_vars(each.dim, [&](Dim var) {
        int64_t& extent = counted.usual.at(static_cast<size_t>(extent_number(var)));
        shorter = shorter || extent > 1;
        extent = next_shorter(usual, extent);
      });
    }
  }
  return counted.usual;
}

ShapesByExtents::ShapesByExtents(const LoweredKernel& kernel) {
  if (kernel.is_static()) return;
  for (size_t i = 0; i < kernel.inputs.size(); ++i)
    dims_[kernel.inputs[i].name() + ".buffer"] = kernel.input_dims[i];
  for (const Tensor& output : kernel.outputs) dims_[output.func().name() + ".buffer"] = output.dims();
}

Halide::Expr ShapesByExtents::visit(const hi::Call* node) {
  const bool extent = node->name == hi::Call::buffer_get_extent,
             stride = node->name == hi::Call::buffer_get_stride, min = node->name == hi::Call::buffer_get_min;
  const auto* buffer = (extent || stride || min) ? node->args.at(0).as<hi::Variable>() : nullptr;
  const auto found = buffer ? dims_.find(buffer->name) : dims_.end();
  const auto axis = found == dims_.end() ? std::nullopt : hi::as_const_int(node->args.at(1));
  if (!axis) return IRMutator::visit(node);
  const std::vector<Dim>& dims = found->second;
  const size_t inner = dims.size() - static_cast<size_t>(*axis);  // axes up to this one
  Dim value = min ? Dim(0) : extent ? dims[inner - 1] : Dim(1);
  for (size_t k = inner; stride && k < dims.size(); ++k) value = value * dims[k];
  return hi::simplify(as_expr(value));
}

namespace {

/// The least value of the variable of `each.dim` that it holds at; 0 where there are several, or it is not
/// known.
int64_t least_value(const LeastExtent& each) {
  constexpr int64_t kMost = 4096;
  Dim only = 0;
  bool several = false;
  visit_extent_vars(each.dim, [&](Dim var) {
    several = several || !(only == 0 || only == var);
    only = var;
  });
  // Such extents grow with their variable.
  if (several || least_extent(each.dim) == INT64_MIN) return 0;
  for (int64_t value = 1; value < kMost; ++value)
    if (extent_at(each.dim, [&](Dim) { return value; }).value() >= each.least) return value;
  return 0;
}

}  // namespace

GrantedExtents::GrantedExtents(const LoweredKernel& kernel) {
  std::map<int, int64_t> least;
  for (const LeastExtent& each : kernel.least)
    visit_extent_vars(each.dim, [&](Dim var) {
      int64_t& known = least[extent_number(var)];
      known = std::max(known, least_value(each));
    });
  for (const auto& [number, value] : least)
    bounds_.push(extent_param(number).name(), hi::Interval(static_cast<int>(value), hi::Interval::pos_inf()));
}

hi::Stmt GrantedExtents::mutate(const hi::Stmt& stmt) { return hi::simplify(stmt, true, bounds_); }

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
        cases[i].name.empty() ? Halide::Expr(0)
                              : hi::Call::make(Halide::Int(32), cases[i].name, passed, hi::Call::Extern));
    // The params of conditions are arguments: by name alone, as the case functions get them.
    body = body.defined() ? hi::IfThenElse::make(cases[i].condition.expr(), call, body) : call;
  }
  return {symbol, params, body, Halide::LinkageType::ExternalPlusArgv};
}

}  // namespace baton
