// Gradients of whole programs: control flow, closures, functions of the module, what stands for what, and
// what is refused.
#include "baton/transform/gradient/gradient.h"

#include <cmath>
#include <iostream>
#include <set>

#include <gtest/gtest.h>

#include "baton/codegen/backend.h"
#include "baton/driver/initialize.h"
#include "baton/ir/build.h"
#include "baton/ir/op.h"
#include "baton/pass/origin_verifier.h"
#include "baton/support/diagnostic.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

#include "transform/golden_case.h"
#include "transform/program_interpreter.h"
#include "transform/transform_test.h"

namespace baton::run {
namespace {

IRModule typed(const std::string& text) {
  initialize();
  return infer_types(parse_module("#[version = \"0.0.5\"]\n" + text));
}

IRModule differentiated(const IRModule& module, GradientMode mode) {
  const IRModule result = module->copy();
  result->set("main", gradient(result->find("main"), result, mode));
  infer_types(result);
  verify_origins(*result, "gradient");
  return result;
}

Value scalar_value(double value) {
  return tensor(NDArray::of<double>({}, std::vector<double>{value}, DType::float_(64)));
}
Value int_value(int32_t value) {
  return tensor(NDArray::of<int32_t>({}, std::vector<int32_t>{value}, DType::int_(32)));
}
Value bool_value(bool value) {
  return tensor(NDArray::of<uint8_t>({}, std::vector<uint8_t>{value}, DType::bool_()));
}
double number(const Value& value) { return value.array.as<double>()[0]; }

/// The derivative of main by its parameter `at`.
double slope(const std::string& text, const std::vector<Value>& args, size_t at, GradientMode mode) {
  return number(interpret(differentiated(typed(text), mode), "main", args).fields.at(1).fields.at(at));
}
double higher(const std::string& text, const std::vector<Value>& args, size_t at = 0) {
  return slope(text, args, at, GradientMode::kHigherOrder);
}
double first(const std::string& text, const std::vector<Value>& args, size_t at = 0) {
  return slope(text, args, at, GradientMode::kFirstOrder);
}

const char* const kIf = "def @main(%c: bool, %x: float64) { if (%c) { multiply(%x, %x) } else { exp(%x) } }";

TEST(Gradient, GoesThroughTheBranchThatWasTaken) {
  EXPECT_DOUBLE_EQ(higher(kIf, {bool_value(true), scalar_value(3)}, 1), 6);
  EXPECT_DOUBLE_EQ(higher(kIf, {bool_value(false), scalar_value(0.5)}, 1), std::exp(0.5));
}

// x^n by recursion: n x^(n - 1).
TEST(Gradient, GoesThroughFunctionsOfTheModule) {
  const char* text = R"(
def @pow(%n: int32, %x: float64) -> float64 {
  %0 = equal(%n, 0);
  if (%0) { 1f64 } else {
    %1 = subtract(%n, 1);
    %2 = @pow(%1, %x);
    multiply(%x, %2)
  }
}
def @main(%n: int32, %x: float64) -> float64 { @pow(%n, %x) })";
  EXPECT_DOUBLE_EQ(higher(text, {int_value(4), scalar_value(1.5)}, 1), 4 * 1.5 * 1.5 * 1.5);
  const IRModule module = differentiated(typed(text), GradientMode::kHigherOrder);
  EXPECT_TRUE(module->find("pow"));
  EXPECT_TRUE(module->find("pow_grad"));
}

TEST(Gradient, GoesThroughClosuresAndReferences) {
  EXPECT_DOUBLE_EQ(higher(R"(def @main(%x: float64) -> float64 {
    let %f = fn (%y: float64) -> float64 { multiply(%x, %y) };
    %f(%f(%x))
  })",
                          {scalar_value(2)}),
                   12);
  EXPECT_DOUBLE_EQ(higher(R"(def @main(%x: float64) -> float64 {
    let %r = ref(%x);
    let %u = ref_write(%r, multiply(ref_read(%r), %x));
    ref_read(%r)
  })",
                          {scalar_value(3)}),
                   6);
}

