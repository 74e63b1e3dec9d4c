#include "baton/text/json/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baton/driver/load_json.h"
#include "baton/ir/attr_objects.h"
#include "baton/ir/op.h"
#include "baton/ir/structural.h"
#include "baton/ir/visit.h"
#include "baton/ops/register.h"
#include "baton/support/diagnostic.h"
#include "baton/text/json/tensor_bytes.h"
#include "baton/text/parser.h"
#include "baton/text/printer.h"
#include "baton/types/infer_type.h"

#include "text/reference.h"
#include "text/version_line.h"

namespace baton::text {
namespace {

using testing::HasSubstr;

class JsonTest : public testing::Test {
 protected:
  void SetUp() override { register_all_ops(); }

  static std::string error_of(const std::string& json) {
    try {
      load_json(json);
    } catch (const InternalError& error) {
      return std::string("internal error: ") + error.what();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  static std::string file(const std::string& nodes, const std::string& tail = "\"root\":0") {
    return R"({"format":"baton.ir","version":1,"nodes":[)" + nodes + "]," + tail + "}";
  }
  // All that text shows, positions and origins too.
  static std::string everything(const IRModule& module) {
    PrintOptions options;
    options.origins = true;
    return print(*module, options) + astext(module);
  }
  static void expect_same_origins(const OriginTable& a, const OriginTable& b, bool attrs) {
    ASSERT_EQ(a.size(), b.size());
    for (uint32_t i = 0; i < a.size(); ++i) {
      const Origin &left = a.at(OriginId(i)), &right = b.at(OriginId(i));
      EXPECT_EQ(left.op(), right.op());
      EXPECT_EQ(left.source_name(), right.source_name());
      EXPECT_EQ(left.span().text(), right.span().text());
      EXPECT_TRUE(!attrs || same_attrs(left.attrs(), right.attrs()));
      const Retired *gone = a.retired(OriginId(i)), *also = b.retired(OriginId(i));
      ASSERT_EQ(bool(gone), bool(also));
      if (gone) {
        EXPECT_EQ(gone->pass + gone->reason, also->pass + also->reason);
      }
    }
  }
  static void expect_round_trip(const IRModule& module, const std::string& id) {
    const std::string json = to_json(*module);
    const IRModule again = from_json(json).module;
    ASSERT_TRUE(again) << id;
    // Expressions as attributes are equal to themselves only, but for constants: such a program equals no
    // other.
    const bool comparable = json.find("{\"expr\":") == std::string::npos;
    EXPECT_TRUE(structural_equal(*module, *again) || !comparable) << id;
    EXPECT_EQ(to_json(*again), json) << id;
    EXPECT_EQ(everything(module), everything(again)) << id;
    expect_same_origins(module->origins(), again->origins(), comparable);
  }
};

TEST_F(JsonTest, AllTextsOfTheReferenceComeBack) {
  int seen = 0;
  for (const char* file : {"text.jsonl.gz", "passes_inputs.jsonl"})
    for (const auto& each : reference(file))
      for (const char* key : {"text", "typed"}) {
        if (!each.contains(key) || !each[key].is_string()) continue;
        IRModule module;
        try {
          module = parse_module(each[key].get<std::string>());
        } catch (const DiagnosticError&) {
          continue;  // the parser's tests count these
        }
        const std::string id = each["id"].get<std::string>() + " " + key;
        expect_round_trip(module, id);
        try {
          infer_types(module);
        } catch (const DiagnosticError&) {
          continue;
        }
        expect_round_trip(module, id + ", inferred");
        // Types that are right are kept as they are.
        const std::string json = to_json(*module);
        EXPECT_EQ(to_json(*load_json(json).module), json) << id;
        ++seen;
      }
  EXPECT_GE(seen, 150);
}

TEST_F(JsonTest, PlacesOfOriginsComeBackOnceEach) {
  const auto place = make_ref<const OriginPlace>("layer1/0", SourceLine{"net.py", 31, "forward", "x = f(x)"});
  const Var x = var("x", scalar_type(DType::float_(32)));
  const auto made = [&](const char* op, const Expr& of) {
    return Expr(make_call(op_expr(*find_op(op)), {of}, {},
                          NodeInfo(OriginSet::of(Origin::create(op, {}, {}, {}, place)))));
  };
  const Expr twice = made("exp", made("tanh", Expr(x)));
  const std::string json = to_json(twice);
  EXPECT_EQ(json.find("layer1/0"), json.rfind("layer1/0")) << json;
  const Expr again = load_json(json).expr;
  const OriginPlace* read = again->origins().origins()[0]->place();
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->module(), "layer1/0");
  EXPECT_EQ(read->line(), place->line());
  EXPECT_EQ(as<CallNode>(again)->args()[0]->origins().origins()[0]->place(), read);
  EXPECT_EQ(to_json(again), json);
  for (const auto& [from, to] :
       {std::pair{"[\"net.py\",31,", "[31,"}, {"31,", "0,"}, {"\"at\":0", "\"at\":1"}}) {
    std::string wrong = json;
    ASSERT_NE(wrong.find(from), wrong.npos) << from;
    wrong.replace(wrong.find(from), std::string(from).size(), to);
    EXPECT_THROW(load_json(wrong), Error) << wrong;
  }
}

TEST_F(JsonTest, ExpressionsWithEveryKindOfNodeComeBack) {
  const Type f = scalar_type(DType::float_(32));
  const TypeVar a = type_var("A");
  const GlobalTypeVar list = global_type_var("List");
  const TypeData def =
      type_data(list, {a}, {{"Cons", {Type(a), type_call(Type(list), {Type(a)})}}, {"Nil", {}}});
  const Var x = var("x", f), h = var("h"), t = var("t"),
            free = var("free", func_type({f}, tuple_type({}), {}));
  const OriginSet two = OriginSet::of(Origin::create("add", {}, {}, "node \"1\""))
                            .merge(OriginSet::of(Origin::create("mul", {}, {})));
  const OriginSet made = OriginSet::made_for(two, "b").merge(
      OriginSet::made_for(OriginSet::of(Origin::create("c", {}, {})), "a"));
  const Expr call = Expr(make_call(Expr(var("f")), {Expr(x)}, {}, NodeInfo(made)));
  const NDArray values = NDArray::of<float>(
      {3}, std::vector<float>{-0.f, 1e-40f, std::numeric_limits<float>::quiet_NaN()}, DType::float_(32));
  const Expr cell = ref_create(Expr(constant(values)));
  const Expr matched =
      match(call,
            {{constructor_pattern(def->constructors()[0], {var_pattern(h), wildcard_pattern()}), Expr(h)},
             {tuple_pattern({var_pattern(t)}), Expr(t)}},
            false);
  const FunctionAttrs attrs = {{"z", 1},
                               {"a", 0.1},
                               {"big", INT64_MIN},
                               {"whole", 2.0},
                               {"none", {}},
                               {"yes", true},
                               {"s", "\"\n\xc3\xa9"},
                               {"type", DType::bool_()},
                               {"list", AttrList{1, AttrList{}, 1.5}},
                               {"nan", std::numeric_limits<double>::quiet_NaN()},
                               {"inf", -std::numeric_limits<double>::infinity()},
                               {"minus", -0.0},
                               {"device", virtual_device_attr({2, 0, "global"})},
                               {"expr", expr_attr(Expr(constant(values)))}};
  const Expr body = let(h, ref_write(cell, ref_read(cell)),
                        if_else(Expr(x),
                                tuple({matched, matched, get_item(Expr(free), 1), Expr(make_global_var("g")),
                                       Expr(def->constructors()[1])}),
                                op_expr(*find_op("nn.relu"))));
  const Expr whole(function({x}, body, incomplete_type(), attrs,
                            Span{make_ref<const Source>("file", "text"), 1, 2, 3, 4, 5, 6}, {a}));
  const std::string json = to_json(whole);
  const Expr again = from_json(json).expr;
  EXPECT_EQ(to_json(again), json);
  EXPECT_EQ(as<FunctionNode>(again)->attrs()[0].first, "z");
  EXPECT_TRUE(as<FunctionNode>(again)->attr("whole")->as<double>());
  EXPECT_EQ(again->span().source->text(), "text");
  EXPECT_EQ(from_json(to_json(whole, {.source_text = false})).expr->span().source->text(), "");
  const auto* branch = as<IfNode>(as<LetNode>(as<FunctionNode>(again)->body())->body());
  const auto* fields = as<TupleNode>(branch->then());
  EXPECT_EQ(fields->fields()[0], fields->fields()[1]);  // shared before, shared now
  const auto* inner = as<CallNode>(as<MatchNode>(fields->fields()[0])->data());
  EXPECT_EQ(inner->origins().causes().size(), 3u);
  EXPECT_EQ(inner->origins().reason(), "a; b");
  EXPECT_EQ(inner->origins().causes()[0]->source_name(), "node \"1\"");
}

TEST_F(JsonTest, RetiredOriginsStayInTheTable) {
  const IRModule module =
      parse_module(std::string(kVersionLine) + "def @main(%x: float32) { tanh(nn.relu(%x)) }");
  module->set("main", function({}, Expr(scalar(1, DType::float_(32)))));
  module->origins().retire(OriginId(1), {"Drop", "a \"reason\""});
  expect_round_trip(module, "retired");
}

TEST_F(JsonTest, WrongTypesOfAFileAreReplaced) {
  const IRModule module = infer_types(parse_module(
      std::string(kVersionLine) + "def @main(%x: Tensor[(2, 3), float32]) { tanh(nn.relu(%x)) }"));
  std::string json = to_json(*module);
  const std::string lie = "{\"tensor\":[2,3],\"dtype\":\"float32\"}";
  // Another type before the variable's, and the calls say that they have it.
  const auto at = json.find(lie);
  ASSERT_NE(at, std::string::npos);
  const IRModule claimed = from_json(json).module;
  EXPECT_EQ(type_text(claimed->find("main")->body()->checked_type()), "Tensor[(2, 3), float32]");
  const IRModule untyped = from_json(json, false).module;
  EXPECT_FALSE(untyped->find("main")->body()->checked_type());
  EXPECT_TRUE(structural_equal(*claimed, *untyped));
  const std::string forged = file(
      R"({"tensor":[2],"dtype":"float32"},{"tensor":[9],"dtype":"int8"},{"var":"x","of":0},{"op":"nn.relu"},
    {"call":3,"args":[2],"type":1},{"func_type":[0],"ret":1,"type_params":[]},{"function":[2],"body":4,"ret":0,"type":5})",
      R"("module":{"functions":{"main":6}})");
  EXPECT_EQ(type_text(from_json(forged).module->find("main")->body()->checked_type()), "Tensor[(9), int8]");
  EXPECT_EQ(type_text(load_json(forged).module->find("main")->body()->checked_type()),
            "Tensor[(2), float32]");
}

void save_and_load_chain(int calls) {
  const Var x = var("x", tensor_type(std::vector<int64_t>{2}, DType::float_(32)));
  Expr chain{x};
  for (int i = 0; i < calls; ++i) chain = Expr(call("nn.relu", {chain}));
  const std::string json = to_json(*module_from_expr(Expr(function({x}, chain))));
  chain = {};
  const IRModule again = from_json(json).module;
  EXPECT_EQ(again->origins().size(), static_cast<size_t>(calls));
  Expr at = again->find("main")->body();
  int count = 0;
  while (const auto* call = as<CallNode>(at)) {
    at = call->args()[0];
    ++count;
  }
  EXPECT_EQ(count, calls);
}

// The test's stack has 8 MB.
TEST_F(JsonTest, AHundredThousandCalls) { save_and_load_chain(100'000); }
TEST_F(JsonTest, SlowAMillionCalls) { save_and_load_chain(1'000'000); }

TEST_F(JsonTest, BadInputIsAnErrorThatSaysWhat) {
  const std::string zero = R"({"tensor":[],"dtype":"float32"})";
  EXPECT_THAT(error_of(""), HasSubstr("no JSON"));
  EXPECT_THAT(error_of("[1]"), HasSubstr("expected an object, found an array"));
  EXPECT_THAT(error_of("{}"), HasSubstr("holds no module"));
  EXPECT_THAT(error_of(R"({"format":"baton.ir","version":7})"), HasSubstr("version 7"));
  EXPECT_THAT(error_of(R"({"format":"other","version":1})"), HasSubstr("\"other\""));
  EXPECT_THAT(error_of(file("") + "x"), HasSubstr("no JSON"));
  EXPECT_THAT(error_of(file("{\"var\":\"\xff\"}")), HasSubstr("UTF-8"));
  EXPECT_THAT(error_of(file("{\"var\":\"\xed\xa0\x80\"}")), HasSubstr("UTF-8"));
  // Numbers out of range.
  EXPECT_THAT(error_of(file(R"({"tensor":[18446744073709551615],"dtype":"float32"})")),
              HasSubstr("does not fit into 64 bits"));
  EXPECT_THAT(error_of(file(R"({"tensor":[99999999999999999999999],"dtype":"float32"})")),
              HasSubstr("does not fit into 64 bits"));
  EXPECT_THAT(error_of(file(R"({"tensor":[1e999],"dtype":"float32"})")),
              HasSubstr("the number 1e999 is too large"));
  EXPECT_THAT(error_of(file(R"({"tensor":[-1],"dtype":"float32"})")), HasSubstr("found -1"));
  EXPECT_THAT(error_of(file(R"({"tensor":[1.0],"dtype":"float32"})")), HasSubstr("expected an integer"));
  EXPECT_THAT(error_of(file(R"({"tuple":[]},{"item":0,"index":9999999999})")), HasSubstr("9999999999"));
  EXPECT_THAT(error_of(file(R"({"var":"x","span":[0,1,1,1,1]})")), HasSubstr("no source 0"));
  EXPECT_THAT(error_of(file(R"({"tensor":[1],"dtype":"flat32"})")), HasSubstr("flat32"));
  EXPECT_THAT(error_of(file(R"({"type_var":"a","kind":3})")), HasSubstr("kind 3"));
  // Huge shapes: types may have them, tensors have as many bytes as they say.
  EXPECT_EQ(
      error_of(
          file(R"({"tensor":[4611686018427387904,4611686018427387904],"dtype":"float32"},{"var":"x","of":0})",
               "\"root\":1")),
      "no error");
  EXPECT_THAT(error_of(file(R"({"array":[4611686018427387904],"dtype":"float32","data":""})")),
              HasSubstr("do not fit"));
  EXPECT_THAT(error_of(file(R"({"array":[2],"dtype":"float32","data":"AAAA"})")),
              HasSubstr("3 bytes of data"));
  EXPECT_THAT(error_of(file(R"({"array":[1],"dtype":"uint8","data":"A?=="})")), HasSubstr("base64"));
  // Cycles: a node names only nodes above it.
  EXPECT_THAT(error_of(file(R"({"tuple":[0]})")), HasSubstr("node 0 is none of the 0 nodes above"));
  EXPECT_THAT(error_of(file(R"({"tuple":[1]},{"tuple":[0]})")),
              HasSubstr("node 1 is none of the 0 nodes above"));
  EXPECT_THAT(error_of(file(R"({"tuple":[-1]})")), HasSubstr("node -1"));
  EXPECT_THAT(error_of(file(zero + R"(,{"tuple":[0]})")), HasSubstr("node 0 is not an expression"));
  EXPECT_THAT(error_of(file(R"({"tuple":[]},{"let":0,"value":0,"body":0})")), HasSubstr("not a variable"));
  // Duplicate definitions and keys.
  const std::string main = R"({"tuple":[]},{"function":[],"body":0})";
  EXPECT_THAT(error_of(file(main, R"("module":{"functions":{"main":1,"main":1}})")),
              HasSubstr("\"main\" is given twice"));
  EXPECT_THAT(error_of(file(R"({"tuple":[],"tuple":[]})")), HasSubstr("given twice"));
  EXPECT_THAT(error_of(file(R"({"tuple":[],"op":"add"})")), HasSubstr("a `tuple` and a `op`"));
  EXPECT_THAT(error_of(file(R"({"tuple":[],"index":1})")), HasSubstr("no place here"));
  EXPECT_THAT(error_of(file(R"({"tuple":[],"what":1})")), HasSubstr("\"what\" is not known"));
  EXPECT_THAT(
      error_of(file(
          R"({"global_type_var":"L","kind":5},{"constructor":"A","inputs":[],"of":0,"tag":0},{"constructor":"A","inputs":[],"of":0,"tag":1},
    {"type_def":0,"type_params":[],"constructors":[1,2]})")),
      HasSubstr("`A` is defined twice"));
  EXPECT_THAT(
      error_of(file(R"({"global_type_var":"L","kind":5},{"constructor":"A","inputs":[],"of":0,"tag":4},
    {"type_def":0,"type_params":[],"constructors":[1]})")),
      HasSubstr("tag 4"));
  // Operators and attributes.
  EXPECT_THAT(error_of(file(R"({"op":"nn.rellu"})")), HasSubstr("nn.rellu"));
  EXPECT_THAT(error_of(file(R"({"attrs_of":"relay.attrs.Nothing","values":{}})")),
              HasSubstr("relay.attrs.Nothing"));
  EXPECT_THAT(error_of(file(R"({"attrs_of":"relay.attrs.SoftmaxAttrs","values":{"axes":1}})")),
              HasSubstr("`axes`"));
  EXPECT_THAT(error_of(file(R"({"attrs_of":"relay.attrs.SoftmaxAttrs","values":{"axis":"one"}})")),
              HasSubstr("expects an integer"));
  EXPECT_THAT(
      error_of(file(
          R"({"attrs_of":"relay.attrs.SoftmaxAttrs","values":{}},{"op":"nn.conv2d"},{"call":1,"args":[],"attrs":0})")),
      HasSubstr("relay.attrs.Conv2DAttrs"));
  // Origins.
  EXPECT_THAT(error_of(file(R"({"origins":[],"reason":"r"})")), HasSubstr("needs"));
  EXPECT_THAT(error_of(file(R"({"origin":"add"},{"origins":[],"causes":[0]})")),
              HasSubstr("need a `reason`"));
  EXPECT_THAT(
      error_of(
          file(main, R"("module":{"functions":{"main":1},"retired":[{"index":0,"pass":"","reason":""}]})")),
      HasSubstr("no origin 0"));
}

TEST_F(JsonTest, NestingIsBounded) {
  const int deep = 100'000;
  EXPECT_THAT(error_of(std::string(deep, '[')), HasSubstr("no JSON"));
  std::string list = std::string(deep, '[') + std::string(deep, ']');
  EXPECT_THAT(error_of(file(R"({"tuple":[]},{"function":[],"body":0,"attrs":{"a":)" + list + "}}")),
              HasSubstr("nested more than"));
  std::string types = R"({"tuple_type":[]})", doubling = types;
  for (int i = 0; i < 2000; ++i) types += ",{\"ref_type\":" + std::to_string(i) + "}";
  EXPECT_THAT(error_of(file(types)), HasSubstr("nested more than 1000 deep"));
  for (int i = 0; i < 64; ++i)
    doubling += ",{\"tuple_type\":[" + std::to_string(i) + "," + std::to_string(i) + "]}";
  EXPECT_THAT(error_of(file(doubling)), HasSubstr("more than 1000000 parts"));
  std::string ifs = R"({"var":"c"})";
  for (int i = 0; i < deep; ++i) ifs += ",{\"if\":0,\"then\":" + std::to_string(i) + ",\"else\":0}";
  EXPECT_EQ(error_of(file(ifs, "\"root\":" + std::to_string(deep))), "no error");
}

// Shared arrays, which were written out as often as they are named: 2^90 values.
TEST_F(JsonTest, SharedListsOfAMetadataSectionAreBounded) {
  std::string nodes =
      R"({"type_key":""},{"type_key":"Map","keys":["relay.attrs.ReshapeAttrs"],"data":[2]},{"type_key":"Array","data":[3]},
    {"type_key":"relay.attrs.ReshapeAttrs","attrs":{"newshape":"4"}})";
  for (int i = 4; i < 94; ++i)
    nodes +=
        ",{\"type_key\":\"Array\",\"data\":[" + std::to_string(i + 1) + "," + std::to_string(i + 1) + "]}";
  nodes += R"(,{"type_key":"Array"})";
  const std::string text = std::string(kVersionLine) +
                           "def @main(%x: float32) { reshape(%x, meta[relay.attrs.ReshapeAttrs][0]) "
                           "}\n#[metadata]\n{\"root\":1,\"nodes\":[" +
                           nodes + "],\"b64ndarrays\":[]}\n";
  EXPECT_THROW(parse_module(text), DiagnosticError);
}

// ---- TVM's form

// By hand, from what is known of the format; fields are as in TVM's own metadata sections and its Python
// attributes.
std::string tvm_file(const std::string& more = "", const std::string& blob = "") {
  const std::string tensor = blob.empty() ? base64_encode(array_to_bytes(NDArray::of<float>(
                                                {2}, std::vector<float>{1, 2}, DType::float_(32))))
                                          : blob;
  return R"({"root": 1, "nodes": [
    {"type_key": ""},
    {"type_key": "IRModule", "attrs": {"functions": "2", "type_definitions": "0", "global_var_map_": "0", "source_map": "0"}},
    {"type_key": "Map", "data": [3, 5]},
    {"type_key": "GlobalVar", "attrs": {"name_hint": "4", "_checked_type_": "0", "span": "0", "virtual_device_": "0"}},
    {"type_key": "runtime.String", "repr_str": "main"},
    {"type_key": "relay.Function", "attrs": {"params": "6", "body": "14", "ret_type": "0", "type_params": "26", "attrs": "27", "span": "0", "_checked_type_": "0"}},
    {"type_key": "Array", "data": [7]},
    {"type_key": "relay.Var", "attrs": {"vid": "8", "type_annotation": "10", "span": "12", "_checked_type_": "0", "virtual_device_": "0"}},
    {"type_key": "relay.Id", "attrs": {"name_hint": "9"}},
    {"type_key": "runtime.String", "repr_str": "x"},
    {"type_key": "relay.TensorType", "attrs": {"dtype": "float32", "shape": "11", "span": "0"}},
    {"type_key": "Array", "data": [23, 24]},
    {"type_key": "Span", "attrs": {"source_name": "13", "line": "3", "column": "5", "end_line": "3", "end_column": "9"}},
    {"type_key": "SourceName", "repr_str": "net.relay"},
    {"type_key": "relay.Call", "attrs": {"op": "15", "args": "16", "attrs": "19", "type_args": "0", "span": "12", "_checked_type_": "0"}},
    {"type_key": "Op", "repr_str": "nn.softmax"},
    {"type_key": "Array", "data": [17]},
    {"type_key": "relay.Call", "attrs": {"op": "18", "args": "20", "attrs": "0", "type_args": "0", "span": "0"}},
    {"type_key": "Op", "repr_str": "add"},
    {"type_key": "relay.attrs.SoftmaxAttrs", "attrs": {"axis": "1"}},
    {"type_key": "Array", "data": [7, 21]},
    {"type_key": "relay.Constant", "attrs": {"data": "0", "_checked_type_": "0", "span": "0", "virtual_device_": "22"}},
    {"type_key": "VirtualDevice", "attrs": {"device_type_int": "-1", "memory_scope": "25", "target": "0", "virtual_device_id": "-1"}},
    {"type_key": "IntImm", "attrs": {"dtype": "int32", "span": "0", "value": "3"}},
    {"type_key": "IntImm", "attrs": {"dtype": "int32", "span": "0", "value": "2"}},
    {"type_key": "runtime.String"},
    {"type_key": "Array"},
    {"type_key": "DictAttrs", "attrs": {"__dict__": "28"}},
    {"type_key": "Map", "keys": ["Primitive", "Compiler"], "data": [24, 9]})" +
         more + R"(
  ], "b64ndarrays": [")" +
         tensor + R"("], "attrs": {"tvm_version": "0.11.1"}})";
}

TEST_F(JsonTest, TvmModuleIsRead) {
  const IRModule module = load_json(tvm_file()).module;
  ASSERT_TRUE(module);
  const IRModule wanted = infer_types(parse_module(
      std::string(kVersionLine) +
      "def @main(%x: Tensor[(3, 2), float32], Compiler=\"x\", Primitive=2) { nn.softmax(add(%x, "
      "meta[relay.Constant][0]), axis=1) }\n"
      "#[metadata]\n{\"root\": 1, \"nodes\": [{\"type_key\": \"\"}, {\"type_key\": \"Map\", \"keys\": "
      "[\"relay.Constant\"], \"data\": [2]},"
      "{\"type_key\": \"Array\", \"data\": [3]}, {\"type_key\": \"relay.Constant\", \"attrs\": {\"data\": "
      "\"0\"}}], \"b64ndarrays\": [\"" +
      base64_encode(array_to_bytes(NDArray::of<float>({2}, std::vector<float>{1, 2}, DType::float_(32)))) +
      "\"]}\n"));
  EXPECT_TRUE(structural_equal(*module, *wanted)) << astext(module);
  const Function main = module->find("main");
  EXPECT_EQ(type_text(main->body()->checked_type()), "Tensor[(3, 2), float32]");
  EXPECT_EQ(main->body()->span().text(), "net.relay:3:5");
  EXPECT_EQ(module->origins().size(), 2u);
  EXPECT_EQ(to_json(*load_json(to_json(*module)).module), to_json(*module));
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST_F(JsonTest, BadTvmInputIsAnErrorThatSaysWhat) {
  auto error_with = [](const std::string& from, const std::string& to) {
    return error_of(replaced(tvm_file(), from, to));
  };
  EXPECT_THAT(error_with("\"data\": [7, 21]", "\"data\": [7, 14]"), HasSubstr("part of itself"));
  EXPECT_THAT(error_with("\"data\": [7, 21]", "\"data\": [7, 99]"), HasSubstr("no node 99"));
  EXPECT_THAT(error_with("\"data\": [7, 21]", "\"data\": [7, 23]"), HasSubstr("not an expression"));
  EXPECT_THAT(error_with("\"axis\": \"1\"", "\"axis\": \"one\""), HasSubstr("expected an integer"));
  EXPECT_THAT(error_with("\"axis\"", "\"axes\""), HasSubstr("`axes`"));
  EXPECT_THAT(error_with("\"value\": \"3\"", "\"value\": \"-3\""), HasSubstr("negative"));
  EXPECT_THAT(error_with("\"value\": \"3\"", "\"value\": \"99999999999999999999\""),
              HasSubstr("expected an integer"));
  EXPECT_THAT(error_with("\"data\": [3, 5]", "\"data\": [3, 5, 3, 5]"), HasSubstr("`main` is defined twice"));
  EXPECT_THAT(error_with("nn.softmax", "nn.relu"), HasSubstr("nn.relu"));
  EXPECT_THAT(error_with("\"root\": 1", "\"root\": 23"), HasSubstr("neither a module nor an expression"));
  EXPECT_THAT(error_with("relay.Call", "relay.Unknown"), HasSubstr("relay.Unknown, is not an expression"));
  EXPECT_THAT(error_of(tvm_file("", "AAAA")), HasSubstr("end early"));
  EXPECT_EQ(error_with("\"value\": \"3\"", "\"value\": \"4611686018427387904\""), "no error");
}

TEST_F(JsonTest, TvmGraphsMayBeDeep) {
  std::string more;
  const int calls = 100'000, first = 29;
  for (int i = 0; i < calls; ++i) {
    const std::string arg = std::to_string(i ? first + 2 * (i - 1) : 7),
                      args = std::to_string(first + 2 * i + 1);
    more += ",{\"type_key\":\"relay.Call\",\"attrs\":{\"op\":\"" + std::to_string(first + 2 * calls) +
            "\",\"args\":\"" + args + "\",\"attrs\":\"0\"}}";
    more += ",{\"type_key\":\"Array\",\"data\":[" + arg + "]}";
  }
  more += R"(,{"type_key":"Op","repr_str":"nn.relu"})";
  const std::string text =
      replaced(tvm_file(more), "\"root\": 1", "\"root\": " + std::to_string(first + 2 * (calls - 1)));
  const Expr chain = load_json(text).expr;
  ASSERT_TRUE(chain);
  EXPECT_EQ(type_text(chain->checked_type()), "_");  // as in the file
  int depth = 0;
  Expr innermost = chain;
  for (; innermost->kind() == ExprKind::kCall; ++depth) innermost = as<CallNode>(innermost)->args()[0];
  EXPECT_EQ(depth, calls);
  EXPECT_EQ(type_text(innermost->checked_type()), "Tensor[(3, 2), float32]");
}

TEST_F(JsonTest, TvmDataTypesAndMatch) {
  const std::string text =
      R"({"root": 1, "nodes": [{"type_key": ""},
    {"type_key": "IRModule", "attrs": {"functions": "2", "type_definitions": "4"}},
    {"type_key": "Map", "data": [3, 12]}, {"type_key": "GlobalVar", "attrs": {"name_hint": "30"}},
    {"type_key": "Map", "data": [5, 6]}, {"type_key": "GlobalTypeVar", "attrs": {"kind": "5", "name_hint": "31"}},
    {"type_key": "relay.TypeData", "attrs": {"header": "5", "type_vars": "7", "constructors": "9"}},
    {"type_key": "Array", "data": [8]}, {"type_key": "TypeVar", "attrs": {"kind": "0", "name_hint": "32"}},
    {"type_key": "Array", "data": [10, 11]},
    {"type_key": "relay.Constructor", "attrs": {"name_hint": "33", "inputs": "7", "belong_to": "5", "tag": "167772160"}},
    {"type_key": "relay.Constructor", "attrs": {"name_hint": "34", "inputs": "35", "belong_to": "5", "tag": "167772161"}},
    {"type_key": "relay.Function", "attrs": {"params": "13", "body": "19", "ret_type": "0", "type_params": "35", "attrs": "0"}},
    {"type_key": "Array", "data": [14]}, {"type_key": "relay.Var", "attrs": {"vid": "15", "type_annotation": "16"}},
    {"type_key": "relay.Id", "attrs": {"name_hint": "36"}},
    {"type_key": "TypeCall", "attrs": {"func": "5", "args": "17"}}, {"type_key": "Array", "data": [18]},
    {"type_key": "relay.TensorType", "attrs": {"dtype": "int32", "shape": "35"}},
    {"type_key": "relay.Match", "attrs": {"data": "14", "clauses": "20", "complete": "1"}}, {"type_key": "Array", "data": [21, 22]},
    {"type_key": "relay.Clause", "attrs": {"lhs": "23", "rhs": "26"}}, {"type_key": "relay.Clause", "attrs": {"lhs": "28", "rhs": "29"}},
    {"type_key": "relay.PatternConstructor", "attrs": {"constructor": "10", "patterns": "24"}}, {"type_key": "Array", "data": [25]},
    {"type_key": "relay.PatternVar", "attrs": {"var": "26"}}, {"type_key": "relay.Var", "attrs": {"vid": "27", "type_annotation": "0"}},
    {"type_key": "relay.Id", "attrs": {"name_hint": "36"}}, {"type_key": "relay.PatternWildcard"},
    {"type_key": "relay.Constant", "attrs": {"data": "0"}},
    {"type_key": "runtime.String", "repr_str": "main"}, {"type_key": "runtime.String", "repr_str": "Maybe"},
    {"type_key": "runtime.String", "repr_str": "A"}, {"type_key": "runtime.String", "repr_str": "Just"},
    {"type_key": "runtime.String", "repr_str": "Nothing"}, {"type_key": "Array"}, {"type_key": "runtime.String", "repr_str": "x"}],
    "b64ndarrays": [")" +
      base64_encode(array_to_bytes(NDArray::of<int32_t>({}, std::vector<int32_t>{7}, DType::int_(32)))) +
      "\"]}";
  const IRModule module = load_json(text).module;
  const IRModule wanted =
      infer_types(parse_module(std::string(kVersionLine) +
                               "type Maybe[A] { Just(A), Nothing, }\n"
                               "def @main(%x: Maybe[int32]) { match (%x) { Just(%y) => %y, _ => 7 } }\n"));
  EXPECT_TRUE(structural_equal(*module, *wanted)) << astext(module);
  EXPECT_EQ(type_text(module->find("main")->body()->checked_type()), "int32");
  expect_round_trip(module, "Maybe");
}

}  // namespace
}  // namespace baton::text
