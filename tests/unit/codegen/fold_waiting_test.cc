// FoldConstant leaves large values to their readers: values and origins must be those of folding one call at
// a time.
#include <gmock/gmock.h>

#include "baton/codegen/backend.h"
#include "baton/codegen/evaluate/evaluator.h"
#include "baton/ir/visit.h"
#include "baton/pass/rewriter.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"
#include "baton/transform/fold_constant.h"
#include "baton/types/infer_type.h"

#include "codegen/kernels.h"

namespace baton {
namespace {

/// Counts calls; takes some with calls in their arguments, as it is told.
class CountingEvaluator final : public Evaluator {
 public:
  explicit CountingEvaluator(bool nested) : nested_(nested) {}
  std::vector<NDArray> evaluate(const CallNode& call, const BuildContext& context) override {
    for (const Expr& arg : call.args())
      if (!nested_ && as<CallNode>(arg)) throw NotSupported("a call in the arguments");
    ++calls;
    return evaluator_->evaluate(call, context);
  }
  int calls = 0;

 private:
  bool nested_;
  std::shared_ptr<Evaluator> evaluator_ = make_evaluator();
};

BuildContext folding_by(std::shared_ptr<Evaluator> evaluator) {
  BuildContext context = host_context();
  context.passes->evaluator = std::move(evaluator);
  return context;
}

/// The body of main, its parameters but `d` replaced by constants.
Expr bound(const std::string& text) {
  register_all_ops();
  const Function main = infer_types(parse_module("#[version = \"0.0.5\"]\n" + text))->find("main");
  std::unordered_map<const ExprNode*, Expr> values;
  for (const Var& param : main->params()) {
    if (param->name() == "d") continue;
    const auto* type = as_type<TensorTypeNode>(param->checked_type());
    values[param.get()] =
        make_constant(tensor_value(param->name(), type->extents(), type->dtype(), ValueRange{-1, 1}),
                      test::typed(param->checked_type()));
  }
  return infer_type(substitute(main->body(), values));
}

std::vector<const ConstantNode*> constants_in(const Expr& expr) {
  std::vector<const ConstantNode*> found;
  post_order(expr, [&](const Expr& node) {
    if (const auto* constant = as<ConstantNode>(node)) found.push_back(constant);
  });
  return found;
}

int calls_in(const Expr& expr) {
  int count = 0;
  post_order(expr, [&](const Expr& node) { count += node->kind() == ExprKind::kCall; });
  return count;
}

struct Case {
  const char* text;
  int evaluations;  // with nested calls
  int calls_left;
};

class Waiting : public testing::TestWithParam<Case> {};

TEST_P(Waiting, FoldsToTheSame) {
  const Expr expr = bound(GetParam().text);
  const auto together = std::make_shared<CountingEvaluator>(true),
             alone = std::make_shared<CountingEvaluator>(false);
  const Expr a = fold_constants(expr, folding_by(together)), b = fold_constants(expr, folding_by(alone));
  EXPECT_EQ(together->calls, GetParam().evaluations);
  EXPECT_EQ(calls_in(a), GetParam().calls_left);
  EXPECT_EQ(calls_in(b), GetParam().calls_left);
  EXPECT_EQ(a->origins(), b->origins());
  const auto in_a = constants_in(a), in_b = constants_in(b);
  ASSERT_EQ(in_a.size(), in_b.size());
  for (size_t i = 0; i < in_a.size(); ++i) {
    EXPECT_TRUE(in_a[i]->value().equal_bytes(in_b[i]->value()));
    EXPECT_EQ(in_a[i]->origins(), in_b[i]->origins());
  }
}

INSTANTIATE_TEST_SUITE_P(
    FoldConstant, Waiting,
    testing::Values(
        Case{"def @main(%w: Tensor[(64, 64, 3, 3), float32], %s: Tensor[(64, 1, 1, 1), float32]) {\n"
             "  %0 = multiply(%w, %s);\n"
             "  %1 = nn.contrib_conv2d_winograd_weight_transform(%0, tile_size=2);\n"
             "  layout_transform(%1, src_layout=\"HWOI\", dst_layout=\"HWOI16i16o\")\n}",
             2, 0},  // a transform reads its data more than once; packing does not
        Case{"def @main(%w: Tensor[(256, 256), float32]) {\n  %0 = sqrt(%w);\n  %1 = transpose(%0);\n  (%1, "
             "%0)\n}",
             2, 0},
        Case{"def @main(%w: Tensor[(256, 256), float32]) {\n  %0 = exp(%w);\n  broadcast_to(%0, shape=[3, "
             "256, 256])\n}",
             2, 0},
        Case{"def @main(%w: Tensor[(8, 8), float32]) {\n  %0 = exp(%w);\n  transpose(%0)\n}", 2, 0},
        // The reader has an argument that is not known.
        Case{"def @main(%w: Tensor[(256, 256), float32], %d: Tensor[(256, 256), float32]) {\n  %0 = "
             "transpose(%w);\n  add(%d, %0)\n}",
             1, 1},
        Case{"def @main(%w: Tensor[(256, 256), float32], %d: Tensor[(256, 256), float32]) {\n"
             "  %0 = transpose(%w);\n  %1 = negative(%0);\n  add(%1, %d)\n}",
             1, 1}));

}  // namespace
}  // namespace baton
