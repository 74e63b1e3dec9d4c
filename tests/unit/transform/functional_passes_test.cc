// Passes about functions: what text alone does not show.
#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "baton/codegen/backend.h"
#include "baton/driver/initialize.h"
#include "baton/ir/analysis/well_formed.h"
#include "baton/ir/op.h"
#include "baton/ir/structural.h"
#include "baton/ir/variables.h"
#include "baton/ir/visit.h"
#include "baton/text/printer.h"
#include "baton/transform/functional/cps.h"
#include "baton/types/infer_type.h"

#include "small_stack.h"
#include "transform/transform_test.h"

namespace baton {
namespace {

IRModule run(const IRModule& module, const std::vector<std::string>& names) {
  std::vector<Pass> passes;
  for (const std::string& name : names) passes.push_back(named_pass(name));
  return run_passes(module, passes);
}

// As TVM 0.11.1 prints them.
TEST(Spans, OfGeneratedText) {
  const IRModule module = typed_module("def @main(%x: Tensor[(2, 3), float32]) { exp(log(%x)) }");
  EXPECT_EQ(str(run(module, {"AnnotateSpans"})),
            "def @main(%x: Tensor[(2, 3), float32] /* ty=Tensor[(2, 3), float32] span=GeneratedSource:3:12 "
            "*/) -> Tensor[(2, 3), float32] {\n"
            "  %0 = log(%x) /* ty=Tensor[(2, 3), float32] span=GeneratedSource:4:7 */;\n"
            "  exp(%0) /* ty=Tensor[(2, 3), float32] span=GeneratedSource:3:3 */\n"
            "}\n");
}

TEST(Spans, OfNumbers) {
  const IRModule module = typed_module("def @main(%x: Tensor[(2, 3), float32]) { exp(log(%x)) }");
  EXPECT_EQ(str(run(module, {"CapturePostDfsIndexInSpans"})),
            "def @main(%x: Tensor[(2, 3), float32] /* ty=Tensor[(2, 3), float32] span=index:0:3 */) -> "
            "Tensor[(2, 3), float32] {\n"
            "  %0 = log(%x) /* ty=Tensor[(2, 3), float32] span=index:3:4 */;\n"
            "  exp(%0) /* ty=Tensor[(2, 3), float32] span=index:4:5 */\n"
            "}\n");
}

// What is not used goes nowhere.
TEST(Spans, WithoutADominator) {
  const IRModule module =
      typed_module("def @main(%x: int32) { let %a = add(%x, 1); let %dead = abs(%a); 2 }");
  const std::string text = str(run(module, {"CapturePostDfsIndexInSpans"}));
  EXPECT_NE(text.find("%dead: int32 /* ty=int32 span=index:7:-1 */"), std::string::npos) << text;
  EXPECT_NE(text.find("%a: int32 /* ty=int32 span=index:4:6 */"), std::string::npos) << text;
}

// A function that is cut out, and what it leaves behind, have bodies of their own even where they shared a
// node.
TEST(CutOutFunctions, ShareNoVariables) {
  for (const char* pass : {"LambdaLift", "Defunctionalization"}) {
    const IRModule module = typed_module(R"(def @main(%x: float32) {
      %0 = (let %t = exp(%x); tanh(%t));
      let %f = fn (%a: float32) { add(%a, %0) };
      add(@apply(%f, %x), %0)
    }
    def @apply(%f: fn (float32) -> float32, %z: float32) -> float32 { add(%f(tanh(%z)), %z) })");
    const IRModule result = run(module, {pass});
    std::set<const VarNode*> seen;
    for (const auto& [name, function] : result->functions())
      for (const Var& var : bound_vars(Expr(function)))
        EXPECT_TRUE(seen.insert(var.get()).second) << pass << ": @" << name << " %" << var->name();
  }
}

constexpr const char* kPrograms[] = {
    "def @main(%x: float32, %y: float32) { let %a = exp(%x); let %b = add(%a, %y); multiply(%b, %a) }",
    "def @main(%c: bool, %x: float32) { let %a = abs(%x); let %r = if (%c) { let %b = exp(%a); negative(%b) "
    "} else { tanh(%a) }; "
    "(%r, %a) }",
    "def @main(%x: float32) { let %f = fn (%n: float32) -> float32 { let %e = exp(%n); add(%e, %x) }; let %a "
    "= %f(%x); tanh(%a) }",
    "def @main(%x: float32) { let %f = fn (%g: fn (float32) -> float32, %n: float32) -> float32 { let %a = "
    "%g(%n); exp(%a) }; "
    "let %h = fn (%m: float32) -> float32 { tanh(%m) }; %f(%h, %x) }",
    "def @main(%x: int32) { let %r = ref(%x); let %a = add(%x, 1); let %u = ref_write(%r, %a); ref_read(%r) "
    "}",
    "def @main(%x: (float32, float32)) { let %a = %x.0; let %b = (%a, %x.1); exp(%b.1) }",
};

// There and back: the continuations are all known, so that partial evaluation leaves none of them.
TEST(Cps, IsUndoneByPartialEvaluation) {
  for (const char* text : kPrograms) {
    const IRModule module = typed_module(text);
    const std::vector<std::string> plain{"PartialEvaluate", "InferType", "DeadCodeElimination"};
    const IRModule direct = run(module, plain);
    const IRModule back = run(run(module, {"un_cps"}), plain);
    // An if of an unknown condition keeps the function behind it.
    if (std::string(text).find("if (") == std::string::npos) {
      EXPECT_TRUE(structural_equal(*direct, *back)) << str(direct) << str(back);
    }
  }
}

TEST(Cps, NeedsAContinuation) {
  const IRModule module = typed_module(kPrograms[0]);
  EXPECT_THROW(un_cps(module->find("main")), Error);
  EXPECT_FALSE(is_cps(module->find("main")));
  EXPECT_TRUE(is_cps(run(module, {"to_cps"})->find("main")));
}

// No variable is bound twice, and all types come out as they were.
TEST(FunctionalPasses, GiveWellFormedPrograms) {
  for (const char* text : kPrograms) {
    const IRModule module = typed_module(text);
    const Type type = module->find("main")->ret_type();
    for (const char* pass : {"LambdaLift", "un_cps", "PartialEvaluate", "Defunctionalization", "EtaExpand",
                             "ManifestLifetimes"}) {
      const IRModule result = run(module, {pass, "InferType"});
      EXPECT_TRUE(form_faults(*result).empty()) << pass << ": " << str(result);
      EXPECT_TRUE(types_are_right(*result)) << pass;
      EXPECT_TRUE(same_type(result->find("main")->ret_type(), type)) << pass << ": " << str(result);
    }
  }
}

// A recursion that never ends is not followed to the end of memory.
TEST(PartialEvaluate, StopsInEndlessRecursions) {
  initialize();
  const IRModule module = typed_module(
      "def @f(%x: float32) -> float32 { @f(%x) }\n"
      "def @g(%n: int32, %x: float32) -> float32 { add(1f, @g(subtract(%n, 1), %x)) }\n"
      "def @main(%x: float32) { add(@f(%x), @g(1000000000, %x)) }");
  EXPECT_TRUE(types_are_right(*run(module, {"PartialEvaluate", "InferType"})));
}

// A chain of calls, or of lets; a few of them of functions.
IRModule long_program(int length, bool lets) {
  const Var x = var("x", scalar_type(DType::float_(32)));
  Expr at = x;
  std::vector<std::pair<Var, Expr>> bindings;
  for (int i = 0; i < length; ++i) {
    at = call("tanh", {std::move(at)});
    if (!lets) continue;
    if (i % 100 == 0) {
      const Var y = var("y", scalar_type(DType::float_(32)));
      at = call_expr(Expr(function({y}, call("add", {Expr(y), Expr(x)}), scalar_type(DType::float_(32)))),
                     {std::move(at)});
    }
    bindings.emplace_back(var("v"), std::move(at));
    at = bindings.back().first;
  }
  for (auto binding = bindings.rbegin(); binding != bindings.rend(); ++binding)
    at = let(binding->first, binding->second, at);
  const IRModule module = make_module();
  module->set("main", function({x}, std::move(at)));
  return infer_types(module);
}

TEST(FunctionalPasses, LongPrograms) {
  initialize();
  on_8_mb_stack([] {
    for (const bool lets : {false, true}) {
      const IRModule module = long_program(50'000, lets);
      for (const char* pass :
           {"AnnotateSpans", "CapturePostDfsIndexInSpans", "EtaExpand", "LambdaLift", "to_cps", "un_cps",
            "PartialEvaluate", "Defunctionalization", "ManifestLifetimes"})
        EXPECT_TRUE((*make_pass(pass))(module, host_context())->find("main")) << pass;
    }
  });
}

}  // namespace
}  // namespace baton
