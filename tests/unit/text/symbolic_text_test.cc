// Symbolic extents in text, metadata and both forms of JSON.
#include <gtest/gtest.h>

#include "baton/ir/attr_objects.h"
#include "baton/ir/build.h"
#include "baton/ir/structural.h"
#include "baton/support/diagnostic.h"
#include "baton/text/json/json.h"
#include "baton/text/parser.h"
#include "baton/text/printer.h"

namespace baton::text {
namespace {

const DType f32 = DType::float_(32);

std::string text_of(const IRModuleNode& module) {
  PrintOptions options;
  options.spans = false;
  return print(module, options);
}

// fn (%x: Tensor[first], %y: Tensor[second]) -> Tensor[first] { %x }
IRModule module_of(std::vector<Dim> first, std::vector<Dim> second) {
  const Type type = tensor_type(std::move(first), f32);
  const Var x = var("x", type), y = var("y", tensor_type(std::move(second), f32));
  IRModule module = make_module();
  module->set("main", function({x, y}, Expr(x), type));
  return module;
}

std::vector<Dim> shape_of(const IRModule& module, size_t param) {
  return as_type<TensorTypeNode>(module->find("main")->params().at(param)->annotation())->shape();
}

std::string error_of(const std::string& text) {
  try {
    parse_module(text);
  } catch (const DiagnosticError& error) {
    return error.diagnostics().at(0).message;
  }
  return "no error";
}

std::vector<std::pair<std::vector<Dim>, std::vector<Dim>>> shapes() {
  const Dim n = extent_var({"n"}), m = extent_var({"m", DType::int_(64)}), other = extent_var({"n"}),
            size = extent_var({"s", DType::int_(32), true});
  return {{{n, 3}, {n}},
          {{n + 1, n}, {n}},
          {{n, other}, {other, n}},
          {{n * 2, n - 1, m * n}, {m, floor_div(n + 1, 2), size, Dim::any()}},
          {{n * m * 3 - size + 7}, {n * -2 + m, floor_div(n * 2 + 1, 3) * m}},
          {{size * size}, {}}};
}

TEST(SymbolicText, ProgramsComeBack) {
  for (const auto& [first, second] : shapes()) {
    const IRModule module = module_of(first, second);
    const std::string text = text_of(*module);
    const IRModule back = parse_module(text);
    EXPECT_TRUE(structural_equal(*module, *back)) << text;
    EXPECT_EQ(structural_hash(*module), structural_hash(*back));
    EXPECT_EQ(type_text(module->find("main")->params()[1]->annotation()),
              type_text(back->find("main")->params()[1]->annotation()));
    EXPECT_EQ(text_of(*parse_module(text_of(*back))), text_of(*back));
  }
}

TEST(SymbolicText, TextIsAsOfTvm) {
  const Dim n = extent_var({"n"});
  const std::string text = text_of(*module_of({n, n + 1}, {n}));
  EXPECT_NE(text.find("%x: Tensor[(meta[tir.Var][0], meta[tir.Add][0]), float32]"), std::string::npos)
      << text;
  EXPECT_NE(text.find("%y: Tensor[(meta[tir.Var][0]), float32]"), std::string::npos);
  for (const char* part : {R"("keys": [
        "tir.Var", 
        "tir.Add"
      ])",
                           R"("type_key": "tir.Var", 
      "attrs": {
        "dtype": "int32", 
        "name": "4", 
        "span": "0", 
        "type_annotation": "0"
      })",
                           R"("type_key": "tir.Add", 
      "attrs": {
        "a": "3", 
        "b": "7", 
        "dtype": "int32", 
        "span": "0"
      })"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(SymbolicText, EqualReferencesAreOneVariable) {
  const Dim n = extent_var({"n"});
  const std::string text = text_of(*module_of({n}, {n}));
  const IRModule one = parse_module(text), two = parse_module(text);
  EXPECT_EQ(shape_of(one, 0), shape_of(one, 1));
  EXPECT_NE(shape_of(one, 0), shape_of(two, 0)) << "each reading makes variables of its own";
  EXPECT_TRUE(structural_equal(*one, *two));
}

TEST(SymbolicText, GivenObjectsAreTheExtents) {
  const Dim n = extent_var({"n"});
  const MetaTable table{{"tir.Var", {{AttrValue(Ref<const AttrObject>(make_ref<const ExtentAttr>(n)))}}}};
  const IRModule module =
      parse_module("#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(meta[tir.Var][0]), float32]) { %x }",
                   "given", {}, table);
  EXPECT_EQ(shape_of(module, 0), std::vector<Dim>{n});
}

