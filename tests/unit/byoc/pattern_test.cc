// What patterns match, what they cut out and what they replace.
#include <gtest/gtest.h>

#include "baton/byoc/pattern_rewrite.h"
#include "baton/codegen/backend.h"
#include "baton/driver/initialize.h"
#include "baton/ir/op.h"
#include "baton/ir/structural.h"
#include "baton/pass/origin_verifier.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"
#include "baton/text/printer.h"

#include "byoc/called.h"

namespace baton {
namespace {

class Patterns : public ::testing::Test {
 protected:
  void SetUp() override { initialize(); }

  Expr v(const std::string& name, std::vector<int64_t> shape = {2, 3}) {
    return Expr(var(name, tensor_type(shape, DType::float_(32))));
  }
  static Expr on(const char* op, std::vector<Expr> args) { return Expr(call(op, std::move(args))); }
  static std::string shown(const Expr& expr) {
    PrintOptions options;
    options.version = options.types = options.spans = false;
    return print(expr, options);
  }

  const Expr x = v("x"), y = v("y"), z = v("z");
  const DFPattern any = wildcard();
};

TEST_F(Patterns, LeavesAndStructure) {
  EXPECT_TRUE(dataflow_match(is_var(), x));
  EXPECT_TRUE(dataflow_match(is_var("x"), x));
  EXPECT_FALSE(dataflow_match(is_var("x"), y));
  EXPECT_FALSE(dataflow_match(is_constant(), x));
  EXPECT_TRUE(dataflow_match(is_constant(), Expr(scalar(1, DType::float_(32)))));
  EXPECT_TRUE(dataflow_match(is_expr(on("tanh", {x})), on("tanh", {x})));
  EXPECT_FALSE(dataflow_match(is_expr(on("tanh", {x})), on("tanh", {y})));
  EXPECT_TRUE(dataflow_match(is_op("tanh")->call_any(), on("tanh", {x})));
  EXPECT_FALSE(dataflow_match(called("tanh", {any, any}), on("tanh", {x})));
  const Expr pair = tuple({x, y});
  EXPECT_TRUE(dataflow_match(is_tuple(), pair));
  EXPECT_TRUE(dataflow_match(is_tuple({{is_var("x"), is_var("y")}}), pair));
  EXPECT_FALSE(dataflow_match(is_tuple({{is_var("x")}}), pair));
  EXPECT_TRUE(dataflow_match(is_tuple_get_item(is_tuple()), get_item(pair, 1)));
  EXPECT_FALSE(dataflow_match(is_tuple_get_item(any, 0), get_item(pair, 1)));
  const Var p = var("p", tensor_type(std::vector<int64_t>{2}, DType::float_(32)));
  EXPECT_TRUE(dataflow_match(is_function({{wildcard()}}, called("exp", {wildcard()})),
                             Expr(function({p}, on("exp", {Expr(p)})))));
  EXPECT_FALSE(
      dataflow_match(is_function({{wildcard(), wildcard()}}, wildcard()), Expr(function({p}, Expr(p)))));
  EXPECT_TRUE(dataflow_match(is_function(std::nullopt, any), Expr(function({p}, Expr(p)))));
  EXPECT_TRUE(dataflow_match(is_let(is_var("p"), wildcard(), called("exp", {wildcard()})),
                             let(p, x, on("exp", {Expr(p)}))));
  EXPECT_TRUE(dataflow_match(is_if(is_var("c"), wildcard(), called("exp", {wildcard()})),
                             if_else(Expr(var("c", scalar_type(DType::bool_()))), x, on("exp", {x}))));
}

TEST_F(Patterns, OnePatternMeetsOneExpression) {
  const DFPattern same = called("subtract", {any, any});
  EXPECT_TRUE(dataflow_match(same, on("subtract", {x, x})));
  EXPECT_FALSE(dataflow_match(same, on("subtract", {x, y})));
  // What a failed alternative met is forgotten.
  const DFPattern a = wildcard(), either = called("exp", {a}) | called("tanh", {a});
  EXPECT_TRUE(dataflow_match(called("subtract", {either, a}), on("subtract", {on("tanh", {x}), x})));
}

TEST_F(Patterns, ArgumentsOfAddAndMultiplyCommute) {
  const DFPattern pattern = called("add", {called("exp", {any}), is_var("y")});
  EXPECT_TRUE(dataflow_match(pattern, on("add", {on("exp", {x}), y})));
  EXPECT_TRUE(dataflow_match(pattern, on("add", {y, on("exp", {x})})));
  EXPECT_FALSE(dataflow_match(called("subtract", {called("exp", {any}), is_var("y")}),
                              on("subtract", {y, on("exp", {x})})));
}

TEST_F(Patterns, QuotientsAndProductsRegroup) {
  const DFPattern a = is_var("x"), b = is_var("y"), c = is_var("z");
  const DFPattern quotient = called("divide", {called("multiply", {a, b}), c});
  EXPECT_TRUE(dataflow_match(quotient, on("divide", {on("multiply", {x, y}), z})));
  EXPECT_TRUE(dataflow_match(quotient, on("multiply", {on("divide", {x, z}), y})));
  EXPECT_TRUE(dataflow_match(quotient, on("multiply", {x, on("divide", {y, z})})));
  EXPECT_FALSE(dataflow_match(quotient, on("multiply", {x, on("divide", {z, y})})));
  const DFPattern product = called("multiply", {called("divide", {a, b}), c});
  EXPECT_TRUE(dataflow_match(product, on("divide", {on("multiply", {x, z}), y})));
  EXPECT_FALSE(dataflow_match(product, on("divide", {on("multiply", {x, y}), z})));
}

TEST_F(Patterns, TypesAndAttributes) {
  const Expr sum = on("add", {x, y});
  EXPECT_TRUE(dataflow_match(any->has_dtype(DType::float_(32)), sum));
  EXPECT_FALSE(dataflow_match(any->has_dtype(DType::int_(8)), sum));
  EXPECT_TRUE(dataflow_match(any->has_shape({2, 3}), sum));
  EXPECT_FALSE(dataflow_match(any->has_shape({3, 2}), sum));
  EXPECT_TRUE(dataflow_match(any->has_type(tensor_type(std::vector<int64_t>{2, 3}, DType::float_(32))), sum));
  const Expr soft = Expr(call("nn.softmax", {x}, make_attrs(*find_op("nn.softmax")->attrs, {{"axis", 1}})));
  const DFPattern softmax = called("nn.softmax", {any});
  EXPECT_TRUE(dataflow_match(softmax->has_attr({{"axis", 1}}), soft));
  EXPECT_FALSE(dataflow_match(softmax->has_attr({{"axis", 0}}), soft));
  EXPECT_FALSE(dataflow_match(softmax->has_attr({{"no_such", 1}}), soft));
  EXPECT_TRUE(dataflow_match(wildcard()->has_attr({{"TOpPattern", 0}})->call({wildcard()}), on("exp", {x})));
  EXPECT_FALSE(
      dataflow_match(wildcard()->has_attr({{"TOpPattern", 0}})->call({wildcard(), wildcard()}), sum));
  const Function marked = with_attr(function({}, x), "Composite", "a.b");
  EXPECT_TRUE(dataflow_match(any->has_attr({{"Composite", "a.b"}}), Expr(marked)));
}

TEST_F(Patterns, UnknownOperatorsAreNamed) {
  try {
    is_op("nn.conv2");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean `nn.conv2d`?"), std::string::npos) << error.what();
  }
}

class Dominators : public Patterns {
 protected:
  const DFPattern parent = called("nn.relu", {wildcard()});
  const DFPattern elementwise = wildcard()->has_attr({{"TOpPattern", 0}});
  const DFPattern path = elementwise->call({wildcard()}) | called("add", {wildcard(), wildcard()});
  const DFPattern pattern = dominates(parent, path, called("multiply", {wildcard(), wildcard()}));
};

TEST_F(Dominators, AllWaysLeadToTheParent) {
  const Expr top = on("nn.relu", {x}), left = on("exp", {on("tanh", {top})}), right = on("log", {top});
  EXPECT_TRUE(dataflow_match(pattern, on("multiply", {left, right})));
  EXPECT_TRUE(dataflow_match(pattern, on("multiply", {left, left})));
  // Another way comes from somewhere else.
  EXPECT_FALSE(dataflow_match(pattern, on("multiply", {left, on("exp", {y})})));
  EXPECT_FALSE(dataflow_match(pattern, on("multiply", {left, on("log", {on("nn.relu", {y})})})));
  // Something on the way is no path.
  EXPECT_FALSE(dataflow_match(pattern, on("multiply", {on("nn.softmax", {top}), right})));
  // Variables may join.
  EXPECT_TRUE(dataflow_match(pattern, on("multiply", {on("add", {left, y}), right})));
}

TEST_F(Dominators, NothingInsideIsUsedOutside) {
  const Expr top = on("nn.relu", {x}), left = on("exp", {top}),
             product = on("multiply", {left, on("log", {top})});
  const Expr escaping = tuple({product, left}), closed = tuple({product, y});
  const auto cut = [&](const Expr& whole) { return dataflow_partition(pattern, whole) != whole; };
  EXPECT_TRUE(cut(closed));
  EXPECT_FALSE(cut(escaping));
}

TEST_F(Patterns, PartitionNamesItsFunctions) {
  const DFPattern pattern = called("nn.relu", {called("add", {wildcard(), wildcard()})});
  const Expr whole = on("tanh", {on("nn.relu", {on("add", {x, y})})});
  EXPECT_EQ(shown(dataflow_partition(pattern, whole, {{"Composite", "a.b"}})),
            "free_var %x: Tensor[(2, 3), float32];\nfree_var %y: Tensor[(2, 3), float32];\n"
            "%1 = fn (%FunctionVar_0_0, %FunctionVar_0_1, PartitionedFromPattern=\"add_nn.relu_\", "
            "Composite=\"a.b\") {\n"
            "  %0 = add(%FunctionVar_0_0, %FunctionVar_0_1);\n  nn.relu(%0)\n};\n%2 = %1(%x, %y);\ntanh(%2)");
  EXPECT_EQ(dataflow_partition(pattern, whole, {}, [](const Expr&) { return false; }), whole);
}

TEST_F(Patterns, ConstantsThatAreAskedForStayInside) {
  const Expr one = Expr(scalar(1, DType::float_(32)));
  const auto params = [&](const DFPattern& second) {
    const Expr cut = dataflow_partition(called("subtract", {wildcard(), second}), on("subtract", {x, one}));
    return as<FunctionNode>(as<CallNode>(cut)->callee())->params().size();
  };
  EXPECT_EQ(params(is_constant()), 1u);
  EXPECT_EQ(params(wildcard()), 2u);
}

TEST_F(Patterns, WhatIsUsedOutsideIsNotCutOut) {
  const DFPattern pattern = called("nn.relu", {called("add", {wildcard(), wildcard()})});
  const Expr sum = on("add", {x, y}), whole = tuple({on("nn.relu", {sum}), sum});
  EXPECT_EQ(dataflow_partition(pattern, whole), whole);
}

TEST_F(Patterns, RewritesUntilNothingChanges) {
  const DFPattern inner = wildcard(), pattern = called("exp", {called("log", {inner})});
  const DFCallback rule{
      pattern, [&](const Expr&, const Expr&, const DFMatches& matches) { return matches.of(inner)[0]; }};
  Expr deep = x;
  for (int i = 0; i < 5; ++i) deep = on("log", {deep});
  for (int i = 0; i < 5; ++i) deep = on("exp", {deep});
  EXPECT_EQ(dataflow_rewrite({rule}, deep), x);
  DFCallback once = rule;
  once.rewrite_once = true;
  EXPECT_TRUE(
      structural_equal(dataflow_rewrite({once}, on("exp", {on("exp", {on("log", {on("log", {x})})})})),
                       on("exp", {on("log", {x})})));
  const DFCallback forever{is_op("exp")->call_any() | is_op("log")->call_any(),
                           [&](const Expr& before, const Expr& after, const DFMatches&) {
                             return on(is_call(before, "exp") ? "log" : "exp", as<CallNode>(after)->args());
                           }};
  EXPECT_THROW(dataflow_rewrite({forever}, on("exp", {x})), UsageError);
}

TEST_F(Patterns, WhatACallbackMakesStandsForTheMatch) {
  const DFPattern inner = wildcard(), pattern = called("exp", {called("negative", {inner})});
  const Expr negative = on("negative", {x}), whole = on("exp", {negative});
  const DFCallback rule{pattern, [&](const Expr&, const Expr&, const DFMatches& matches) {
                          return on("sigmoid", {matches.of(inner)[0]});
                        }};
  const Expr result = dataflow_rewrite({rule}, whole);
  EXPECT_TRUE(is_call(result, "sigmoid"));
  EXPECT_EQ(result->origins(), whole->origins().merge(negative->origins()));
}

TEST_F(Patterns, WhatACallbackDropsIsRetiredInAPass) {
  const DFPattern inner = wildcard(), pattern = called("exp", {called("log", {inner})});
  const DFCallback rule{
      pattern, [&](const Expr&, const Expr&, const DFMatches& matches) { return matches.of(inner)[0]; }};
  const IRModule module =
      (*make_pass("InferType"))(module_from_expr(on("tanh", {on("exp", {on("log", {x})})})), host_context());
  const auto run = [&](Replaced replaced) {
    const auto context = std::make_shared<PassContext>();
    context->instruments.push_back(std::make_shared<OriginVerifier>());
    const BuildContext under = host_context().with_passes(context);
    const InstrumentScope scope(under.passes);
    const Pass pass = function_pass(
        {0, "Rule", {}},
        [&](const Function& function, const IRModule&, const PassContext&) {
          return as_ref<FunctionNode>(dataflow_rewrite({rule}, Expr(function), {}, replaced));
        },
        true);
    return (*pass)(module, under);
  };
  EXPECT_EQ(run(Replaced::kRetired)->origins().all_retired().size(), 2u);
  EXPECT_THROW(run(Replaced::kForgotten), InternalError);
}

}  // namespace
}  // namespace baton
