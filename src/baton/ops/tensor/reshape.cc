#include <algorithm>

#include "baton/ir/build.h"
#include "baton/ir/rules/algebra.h"
#include "baton/ir/rules/quantization_rule.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/rules/gradient_build.h"
#include "baton/ops/shared/reindex.h"
#include "baton/ops/shared/spatial.h"
#include "baton/ops/tensor/reshape_relation.h"
#include "baton/ops/tensor/tensor_attrs.h"

namespace baton {

struct ReshapeLikeAttrs {
  int64_t lhs_begin = 0;
  std::optional<int64_t> lhs_end = {};
  int64_t rhs_begin = 0;
  std::optional<int64_t> rhs_end = {};
};

template <>
const AttrSchema& attr_schema<ReshapeAttrs>() {
  using A = ReshapeAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.ReshapeAttrs",
                     {{"newshape", &A::newshape,
                       "the shape of the result: 0 copies an extent, -1 is inferred, -2 copies the rest, -3 "
                       "joins two extents, -4 splits one into the two numbers that follow",
                       kNoDefault},
                      {"allowzero", &A::allowzero, "whether 0 in newshape means the extent 0"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<ReshapeLikeAttrs>() {
  using A = ReshapeLikeAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.ReshapeLikeAttrs",
                     {{"lhs_begin", &A::lhs_begin, "the first axis of the data that is replaced"},
                      {"lhs_end", &A::lhs_end, "one past the last of these; None: all"},
                      {"rhs_begin", &A::rhs_begin, "the first axis of shape_like that is taken"},
                      {"rhs_end", &A::rhs_end, "one past the last of these; None: all"}});
  return schema;
}

namespace {

// Interprets newshape from left to right; `next` is the input axis that the next code refers to.
class ShapeReader {
 public:
  ShapeReader(const std::vector<Dim>& data, const std::vector<int64_t>& codes, bool allowzero,
              std::string* why)
      : data_(data), codes_(codes), allowzero_(allowzero), why_(why) {}

  std::optional<std::vector<Dim>> run() {
    for (size_t i = 0; i < codes_.size(); ++i)
      if (!read(i)) return std::nullopt;
    if (infer_ >= 0 && !infer()) return std::nullopt;
    const Dim in = product(data_), out = product(shape_);
    if (!may_equal(in, out)) {
      fail("shape " + shape_text(shape_) + " has " + extent_text(out) + " elements, the data " +
           extent_text(in));
      return std::nullopt;
    }
    return shape_;
  }

 private:
  bool fail(std::string text) {
    if (why_) *why_ = std::move(text);
    return false;
  }
  bool take(Dim* dim) {
    if (next_ >= data_.size())
      return fail("it speaks of axis " + std::to_string(next_) + " of data of shape " + shape_text(data_));
    *dim = data_[next_++];
    return true;
  }
  // An extent copied from input axes: neither it nor they take part in inferring -1.
  void put_copied(Dim dim) {
    copied_.push_back(shape_.size());
    shape_.push_back(dim);
  }

  bool read(size_t& i) {
    const int64_t code = codes_[i];
    Dim dim = 1, second = 1;
    if (code > 0 || (code == 0 && allowzero_)) {
      shape_.push_back(code);
      if (next_ < data_.size()) ++next_;
      return true;
    }
    switch (code) {
      case 0:
        if (!take(&dim)) return false;
        used_.push_back(next_ - 1);
        put_copied(dim);
        return true;
      case -1:
        if (infer_ >= 0) return fail("only one extent can be -1");
        infer_ = static_cast<int>(shape_.size());
        shape_.push_back(1);
        if (next_ < data_.size()) ++next_;
        return true;
      case -2:
        while (next_ < data_.size()) {
          used_.push_back(next_);
          put_copied(data_[next_++]);
        }
        return true;
      case -3:
        if (!take(&dim) || !take(&second)) return false;
        used_.push_back(next_ - 2);
        used_.push_back(next_ - 1);
        put_copied(times(dim, second));
        return true;
      case -4:
        return read_split(i);
      default:
        return fail("there is no code " + std::to_string(code));
    }
  }

  bool read_split(size_t& i) {
    if (i + 2 >= codes_.size()) return fail("-4 needs two extents after it");
    int64_t first = codes_[i + 1], second = codes_[i + 2];
    i += 2;
    Dim dim = 1;
    if (!take(&dim)) return false;
    used_.push_back(next_ - 1);
    if (first == -1 && second == -1) return fail("only one of the extents after -4 can be -1");
    for (int64_t part : {first, second})
      if (part != -1 && part < 1) return fail("an extent after -4 is " + std::to_string(part));
    const int64_t known = first == -1 ? second : first;
    if (first == -1 || second == -1) {
      if (!dim.is_any() && dim.value() % known != 0)
        return fail(std::to_string(dim.value()) + " cannot be split into parts of " + std::to_string(known));
      const Dim other = divided(dim, known);
      put_copied(first == -1 ? other : Dim(first));
      put_copied(second == -1 ? other : Dim(second));
    } else {
      put_copied(first);
      put_copied(second);
    }
    return true;
  }

  bool infer() {
    Dim in = 1, out = 1;
    for (size_t axis = 0; axis < data_.size(); ++axis)
      if (std::find(used_.begin(), used_.end(), axis) == used_.end()) in = times(in, data_[axis]);
    for (size_t axis = 0; axis < shape_.size(); ++axis)
      if (std::find(copied_.begin(), copied_.end(), axis) == copied_.end()) out = times(out, shape_[axis]);
    if (out.is_any())
      shape_[infer_] = Dim::any();
    else if (out.value() == 0)
      return fail("-1 cannot be inferred beside an extent 0");
    else
      shape_[infer_] = divided(in, out.value());
    return true;
  }

  const std::vector<Dim>& data_;
  const std::vector<int64_t>& codes_;
  bool allowzero_;
  std::string* why_;
  size_t next_ = 0;
  int infer_ = -1;
  std::vector<Dim> shape_;
  std::vector<size_t> used_, copied_;  // input axes, output axes
};

}  // namespace

std::optional<std::vector<Dim>> reshaped(const std::vector<Dim>& data, const std::vector<int64_t>& newshape,
                                         bool allowzero, std::string* why) {
  return ShapeReader(data, newshape, allowzero, why).run();
}

namespace {

RelationStatus reverse_reshape_relation(RelationContext& ctx, const ReshapeAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  for (const int64_t code : attrs.newshape)
    if (code == -4)
      return fail_attr(ctx, "newshape", attr_text(AttrValue(attrs.newshape)),
                       "-4 has no meaning from right to left");
  std::string why;
  const std::vector<Dim> from(data->shape().rbegin(), data->shape().rend());
  auto shape = reshaped(from, Ints(attrs.newshape.rbegin(), attrs.newshape.rend()), attrs.allowzero, &why);
  if (!shape) return fail_attr(ctx, "newshape", attr_text(AttrValue(attrs.newshape)), why);
  std::reverse(shape->begin(), shape->end());
  return ctx.assign_result(tensor_type(std::move(*shape), data->dtype()));
}

Expr reshape_to_type(const CallNode& call, const TensorTypeNode& type) {
  return call_op("reshape", {call.args()[0]}, {{"newshape", type.extents()}});
}

}  // namespace

const OpDef& op_reshape() {
  static const OpDef def = OpSpec<ReshapeAttrs>{
      .name = "reshape",
      .doc = "The same elements in row-major order under another shape.",
      .inputs = {{"data", "tensor"}},
      .fuse = Fuse::kInjective,
      .relation =
          [](RelationContext& ctx, const ReshapeAttrs& attrs) {
            const TensorTypeNode* data = ctx.tensor(0);
            if (!data) return kDefer;
            std::string why;
            auto shape = reshaped(data->shape(), attrs.newshape, attrs.allowzero, &why);
            if (!shape) return fail_attr(ctx, "newshape", attr_text(AttrValue(attrs.newshape)), why);
            return ctx.assign_result(tensor_type(std::move(*shape), data->dtype()));
          },
      .compute = [](Compute& c, const ReshapeAttrs&) { reshape_compute(c, "reshape"); },
      .reshape_only = true,
      .rules =
          op_rules(reshape_gradient(), MixedPrecision::kFollow, FakeQuantizationRule{fake_quantized_reshape},
                   QuantizationRule{QuantizationRule::Does::kSame}),
      .test_shapes = {"(2, 3, 4)f32, newshape=[-1]", "(2, 3, 4)i8, newshape=[-3, 4]", "(1)f32, newshape=[]"},
  };
  return def;
}

const OpDef& op_reshape_like() {
  static const OpDef def = OpSpec<ReshapeLikeAttrs>{
      .name = "reshape_like",
      .doc =
          "Axes lhs_begin..lhs_end of the data are replaced by axes rhs_begin..rhs_end of the shape of "
          "another tensor.",
      .inputs = {{"data", "tensor"}, {"shape_like", "tensor; only its shape counts"}},
      .fuse = Fuse::kInjective,
      .relation =
          [](RelationContext& ctx, const ReshapeLikeAttrs& attrs) {
            const TensorTypeNode *data = ctx.tensor(0), *like = ctx.tensor(1);
            if (!data || !like) return kDefer;
            auto range = [&](const char* name, int64_t begin, std::optional<int64_t> end, int rank,
                             int64_t* from, int64_t* to) {
              *from = begin < 0 ? begin + rank : begin;
              *to = end ? (*end < 0 ? *end + rank : *end) : rank;
              if (*from >= 0 && *from <= *to && *to <= rank) return true;
              fail_attr(ctx, name, std::to_string(begin),
                        "it must name a range of the " + std::to_string(rank) + " axes");
              return false;
            };
            int64_t lb, le, rb, re;
            if (!range("lhs_begin", attrs.lhs_begin, attrs.lhs_end, data->rank(), &lb, &le) ||
                !range("rhs_begin", attrs.rhs_begin, attrs.rhs_end, like->rank(), &rb, &re))
              return kFailed;
            std::vector<Dim> shape(data->shape().begin(), data->shape().begin() + lb);
            shape.insert(shape.end(), like->shape().begin() + rb, like->shape().begin() + re);
            shape.insert(shape.end(), data->shape().begin() + le, data->shape().end());
            const Dim in = product(data->shape()), out = product(shape);
            if (!may_equal(in, out))
              return fail_arg(ctx, 0,
                              type_text(ctx.input(0)) + " cannot be reshaped to " + shape_text(shape));
            return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
          },
      .compute = [](Compute& c, const ReshapeLikeAttrs&) { reshape_compute(c, "reshape_like"); },
      .python = "transform",
      .rules = op_rules(reshape_gradient(), LikeRule{1, reshape_to_type}),
      .test_shapes = {"(2, 3, 4)f32, (6, 9)f32, lhs_end=2, rhs_end=1"},
  };
  return def;
}

const OpDef& op_contrib_reverse_reshape() {
  static const OpDef def = OpSpec<ReshapeAttrs>{
      .name = "contrib_reverse_reshape",
      .doc = "reshape with the codes read from right to left.",
      .inputs = {{"data", "tensor"}},
      .fuse = Fuse::kInjective,
      .relation = reverse_reshape_relation,
      .compute = [](Compute& c, const ReshapeAttrs&) { reshape_compute(c, "reverse_reshape"); },
      .reshape_only = true,
      .python = "transform.reverse_reshape(data, newshape)",
      .rules = op_rules(reshape_gradient()),
      .test_shapes = {"(2, 3, 4)f32, newshape=[0, -3]"},
  };
  return def;
}

}  // namespace baton