TEST(Gradient, GoesThroughDataTypes) {
  EXPECT_DOUBLE_EQ(higher(R"(
type Box[A] { MkBox(A), }
def @main(%x: float64) -> float64 { match (MkBox(exp(%x))) { MkBox(%y) => { multiply(%y, %y) }, } })",
                          {scalar_value(0.5)}),
                   2 * std::exp(1.0));
}

// Whether it is a kernel or not, each call counts for itself.
TEST(Gradient, OfAFunctionThatIsCalledTwice) {
  const char* text = R"(def @main(%x: float64) -> float64 {
    %0 = fn (%y: float64) -> float64 { let %z = multiply(%y, %y); exp(%z) };
    %0(%0(%x))
  })";
  const double y = std::exp(0.25), expected = std::exp(y * y) * 2 * y * std::exp(0.25) * 2 * 0.5;
  EXPECT_NEAR(first(text, {scalar_value(0.5)}), expected, 1e-12 * expected);
  EXPECT_NEAR(higher(text, {scalar_value(0.5)}), expected, 1e-12 * expected);
}

TEST(Gradient, ByTheFieldsOfATuple) {
  const IRModule module = typed("def @main(%t: (float64, float64)) { multiply(%t.0, exp(%t.1)) }");
  for (const GradientMode mode : {GradientMode::kFirstOrder, GradientMode::kHigherOrder}) {
    const Value result =
        interpret(differentiated(module, mode), "main", {tuple_of({scalar_value(2), scalar_value(0.5)})});
    const Value& by_tuple = result.fields.at(1).fields.at(0);
    EXPECT_DOUBLE_EQ(number(by_tuple.fields.at(0)), std::exp(0.5));
    EXPECT_DOUBLE_EQ(number(by_tuple.fields.at(1)), 2 * std::exp(0.5));
  }
}

// As TVM has it: the first-order gradient is of the sum of all results, the other of the first.
TEST(Gradient, OfSeveralResults) {
  const char* text = "def @main(%x: float64) { (exp(%x), multiply(%x, %x)) }";
  EXPECT_DOUBLE_EQ(first(text, {scalar_value(2)}), std::exp(2.0) + 4);
  EXPECT_DOUBLE_EQ(higher(text, {scalar_value(2)}), std::exp(2.0));
}

TEST(Gradient, OfAGradient) {
  const IRModule module = typed("def @main(%x: float64) { multiply(multiply(%x, %x), %x) }");
  const IRModule once = differentiated(module, GradientMode::kHigherOrder);
  // d/dx of the first derivative, which is what is left when the value is dropped.
  const IRModule again = make_module();
  const Function inner = once->find("main");
  const Var x = var("x", scalar_type(DType::float_(64)));
  again->set("main", function({x}, get_item(get_item(Expr(call_expr(Expr(inner), {Expr(x)})), 1), 0)));
  infer_types(again);
  const Value result =
      interpret(differentiated(again, GradientMode::kHigherOrder), "main", {scalar_value(2)});
  EXPECT_DOUBLE_EQ(number(result.fields.at(0)), 12);
  EXPECT_DOUBLE_EQ(number(result.fields.at(1).fields.at(0)), 12);
}

// ---- What stands for what.

