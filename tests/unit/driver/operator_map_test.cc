// The map from operators to kernels is complete, its own inverse, and says what the programs themselves say.
#include "baton/driver/origins/operator_map.h"

#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>

#include "baton/driver/fused_module.h"
#include "baton/driver/origins/origins_json.h"
#include "baton/driver/plan/graph_json.h"
#include "baton/ir/op.h"
#include "baton/ir/structural.h"
#include "baton/ir/visit.h"
#include "baton/support/json.h"
#include "baton/text/printer.h"

#include "driver/lowered.h"

namespace baton {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Networks : public testing::TestWithParam<std::pair<const char*, int>> {
 protected:
  const test::Lowered model = test::lowered(GetParam().first, GetParam().second);
  const OperatorMap& map = model.map;

  bool called(uint32_t node) const { return map.plan().nodes[node].kind != PlanNode::Kind::kInput; }
  std::set<uint32_t> ids(std::span<const Origin* const> origins) const {
    std::set<uint32_t> found;
    for (const Origin* origin : origins) found.insert(index(*model.optimized->origins().find(origin)));
    return found;
  }
};

TEST_P(Networks, EveryOperatorHasANodeOrWasFoldedOrIsRetired) {
  size_t calls = 0;
  post_order(Expr(model.source->find("main")), [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    if (!call || !call->op()) return;
    ++calls;
    const auto id = model.optimized->origins().find(call->origins().origins()[0]);
    ASSERT_TRUE(id);
    const OperatorRecord& entry = map.at(index(*id));
    EXPECT_EQ(entry.op, call->op()->name);
    EXPECT_EQ(entry.type, type_text(call->checked_type()));
    EXPECT_THAT(entry.text, HasSubstr(entry.op + "("));
    ASSERT_EQ(entry.input_types.size(), call->args().size());
    for (size_t i = 0; i < call->args().size(); ++i)
      EXPECT_EQ(entry.input_types[i], type_text(call->args()[i]->checked_type()));
  });
  EXPECT_EQ(map.operators().size(), calls);
  for (const OperatorRecord& entry : map.operators()) {
    EXPECT_TRUE(!entry.nodes.empty() || !entry.folded_into.empty() || !entry.retired_by.empty())
        << entry.label() << " is lost";
    EXPECT_EQ(entry.retired_by.empty(), entry.retired_why.empty());
    EXPECT_TRUE(entry.retired_by.empty() || entry.nodes.empty());
    EXPECT_EQ(!entry.nodes.empty(), !entry.fused.empty() || !entry.not_fused.empty())
        << entry.label() << ": no reason";
  }
}

TEST_P(Networks, NodesStandForTheUnionOverTheirBodiesAndBothWaysAgree) {
  std::map<uint32_t, std::set<uint32_t>> nodes_of;
  std::map<std::string, std::set<uint32_t>> of_kernel;
  for (uint32_t node = 0; node < map.plan().nodes.size(); ++node) {
    if (!called(node)) continue;
    std::set<uint32_t> body;
    post_order(Expr(model.plan.nodes[node].function), [&](const Expr& inner) {
      const auto* call = as<CallNode>(inner);
      if (call && call->op()) body.merge(ids(call->origins().origins()));
    });
    const std::vector<uint32_t>& origins = map.plan().nodes[node].origins;
    EXPECT_EQ(std::set<uint32_t>(origins.begin(), origins.end()), body) << "node " << node;
    EXPECT_TRUE(GetParam().second > 0 || origins.size() == 1) << "node " << node;
    for (const uint32_t id : origins) nodes_of[id].insert(node);
    of_kernel[map.plan().nodes[node].func_name].insert(origins.begin(), origins.end());
    EXPECT_EQ(map.operators_of({node}), origins);
  }
  for (const OperatorRecord& entry : map.operators()) {
    EXPECT_EQ(std::set<uint32_t>(entry.nodes.begin(), entry.nodes.end()), nodes_of[entry.id]);
    std::set<uint32_t> others;
    for (const uint32_t node : entry.nodes)
      others.insert(map.plan().nodes[node].origins.begin(), map.plan().nodes[node].origins.end());
    others.erase(entry.id);
    EXPECT_EQ(std::set<uint32_t>(entry.fused_with.begin(), entry.fused_with.end()), others);
    for (const std::string& name : map.kernels_of(entry.id)) {
      const auto computed = map.operators_of({map.node(name)});
      EXPECT_TRUE(name == "reshape_nop" || std::binary_search(computed.begin(), computed.end(), entry.id))
          << name;
    }
  }
  for (const auto& [name, operators] : of_kernel) {
    const auto found = map.operators_of(map.nodes_of_kernel(name));
    EXPECT_EQ(std::set<uint32_t>(found.begin(), found.end()), operators) << name;
  }
}

TEST_P(Networks, InputsAreTheEdgesOfTheSource) {
  post_order(Expr(model.source->find("main")), [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    if (!call || !call->op()) return;
    std::set<uint32_t> wanted;  // these networks have no lets, branches or functions
    for (const Expr& arg : call->args())
      post_order(
          arg,
          [&](const Expr& inner) {
            if (as<CallNode>(inner)) wanted.merge(ids(inner->origins().origins()));
          },
          [](const Expr& inner) { return inner->kind() != ExprKind::kCall; });
    const OperatorRecord& entry = map.at(*ids(call->origins().origins()).begin());
    EXPECT_EQ(std::set<uint32_t>(entry.inputs.begin(), entry.inputs.end()), wanted) << entry.label();
    EXPECT_EQ(entry.inputs.size(), wanted.size());
  });
}

TEST_P(Networks, OriginsReadBackSayTheSame) {
  const std::string text = origins_json(model.origins), packed = packed_origins(model.origins);
  EXPECT_EQ(read_origins(packed), model.origins);
  EXPECT_EQ(read_origins(text), model.origins);
  EXPECT_LT(packed.size(), text.size() / 2);
  EXPECT_THROW(read_origins(packed.substr(0, packed.size() / 2)), Error);
}

TEST_P(Networks, ThePlanReadBackIsThePlan) {
  const Plan& plan = *model.plan.graph;
  const std::string text = graph_json(plan);
  const auto read = Plan::parse(text);
  ASSERT_TRUE(read.ok()) << read.status().message;
  EXPECT_EQ((*read)->arg_nodes, plan.arg_nodes);
  ASSERT_EQ((*read)->storages.size(), plan.storages.size());
  for (size_t i = 0; i < plan.storages.size(); ++i) {
    EXPECT_EQ((*read)->storages[i].bytes, plan.storages[i].bytes);
    EXPECT_EQ((*read)->storages[i].written, plan.storages[i].written);
  }
  ASSERT_EQ((*read)->nodes.size(), plan.nodes.size());
  for (size_t i = 0; i < plan.nodes.size(); ++i) EXPECT_EQ((*read)->nodes[i].kind, plan.nodes[i].kind);
  auto sorted = std::make_shared<Plan>(plan);  // the reader keeps the order of names
  for (PlanNode& node : sorted->nodes) std::sort(node.attrs.begin(), node.attrs.end());
  EXPECT_EQ(graph_json(**read), graph_json(*sorted));
}

INSTANTIATE_TEST_SUITE_P(OperatorMap, Networks,
                         testing::Values(std::pair{"mlp", 0}, std::pair{"mlp", 3}, std::pair{"dqn", 0},
                                         std::pair{"dqn", 3}, std::pair{"resnet-18", 0},
                                         std::pair{"resnet-18", 3}, std::pair{"mobilenet", 0},
                                         std::pair{"mobilenet", 3}, std::pair{"squeezenet-1.1", 0},
                                         std::pair{"squeezenet-1.1", 2}, std::pair{"densenet-121", 3}));

/// Two equal kernels, a kernel of the compiler's own, an operator that is folded and one that is retired.
const char* kSmall = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 8), float32]) {
  %0 = nn.relu(%x);
  %1 = tanh(%0);
  %2 = cumsum(%1, axis=1);
  %3 = nn.dropout(%2);
  %4 = nn.relu(%3.0);
  %5 = tanh(%4);
  %6 = cumsum(%5, axis=1);
  %7 = multiply(2f, 3f);
  add(%6, %7)
}
)";

