#include "baton/pass/origin_verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baton/ir/op.h"
#include "baton/pass/rewriter.h"

#include "pass/programs.h"

namespace baton {
namespace {

using ::testing::HasSubstr;

class Verifier : public ::testing::Test {
 protected:
  Verifier() { register_test_passes(); }

  // What the verifier says after a pass with this body; "" when it is content.
  std::string verdict(const std::function<IRModule(IRModule)>& body, bool may_retire = false) {
    auto context = std::make_shared<PassContext>();
    context->instruments = {std::make_shared<OriginVerifier>()};
    const BuildContext under{.passes = context};
    const InstrumentScope scope(context);
    try {
      result = (*module_pass(
          {0, "P", {}}, [&](IRModule module, const PassContext&) { return body(module); }, may_retire))(
          module, under);
      return "";
    } catch (const InternalError& error) {
      return error.what();
    }
  }
  // main with another body.
  static IRModule with_body(IRModule module, Expr body) {
    const Function main = module->find("main");
    module->set("main", make_function(main->params(), std::move(body), {}, {}, main->info()));
    return module;
  }
  const IRModule module = relu_chain(3);
  const Function main = module->find("main");
  const CallNode* last = as<CallNode>(main->body());
  IRModule result;
};

TEST_F(Verifier, AcceptsWhatIsKept) {
  EXPECT_EQ(verdict([](IRModule m) { return m; }), "");
}

TEST_F(Verifier, SeesALostOperator) {
  const std::string text = verdict([&](IRModule m) { return with_body(m, last->args()[0]); });
  EXPECT_THAT(text, HasSubstr("after pass P: the operator `nn.relu`"));
  EXPECT_THAT(text, HasSubstr("is lost"));
  EXPECT_THAT(text, HasSubstr("retire()"));
}

TEST_F(Verifier, NamesTheLine) {
  const auto source = make_ref<const Source>("net.relay", "x\nnn.relu(x)\n");
  const Span span{source, 2, 1, 2, 11};
  const Var x = var("x", tensor_type(std::vector<int64_t>{1, 4}, DType::float_(32)));
  const IRModule named = module_from_expr(Expr(function({x}, call("nn.relu", {x}, {}, span))));
  try {
    const IRModule lost = with_body(named->copy(), Expr(x));
    verify_origins(*lost, "P");
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), HasSubstr("`nn.relu` (net.relay:2:1) is lost"));
  }
}

TEST_F(Verifier, AcceptsARetiredOperatorAndRemembersTheReason) {
  EXPECT_EQ(verdict(
                [&](IRModule m) {
                  retire(last->origins(), "relu of relu is relu");
                  return with_body(m, last->args()[0]);
                },
                true),
            "");
  const Retired* why = result->origins().retired(*result->origins().find(last->origins().origins()[0]));
  ASSERT_TRUE(why);
  EXPECT_EQ(why->pass, "P");
  EXPECT_EQ(why->reason, "relu of relu is relu");
}

TEST_F(Verifier, OnlyDeclaredPassesRetire) {
  EXPECT_THAT(verdict([&](IRModule m) {
                retire(last->origins(), "no reason at all");
                return with_body(m, last->args()[0]);
              }),
              HasSubstr("does not declare may_retire"));
}

TEST_F(Verifier, WhatIsStillCarriedIsNotRetired) {
  EXPECT_EQ(verdict(
                [&](IRModule m) {
                  retire(last->origins(), "changed my mind");
                  return m;
                },
                true),
            "");
  EXPECT_TRUE(result->origins().all_retired().empty());
}

TEST_F(Verifier, ARetiredOperatorStaysRetiredInAModuleBuiltAnew) {
  verdict(
      [&](IRModule m) {
        retire(last->origins(), "relu of relu is relu");
        return with_body(m, last->args()[0]);
      },
      true);
  const IRModule before = result;
  auto context = std::make_shared<PassContext>();
  context->instruments = {std::make_shared<OriginVerifier>()};
  const BuildContext under{.passes = context};
  const InstrumentScope scope(context);
  const IRModule after = (*module_pass({0, "Q", {}}, [](IRModule m, const PassContext&) {
    const IRModule fresh = make_module();
    fresh->set("main", m->find("main"));
    return fresh;
  }))(before, under);
  EXPECT_EQ(after->origins().size(), before->origins().size());
  EXPECT_EQ(after->origins().all_retired().size(), 1u);
}

TEST_F(Verifier, SeesAnOperatorWithoutOrigin) {
  EXPECT_THAT(verdict([&](IRModule m) {
                const OriginScope scope(OriginSet::none());
                return with_body(m, call("nn.relu", {main->body()}));
              }),
              HasSubstr("a call of `nn.relu`, computed from `nn.relu`"));
}

TEST_F(Verifier, AcceptsWhatHasACause) {
  EXPECT_EQ(verdict([&](IRModule m) {
              const OriginScope scope(OriginSet::made_for(main->body()->origins(), "a test"));
              return with_body(m, call("nn.relu", {main->body()}));
            }),
            "");
}

TEST_F(Verifier, SeesAnOriginMadeInAPass) {
  EXPECT_THAT(verdict([&](IRModule m) { return with_body(m, call("nn.relu", {main->body()})); }),
              HasSubstr("appeared, though passes make no origins"));
}

TEST_F(Verifier, SeesAConstantThatStandsForNothing) {
  const auto add_constant = [&](IRModule m) {
    const CallNode& call = *last;
    Expr value = tuple({call.args()[0], scalar(2, DType::float_(32))});
    return with_body(m, make_call(call.callee(), {get_item(value, 0)}, call.attrs(), call.info()));
  };
  EXPECT_THAT(verdict(add_constant), HasSubstr("a constant of type float32 stands for nothing"));
  EXPECT_EQ(verdict([&](IRModule m) {
              const OriginScope scope(last->origins());
              return add_constant(m);
            }),
            "");
}

TEST_F(Verifier, PrimitiveFunctionsAndTheirCallsStandForTheirBody) {
  const auto fuse = [&](const OriginSet& on_function, const OriginSet& on_call) {
    const Function function =
        make_function(main->params(), main->body(), {}, {{"Primitive", 1}}, NodeInfo(on_function));
    const Var x = make_var("y", main->params()[0]->annotation(), NodeInfo(OriginSet::none()));
    const IRModule fused = module->copy();
    fused->set("main", make_function({x}, make_call(Expr(function), {x}, {}, NodeInfo(on_call)), {}, {},
                                     NodeInfo(OriginSet::none())));
    return fused;
  };
  OriginSet all = OriginSet::none();
  for (const CallNode* call = last; call; call = as<CallNode>(call->args()[0]))
    all = all.merge(call->origins());
  EXPECT_EQ(verdict([&](IRModule) { return fuse(all, all); }), "");
  EXPECT_THAT(verdict([&](IRModule) { return fuse(last->origins(), last->origins()); }),
              HasSubstr("a primitive function stands for"));
  EXPECT_THAT(verdict([&](IRModule) { return fuse(all, last->origins()); }),
              HasSubstr("give both the union"));
  EXPECT_THAT(verdict([&](IRModule) { return fuse(OriginSet::none(), all); }),
              HasSubstr("give both the union"));
}

}  // namespace
}  // namespace baton
