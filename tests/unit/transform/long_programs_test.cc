// Programs that are long, or have more paths than anybody can walk: everything is linear, on a stack of 8 MB.
#include <functional>

#include <gtest/gtest.h>

#include "baton/ir/op.h"
#include "baton/ir/structural.h"
#include "baton/ops/register.h"
#include "baton/text/parser.h"
#include "baton/text/printer.h"
#include "baton/types/infer_type.h"

#include "small_stack.h"

namespace baton {
namespace {

/// `%0 = LINE; ...` where each line uses the one before: `{}` stands for it.
std::string program(int lines, const std::string& line) {
  std::string text = "#[version = \"0.0.5\"]\ndef @main(%x: float32) {\n";
  for (int i = 0; i <= lines; ++i) {
    std::string value = line;
    const std::string before = i == 0 ? "%x" : "%" + std::to_string(i - 1);
    for (size_t at; (at = value.find("{}")) != std::string::npos;) value.replace(at, 2, before);
    text += i == lines ? "  " + value + "\n}\n" : "  %" + std::to_string(i) + " = " + value + ";\n";
  }
  return text;
}

/// Read, printed, compared, typed twice, printed again and freed.
void whole_life(const std::string& text) {
  register_all_ops();
  PrintOptions options;
  options.types = options.spans = false;
  IRModule module = parse_module(text), again = parse_module(text);
  EXPECT_TRUE(print(*module, options) == text);
  EXPECT_TRUE(structural_equal(*module, *again));
  EXPECT_EQ(structural_hash(*module), structural_hash(*again));
  module = infer_types(std::move(module));
  again = infer_types(std::move(again));
  EXPECT_EQ(type_text(module->find("main")->ret_type()), "float32");
  EXPECT_TRUE(types_are_right(*module));
  EXPECT_TRUE(structural_equal(*module, *again));
  EXPECT_EQ(structural_hash(*module), structural_hash(*again));
  const Function typed = module->find("main");
  EXPECT_EQ(infer_types(module)->find("main"), typed);
}

TEST(LongPrograms, AChain) {
  on_8_mb_stack([] { whole_life(program(100'000, "tanh({})")); });
}
TEST(LongPrograms, SlowAMillionCalls) {
  on_8_mb_stack([] { whole_life(program(1'000'000, "tanh({})")); });
}
TEST(LongPrograms, DiamondsWithTwoToTheThousandsOfPaths) {
  on_8_mb_stack([] { whole_life(program(5000, "add({}, {})")); });
}

// What is used twice is typed once, and stays one object.
TEST(LongPrograms, SharedNodesStayShared) {
  const IRModule module = infer_types(parse_module(program(3000, "add({}, {})")));
  const Expr* at = &module->find("main")->body();
  int depth = 0;
  for (const CallNode* call = as<CallNode>(*at); call; call = as<CallNode>(*at), ++depth) {
    ASSERT_EQ(call->args()[0], call->args()[1]);
    ASSERT_TRUE(call->checked_type());
    at = &call->args()[0];
  }
  EXPECT_EQ(depth, 3001);
}

// A node with one user is not looked up; which it is must not depend on who else holds it just then.
TEST(LongPrograms, NodesThatAreHeldFromOutside) {
  register_all_ops();
  std::vector<Expr> held;
  const auto make = [&](bool hold) {
    const Var x = var("x", scalar_type(DType::float_(32)));
    Expr at = x, before = x;
    for (int i = 0; i < 100; ++i) {
      at = call("tanh", {std::move(at)});
      if (hold && i % 3 == 0) held.push_back(at);
      if (i % 10 == 0) {
        at = get_item(tuple({at, before}), i % 20 == 0 ? 0 : 1);
        before = at;
      }
    }
    return Expr(function({x}, std::move(at)));
  };
  const Expr typed = infer_type(make(true));
  EXPECT_TRUE(structural_equal(typed, infer_type(make(false))));
  for (const Expr& each : held) EXPECT_FALSE(each->checked_type());
  EXPECT_EQ(infer_type(typed), typed);
}

// The type of a variable comes with its value, and that of a parameter with its use: nodes are built when
// they can be.
TEST(LongPrograms, TypesThatComeLate) {
  register_all_ops();
  std::string text = "#[version = \"0.0.5\"]\ndef @main(%x: float32) {\n";
  for (int i = 0; i < 1000; ++i) {
    const std::string n = std::to_string(i), before = i == 0 ? "%x" : "%v" + std::to_string(i - 1);
    text += "  let %f" + n + " = fn (%p" + n + ") {\n    tanh(%p" + n + ")\n  };\n";
    text += "  let %v" + n + " = %f" + n + "(" + before + ");\n";
  }
  text += "  %v999\n}\n";
  const IRModule module = infer_types(parse_module(text));
  EXPECT_EQ(type_text(module->find("main")->ret_type()), "float32");
  EXPECT_TRUE(types_are_right(*module));
}

}  // namespace
}  // namespace baton
