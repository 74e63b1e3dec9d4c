// The distinct values of a vector.
#include "baton/ir/inspect.h"
#include "baton/ops/domain.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/shared/sort_compute.h"

namespace baton {

struct UniqueAttrs {
  bool sorted = true;
  bool return_counts = false;
};
template <>
const AttrSchema& attr_schema<UniqueAttrs>() {
  using A = UniqueAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.UniqueAttrs",
      {{"sorted", &A::sorted, "whether the values are sorted"},
       {"return_counts", &A::return_counts, "whether it is counted how often each value stands"}});
  return schema;
}

namespace {

RelationStatus unique_relation(RelationContext& ctx, const UniqueAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  if (!check_rank(ctx, *data, 1, 0)) return kFailed;
  const Type indices = tensor_type(data->shape(), DType::int_(32));
  std::vector<Type> fields{ctx.input(0), indices, indices, tensor_type(std::vector<Dim>{1}, DType::int_(32))};
  if (attrs.return_counts) fields.push_back(indices);
  return ctx.assign_result(tuple_type(std::move(fields)));
}

// After sorting, equal values are adjacent: a group begins where a value differs from its predecessor. Groups
// are numbered in that order or, unsorted, in the order of their first elements in the data. Elements after
// the last group are 0.
void unique_compute(Compute& c, const UniqueAttrs& attrs) {
  const Dim extent = c.in(0).dim(0);
  const Halide::Expr n = as_expr(extent);
  const bool several = extent.is_symbolic() || extent.value() > 1;
  const Halide::Var i("i0");
  std::vector<Halide::Func> results;
  if (extent == 0) {
    for (int k = 0; k < c.num_outputs(); ++k) {
      results.push_back(c.stage("none" + std::to_string(k)));
      results.back()(i) = constant_of(c.out(k).dtype(), 0);
    }
    c.results(std::move(results));
    return;
  }
  c.needs_elements(extent);
  const Halide::Func sorted = sorted_pairs(c, c.in(0), 0, true);
  auto value = [&](const Halide::Expr& k) { return sorted(k)[0]; };
  auto place = [&](const Halide::Expr& k) { return sorted(k)[1]; };
  auto begins = [&](const Halide::Expr& k) {
    return k == 0 || value(clamp(k, 0, n - 1)) != value(clamp(k - 1, 0, n - 1));
  };
  const Halide::RDom all(0, n, "r"),
      later(1, extent.is_symbolic() ? n - 1 : as_expr(several ? extent - 1 : 1), "s");

  // group(k): the number of the group that sorted element k belongs to.
  Halide::Func group = c.stage("group");
  group(i) = select(begins(i), 1, 0);
  if (several) group(later) += group(later - 1);
  Halide::Func number = group;
  if (!attrs.sorted) {
    Halide::Func first = c.stage("first"), order = c.stage("order"), leader = c.stage("leader");
    first(i) = 0;  // whether element i of the data is the first of its value
    first(inside_axis(place(all), extent)) = select(begins(all), 1, 0);
    order(i) = first(i);
    if (several) order(later) += order(later - 1);
    leader(i) = 0;  // by group: where its first element stands
    Halide::RDom starts(0, n, "b");
    starts.where(begins(starts));
    leader(inside_axis(group(starts) - 1, extent)) = place(starts);
    number = c.stage("number");
    number(i) = order(inside_axis(leader(inside_axis(group(i) - 1, extent)), extent));
  }
  auto slot = [&](const Halide::Expr& k) { return inside_axis(number(k) - 1, extent); };
  Halide::RDom starts(0, n, "u");
  starts.where(begins(starts));

  Halide::Func values = c.stage("unique"), indices = c.stage("indices"), inverse = c.stage("inverse"),
               count = c.stage("count");
  values(i) = constant_of(c.out(0).dtype(), 0);
  values(slot(starts)) = value(starts);
  indices(i) = 0;
  indices(slot(starts)) = place(starts);
  inverse(i) = 0;
  inverse(inside_axis(place(all), extent)) = number(all) - 1;
  count(i) = group(n - 1);
  results = {values, indices, inverse, count};
  if (attrs.return_counts) {
    Halide::Func counts = c.stage("counts");
    counts(i) = 0;
    counts(slot(all)) += 1;
    results.push_back(counts);
  }
  c.results(std::move(results));
}

}  // namespace

const OpDef& op_unique() {
  static const OpDef def = OpSpec<UniqueAttrs>{
      .name = "unique",
      .doc =
          "The different values; where each stands first; which of them each element is; how many there are.",
      .inputs = {{"data", "vector"}},
      .relation = unique_relation,
      .compute = unique_compute,
      .declares_attrs = false,
      .rules = op_rules(ResultCount{.of = [](const CallNode& call) -> std::optional<int64_t> {
        return bool_attr(call, "return_counts") ? 5 : 4;
      }}),
      .test_shapes = {"(6)i32{3, 1, 3, 2, 1, 3}, sorted=True, return_counts=True",
                      "(5)f32{2, 1, 2, 0.5, 1}, sorted=True"},
  };
  return def;
}

}  // namespace baton
