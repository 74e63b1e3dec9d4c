// The types of the operators of nn and image that are not in every network: results, `?`, assigned weights,
// refusals.
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "baton/ir/op.h"
#include "baton/ops/register.h"
#include "baton/support/diagnostic.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

namespace baton {
namespace {

struct NnCase {
  std::string
      params;  ///< "f(1, 3, 8), ?, i(5)": types of %0, %1, ...; `?` for a type to be found out, i for int32
  std::string call;  ///< "nn.conv1d(%0, %1)"
  std::string type;  ///< "(1, 8, 4)" for a float32 tensor, any other type in full, empty for a refusal
};

Type short_type(const std::string& text) {
  if (text[0] == '(' && text.find('T') == std::string::npos)
    return parse_type("Tensor[" + text + ", float32]");
  return parse_type(text);
}

// "f(1, 3)" -> Tensor[(1, 3), float32]; the letters stand for element types.
std::string param_type(const std::string& text) {
  static const std::map<char, std::string> dtypes{
      {'f', "float32"}, {'i', "int32"}, {'u', "uint8"}, {'w', "uint32"}};
  return "Tensor[" + text.substr(1) + ", " + dtypes.at(text[0]) + "]";
}

std::vector<std::string> split_params(const std::string& text) {
  std::vector<std::string> all(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0)
      all.emplace_back();
    else if (c != ' ' || !all.back().empty())
      all.back() += c;
  }
  return all;
}

std::string module_text(const NnCase& c) {
  std::string params, call = c.call;
  const std::vector<std::string> types = split_params(c.params);
  for (size_t i = 0; i < types.size(); ++i) {
    params += (i ? ", %p" : "%p") + std::to_string(i);
    if (types[i] != "?") params += ": " + param_type(types[i]);
  }
  for (size_t at = 0; (at = call.find('%', at)) != std::string::npos; at += 2) call.insert(at + 1, "p");
  return "#[version = \"0.0.5\"]\ndef @main(" + params + ") {\n  " + call + "\n}\n";
}

// The result's type, or the code of the first error.
std::string result_of(const std::string& module) {
  try {
    const IRModule typed = infer_types(parse_module(module));
    return type_text(as<FunctionNode>(typed->find("main"))->ret_type());
  } catch (const DiagnosticError& error) {
    return error.diagnostics().at(0).code;
  }
}

const std::vector<NnCase>& cases() {
  static const std::vector<NnCase> all = {
#include "ops/nn_types_cases.inc"
  };
  return all;
}

class NnTypes : public testing::Test {
 protected:
  void SetUp() override { register_all_ops(); }
};

TEST_F(NnTypes, ResultsAndRefusals) {
  for (const NnCase& c : cases()) {
    const std::string text = module_text(c), got = result_of(text);
    if (c.type.empty())
      EXPECT_EQ(got.substr(0, 3), "E02") << text;
    else
      EXPECT_EQ(got, type_text(short_type(c.type))) << text;
  }
}

TEST_F(NnTypes, EveryOperatorHasAResultAndARefusal) {
  std::set<std::string> typed, refused;
  for (const NnCase& c : cases())
    (c.type.empty() ? refused : typed).insert(c.call.substr(0, c.call.find('(')));
  EXPECT_EQ(typed, refused);
  EXPECT_EQ(typed.size(), 57u);
}

// These two are registered without their attributes' type, so text has no literal for them.
std::string result_with(const std::string& op, const std::vector<Expr>& args,
                        const std::vector<std::pair<std::string, AttrValue>>& values) {
  try {
    return type_text(infer_type(call(op, args, make_attrs(*find_op(op)->attrs, values)))->checked_type());
  } catch (const DiagnosticError& error) {
    return error.diagnostics().at(0).code;
  }
}

TEST_F(NnTypes, OperatorsWithoutDeclaredAttributes) {
  const Type image = parse_type("Tensor[(1, 3, ?, 32), float32]"),
             small = parse_type("Tensor[(1, 3, 16, 16), float32]");
  const std::vector<int64_t> two{2, 2};
  EXPECT_EQ(result_with("nn.dilate", {var("x", parse_type("Tensor[(2, 3), float32]"))}, {{"strides", two}}),
            "Tensor[(3, 5), float32]");
  EXPECT_EQ(result_with("nn.dilate", {var("x", parse_type("Tensor[(2), float32]"))}, {{"strides", two}}),
            "E0216");
  EXPECT_EQ(result_with("nn.avg_pool2d_grad", {var("g", small), var("x", image)},
                        {{"pool_size", two}, {"strides", two}}),
            "Tensor[(1, 3, ?, 32), float32]");
  EXPECT_FALSE(find_op("nn.dilate")->declares_attrs);
  EXPECT_FALSE(find_op("nn.avg_pool2d_grad")->declares_attrs);
}

}  // namespace
}  // namespace baton
