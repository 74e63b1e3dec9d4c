#include <gtest/gtest.h>

#include "baton/ir/op.h"
#include "baton/ir/structural.h"
#include "baton/ir/visit.h"
#include "baton/ops/register.h"
#include "baton/support/diagnostic.h"
#include "baton/text/parser.h"
#include "baton/text/printer.h"

namespace baton {
namespace {

std::string with_origins(const IRModuleNode& module) {
  PrintOptions options;
  options.origins = true;
  options.spans = false;
  return print(module, options);
}

std::string describe(const Origin& origin) {
  std::string text = origin.op() + " " + origin.span().text() + " " +
                     std::to_string(origin.span().end_column) + " " + origin.source_name();
  if (origin.attrs())
    for (const AttrField& field : origin.attrs()->schema().fields)
      text += " " + field.name + "=" + attr_text(origin.attrs()->get(field.name));
  return text;
}

std::string describe(const OriginSet& set) {
  std::string text;
  for (const Origin* origin : set.origins()) text += describe(*origin) + ";";
  text += " for ";
  for (const Origin* origin : set.causes()) text += describe(*origin) + ";";
  return text + std::string(set.reason());
}

// Every origin of both, in the order of the tables and node by node.
void expect_same_origins(const IRModuleNode& a, const IRModuleNode& b) {
  ASSERT_EQ(a.origins().size(), b.origins().size());
  for (uint32_t id = 0; id < a.origins().size(); ++id) {
    EXPECT_EQ(describe(a.origins().at(OriginId(id))), describe(b.origins().at(OriginId(id))));
    const Retired *left = a.origins().retired(OriginId(id)), *right = b.origins().retired(OriginId(id));
    ASSERT_EQ(left != nullptr, right != nullptr);
    if (left) {
      EXPECT_EQ(left->pass + left->reason, right->pass + right->reason);
    }
  }
  ASSERT_EQ(a.functions().size(), b.functions().size());
  for (const auto& [name, function] : a.functions()) {
    std::vector<std::string> left, right;
    post_order(Expr(function), [&](const Expr& node) { left.push_back(describe(node->origins())); });
    post_order(Expr(b.find(name)), [&](const Expr& node) { right.push_back(describe(node->origins())); });
    EXPECT_EQ(left, right);
  }
}

class OriginText : public testing::Test {
 protected:
  void SetUp() override { register_all_ops(); }
};

TEST_F(OriginText, ParsedAgainTheyAreTheSame) {
  const IRModule module = parse_module(
      "#[version = \"0.0.5\"]\n"
      "def @main(%x: Tensor[(2, 8), float32], %w: Tensor[(4, 8), float32]) {\n"
      "  %0 = nn.dense(%x, %w, units=4);\n  %1 = (nn.relu(%0), add(%0, 1f));\n  %1.0 + %1.1\n}\n",
      "model.relay");
  const IRModule again = parse_module(with_origins(*module), "other.relay");
  EXPECT_TRUE(structural_equal(*module, *again));
  expect_same_origins(*module, *again);
  EXPECT_EQ(with_origins(*again), with_origins(*parse_module(with_origins(*again))));
}

TEST_F(OriginText, MergedMadeAndRetiredOnes) {
  const auto a = Origin::create("nn.conv2d", {}, {}, "Conv \"1\" */"), b = Origin::create("nn.relu", {}, {}),
             c = Origin::create("nn.relu", {}, {});
  const auto gone = Origin::create("nn.dropout", {}, {}, "drop");
  const Var x = var("x", tensor_type(std::vector<int64_t>{2}, DType::float_(32)));
  const OriginSet both = OriginSet::of(a).merge(OriginSet::of(b));
  const Call first = make_call(op_expr(*find_op("nn.relu")), {Expr(x)}, {}, NodeInfo(both));
  const Call second = make_call(op_expr(*find_op("copy")), {Expr(first)}, {},
                                NodeInfo(OriginSet::made_for(OriginSet::of(c), "a copy, \"for\" safety")));
  const Expr pair = make_tuple({Expr(second), Expr(first)}, NodeInfo(both.merge(OriginSet::of(c))));
  const IRModule module = make_module();
  module->set("main", make_function({x}, pair, {}, {}, NodeInfo(OriginSet::of(b))));
  module->origins().add(c);
  module->origins().retire(module->origins().add(gone), {"SimplifyInference", "dropout is the identity"});
  const std::string text = with_origins(*module);
  const IRModule again = parse_module(text);
  EXPECT_EQ(with_origins(*again), text);
  ASSERT_EQ(again->origins().size(), module->origins().size());
  const auto* main = as<FunctionNode>(Expr(again->find("main")));
  EXPECT_EQ(main->body()->origins().origins().size(), 3u);
  EXPECT_EQ(as<TupleNode>(main->body())->fields()[0]->origins().reason(), "a copy, \"for\" safety");
}

TEST_F(OriginText, PlacesComeBack) {
  const SourceLine line{"a \"b\".py", 7, "forward", "x = \"*/\" + y"};
  const IRModule module = make_module();
  const Var x = var("x", tensor_type(std::vector<int64_t>{2}, DType::float_(32)));
  const auto place = make_ref<const OriginPlace>("layer1/0 in", line);
  const auto a = Origin::create("Relu", {}, {}, "r", place), b = Origin::create("Exp", {}, {}, "e", place),
             c = Origin::create("exp", {}, {}, {}, make_ref<const OriginPlace>("m")),
             d = Origin::create("exp", {}, {}, "d", make_ref<const OriginPlace>("", line));
  for (const auto& each : {a, b, c, d}) module->origins().add(each);
  module->origins().retire(OriginId(1), {"p", "why"});
  module->set("main", make_function({x}, Expr(x), {}, {}, NodeInfo(OriginSet::none())));
  const IRModule again = parse_module(with_origins(*module));
  const OriginTable& table = again->origins();
  ASSERT_EQ(table.size(), 4u);
  EXPECT_EQ(table.at(OriginId(0)).place()->module(), "layer1/0 in");
  EXPECT_EQ(table.at(OriginId(0)).place()->line().line, 7u);
  EXPECT_EQ(table.at(OriginId(0)).place()->line().file, line.file);
  EXPECT_EQ(table.at(OriginId(0)).place(), table.at(OriginId(1)).place()) << "one object for one place";
  EXPECT_NE(table.retired(OriginId(1)), nullptr);
  EXPECT_EQ(table.at(OriginId(2)).place()->module(), "m");
  EXPECT_EQ(table.at(OriginId(3)).place()->line().function, "forward");
  EXPECT_EQ(with_origins(*again), with_origins(*module));
}

TEST_F(OriginText, WithoutATableCommentsMeanNothing) {
  const IRModule module =
      parse_module("#[version = \"0.0.5\"]\ndef @main(%x: float32) { exp(%x) /* from=9:9 */ }");
  ASSERT_EQ(module->origins().size(), 1u);
  EXPECT_EQ(module->origins().at(OriginId(0)).span().line, 2u);
}

TEST_F(OriginText, DamagedTablesDoNoHarm) {
  for (const char* table :
       {"/* origins\n * 4:8\n */", "/* origins\n * 4:8 = nn.dense(units=\n */",
        "/* origins\n * \" = x()\n */", "/* origins\n * 4:8 = nn.dense(units=[[[) at \"a\":1:2\n */",
        "/* origins\n * 4:8 = nope(a=1) at \"a\":1:2-3:4 name \"\n */"}) {
    const IRModule module = parse_module(
        std::string("#[version = \"0.0.5\"]\ndef @main(%x: float32) { exp(%x) /* from=4:8 */ }\n") + table);
    EXPECT_GE(module->origins().size(), 1u) << table;
  }
}

}  // namespace
}  // namespace baton