TEST(OperatorMap, OneNodeOfAKernelThatIsSharedIsNotTheOther) {
  const test::Lowered model = test::lowered_text(kSmall);
  const OperatorMap& map = model.map;
  const auto relus = map.operators_called("nn.relu");
  ASSERT_EQ(relus.size(), 2u);
  const OperatorRecord &first = map.at(relus[0]), &second = map.at(relus[1]);
  ASSERT_EQ(first.nodes.size(), 1u);
  ASSERT_EQ(second.nodes.size(), 1u);
  EXPECT_NE(first.nodes, second.nodes);
  const std::string& kernel = map.plan().nodes[first.nodes[0]].func_name;
  EXPECT_EQ(map.plan().nodes[second.nodes[0]].func_name, kernel);
  EXPECT_THAT(map.nodes_of_kernel(kernel), ElementsAre(first.nodes[0], second.nodes[0]));
  EXPECT_THAT(map.nodes_of_kernel(map.plan().nodes[second.nodes[0]].name), ElementsAre(second.nodes[0]));
  EXPECT_THAT(map.nodes_of_kernel("fused_nn_relu_tanh"), ElementsAre(first.nodes[0], second.nodes[0]));
  EXPECT_EQ(first.fused, "its elements are made one by one, as `tanh` reads them");
  EXPECT_THAT(map.operators_called("%0"), ElementsAre(first.id));
  EXPECT_THAT(map.operators_called("3"), ElementsAre(first.id));
  EXPECT_THAT(map.operators_called("3:8"), ElementsAre(first.id));
  EXPECT_EQ(first.text, "  %0 = nn.relu(%x);");
}

