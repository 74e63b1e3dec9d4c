// Reductions over axes of a tensor (sum, mean, max, ...). Along the innermost axes, several vectors of
// partial results are accumulated and combined at the end; otherwise each result is a serial chain of scalar
// steps. Along outer axes, several vectors of results are accumulated side by side. Operators before the
// reduction are computed where it reads them.
#include <algorithm>

#include "baton/schedule/common.h"

namespace baton {
namespace {

using Halide::Func;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;
namespace hi = Halide::Internal;

/// Elements reduced per task, at least.
constexpr int64_t kReduceTask = 1 << 14;
constexpr int kVectors = 4;

/// The first read of one Func in an expression.
class FindRead final : public hi::IRVisitor {
 public:
  explicit FindRead(const std::string& func) : func_(func) {}
  const hi::Call* read = nullptr;

 private:
  using IRVisitor::visit;
  void visit(const hi::Call* node) override {
    if (node->name == func_ && !read) read = node;
    IRVisitor::visit(node);
  }
  std::string func_;
};

bool is_reduced(const Halide::Expr& index) {
  const auto* variable = index.as<hi::Variable>();
  return variable && variable->reduction_domain.defined();
}

/// The stage that reduces, or null.
const Stage* reducing_stage(const OpBlock& anchor) {
  for (const Stage& stage : anchor.stages)
    if (stage.func.has_update_definition()) return &stage;
  return nullptr;
}

struct ReduceShape {
  Func sum;
  int inner_axes = 0;  ///< innermost axes of the data that are reduced
  Dim inner = 1;       ///< the product of their extents
  int64_t reduced = 1, results = 1;
  int lanes = 1;  ///< per vector
};

ReduceShape reduce_shape_of(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  const OpBlock& anchor = anchor_of(kernel);
  const Tensor& data = anchor.inputs[0];
  ReduceShape shape;
  shape.sum = reducing_stage(anchor)->func;
  shape.lanes = lanes_of(shape.sum.types().front(), sheet);
  FindRead found(data.func().name());
  for (const Halide::Expr& value : shape.sum.function().update(0).values()) value.accept(&found);
  for (const int64_t extent : usual_shape(kernel, data.dims())) shape.reduced *= extent;
  for (const int64_t extent : usual_shape(kernel, kernel.outputs.front().dims())) shape.results *= extent;
  shape.reduced = std::max<int64_t>(1, shape.reduced / shape.results);
  if (!found.read) return shape;
  while (shape.inner_axes < data.rank() && is_reduced(found.read->args[shape.inner_axes]))
    shape.inner = shape.inner * data.dim(data.rank() - 1 - shape.inner_axes++);
  return shape;
}

std::string reduce_refuses(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  if (kernel.anchor < 0) return "no heavy operator in the kernel";
  const OpBlock& anchor = anchor_of(kernel);
  const Stage* stage = reducing_stage(anchor);
  const std::string reason = refuses_anchor(kernel, "reduce", stage ? stage->name : "", true);
  if (!reason.empty()) return reason;
  const Func& sum = stage->func;
  if (sum.num_update_definitions() != 1) return "the reduction has several steps";
  for (const Halide::Type& type : sum.types())
    if (type.bits() < 8) return "truth values are reduced";
  const ReduceShape shape = reduce_shape_of(kernel, sheet);
  if (shape.inner_axes > 0 && sum.types().size() > 1) return "positions along the innermost axis are reduced";
  if (!shape.inner.is_symbolic() && (shape.inner.is_any() || shape.inner.value() > INT32_MAX))
    return "more elements are reduced along the innermost axes than one loop counts";
  return "";
}

ScheduleParams reduce_default_params(const LoweredKernel&, const DeviceSheet&) {
  return {{"vectors", kVectors}};
}

std::vector<ScheduleParams> reduce_candidates(const LoweredKernel&, const DeviceSheet&) {
  return {{{"vectors", kVectors}}, {{"vectors", 1}}, {{"vectors", 2}}, {{"vectors", 8}}};
}

/// Vectors of results side by side.
void reduce_outer_axes(LoweredKernel& kernel, const ReduceShape& shape, int vectors) {
  Func out = output_of(kernel), sum = shape.sum;
  const std::vector<Var> i = out.args(), s = sum.args();
  const Dim last = kernel.outputs.front().dims().back();
  const int extent = static_cast<int>(kernel.usual_extent(last));
  const int lanes = std::min(shape.lanes, extent), width = std::min(vectors, extent / lanes) * lanes;
  const Var xo("xo"), vector("vector"), lane("lane");
  out.split(i[0], xo, vector, width, inside(kernel, last, width, lanes))
      .split(vector, vector, lane, lanes)
      .vectorize(lane)
      .unroll(vector);
  std::vector<Var> loops{xo};
  loops.insert(loops.end(), i.begin() + 1, i.end());
  std::vector<Halide::VarOrRVar> order{lane, vector};
  order.insert(order.end(), loops.begin(), loops.end());
  out.reorder(order);
  const Var item = parallel_tasks(out, loops, shape.results / extent * tiles_of(extent, width),
                                  shape.reduced * width, kReduceTask, !kernel.is_static());
  sum.compute_at(out, item).bound_extent(s[0], width).split(s[0], vector, lane, lanes);
  sum.vectorize(lane).unroll(vector);
  std::vector<Halide::VarOrRVar> update{lane, vector};
  for (const RVar& r : sum.rvars()) update.emplace_back(RVar(r.name()));
  update.insert(update.end(), s.begin() + 1, s.end());
  sum.update().split(s[0], vector, lane, lanes).reorder(update).vectorize(lane).unroll(vector);
}

/// Vectors of partial results of each result.
void reduce_inner_axes(LoweredKernel& kernel, const ReduceShape& shape, int vectors) {
  Func out = output_of(kernel), sum = shape.sum;
  const std::vector<RVar> rvars = sum.rvars();
  const bool scalar = out.dimensions() == 0;
  if (scalar)
    sum.compute_root();
  else
    sum.compute_at(
        out, parallel_tasks(out, out.args(), shape.results, shape.reduced, kReduceTask, !kernel.is_static()));
  Halide::Stage step = sum.update();
  RVar all(rvars[0].name());
  for (int k = 1; k < shape.inner_axes; ++k) {
    const RVar fused("inner" + std::to_string(k));
    step.fuse(all, RVar(rvars[k].name()), fused);
    all = fused;
  }
  reduce_in_vectors(kernel, sum, all, shape.inner, vectors, shape.lanes);
}

void reduce_apply(LoweredKernel& kernel, const ScheduleParams& params, const DeviceSheet& sheet) {
  const ReduceShape shape = reduce_shape_of(kernel, sheet);
  const int vectors = params.at("vectors");
  if (shape.inner_axes > 0)
    reduce_inner_axes(kernel, shape, vectors);
  else
    reduce_outer_axes(kernel, shape, vectors);
}

LoopCounts reduce_loops(const LoopsOf& of, const ScheduleParams& params) {
  return product_loops(of, 1, loop_param(params, "vectors"));
}

}  // namespace

const ScheduleTemplate& template_reduce() {
  static const ScheduleTemplate def = {
      .name = "reduce",
      .doc = "reductions over any axes, in several vectors of results or of partial results",
      .refuses = reduce_refuses,
      .default_params = reduce_default_params,
      .candidates = reduce_candidates,
      .apply = reduce_apply,
      .loops = reduce_loops,
      .usual = {kUsualExtent, 16, 1},
  };
  return def;
}

}  // namespace baton
