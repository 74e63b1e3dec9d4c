// The types of operators whose operands have symbolic extents: their expressions, identities and refusals.
#include <regex>

#include <gtest/gtest.h>

#include "baton/ir/attr_objects.h"
#include "baton/ops/register.h"
#include "baton/support/diagnostic.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

namespace baton {
namespace {

struct SymbolicCase {
  std::string params;  ///< "(n, 3); (m)i": float32 tensors, with i of int32
  std::string body;    ///< over %a, %b, %c
  std::string type;    ///< "(n + 1, 3)" for a float32 tensor, any other type in full; empty for a refusal
};

class SymbolicTypes : public testing::Test {
 protected:
  void SetUp() override { register_all_ops(); }

  std::string type_of(const std::string& text) {
    return "Tensor[" + std::regex_replace(text.substr(0, text.find(')') + 1), std::regex("[nmc]"), "@$&") +
           (text.back() == 'i' ? ", int32]" : ", float32]");
  }
  // n, m and c are meta[tir.Var][0..2], n + 1 is meta[tir.Add][0].
  std::string as_metadata(std::string text) {
    const std::pair<const char*, const char*> names[] = {{"@n \\+ 1", "meta[tir.Add][0]"},
                                                         {"@n", "meta[tir.Var][0]"},
                                                         {"@m", "meta[tir.Var][1]"},
                                                         {"@c", "meta[tir.Var][2]"}};
    for (const auto& [name, meta] : names) text = std::regex_replace(text, std::regex(name), meta);
    return text;
  }
  MetaTable table() const {
    const auto entry = [](Dim dim) {
      return MetaObject{AttrValue(Ref<const AttrObject>(make_ref<const ExtentAttr>(dim)))};
    };
    return {{"tir.Var", {entry(n), entry(m), entry(c)}}, {"tir.Add", {entry(n + 1)}}};
  }
  std::string module_of(const SymbolicCase& each) {
    std::string params;
    size_t begin = 0;
    for (char name = 'a'; begin < each.params.size(); ++name) {
      const size_t end = std::min(each.params.find("; ", begin), each.params.size());
      params += (params.empty() ? "%" : ", %") + std::string(1, name) + ": " +
                type_of(each.params.substr(begin, end - begin));
      begin = end + 2;
    }
    return "#[version = \"0.0.5\"]\ndef @main(" + as_metadata(params) + ") {\n  " + each.body + "\n}\n";
  }
  std::string result_of(const std::string& module) {
    try {
      const IRModule typed = infer_types(parse_module(module, "symbolic", {}, table()));
      return type_text(as<FunctionNode>(typed->find("main"))->ret_type());
    } catch (const DiagnosticError& error) {
      return error.diagnostics().at(0).code;
    }
  }
  void check(const std::vector<SymbolicCase>& cases) {
    for (const SymbolicCase& each : cases) {
      const std::string text = module_of(each), got = result_of(text);
      if (each.type.empty())
        EXPECT_EQ(got.substr(0, 3), "E02") << text;
      else
        EXPECT_EQ(got, each.type[0] == '(' && each.type.find('T') == std::string::npos
                           ? "Tensor[" + each.type + ", float32]"
                           : each.type)
            << text;
    }
  }

