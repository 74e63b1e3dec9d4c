#include "baton/ops/nn/norm_compute.h"

#include "baton/ops/domain.h"

namespace baton {

namespace {

// The elements that share a mean: `rest` says which mean, `at` runs over the elements. `from(i)` is the mean
// of element i.
struct Shared {
  Shared(const Tensor& data, const MomentsNorm& norm, const Axes& i) {
    const int per_group = norm.groups > 0 ? as_int(data.extent(norm.axis) / norm.groups) : 0;
    std::vector<int64_t> extents;
    for (int k = 0; k < data.rank(); ++k) {
      const int64_t extent = norm.reduced[k] ? data.extent(k) : k == norm.axis && per_group ? per_group : 0;
      if (!norm.reduced[k] && !(k == norm.axis && per_group)) continue;
      extents.push_back(extent);
      count *= extent;
    }
    const Domain r(extents);
    for (int k = 0, next = 0; k < data.rank(); ++k) {
      if (norm.reduced[k]) {
        at.push_back(r[next++]);
      } else if (k == norm.axis && per_group) {
        at.push_back(i[k] * per_group + r[next++]);
        rest.insert(rest.begin(), i[k]);
        from.insert(from.begin(), i[k] / per_group);
      } else {
        at.push_back(i[k]);
        rest.insert(rest.begin(), i[k]);
        from.insert(from.begin(), i[k]);
      }
    }
  }
  Index at, from;                 // `from` in Halide order
  std::vector<Halide::Var> rest;  // in Halide order
  int64_t count = 1;
};

}  // namespace

void moments_norm_compute(Compute& c, const MomentsNorm& norm) {
  const Tensor& data = c.in(0);
  const Axes i(data.rank());
  const Shared shared(data, norm, i);
  const Halide::Type type = sum_type(data.dtype());
  const Halide::Expr count = cast(type, Halide::Expr(static_cast<double>(shared.count)));
  Halide::Func sum = c.stage("sum"), mean = c.stage("mean"), squares = c.stage("squares"),
               result = c.stage("norm");
  sum(shared.rest) = cast(type, 0);
  sum(shared.rest) += cast(type, data(shared.at));
  mean(shared.rest) = sum(shared.rest) / count;
  const Halide::Expr off = cast(type, data(shared.at)) - mean(shared.rest);
  squares(shared.rest) = cast(type, 0);
  squares(shared.rest) += off * off;
  const Halide::Expr variance = squares(shared.from) / count;
  Halide::Expr value = (cast(type, data(i.exprs())) - mean(shared.from)) /
                       sqrt(variance + cast(type, Halide::Expr(norm.epsilon)));
  if (norm.scale) value = value * cast(type, c.in(1)(Index{i[norm.axis]}));
  if (norm.center) value = value + cast(type, c.in(2)(Index{i[norm.axis]}));
  result(i.reversed()) = cast_to(c.out().dtype(), value);
  c.result(result);
}

void l2_normalize_compute(Compute& c, const std::vector<int64_t>& axes, double eps) {
  const Tensor& data = c.in(0);
  const Axes i(data.rank());
  MomentsNorm norm;
  norm.axis = -1;
  norm.reduced.assign(data.rank(), false);
  for (const int64_t axis : axes) norm.reduced[from_front(axis, data.rank())] = true;
  const Shared shared(data, norm, i);
  const Halide::Type type = sum_type(data.dtype());
  Halide::Func squares = c.stage("squares"), result = c.stage("l2_normalize");
  squares(shared.rest) = cast(type, 0);
  squares(shared.rest) += cast(type, data(shared.at)) * cast(type, data(shared.at));
  const Halide::Expr length = sqrt(max(squares(shared.from), cast(type, Halide::Expr(eps))));
  result(i.reversed()) = cast_to(c.out().dtype(), cast(type, data(i.exprs())) / length);
  c.result(result);
}

void lrn_compute(Compute& c, int axis, int64_t size, double bias, double alpha, double beta) {
  const Tensor& data = c.in(0);
  const Axes i(data.rank());
  const Halide::Type type = sum_type(data.dtype());
  const Domain r({size});
  const Halide::Expr neighbour = i[axis] + r[0] - as_int(size / 2);
  Index at = i.exprs();
  at[axis] = inside_axis(neighbour, data.extent(axis));
  const Halide::Expr value = cast(type, data(at));
  Halide::Func squares = c.stage("squares"), result = c.stage("lrn");
  squares(i.reversed()) = cast(type, 0);
  squares(i.reversed()) +=
      select(neighbour >= 0 && neighbour < as_int(data.extent(axis)), value * value, cast(type, 0));
  const Halide::Expr base =
      cast(type, Halide::Expr(bias)) +
      cast(type, Halide::Expr(alpha / static_cast<double>(size))) * squares(i.reversed());
  result(i.reversed()) =
      cast_to(c.out().dtype(), cast(type, data(i.exprs())) / pow(base, cast(type, Halide::Expr(beta))));
  c.result(result);
}

}  // namespace baton
