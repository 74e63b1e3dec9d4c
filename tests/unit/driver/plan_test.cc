#include "baton/driver/plan/plan.h"

#include <map>

#include <gmock/gmock.h>

#include "baton/driver/plan/graph_json.h"
#include "baton/driver/plan/kernel_names.h"
#include "baton/driver/plan/storage.h"
#include "baton/ir/op.h"
#include "baton/ops/register.h"
#include "baton/runtime/plan.h"
#include "baton/support/json.h"
#include "baton/support/json_writer.h"

#include "text/reference.h"

namespace baton {
namespace {

using text::reference;

NodeInfo typed(Type type) { return NodeInfo(OriginSet::none(), {}, std::move(type)); }

Expr op_call(const std::string& op, std::vector<Expr> args, const Type& result) {
  register_all_ops();
  return make_call(op_expr(*find_op(op)), std::move(args), {}, typed(result));
}

/// fn (p0) { op(op(...(p0))) } of one operator after another.
Function chain(const std::vector<std::string>& ops, const Type& type, FunctionAttrs more = {}) {
  const Var x = make_var("p0", type, typed(type));
  Expr body = x;
  for (const std::string& op : ops) body = op_call(op, {body}, type);
  more.insert(more.begin(), {"Primitive", 1});
  return make_function({x}, body, type, more, typed(func_type({type}, type)));
}

Expr called(const Function& function, std::vector<Expr> args) {
  return make_call(function, std::move(args), {}, typed(function->body()->checked_type()));
}

IRModule module_of(std::vector<Var> params, const Expr& body) {
  IRModule module = make_module();
  module->set("main", make_function(std::move(params), body, body->checked_type(), {}, typed(Type())));
  return module;
}

TEST(KernelNames, AreThoseOfTheOperatorsInPostOrder) {
  const Type type = tensor_type(std::vector<int64_t>{4, 6}, DType::float_(32));
  EXPECT_EQ(kernel_base_name(*chain({"exp", "nn.relu"}, type)), "fused_exp_nn.relu");
  EXPECT_EQ(kernel_name("my.mod-1", *chain({"nn.relu"}, type)), "tvmgen_my_mod-1_fused_nn_relu");
}

TEST(KernelNames, LongOnesAreCutAndHashedAsInTvm) {
  const Type type = tensor_type(std::vector<int64_t>{4, 6}, DType::float_(32));
  int checked = 0;
  for (const Json& golden : reference("build.jsonl.gz")) {
    if (golden["id"] != "build/long_name/O3") continue;
    std::vector<std::string> ops;  // "%0 = exp(%data); %1 = tanh(%0); ..."
    const std::string text = golden["text"].get<std::string>();
    for (size_t at = text.find('{'); (at = text.find('(', at + 1)) != std::string::npos;) {
      const size_t start = text.find_last_of(" \n", at) + 1;
      ops.push_back(text.substr(start, at - start));
    }
    EXPECT_EQ(kernel_name("default", *chain(ops, type)), golden["func_names"][0].get<std::string>());
    ++checked;
  }
  EXPECT_EQ(checked, 1);
}

TEST(KernelNames, TwoCallsOfOneKernelAreTwoNodesAsInTvm) {
  int checked = 0;
  for (const Json& golden : reference("build.jsonl.gz")) {
    UniqueNames names;
    std::vector<std::string> nodes;
    for (const Json& node : golden["graph"]["nodes"]) {
      if (node["op"] == "null") continue;
      const std::string func = node["attrs"]["func_name"].get<std::string>();
      EXPECT_EQ(func == "__nop" ? "reshape_nop" : names.make(func), node["name"].get<std::string>())
          << golden["id"];
      ++checked;
    }
  }
  EXPECT_GT(checked, 500);
}

TEST(StoragePlanner, SharesMemoryAsTvmDoes) {
  int checked = 0;
  for (const Json& golden : reference("build.jsonl.gz")) {
    const Json& graph = golden["graph"];
    const Json& rows = graph["node_row_ptr"];
    const Json& shapes = graph["attrs"]["shape"][1];
    const Json& types = graph["attrs"]["dltype"][1];
    std::vector<int> reads(shapes.size()), storage(shapes.size());
    const auto entry = [&](const Json& at) {
      return rows[at[0].get<size_t>()].get<int>() + at[1].get<int>();
    };
    for (const Json& node : graph["nodes"])
      for (const Json& input : node["inputs"]) ++reads[entry(input)];
    for (const Json& head : graph["heads"]) ++reads[entry(head)];
    StoragePlanner planner;
    for (size_t n = 0; n < graph["nodes"].size(); ++n) {
      const Json& node = graph["nodes"][n];
      const bool input = node["op"] == "null";
      const bool nop = !input && node["attrs"]["func_name"] == "__nop";
      for (int e = rows[n].get<int>(); e < rows[n + 1].get<int>(); ++e) {
        int64_t bytes = static_cast<int64_t>(DType::parse(types[e].get<std::string>())->bytes());
        for (const Json& extent : shapes[e]) bytes *= extent.get<int64_t>();
        if (input) {
          storage[e] = planner.keep(bytes);
        } else if (nop) {
          storage[e] = storage[entry(node["inputs"][0])];
          planner.share(storage[e], reads[e]);
        } else {
          storage[e] = planner.request(bytes, reads[e], 1);
        }
      }
      if (input) continue;
      for (int e = rows[n].get<int>(); e < rows[n + 1].get<int>(); ++e) planner.written(storage[e]);
      for (const Json& from : node["inputs"]) planner.read(storage[entry(from)]);
    }
    EXPECT_EQ(Json(storage), graph["attrs"]["storage_id"][1]) << golden["id"];
    ++checked;
  }
  EXPECT_GT(checked, 20);
}

TEST(JsonWriter, LaysTextOutAsTvmDoes) {
  JsonWriter json;
  json.begin_object();
  json.key("short");
  json.value(std::vector<int64_t>{1, 2});
  json.key("none");
  json.value(std::vector<std::string>{});
  json.key("names");
  json.value(std::vector<std::string>{"a\"b\\", "tab\t"});
  json.key("long");
  json.value(std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  json.end_object();
  const std::string text = json.take();
  EXPECT_TRUE(
      text.starts_with("{\n  \"short\": [1, 2], \n  \"none\": [], \n  \"names\": [\n    \"a\\\"b\\\\\", \n   "
                       " \"tab\\t\"\n  ], \n  \"long\": [\n    1, \n"))
      << text;
  EXPECT_EQ(Json::parse(text)["names"][0], "a\"b\\");
}

TEST(GraphPlanTest, EqualFunctionsShareAKernelAndStorageIsUsedAgain) {
  const Type type = tensor_type(std::vector<int64_t>{4, 6}, DType::float_(32));
  const Var x = make_var("x", type, typed(type));
  const NDArray weights = NDArray::zeros({4, 6}, DType::float_(32));
  const Expr c = make_constant(weights, typed(Type()));
  Expr value = called(chain({"exp"}, type), {x});
  value = called(chain({"nn.relu"}, type), {value});
  value = called(chain({"exp"}, type), {value});
  const Expr other = called(chain({"exp"}, type, {{"data_layout", "NCHW"}}), {c});
  const Type pair = tuple_type({type, type});
  const IRModule module = module_of({x}, make_tuple({value, other}, typed(pair)));
  const GraphPlan plan = make_plan(module);
  const Json graph = Json::parse(graph_json(*plan.graph));
  std::vector<std::string> names, funcs;
  for (const Json& node : graph["nodes"]) {
    names.push_back(node["name"].get<std::string>());
    if (node["op"] == "tvm_op") funcs.push_back(node["attrs"]["func_name"].get<std::string>());
  }
  EXPECT_THAT(names,
              testing::ElementsAre("x", "tvmgen_default_fused_exp", "tvmgen_default_fused_nn_relu",
                                   "tvmgen_default_fused_exp_1", "p0", "tvmgen_default_fused_exp_1_1"));
  EXPECT_THAT(funcs, testing::ElementsAre("tvmgen_default_fused_exp", "tvmgen_default_fused_nn_relu",
                                          "tvmgen_default_fused_exp", "tvmgen_default_fused_exp_1"));
  EXPECT_EQ(graph["attrs"]["storage_id"], Json::parse(R"(["list_int", [0, 1, 2, 1, 3, 2]])"));
  EXPECT_EQ(graph["heads"], Json::parse("[[3, 0, 0], [5, 0, 0]]"));
  EXPECT_EQ(graph["arg_nodes"], Json::parse("[0, 4]"));
  EXPECT_EQ(graph["nodes"][5]["attrs"]["data_layout"], "NCHW");
  EXPECT_EQ(graph["nodes"][1]["attrs"]["hash"].get<std::string>().size(), 16u);
  ASSERT_EQ(plan.params.size(), 1u);
  EXPECT_EQ(plan.params[0].first, "p0");
  EXPECT_TRUE(Plan::parse(graph_json(*plan.graph)).ok())
      << Plan::parse(graph_json(*plan.graph)).status().message;
}

TEST(GraphPlanTest, NoConstantHasTheNameOfAnInput) {
  const Type type = tensor_type(std::vector<int64_t>{4, 6}, DType::float_(32));
  const Var x = make_var("p0", type, typed(type)), y = make_var("p2", type, typed(type));
  const auto constant = [] {
    return make_constant(NDArray::zeros({4, 6}, DType::float_(32)), typed(Type()));
  };
  Expr value = called(chain({"exp"}, type), {x});
  const Expr first = called(chain({"exp"}, type), {constant()}),
             second = called(chain({"exp"}, type), {constant()});
  const Type all = tuple_type({type, type, type, type});
  const GraphPlan plan = make_plan(module_of({x, y}, make_tuple({value, y, first, second}, typed(all))));
  ASSERT_EQ(plan.params.size(), 2u);
  EXPECT_EQ(plan.params[0].first, "p1");
  EXPECT_EQ(plan.params[1].first, "p3");
}

TEST(GraphPlanTest, OriginsCausesAndReasonsStandOnNodes) {
  const Type type = tensor_type(std::vector<int64_t>{4, 6}, DType::float_(32));
  const auto first = Origin::create("exp", {}, {}), second = Origin::create("nn.relu", {}, {});
  const OriginSet both = OriginSet::of(second).merge(OriginSet::of(first));
  const Var x = make_var("x", type, typed(type));
  const Expr fused = make_call(chain({"exp", "nn.relu"}, type), {x}, {}, NodeInfo(both, {}, type));
  const Expr added =
      make_call(chain({"negative"}, type), {fused}, {},
                NodeInfo(OriginSet::made_for(OriginSet::of(second), "for the test"), {}, type));
  const GraphPlan plan = make_plan(module_of({x}, added));
  const auto read = Plan::parse(graph_json(*plan.graph));
  ASSERT_TRUE(read.ok()) << read.status().message;
  EXPECT_THAT((*read)->nodes[1].origins, testing::ElementsAre(0, 1));
  EXPECT_THAT((*read)->nodes[2].origins, testing::IsEmpty());
  EXPECT_EQ((*read)->nodes[2].made_for.size(), 1u);
  EXPECT_EQ((*read)->nodes[2].reason, "for the test");
}

TEST(GraphPlanTest, ReshapesInPlaceAreNoKernels) {
  const Type type = tensor_type(std::vector<int64_t>{4, 6}, DType::float_(32));
  const Var x = make_var("x", type, typed(type));
  const Function reshape = chain({"nn.relu"}, type, {{"relay.reshape_only", 1}});
  const GraphPlan plan = make_plan(module_of({x}, called(reshape, {called(chain({"exp"}, type), {x})})));
  const Json graph = Json::parse(graph_json(*plan.graph));
  EXPECT_EQ(graph["nodes"][2]["name"], "reshape_nop");
  EXPECT_EQ(graph["nodes"][2]["attrs"]["func_name"], "__nop");
  EXPECT_EQ(graph["attrs"]["storage_id"][1], Json::parse("[0, 1, 1]"));
  ASSERT_EQ(plan.kernels.size(), 2u);
  EXPECT_TRUE(plan.kernels[0].called);
  EXPECT_FALSE(plan.kernels[1].called);
}

TEST(GraphPlanTest, SaysWhatAGraphCannotHold) {
  const Type type = tensor_type(std::vector<int64_t>{4, 6}, DType::float_(32));
  const Var x = make_var("x", type, typed(type));
  const auto message = [](const IRModule& module) -> std::string {
    try {
      make_plan(module);
    } catch (const NotSupported& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(message(module_of({x}, op_call("exp", {x}, type))),
              testing::HasSubstr("exp stands outside of any kernel"));
  const Type open = tensor_type(std::vector<Dim>{Dim::any(), Dim(6)}, DType::float_(32));
  const Var y = make_var("y", open, typed(open));
  EXPECT_THAT(message(module_of({y}, y)), testing::HasSubstr("Tensor[(?, 6), float32]"));
  const Type flag = scalar_type(DType::bool_());
  const Var c = make_var("c", flag, typed(flag));
  EXPECT_THAT(message(module_of({c, x}, make_if(c, x, x, typed(type)))), testing::HasSubstr("control flow"));
}

}  // namespace
}  // namespace baton