  Dim n = extent_var({"n"}), m = extent_var({"m"}), c = extent_var({"c"});
};

TEST_F(SymbolicTypes, Elementwise) {
  check({{"(n, 3)", "nn.relu(%a)", "(n, 3)"},
         {"(n, 3); (n, 3)", "add(%a, %b)", "(n, 3)"},
         {"(n, 3); (1, 3)", "add(%a, %b)", "(n, 3)"},
         {"(n, 3); (3)", "add(%a, %b)", "(n, 3)"},
         {"(n, 3); (?, 3)", "add(%a, %b)", "(n, 3)"},
         {"(?, 3); (n, 3)", "add(%a, %b)", "(n, 3)"},
         {"(1, m); (n, 1)", "add(%a, %b)", "(n, m)"},
         {"(n, 3); (m, 3)", "add(%a, %b)", ""},
         {"(n, 3); (4, 3)", "add(%a, %b)", ""},
         {"(n, 3); (n + 1, 3)", "add(%a, %b)", ""},
         {"(n + 1, 3); (n + 1, 3)", "add(%a, %b)", "(n + 1, 3)"},
         {"(n, 3); (n, 3)", "less(%a, %b)", "Tensor[(n, 3), bool]"},
         {"(n, 3)", "zeros_like(%a)", "(n, 3)"},
         {"(n)", "cast(%a, dtype=\"int8\")", "Tensor[(n), int8]"}});
}

TEST_F(SymbolicTypes, Products) {
  check({{"(n, 3); (5, 3)", "nn.dense(%a, %b, units=None)", "(n, 5)"},
         {"(n, c); (m, c)", "nn.dense(%a, %b, units=None)", "(n, m)"},
         {"(n, c); (5, 3)", "nn.dense(%a, %b, units=None)", "(n, 5)"},
         {"(n, c); (5, m)", "nn.dense(%a, %b, units=None)", ""},
         {"(n, 2, 3); (n, 5, 3)", "nn.batch_matmul(%a, %b, transpose_b=True)", "(n, 2, 5)"},
         {"(n, 2, 3); (1, 5, 3)", "nn.batch_matmul(%a, %b, transpose_b=True)", "(n, 2, 5)"},
         {"(n, 2, 3); (4, 5, 3)", "nn.batch_matmul(%a, %b, transpose_b=True)", "(4, 2, 5)"},
         {"(n, 2, 3); (n + 1, 5, 3)", "nn.batch_matmul(%a, %b, transpose_b=True)", ""},
         {"(n, 3); (3, m)", "nn.matmul(%a, %b, units=None)", "(n, m)"}});
}

TEST_F(SymbolicTypes, Windows) {
  check({{"(n, 3, 8, 8); (5, 3, 3, 3)", "nn.conv2d(%a, %b, padding=[1, 1, 1, 1])", "(n, 5, 8, 8)"},
         {"(1, 3, n, m); (5, 3, 3, 3)", "nn.conv2d(%a, %b, padding=[1, 1, 1, 1])", "(1, 5, n, m)"},
         {"(1, 3, n, m); (5, 3, 3, 3)", "nn.conv2d(%a, %b, strides=[2, 2], padding=[0, 0, 0, 0])",
          "(1, 5, (n + 1)//2 - 1, (m + 1)//2 - 1)"},
         {"(1, c, 8, 8); (5, c, 1, 1)", "nn.conv2d(%a, %b, padding=[0, 0, 0, 0])", "(1, 5, 8, 8)"},
         {"(n, 3, 8); (5, 3, 3)", "nn.conv1d(%a, %b, padding=[1, 1])", "(n, 5, 8)"},
         {"(n, 3, m, 8)", "nn.max_pool2d(%a, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0])",
          "(n, 3, m//2, 4)"},
         {"(n, 3, m, 8)", "nn.global_avg_pool2d(%a)", "(n, 3, 1, 1)"},
         {"(n, 3)", "nn.pad(%a, 0f, pad_width=[[1, 1], [0, 2]])", "(n + 2, 5)"},
         {"(n, 3, 4, m)", "nn.upsampling(%a, scale_h=2f, scale_w=2f)", "(n, 3, 8, 2*m)"},
         {"(n, 3, 4, m)", "nn.upsampling(%a, scale_h=2f, scale_w=1.5f)", "(n, 3, 8, ?)"}});
}

TEST_F(SymbolicTypes, ShapesAndAxes) {
  check(
      {{"(n, 4, 5)", "reshape(%a, newshape=[-1, 20])", "(n, 20)"},
       {"(n, 4, 5)", "reshape(%a, newshape=[0, -1])", "(n, 20)"},
       {"(n, 4, 5)", "reshape(%a, newshape=[-1])", "(20*n)"},
       {"(n, 4, 5)", "reshape(%a, newshape=[-3, 5])", "(4*n, 5)"},
       {"(n, 4)", "reshape(%a, newshape=[8, -1])", "(8, n//2)"},
       {"(n, m)", "reshape(%a, newshape=[-1])", "(m*n)"},
       {"(n, 4)", "reshape(%a, newshape=[3, 4])", "(3, 4)"},
       {"(n, 4, m)", "nn.batch_flatten(%a)", "(n, 4*m)"},
       {"(n, 4, m)", "transpose(%a, axes=[2, 0, 1])", "(m, n, 4)"},
       {"(n, 1, m)", "squeeze(%a, axis=[1])", "(n, m)"},
       {"(n, 1, m)", "squeeze(%a)", ""},
       {"(n)", "expand_dims(%a, axis=0)", "(1, n)"},
       {"(n, 3); (m, 3)", "concatenate((%a, %b))", "(m + n, 3)"},
       {"(n, 3); (2, 3)", "concatenate((%a, %b))", "(n + 2, 3)"},
       {"(n, 3); (n, 3)", "concatenate((%a, %b))", "(2*n, 3)"},
       {"(n, 3); (?, 3)", "concatenate((%a, %b))", "(?, 3)"},
       {"(n, 3); (n, 4)", "concatenate((%a, %b), axis=1)", "(n, 7)"},
       {"(n, 3); (n + 1, 4)", "concatenate((%a, %b), axis=1)", ""},
       {"(n, 3); (n, 3)", "stack((%a, %b))", "(2, n, 3)"},
       {"(n, 4)", "%0 = split(%a, indices_or_sections=2, axis=1);\n  %0.0", "(n, 2)"},
       {"(n, 4)", "%0 = split(%a, indices_or_sections=[2]);\n  %0.1", "(n - 2, 4)"},
       {"(n, 4)", "strided_slice(%a, begin=[0, 1], end=[9223372036854775807, 3], strides=[1, 1], axes=None)",
        "(n, 2)"},
       {"(n, 4)", "strided_slice(%a, begin=[1, 1], end=[3, 3], strides=[1, 1], axes=None)", "(?, 2)"},
       {"(n, 4)", "tile(%a, reps=[3, 1])", "(3*n, 4)"},
       {"(n, 4)", "repeat(%a, repeats=2, axis=0)", "(2*n, 4)"},
       {"(n, 4)", "layout_transform(%a, src_layout=\"NC\", dst_layout=\"NC2c\")", "(n, 2, 2)"},
       {"(n, 4)", "layout_transform(%a, src_layout=\"NC\", dst_layout=\"CN\")", "(4, n)"}});
}

TEST_F(SymbolicTypes, ReductionsAndIndices) {
  check({{"(n, 4)", "sum(%a, axis=[1])", "(n)"},
         {"(n, 4)", "sum(%a, axis=[0], keepdims=True)", "(1, 4)"},
         {"(n, 4)", "argmax(%a, axis=[1])", "Tensor[(n), int32]"},
         {"(n, m)", "nn.softmax(%a)", "(n, m)"},
         {"(n, m); (c)i", "take(%a, %b, axis=0)", "(c, m)"},
         {"(7, m); (n, 2)i", "take(%a, %b, axis=0)", "(n, 2, m)"},
         {"(n, m); (n, m)i", "gather(%a, %b, axis=1)", "(n, m)"},
         {"(n, c); (c)", "nn.bias_add(%a, %b)", "(n, c)"},
         {"(n, c); (4)", "nn.bias_add(%a, %b)", "(n, c)"},
         {"(n, c); (m)", "nn.bias_add(%a, %b)", ""},
         {"(n, m); (n, m); (n, m)", "where(cast(%a, dtype=\"bool\"), %b, %c)", "(n, m)"},
         {"(n)", "topk(%a, k=1, ret_type=\"values\")", "(1)"}});
}

// A variable that meets a number has that value, in the same function.
TEST_F(SymbolicTypes, Unification) {
  check({{"(n); (n)", "if (True) { %a } else { %b }", "(n)"},
         {"(n); (4)", "if (True) { %a } else { %b }", "(4)"},
         {"(n); (?)", "if (True) { %a } else { %b }", "(?)"},
         {"(n); (m)", "if (True) { %a } else { %b }", ""},
         {"(n + 1); (4)", "if (True) { %a } else { %b }", ""},
         {"(n, n); (4, 4)", "if (True) { %a } else { %b }", "(4, 4)"},
         {"(n, n); (4, 5)", "if (True) { %a } else { %b }", ""}});
}

TEST_F(SymbolicTypes, AVariableOfSeveralFunctions) {
  const std::string vec =
      "Tensor[("
      "meta[tir.Var][0]"
      "), float32]";
  const auto module = [&](const std::string& f, const std::string& g) {
    return "#[version = \"0.0.5\"]\ndef @id(%x: " + vec + ") -> " + vec + " { %x }\n" + f + g;
  };
  const auto caller = [](const std::string& name, const std::string& extent) {
    return "def @" + name + "(%y: Tensor[(" + extent + "), float32]) { @id(%y) }\n";
  };
  // Each function finds its own value for n.
  EXPECT_EQ(result_of(module(caller("main", "4"), caller("other", "5"))), "Tensor[(n), float32]");
  EXPECT_EQ(result_of(module(caller("main", "meta[tir.Var][0]"), "")), "Tensor[(n), float32]");
  EXPECT_EQ(result_of(module(caller("main", "meta[tir.Var][1]"), "")).substr(0, 2), "E0");
  EXPECT_EQ(result_of(module("def @main(%y: Tensor[(4), float32], %z: Tensor[(5), float32]) { (@id(%y), "
                             "@id(%z)) }\n",
                             ""))
                .substr(0, 2),
            "E0")
      << "4 and 5 in one function";
}

}  // namespace
}  // namespace baton