TEST(OperatorMap, WhatIsFoldedOrRetiredSaysSo) {
  const test::Lowered model = test::lowered_text(kSmall);
  const OperatorRecord& dropout = model.map.at(model.map.operators_called("nn.dropout")[0]);
  EXPECT_EQ(dropout.retired_by, "SimplifyInference");
  EXPECT_NE(dropout.retired_why, "");
  EXPECT_TRUE(dropout.nodes.empty());
  const OperatorRecord& folded = model.map.at(model.map.operators_called("multiply")[0]);
  const OperatorRecord& add = model.map.at(model.map.operators_called("add")[0]);
  EXPECT_TRUE(folded.nodes.empty());
  EXPECT_EQ(folded.folded_into, add.nodes);
  EXPECT_EQ(add.inputs, (std::vector<uint32_t>{model.map.operators_called("%6")[0], folded.id}));
}

TEST(OperatorMap, UnknownNamesOfferWhatIsNear) {
  const test::Lowered model = test::lowered_text(kSmall);
  const auto message = [](auto&& ask) -> std::string {
    try {
      ask();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "no error";
  };
  const OperatorMap& map = model.map;
  EXPECT_THAT(message([&] { map.nodes_of_kernel("tvmgen_default_fused_cumsun"); }),
              HasSubstr("did you mean `tvmgen_default_fused_cumsum`?"));
  EXPECT_THAT(message([&] { map.nodes_of_kernel("cumsu"); }),
              HasSubstr("; nearest are:\n  fused_cumsum\n  fused_cumsum_1"));
  EXPECT_THAT(message([&] { map.node("tvmgen_default_fused_cumsun"); }), HasSubstr("did you mean"));
  EXPECT_THAT(message([&] { map.node("99"); }), HasSubstr("graph.json has nodes 0 to "));
  EXPECT_THAT(message([&] { map.node("99999999999999999999"); }), HasSubstr("graph.json has nodes 0 to "));
  EXPECT_THAT(message([&] { map.node("-1"); }), HasSubstr("there is no node `-1`"));
  EXPECT_THAT(message([&] { map.node(""); }), HasSubstr("there is no node ``"));
  EXPECT_THAT(message([&] { map.kernel_node(0); }), HasSubstr("node 0 is `x`, an input or a constant"));
  EXPECT_THAT(message([&] { map.operators_called("cumsun"); }), HasSubstr("did you mean `cumsum`?"));
  EXPECT_THAT(message([&] { map.at(99); }), HasSubstr("the last one is 8"));
}

TEST(OperatorMap, OriginsThatCannotBeReadAreRefused) {
  const test::Lowered model = test::lowered_text(kSmall);
  const auto message = [&](const std::string& origins) -> std::string {
    try {
      OperatorMap(model.plan.graph, read_origins(origins));
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message(packed_origins(model.origins)), "no error");
  EXPECT_THAT(message(""), HasSubstr("its origins were stripped"));
  EXPECT_THAT(message("[1"), HasSubstr("cannot be read"));
  EXPECT_THAT(message("{}"), HasSubstr("cannot be read"));
  EXPECT_THAT(message(R"({"schema": 7, "operators": []})"),
              HasSubstr("of schema 7, and this Baton reads 1 and 2"));
  EXPECT_THAT(message(R"({"schema": 2, "values": [], "operators": [[5]]})"), HasSubstr("cannot be read"));
  EXPECT_THAT(message(R"({"schema": 1, "operators": []})"), HasSubstr("does not belong to its graph.json"));
  for (const char* list : {"nodes", "inputs", "folded_into"}) {
    Json changed = Json::parse(origins_json(model.origins));
    changed["operators"][0][list] = {4096};
    EXPECT_THAT(message(changed.dump()), HasSubstr("does not belong to its graph.json")) << list;
  }
  Json renamed = Json::parse(origins_json(model.origins));
  renamed["operators"][0]["line"] = "three";
  EXPECT_THAT(message(renamed.dump()), HasSubstr("cannot be read"));
}

TEST(OriginsJson, PlacesTakeFewBytesOfAnArtifact) {
  OriginReport plain;
  for (uint32_t i = 0; i < 5000; ++i) {
    OperatorRecord& record = plain.operators.emplace_back();
    record.id = i;
    record.op = i % 3 ? "Add" : "MatMul";
    record.source = "node_" + std::to_string(i);
  }
  OriginReport placed = plain;
  for (OperatorRecord& record : placed.operators) {
    record.module = "layers/" + std::to_string(record.id / 60) + "/part" + std::to_string(record.id / 5 % 12);
    record.source_line = {"/home/me/net.py", 10 + record.id % 40, "forward", "x = self.part(x)"};
  }
  EXPECT_EQ(read_origins(packed_origins(placed)), placed);
  EXPECT_LT(packed_origins(placed).size(), packed_origins(plain).size() + 6 * plain.operators.size());
}

// ---- The source as a graph.

/// "add: tanh, exp" for each operator that reads results.
std::vector<std::string> edges(const std::string& body) {
  const IRModule module = infer_types(parse_module("#[version = \"0.0.5\"]\n" + body));
  std::vector<std::string> lines;
  const auto graph = source_graph(*module);
  for (uint32_t id = 0; id < module->origins().size(); ++id) {
    const Origin* origin = &module->origins().at(OriginId(id));
    std::string line;
    for (const Origin* input : graph.at(origin).inputs) line += (line.empty() ? ": " : ", ") + input->op();
    lines.push_back(origin->op() + line);
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

TEST(SourceGraph, ResultsAreFollowedThroughTuplesAndLets) {
  EXPECT_THAT(edges("def @main(%x: Tensor[(3), float32]) { let %t = (exp(%x), (tanh(%x), sin(%x))); let %u = "
                    "%t.1; add(%u.0, sqrt(%t.0)) }"),
              ElementsAre("add: tanh, sqrt", "exp", "sin", "sqrt: exp", "tanh"));
  EXPECT_THAT(edges("def @main(%x: Tensor[(4), float32]) { %0 = split(%x, indices_or_sections=2); "
                    "concatenate((%0.1, %0.0)) }"),
              ElementsAre("concatenate: split", "split"));
}

TEST(SourceGraph, BothBranchesMayBeRead) {
  EXPECT_THAT(
      edges("def @main(%c: bool, %x: Tensor[(3), float32]) { sqrt(if (%c) { exp(%x) } else { tanh(%x) }) }"),
      ElementsAre("exp", "sqrt: exp, tanh", "tanh"));
}

TEST(SourceGraph, FunctionsAreModules) {
  const IRModule module = infer_types(
      parse_module("#[version = \"0.0.5\"]\n"
                   "def @norm(%x: Tensor[(3), float32]) -> Tensor[(3), float32] { tanh(%x) }\n"
                   "def @block(%x: Tensor[(3), float32]) -> Tensor[(3), float32] { exp(@norm(@inner(%x))) }\n"
                   "def @inner(%x: Tensor[(3), float32]) -> Tensor[(3), float32] { sin(%x) }\n"
                   "def @loop(%x: Tensor[(3), float32]) -> Tensor[(3), float32] { cos(@loop(%x)) }\n"
                   "def @main(%x: Tensor[(3), float32]) { sqrt(@loop(@block(@norm(%x)))) }"));
  std::map<std::string, std::string> functions;
  for (const auto& [origin, facts] : source_graph(*module)) functions[origin->op()] = facts.function;
  EXPECT_THAT(functions, testing::ElementsAre(std::pair("cos", "loop"), std::pair("exp", "block"),
                                              std::pair("sin", "block/inner"), std::pair("sqrt", ""),
                                              std::pair("tanh", "norm")))
      << "norm is called by two";
}

TEST(SourceGraph, ParametersAreWhatCallsGive) {
  EXPECT_THAT(edges("def @main(%x: Tensor[(3), float32]) { let %f = fn (%a: Tensor[(3), float32]) { exp(%a) "
                    "}; sqrt(%f(tanh(%x))) }"),
              ElementsAre("exp: tanh", "sqrt: exp", "tanh"));
  EXPECT_THAT(edges("def @f(%a: Tensor[(3), float32]) -> Tensor[(3), float32] { exp(%a) }\n"
                    "def @main(%x: Tensor[(3), float32]) { add(@f(tanh(%x)), @f(sin(%x))) }"),
              ElementsAre("add: exp", "exp: tanh, sin", "sin", "tanh"));
  EXPECT_THAT(edges("def @main(%g: fn (Tensor[(3), float32]) -> Tensor[(3), float32], %x: Tensor[(3), "
                    "float32]) { exp(%g(tanh(%x))) }"),
              ElementsAre("exp: tanh", "tanh"));
}

TEST(SourceGraph, FunctionsThatCallThemselvesEnd) {
  EXPECT_THAT(edges("def @f(%c: bool, %a: Tensor[(3), float32]) -> Tensor[(3), float32] { if (%c) { %a } "
                    "else { @f(%c, exp(%a)) } }\n"
                    "def @main(%c: bool, %x: Tensor[(3), float32]) { tanh(@f(%c, sin(%x))) }"),
              ElementsAre("exp: sin", "sin", "tanh: exp, sin"));
}

// ---- The module as it was lowered.

TEST(FusedModule, IsReadBackAndNamesItsFunctionsAsTheGraphDoes) {
  for (const char* name : {"mlp", "dqn"}) {
    const test::Lowered model = test::lowered(name, 3);
    const IRModule fused = fused_module(model.optimized, model.plan);
    const IRModule back = infer_types(parse_module(astext(fused)));
    EXPECT_TRUE(structural_equal(*back, *fused)) << name;
    EXPECT_EQ(fused->functions().size(), model.plan.kernels.size() + 1);
    for (const PlannedKernel& kernel : model.plan.kernels) {
      ASSERT_TRUE(fused->find(kernel.func_name)) << kernel.func_name;
      EXPECT_TRUE(fused->find(kernel.func_name)->is_primitive());
      EXPECT_TRUE(structural_equal(Expr(fused->find(kernel.func_name)), Expr(kernel.function)));
    }
    std::vector<std::string> called, planned;
    post_order(fused->find("main")->body(), [&](const Expr& node) {
      if (const auto* call = as<CallNode>(node)) called.push_back(as<GlobalVarNode>(call->callee())->name());
    });
    for (const PlannedNode& node : model.plan.nodes)
      if (node.function) planned.push_back(model.plan.kernels[static_cast<size_t>(node.kernel)].func_name);
    EXPECT_EQ(called, planned);
  }
}

TEST(FusedModule, ASharedFunctionStandsForTheOperatorsOfAllItsCalls) {
  const test::Lowered model = test::lowered_text(kSmall);
  const IRModule fused = fused_module(model.optimized, model.plan);
  const Function function = fused->find("tvmgen_default_fused_nn_relu_tanh");
  ASSERT_TRUE(function);
  EXPECT_EQ(function->origins().origins().size(), 4u);
  std::map<std::string, size_t> sizes;
  post_order(function->body(), [&](const Expr& node) {
    if (const auto* call = as<CallNode>(node)) sizes[call->op()->name] = call->origins().origins().size();
  });
  EXPECT_EQ(sizes, (std::map<std::string, size_t>{{"nn.relu", 2}, {"tanh", 2}}));
  post_order(fused->find("main")->body(), [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    const auto* callee = call ? as<GlobalVarNode>(call->callee()) : nullptr;
    const bool shared = callee && callee->name() == "tvmgen_default_fused_nn_relu_tanh";
    EXPECT_TRUE(!shared || call->origins().origins().size() == 2);
  });
  EXPECT_EQ(fused->origins().size(), model.source->origins().size());
}

TEST(FusedModule, IsLoweredToTheSamePlan) {
  const test::Lowered model = test::lowered_text(kSmall);
  const IRModule fused = fused_module(model.optimized, model.plan);
  EXPECT_EQ(graph_json(*make_plan(fused).graph), graph_json(*model.plan.graph));
}

}  // namespace
}  // namespace baton