TEST(SymbolicText, Errors) {
  const auto with = [](const std::string& extent, const std::string& nodes) {
    return "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(" + extent + "), float32]) { %x }\n" +
           (nodes.empty() ? std::string()
                          : "#[metadata]\n{\"root\": 1, \"nodes\": [{\"type_key\": \"\"}, {\"type_key\": "
                            "\"Map\", \"keys\": [\"" +
                                extent.substr(5, extent.find(']') - 5) +
                                "\"], \"data\": [2]}, {\"type_key\": \"Array\", \"data\": [3]}, " + nodes +
                                "], \"b64ndarrays\": []}");
  };
  EXPECT_NE(error_of(with("meta[tir.Var][0]", "")).find("is not in the metadata section"), std::string::npos);
  EXPECT_NE(error_of(with("meta[tir.Var][1]",
                          R"({"type_key": "tir.Var", "attrs": {"dtype": "int32", "name": "n"}})"))
                .find("is not in the metadata section"),
            std::string::npos);
  EXPECT_NE(error_of(with("meta[tir.Var][0]",
                          R"({"type_key": "tir.Var", "attrs": {"dtype": "float32", "name": "n"}})"))
                .find("is of type float32"),
            std::string::npos);
  EXPECT_NE(error_of(with("meta[tir.Mod][0]", R"({"type_key": "tir.Mod", "attrs": {"a": "3", "b": "3"}})"))
                .find("an extent is a tir.Mod"),
            std::string::npos);
  EXPECT_NE(error_of(with("meta[tir.Add][0]", R"({"type_key": "tir.Add", "attrs": {"a": "3", "b": "3"}})"))
                .find("nested"),
            std::string::npos)
      << "a part of itself";
  EXPECT_NE(error_of(with("meta[IntImm][0]",
                          R"({"type_key": "IntImm", "attrs": {"dtype": "int32", "value": "-3"}})"))
                .find("-3"),
            std::string::npos);
}

TEST(SymbolicText, Json) {
  for (const auto& [first, second] : shapes()) {
    const IRModule module = module_of(first, second);
    const std::string json = to_json(*module);
    const IRModule back = from_json(json).module;
    EXPECT_TRUE(structural_equal(*module, *back)) << json;
    EXPECT_EQ(to_json(*from_json(to_json(*back)).module), to_json(*back));
  }
  const Dim n = extent_var({"n"});
  const std::string json = to_json(*module_of({n + 1}, {n}));
  EXPECT_NE(json.find(R"({"extent":"var","name":"n","dtype":"int32"})"), std::string::npos) << json;
  EXPECT_NE(json.find(R"({"extent":"add","args":[{"expr":0},1]})"), std::string::npos) << json;
  EXPECT_NE(json.find(R"({"tensor":[{"expr":1}],"dtype":"float32"})"), std::string::npos) << json;
}

TEST(SymbolicText, DamagedJson) {
  const auto error = [](const std::string& nodes) {
    try {
      from_json(R"({"format":"baton.ir","version":2,"nodes":[)" + nodes + R"(],"root":0})");
    } catch (const Error& what) {
      return std::string(what.what());
    }
    return std::string("no error");
  };
  EXPECT_NE(error(R"({"extent":"mod","args":[1,2]})").find("no operation on two extents"), std::string::npos);
  EXPECT_NE(error(R"({"extent":"add","args":[1]})").find("no operation on two extents"), std::string::npos);
  EXPECT_NE(error(R"({"extent":"var","name":"n","dtype":"float32"})").find("of type float32"),
            std::string::npos);
  EXPECT_NE(error(R"({"tensor":[{"expr":0}],"dtype":"int8"})").find("node 0"), std::string::npos);
  EXPECT_NE(error(R"({"tensor":[-9223372036854775807],"dtype":"int8"})"), "no error");
}

TEST(SymbolicText, SavedByTvm) {
  const std::string json = R"({"root": 1, "nodes": [{"type_key": ""},
    {"type_key": "relay.Function", "attrs": {"params": "2", "body": "3", "ret_type": "0", "type_params": "0", "attrs": "0"}},
    {"type_key": "Array", "data": [3]},
    {"type_key": "relay.Var", "attrs": {"vid": "4", "type_annotation": "5"}},
    {"type_key": "relay.Id", "attrs": {"name_hint": "x"}},
    {"type_key": "relay.TensorType", "attrs": {"shape": "6", "dtype": "float32"}},
    {"type_key": "Array", "data": [7, 8]},
    {"type_key": "tir.SizeVar", "attrs": {"name": "9", "dtype": "int64", "type_annotation": "0"}},
    {"type_key": "tir.Mul", "attrs": {"a": "7", "b": "10", "dtype": "int64"}},
    {"type_key": "runtime.String", "repr_str": "batch"},
    {"type_key": "IntImm", "attrs": {"dtype": "int64", "value": "2"}}], "b64ndarrays": []})";
  const Expr read = from_json(json).expr;
  EXPECT_EQ(type_text(as<FunctionNode>(read)->params()[0]->annotation()),
            "Tensor[(batch, 2*batch), float32]");
}

}  // namespace
}  // namespace baton::text
