// The interpreter's strides against its slow way, which computes the offset of each element: values must be
// the same bits.
#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include <gmock/gmock.h>

#include "baton/codegen/backend.h"
#include "baton/codegen/evaluate/evaluator.h"
#include "baton/codegen/evaluate/index_form.h"
#include "baton/codegen/evaluate/make_strided.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

#include "codegen/kernels.h"

namespace baton {
namespace {

// ---- Index forms

using Positions = std::vector<int64_t>;

int64_t at(const IndexForm& form, const Positions& positions) {
  int64_t value = form.constant;
  for (const IndexForm::Term& term : form.terms)
    value += term.coef * (positions[term.var] / term.div % term.mod);
  return value;
}

TEST(IndexForm, DividesBlockedPositions) {
  // Channel 16 b + i of a layout in blocks of 16, in blocks of 8.
  const IndexForm channel = add(IndexForm::variable(0, 16), IndexForm::variable(1, 4), 16);
  const auto divided = divide(channel, 8);
  ASSERT_TRUE(divided);
  for (int64_t i = 0; i < 16; ++i)
    for (int64_t b = 0; b < 4; ++b) {
      EXPECT_EQ(at(divided->quotient, {i, b}), (16 * b + i) / 8);
      EXPECT_EQ(at(divided->rest, {i, b}), (16 * b + i) % 8);
    }
  EXPECT_FALSE(divide(channel, 7));
}

TEST(IndexForm, JoinsWhatWasSplit) {
  const IndexForm x = IndexForm::variable(0, 48);
  const auto divided = divide(x, 16);
  ASSERT_TRUE(divided);
  EXPECT_EQ(add(divided->rest, divided->quotient, 16), x);
  EXPECT_TRUE(add(x, x, -1).is_constant());
}

TEST(IndexForm, RandomFormsAreWhatTheyStandFor) {
  std::mt19937 random(7);
  const auto below = [&](int n) { return static_cast<int64_t>(random() % static_cast<unsigned>(n)); };
  const Positions extents = {12, 8, 36};
  int divisions = 0;
  for (int round = 0; round < 2000; ++round) {
    Positions positions;
    for (int64_t extent : extents) positions.push_back(below(static_cast<int>(extent)));
    IndexForm form;
    int64_t value = 0;
    for (int step = 0; step < 8; ++step) {
      const int which = static_cast<int>(below(3));
      const int64_t factor = below(7) - 2, divisor = int64_t{1} << below(5);
      switch (below(4)) {
        case 0:
          form = add(form, IndexForm::variable(which, extents[which]), factor);
          value += factor * positions[which];
          break;
        case 1:
          form.constant += factor;
          value += factor;
          break;
        case 2:
          form = scale(form, factor);
          value *= factor;
          break;
        default:
          if (const auto divided = divide(form, divisor)) {
            ++divisions;
            const int64_t rest = ((value % divisor) + divisor) % divisor;
            ASSERT_EQ(at(divided->rest, positions), rest);
            const bool take_rest = below(4) == 0;
            form = take_rest ? divided->rest : divided->quotient;
            value = take_rest ? rest : (value - rest) / divisor;
          }
      }
      ASSERT_EQ(at(form, positions), value) << "round " << round;
      ASSERT_LE(form.min(), value);
      ASSERT_GE(form.max(), value);
    }
  }
  EXPECT_GT(divisions, 1000);
}

// ---- Programs

/// A call over constants by the tensor rule; calls in its arguments stay calls.
Expr with_constants(const Expr& expr) {
  if (const auto* var = as<VarNode>(expr)) {
    const auto* type = as_type<TensorTypeNode>(expr->checked_type());
    const ValueRange range = type->dtype().is_float() ? ValueRange{-1, 1} : ValueRange{0, 100};
    return make_constant(tensor_value(var->name(), type->extents(), type->dtype(), range),
                         test::typed(expr->checked_type()));
  }
  std::vector<Expr> args;
  if (const auto* tuple = as<TupleNode>(expr)) {
    for (const Expr& field : tuple->fields()) args.push_back(with_constants(field));
    return make_tuple(std::move(args), test::typed(expr->checked_type()));
  }
  const auto* call = as<CallNode>(expr);
  if (!call) return expr;
  for (const Expr& arg : call->args()) args.push_back(with_constants(arg));
  return make_call(call->callee(), std::move(args), call->attrs(), test::typed(expr->checked_type()));
}

Call folded_call_of(const std::string& text) {
  register_all_ops();
  const IRModule module = infer_types(parse_module("#[version = \"0.0.5\"]\n" + text));
  return as_ref<CallNode>(with_constants(module->find("main")->body()));
}

/// Whether the call has strides; then its values are compared with the slow ones.
bool agrees_strided(const std::string& text) {
  const Call call = folded_call_of(text);
  std::vector<NDArray> strided;
  try {
    strided = make_evaluator(EvaluateBy::kStrided)->evaluate(*call, host_context());
  } catch (const NotSupported&) {
    return false;
  }
  const std::vector<NDArray> slow = make_evaluator(EvaluateBy::kElementwise)->evaluate(*call, host_context());
  EXPECT_EQ(strided.size(), slow.size());
  for (size_t i = 0; i < slow.size(); ++i) EXPECT_TRUE(strided[i].equal_bytes(slow[i])) << text;
  return true;
}

class Strided : public testing::TestWithParam<const char*> {};

TEST_P(Strided, IsWhatElementByElementIs) { EXPECT_TRUE(agrees_strided(GetParam())); }

INSTANTIATE_TEST_SUITE_P(
    Programs, Strided,
    testing::Values(
        "def @main(%x: Tensor[(64, 48, 3, 3), float32]) { layout_transform(%x, src_layout=\"OIHW\", "
        "dst_layout=\"OIHW16i16o\") }",
        "def @main(%x: Tensor[(4, 3, 3, 3, 16, 16), float32]) { layout_transform(%x, "
        "src_layout=\"OIHW16i16o\", dst_layout=\"OIHW\") }",
        "def @main(%x: Tensor[(1, 8, 7, 5, 8), float32]) { layout_transform(%x, src_layout=\"NCHW8c\", "
        "dst_layout=\"NCHW16c\") }",
        "def @main(%x: Tensor[(1, 64, 7, 5), int8]) { layout_transform(%x, src_layout=\"NCHW\", "
        "dst_layout=\"NCHW4c\") }",
        "def @main(%x: Tensor[(130, 70), float64]) { transpose(%x, axes=[1, 0]) }",
        "def @main(%x: Tensor[(5, 6, 7, 9), int64]) { transpose(%x, axes=[2, 0, 3, 1]) }",
        "def @main(%x: Tensor[(4, 6, 8), uint8]) { reshape(%x, newshape=[24, 8]) }",
        "def @main(%x: Tensor[(1, 300, 1), int16]) { squeeze(%x) }",
        "def @main(%x: Tensor[(300), float32]) { expand_dims(%x, axis=1, num_newaxis=2) }",
        "def @main(%x: Tensor[(5, 1, 3), float32]) { broadcast_to(%x, shape=[5, 70, 3]) }",
        "def @main(%x: Tensor[(40, 33), float32]) { strided_slice(%x, begin=[3, 1], end=[30, 33], "
        "strides=[2, 3], axes=None) }",
        "def @main(%x: Tensor[(40, 33), float32]) { reverse(%x, axis=1) }",
        "def @main(%x: Tensor[(9, 130), bool]) { logical_not(%x) }",
        "def @main(%x: Tensor[(), float32]) { sqrt(%x) }",
        "def @main(%x: Tensor[(70, 30), float32], %y: Tensor[(70, 1), float32]) { multiply(%x, %y) }",
        "def @main(%x: Tensor[(70, 30), int8], %y: Tensor[(30), int8]) { add(%x, %y) }",
        "def @main(%x: Tensor[(70, 30), float32]) { cast(%x, dtype=\"int32\") }",
        "def @main(%x: Tensor[(70, 30), int32]) { cast(%x, dtype=\"float64\") }",
        "def @main(%x: Tensor[(70, 30), float32], %y: Tensor[(70, 30), float32]) { less(%x, %y) }",
        "def @main(%c: Tensor[(70, 30), bool], %x: Tensor[(70, 30), float32], %y: Tensor[(70, 30), float32]) "
        "{ where(%c, %x, %y) }",
        "def @main(%w: Tensor[(40, 24, 3, 3), float32]) { nn.contrib_conv2d_winograd_weight_transform(%w, "
        "tile_size=4) }",
        "def @main(%w: Tensor[(32, 48, 3, 3), float32]) { "
        "layout_transform(nn.contrib_conv2d_winograd_weight_transform(%w, "
        "tile_size=4), src_layout=\"HWOI\", dst_layout=\"HWOI16i16o\") }",
        "def @main(%w: Tensor[(37, 5, 3, 3), float32]) { nn.contrib_conv2d_winograd_weight_transform(%w, "
        "tile_size=2) }"));

TEST(StridedPrograms, LeaveAloneWhatHasNoStrides) {
  EXPECT_FALSE(agrees_strided("def @main(%x: Tensor[(9, 130), float32]) { sum(%x, axis=[1]) }"));
  EXPECT_FALSE(agrees_strided(
      "def @main(%x: Tensor[(90), float32], %i: Tensor[(70), int32]) { take(%x, %i, axis=0) }"));
  EXPECT_FALSE(
      agrees_strided("def @main(%x: Tensor[(1, 30, 70, 9), float32]) { nn.pad(%x, 0f, pad_width=[[0, 0], [1, "
                     "1], [1, 1], [0, 0]]) }"));
}

TEST(Evaluator, ComputesCallsInArgumentsOneByOneWhereTheyHaveNoStridesInCommon) {
  const Call nested = folded_call_of(
      "def @main(%x: Tensor[(9, 130), float32]) { transpose(nn.softmax(sqrt(%x)), axes=[1, 0]) }");
  const Call inner = folded_call_of("def @main(%x: Tensor[(9, 130), float32]) { nn.softmax(sqrt(%x)) }");
  EXPECT_THROW(make_evaluator(EvaluateBy::kStrided)->evaluate(*nested, host_context()), NotSupported);
  const NDArray value = make_evaluator()->evaluate(*nested, host_context())[0],
                expected = make_evaluator()->evaluate(*inner, host_context())[0];
  for (int64_t i = 0; i < 9; ++i)
    for (int64_t k = 0; k < 130; ++k) {
      const float got = value.as<float>()[static_cast<size_t>(k * 9 + i)],
                  want = expected.as<float>()[static_cast<size_t>(i * 130 + k)];
      EXPECT_TRUE(got == want || (std::isnan(got) && std::isnan(want)));
    }
}

/// One random operator over a tensor of `shape`, which becomes that of its result.
std::string random_operator(std::mt19937& random, std::vector<int64_t>& shape, std::string& dtype,
                            const std::string& x) {
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  const auto list = [](const auto& values) {
    std::string text;
    for (auto value : values) text += (text.empty() ? "" : ", ") + std::to_string(value);
    return "[" + text + "]";
  };
  const size_t rank = shape.size();
  switch (below(7)) {
    case 0: {
      std::vector<size_t> axes(rank);
      for (size_t i = 0; i < rank; ++i) axes[i] = i;
      std::shuffle(axes.begin(), axes.end(), random);
      std::vector<int64_t> moved;
      for (size_t axis : axes) moved.push_back(shape[axis]);
      shape = moved;
      return "transpose(" + x + ", axes=" + list(axes) + ")";
    }
    case 1: {  // split an axis
      const size_t axis = below(rank);
      for (int64_t factor : {16, 8, 4, 3, 2})
        if (shape[axis] % factor == 0 && rank < 6) {
          shape[axis] /= factor;
          shape.insert(shape.begin() + static_cast<ptrdiff_t>(axis) + 1, factor);
          break;
        }
      return "reshape(" + x + ", newshape=" + list(shape) + ")";
    }
    case 2: {  // join two
      if (rank > 1) {
        const size_t axis = below(rank - 1);
        shape[axis] *= shape[axis + 1];
        shape.erase(shape.begin() + static_cast<ptrdiff_t>(axis) + 1);
      }
      return "reshape(" + x + ", newshape=" + list(shape) + ")";
    }
    case 3: {
      const size_t axis = below(rank);
      return "reverse(" + x + ", axis=" + std::to_string(axis) + ")";
    }
    case 4:
      if (dtype == "bool") return "logical_not(" + x + ")";
      return dtype.starts_with("u") ? "add(" + x + ", " + x + ")" : "negative(" + x + ")";
    case 5: {
      const char* const types[] = {"float32", "float64", "int8", "uint8", "int16", "int32", "int64"};
      dtype = types[below(std::size(types))];
      return "cast(" + x + ", dtype=\"" + dtype + "\")";
    }
    default: {
      const size_t axis = below(rank);
      std::vector<int64_t> begin(rank, 0), end = shape, strides(rank, 1);
      begin[axis] = static_cast<int64_t>(below(static_cast<size_t>(shape[axis])));
      strides[axis] = 1 + static_cast<int64_t>(below(2));
      shape[axis] = (end[axis] - begin[axis] + strides[axis] - 1) / strides[axis];
      return "strided_slice(" + x + ", begin=" + list(begin) + ", end=" + list(end) +
             ", strides=" + list(strides) + ", axes=None)";
    }
  }
}

TEST(StridedPrograms, RandomChainsAreWhatElementByElementIs) {
  std::mt19937 random(11);
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  int strided = 0;
  constexpr int kRounds = 300;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<int64_t> shape;
    for (size_t rank = 1 + below(4); rank > 0; --rank)
      shape.push_back(std::array<int64_t, 8>{1, 3, 5, 12, 16, 24, 32, 7}[below(8)]);
    std::string dtype = std::array<const char*, 5>{"float32", "int32", "int8", "float64", "bool"}[below(5)];
    const std::string type = "Tensor[(" + [&] {
      std::string text;
      for (int64_t extent : shape) text += (text.empty() ? "" : ", ") + std::to_string(extent);
      return text;
    }() + "), " + dtype + "]";
    std::string value = "%x";
    for (size_t length = 1 + below(4); length > 0; --length)
      value = random_operator(random, shape, dtype, value);
    SCOPED_TRACE(value + " of " + type);
    strided += agrees_strided("def @main(%x: " + type + ") { " + value + " }");
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(strided, kRounds * 2 / 3);
}

}  // namespace
}  // namespace baton