TEST(Gradient, OfAnOperatorStandsForIt) {
  const IRModule module =
      typed_module("def @main(%x: Tensor[(3), float32]) {\n  %0 = exp(%x);\n  tanh(%0)\n}");
  EXPECT_EQ(body_text(run_passes(module, {named_pass("FirstOrderGradient")}), true),
            R"(let %x_0 = %x;
let %x_1 = zeros_like(%x_0) /* made_for=3:8 "its gradient needs it" */;
let %x_2 = exp(%x_0) /* from=3:8 */;
let %x_3 = zeros_like(%x_2) /* from=3:8 */;
%0 = tanh(%x_2) /* from=4:3 */;
let %x_4 = %0;
let %x_5 = zeros_like(%x_4) /* from=4:3 */;
%1 = ones_like(%0) /* from=4:3 */;
%2 = multiply(%0, %0) /* from=4:3 */;
%3 = ones_like(%x_4) /* made_for=4:3 "its gradient needs it" */;
%4 = subtract(%1, %2) /* from=4:3 */;
%5 = multiply(%3, %4) /* from=4:3 */;
%8 = (
let %x_6 = add(%x_3, %5) /* from=4:3 */;
%6 = exp(%x_0) /* from=3:8 */;
%7 = multiply(%x_6, %6) /* from=3:8 */;
let %x_7 = add(%x_1, %7) /* from=3:8 */;
(%x_7,)
);
(%x_4, %8)
)");
}

TEST(Gradient, OfNothingIsTheUsersOwn) {
  const IRModule module = typed("def @main(%x: float64) { %x }");
  for (const GradientMode mode : {GradientMode::kFirstOrder, GradientMode::kHigherOrder})
    EXPECT_DOUBLE_EQ(
        number(interpret(differentiated(module, mode), "main", {scalar_value(2)}).fields.at(1).fields.at(0)),
        1);
  EXPECT_THROW((*named_pass("FirstOrderGradient"))(module, host_context()), NotSupported);
  // Operators elsewhere, or constants only.
  EXPECT_DOUBLE_EQ(higher("def @f(%x: float64, %y: float64) -> float64 { multiply(%x, %y) } "
                          "def @main(%x: float64) -> float64 { @f(3f64, %x) }",
                          {scalar_value(2)}),
                   3);
  EXPECT_DOUBLE_EQ(higher("def @main(%x: float64) -> (float64, float64) { (%x, 3f64) }", {scalar_value(2)}),
                   1);
}

// Every program of the reference data, whatever it is made of: a gradient that is typed and accounts for its
// operators, or a clear answer.
TEST(Gradient, OfAllReferencePrograms) {
  initialize();
  golden::PassCases cases;
  std::set<std::string> seen;
  int made = 0, refused = 0;
  for (const auto& one : cases.cases()) {
    std::string why;
    if (!seen.insert(one["module"].get<std::string>() + one.value("bind", Json()).dump()).second) continue;
    const IRModule module =
        one["module"].get<std::string>().starts_with("model:") ? IRModule() : cases.input(one, why);
    if (!module) continue;
    SCOPED_TRACE(one["module"].get<std::string>());
    for (const GradientMode mode : {GradientMode::kFirstOrder, GradientMode::kHigherOrder}) {
      try {
        differentiated(module, mode);
        ++made;
      } catch (const NotSupported&) {
        ++refused;
      } catch (const DiagnosticError&) {
        ++refused;  // integers: what the rules give has other types
      }
    }
    const auto context = std::make_shared<PassContext>();
    context->instruments = {std::make_shared<OriginVerifier>()};
    const BuildContext under = host_context().with_passes(context);
    const InstrumentScope scope(under.passes);
    EXPECT_NO_THROW((*named_pass("LazyGradientInit"))(module, under));
  }
  EXPECT_GT(made, 80);
  std::cout << made << " gradients, " << refused << " refused\n";
}

// ---- What is refused.

std::string refusal(const std::string& text, GradientMode mode) {
  try {
    differentiated(typed(text), mode);
  } catch (const NotSupported& error) {
    return error.what();
  }
  return "";
}

