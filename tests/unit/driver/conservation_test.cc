// The whole pipeline over networks of relay.testing, with the origin verifier after every pass: no operator
// is lost, and attribution is exact.
#include <gtest/gtest.h>

#include "baton/codegen/backend.h"
#include "baton/driver/initialize.h"
#include "baton/driver/pipeline.h"
#include "baton/frontend/workloads/networks.h"
#include "baton/ir/visit.h"
#include "baton/pass/origin_verifier.h"
#include "baton/pass/rewriter.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/types/infer_type.h"

namespace baton {
namespace {

struct Network {
  const char* name;
  IRModule (*make)();
  int opt_level;
};

void PrintTo(const Network& network, std::ostream* out) {
  *out << network.name << " at level " << network.opt_level;
}

// Every parameter but `data` becomes a constant by the tensor rule.
IRModule with_weights(const IRModule& module) {
  const Function main = module->find("main");
  std::unordered_map<const ExprNode*, Expr> values;
  std::vector<Var> left;
  for (const Var& param : main->params()) {
    const auto* type = as_type<TensorTypeNode>(param->checked_type());
    if (param->name() == "data")
      left.push_back(param);
    else
      values.emplace(param.get(),
                     Expr(constant(parameter_value(param->name(), type->extents(), type->dtype()))));
  }
  const IRModule bound = module->copy();
  bound->set("main", make_function(left, substitute(main->body(), values), main->ret_type(), main->attrs(),
                                   NodeInfo(main->origins(), main->span())));
  return bound;
}

class Conservation : public ::testing::TestWithParam<Network> {};

TEST_P(Conservation, HoldsAfterEveryPass) {
  initialize();
  const IRModule module = with_weights(infer_types(GetParam().make()));
  const auto context = std::make_shared<PassContext>();
  context->opt_level = GetParam().opt_level;
  context->instruments = {std::make_shared<OriginVerifier>()};
  const BuildContext under = host_context().with_passes(context);
  const InstrumentScope scope(under.passes);
  const IRModule result = optimize(module, under);
  EXPECT_EQ(result->origins().size(), module->origins().size());
  int kernels = 0;
  post_order(Expr(result->find("main")), [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    const auto* function = call ? as<FunctionNode>(call->callee()) : nullptr;
    if (!function || !function->is_primitive()) return;
    ++kernels;
    // At level 0 nothing is fused: a kernel has one source operator.
    const size_t sources = call->origins().origins().size();
    EXPECT_TRUE(GetParam().opt_level == 0 ? sources == 1 : sources > 0 || !call->origins().causes().empty());
  });
  EXPECT_GT(kernels, 5);
}

IRModule resnet18() { return workloads::resnet(18, {}); }
IRModule vgg11() { return workloads::vgg(11, false, {}); }
IRModule mobilenet() { return workloads::mobilenet({}); }

std::vector<Network> at_every_level() {
  std::vector<Network> networks;
  for (int level = 0; level <= 4; ++level)
    for (const Network& each :
         {Network{"resnet-18", resnet18, level}, {"vgg-11", vgg11, level}, {"mobilenet", mobilenet, level}})
      networks.push_back(each);
  return networks;
}

INSTANTIATE_TEST_SUITE_P(Networks, Conservation, ::testing::ValuesIn(at_every_level()));

}  // namespace
}  // namespace baton
