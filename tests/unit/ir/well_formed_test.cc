#include "baton/ir/analysis/well_formed.h"

#include <gtest/gtest.h>

#include "baton/ir/analysis/constructors.h"
#include "baton/ir/analysis/features.h"
#include "baton/ir/op.h"
#include "baton/ir/variables.h"
#include "baton/ir/visit.h"
#include "baton/ops/register.h"
#include "baton/support/error.h"

namespace baton {
namespace {

class WellFormed : public ::testing::Test {
 protected:
  WellFormed() {
    register_all_ops();
    const GlobalTypeVar header = module->global_type_var("List");
    const TypeVar a = type_var("A");
    module->set_type(
        type_data(header, {a}, {{"Cons", {Type(a), type_call(Type(header), {Type(a)})}}, {"Nil", {}}}));
  }
  const IRModule module = make_module();
  const Type number = scalar_type(DType::float_(32));
  const Var x = var("x", number), y = var("y"), z = var("z");
  const Expr one = scalar(1, DType::float_(32));

  Constructor cons() { return find_constructor(*module, "List", "Cons"); }
  Constructor nil() { return find_constructor(*module, "List", "Nil"); }
  static std::string first(const Expr& expr, const FormOptions& options = {}) {
    const auto faults = form_faults(expr, options);
    return faults.empty() ? "" : faults[0].text;
  }
};

TEST_F(WellFormed, EachVariableIsBoundOnce) {
  const Expr once = let(x, one, x);
  EXPECT_TRUE(well_formed(x));
  EXPECT_TRUE(well_formed(once));
  EXPECT_EQ(first(let(x, one, once)), "variable %x is bound twice");
  EXPECT_EQ(first(tuple({once, let(x, one, x)})), "variable %x is bound twice");
  EXPECT_TRUE(well_formed(tuple({once, once})));  // one let, used twice
  EXPECT_EQ(first(Expr(function({x, x}, x))), "variable %x is bound twice");
  const Clause some{constructor_pattern(cons(), {var_pattern(x), var_pattern(x)}), x};
  EXPECT_EQ(first(match(nil(), {some})), "variable %x is bound twice");
}

TEST_F(WellFormed, VariablesAreUsedWhereTheyAreBound) {
  EXPECT_EQ(first(tuple({Expr(function({x}, x)), x})), "variable %x is used outside the scope that binds it");
  EXPECT_EQ(first(tuple({x, Expr(function({x}, x))})), "variable %x is used before it is bound");
  EXPECT_EQ(first(let(y, let(x, one, x), x)), "variable %x is used outside the scope that binds it");
  EXPECT_TRUE(well_formed(let(y, Expr(function({x}, call_expr(y, {x}))), y)));  // recursion
  const Clause a{constructor_pattern(cons(), {var_pattern(x), wildcard_pattern()}), x},
      b{wildcard_pattern(), x};
  EXPECT_EQ(first(match(nil(), {a, b})), "variable %x is used outside the scope that binds it");
  EXPECT_TRUE(well_formed(match(nil(), {a})));
}

TEST_F(WellFormed, ClosedMeansNothingIsFree) {
  const TypeVar a = type_var("A");
  const Var t = var("t", Type(a));
  EXPECT_EQ(first(x, {.closed = true}), "variable %x is free");
  EXPECT_EQ(first(Expr(function({t}, t)), {.closed = true}), "type variable A is free");
  EXPECT_EQ(first(Expr(function({t}, t, {}, {}, {}, {a})), {.closed = true}), "");
}

TEST_F(WellFormed, PatternsFitTheirConstructors) {
  EXPECT_EQ(first(match(nil(), {{constructor_pattern(cons(), {var_pattern(x)}), x}})),
            "pattern Cons(%x) has 1 fields, but its constructor 2");
  EXPECT_EQ(first(match(nil(), {{tuple_pattern({constructor_pattern(nil(), {wildcard_pattern()})}), one}})),
            "pattern Nil(_) has 1 fields, but its constructor 0");
}

TEST_F(WellFormed, Modules) {
  EXPECT_TRUE(well_formed(*module));
  module->set("main", function({x}, call_expr(module->global_var("other"), {x, z})));
  const auto faults = form_faults(*module);
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_EQ(faults[0].text, "@main: there is no function @other in the module");
  EXPECT_EQ(faults[1].text, "@main: variable %z is free");
  const Constructor gone =
      make_ref<const ConstructorNode>("Gone", std::vector<Type>(), global_type_var("List"), 7);
  module->set("main", function({}, Expr(gone)));
  EXPECT_EQ(form_faults(*module)[0].text,
            "@main: constructor Gone of type List is not among those that the module defines");
  module->set("main", function({}, one));
  module->set_type(type_data(module->global_type_var("Open"), {}, {{"Of", {Type(type_var("B"))}}}));
  EXPECT_EQ(form_faults(*module)[0].text, "type variable B in constructor Of is not declared by type Open");
}

TEST_F(WellFormed, AMillionLets) {
  Expr body = one;
  for (int i = 0; i < 1'000'000; ++i) body = let(var("v"), one, body);
  EXPECT_TRUE(well_formed(body));
  EXPECT_EQ(all_vars(body).size(), 1'000'000u);
}

TEST_F(WellFormed, AllVariablesComeInTheOrderOfTheText) {
  const Clause a{constructor_pattern(nil(), {}), z},
      b{constructor_pattern(cons(), {var_pattern(x), var_pattern(y)}), x};
  const Expr both = match(nil(), {a, b});
  EXPECT_EQ(all_vars(both), (std::vector<Var>{z, x, y}));
  EXPECT_EQ(bound_vars(both), (std::vector<Var>{x, y}));
  EXPECT_EQ(free_vars(both), (std::vector<Var>{z}));
  const TypeVar r = type_var("R"), s = type_var("S"), t = type_var("T");
  const Type type = func_type({Type(t)}, tuple_type({Type(r), Type(s)}), {s});
  EXPECT_EQ(all_type_vars(type), (std::vector<TypeVar>{s, t, r}));
  EXPECT_EQ(bound_type_vars(type), (std::vector<TypeVar>{s}));
  EXPECT_EQ(free_type_vars(type), (std::vector<TypeVar>{t, r}));
  const Var v = var("v", Type(t));
  EXPECT_EQ(all_type_vars(Expr(function({v}, v, Type(r), {}, {}, {s}))), (std::vector<TypeVar>{s, t, r}));
}

TEST_F(WellFormed, ConstructorsByTagAndName) {
  module->set_type(type_data(module->global_type_var("Tree"), {}, {{"Leaf", {}}}));
  EXPECT_EQ(find_constructor(*module, constructor_tag(*cons())), cons());
  EXPECT_EQ(find_constructor(*module, constructor_tag(*nil())), nil());
  EXPECT_EQ(constructor_tag(*nil()) & 0xffffff, 1);
  EXPECT_THROW(find_constructor(*module, 12345), Error);
  EXPECT_THROW(find_constructor(*module, "Tree", "Nil"), Error);
  EXPECT_THROW(find_constructor(*module, "Bush", "Nil"), Error);
}

TEST_F(WellFormed, TypesMadeFromConstructors) {
  const GlobalTypeVar header = global_type_var("Opt");
  const auto made = [&](const char* name) {
    return make_ref<const ConstructorNode>(name, std::vector<Type>(), header, -1);
  };
  const Constructor some = made("Some"), none = made("None");
  EXPECT_EQ(constructor_tag(*some), -1);
  const TypeData type = define_type(header, {}, {some, none});
  EXPECT_EQ(type->constructors()[1], none);
  EXPECT_EQ(none->tag(), 1);
  EXPECT_NO_THROW(define_type(header, {}, {some, none}));
  EXPECT_THROW(define_type(header, {}, {none, some}), Error);
  EXPECT_THROW(define_type(header, {}, {some, some}), Error);
  EXPECT_THROW(define_type(global_type_var("Other"), {}, {some}), Error);
}

TEST_F(WellFormed, Features) {
  const Expr sum = call("add", {x, x});
  EXPECT_EQ(features(sum), (std::set<Feature>{Feature::kVar, Feature::kOp, Feature::kCall}));
  EXPECT_TRUE(features(tuple({sum, sum})).contains(Feature::kGraph));
  EXPECT_FALSE(features(tuple({one, one})).contains(Feature::kGraph));
  EXPECT_FALSE(features(let(x, one, x)).contains(Feature::kLetRec));
  EXPECT_TRUE(features(let(y, Expr(function({x}, call_expr(y, {x}))), y)).contains(Feature::kLetRec));
  module->set("main", function({x}, tuple({sum, sum, call("nn.relu", {x})})));
  EXPECT_EQ(op_frequencies(*module), (std::map<std::string, int64_t>{{"add", 1}, {"nn.relu", 1}}));
  EXPECT_EQ(all_dtypes(one), (std::set<std::string>{"float32"}));
  EXPECT_THROW(all_dtypes(sum), Error);
}

}  // namespace
}  // namespace baton