TEST(Gradient, SaysWhatItCannotDo) {
  EXPECT_EQ(refusal("def @main(%x: Tensor[(3), float32]) { sort(%x) }", GradientMode::kHigherOrder),
            "the operator sort has no gradient; register_gradient gives it one");
  EXPECT_EQ(
      refusal(kIf, GradientMode::kFirstOrder),
      "the first-order gradient is for dataflow, not for if at from_string:2:36; use mode=\"higher_order\"");
  EXPECT_EQ(refusal("def @main(%x: Tensor[(1, 5, 5, 3), float32], %w: Tensor[(3, 3, 3, 4), float32]) { "
                    "nn.conv2d(%x, %w, kernel_size=[3, 3], "
                    "channels=4, data_layout=\"NHWC\", kernel_layout=\"HWIO\") }",
                    GradientMode::kFirstOrder),
            "the gradient of nn.conv2d is provided for the layouts NCHW and OIHW, got NHWC and HWIO");
  EXPECT_EQ(
      refusal("def @main(%f: fn (float32) -> float32, %x: float32) { %f(%x) }", GradientMode::kHigherOrder),
      "the gradient by a parameter of type fn (float32) -> float32");
}

TEST(Gradient, RulesCanBeRegistered) {
  initialize();
  register_gradient("ceil", {[](const Call&, const Expr& g) { return std::vector<Expr>{g}; }});
  EXPECT_DOUBLE_EQ(first("def @main(%x: float64) { multiply(ceil(%x), %x) }", {scalar_value(1.5)}), 3.5);
  register_gradient("floor", {[](const Call&, const Expr& g) { return std::vector<Expr>{g, g}; }});
  EXPECT_THROW(first("def @main(%x: float64) { floor(%x) }", {scalar_value(1.5)}), Error);
  EXPECT_THROW(register_gradient("no.such", {}), UsageError);
}

// ---- LazyGradientInit changes nothing that can be seen from outside.

TEST(LazyGradientInit, KeepsWhatAProgramComputes) {
  const char* texts[] = {
      "def @main(%x: float64, %y: float64) { let %z = zeros_like(%x); multiply(add(add(%x, %z), %y), "
      "add(ones_like(%y), %x)) }",
      "def @main(%x: float64, %y: float64) { multiply(zeros(shape=[], dtype=\"float64\"), %x) }",
      "def @main(%x: float64, %y: float64) { if (less(%x, %y)) { exp(%x) } else { multiply(%y, 2f64) } }",
      "def @g(%x: float64, %t: (float64, float64)) -> (float64, float64) { (add(%x, %t.1), %t.0) } "
      "def @main(%x: float64, %y: float64) { %0 = @g(%x, (%y, 3f64)); subtract(%0.0, %0.1) }",
      "def @main(%x: float64, %y: float64) { let %f = fn (%a: float64) -> float64 { add(%a, %y) }; "
      "%f(%f(%x)) }",
      "def @main(%x: float64, %y: float64) { %0 = stack((%x, %y)); %1 = split(%0, indices_or_sections=2); "
      "sum(multiply(%1.0, %1.1)) }",
  };
  for (const char* text : texts) {
    SCOPED_TRACE(text);
    const IRModule module = typed(text);
    const PassContextRef context = std::make_shared<PassContext>();
    context->instruments = {std::make_shared<OriginVerifier>()};
    const BuildContext under = host_context().with_passes(context);
    const InstrumentScope scope(under.passes);
    const IRModule lazy = (*named_pass("LazyGradientInit"))(module, under);
    EXPECT_NE(lazy->find("main"), module->find("main"));
    const std::vector<Value> args{scalar_value(0.75), scalar_value(2)};
    EXPECT_DOUBLE_EQ(number(interpret(lazy, "main", args)), number(interpret(module, "main", args)));
  }
}

// Functions whose values cannot be taken in and out, or that work for all types, stay as they are.
TEST(LazyGradientInit, LeavesAloneWhatItCannotChange) {
  const IRModule module = typed(R"(
type Cell { MkCell(Tensor[(2), float32]), }
def @id[A](%x: A) -> A { %x }
def @apply(%f: fn (float32) -> float32) -> float32 { %f(1f) }
def @main(%x: Tensor[(2), float32]) -> Cell { MkCell(exp(%x)) })");
  const IRModule lazy = (*named_pass("LazyGradientInit"))(module, host_context());
  for (const char* name : {"id", "apply", "main"}) EXPECT_EQ(lazy->find(name), module->find(name)) << name;
}

}  // namespace
}  // namespace baton::run
