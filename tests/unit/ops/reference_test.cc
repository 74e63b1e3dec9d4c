// Every case of tests/reference/ops.jsonl.gz (what TVM 0.11.1 said and computed) whose operators are there.
#include "text/reference.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>

#include <Halide.h>
#include <gtest/gtest.h>

#include "baton/ir/op.h"
#include "baton/ir/visit.h"
#include "baton/ops/register.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/support/diagnostic.h"
#include "baton/support/json.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

#include "in_parts.h"
#include "ops/evaluate.h"
#include "ops/numbers.h"

namespace baton {
namespace {

std::string decoded(const std::string& base64) {
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : base64) {
    if (c == '=') break;
    const int value = c >= 'a'   ? c - 'a' + 26
                      : c >= 'A' ? c - 'A'
                      : c >= '0' ? c - '0' + 52
                      : c == '+' ? 62
                                 : 63;
    bits = bits << 6 | static_cast<uint32_t>(value);
    if ((count += 6) >= 8) bytes += static_cast<char>(bits >> (count -= 8));
  }
  return bytes;
}

Shape shape_of(const Json& spec) { return spec["shape"].get<Shape>(); }
DType dtype_of(const Json& spec) { return *DType::parse(spec["dtype"].get<std::string>()); }

void flatten(const Json& data, std::vector<double>& into) {
  if (data.is_array())
    for (const Json& item : data) flatten(item, into);
  else if (data.is_string())
    into.push_back(std::stod(data.get<std::string>()));  // nan and infinities
  else
    into.push_back(data.is_boolean() ? data.get<bool>() : data.get<double>());
}

NDArray input_of(const Json& spec) {
  const DType dtype = dtype_of(spec);
  if (spec.contains("data")) {
    std::vector<double> values;
    flatten(spec["data"], values);
    return test::from_numbers(values, shape_of(spec), dtype);
  }
  ValueRange range = default_range(dtype);
  range.lo = spec.value("lo", range.lo);
  range.hi = spec.value("hi", range.hi);
  return tensor_value(spec["name"].get<std::string>(), shape_of(spec), dtype, range);
}

/// The module of a case, typed.
IRModule typed_module(const Json& each) { return infer_types(parse_module(each["text"].get<std::string>())); }

class ReferenceOps : public testing::Test {
 protected:
  void SetUp() override { register_all_ops(); }
};

TEST_F(ReferenceOps, Types) {
  int seen = 0;
  for (const Json& each : text::reference("ops.jsonl.gz")) {
    if (each["kind"] == "ill_typed") continue;
    const std::string id = each["id"].get<std::string>();
    try {
      const IRModule module = typed_module(each);
      ++seen;
      EXPECT_EQ(type_text(module->find("main")->ret_type()), each["ret_type"].get<std::string>()) << id;
      EXPECT_TRUE(types_are_right(*module)) << id;
    } catch (const std::exception& error) {
      ADD_FAILURE() << id << "\n" << each["text"].get<std::string>() << error.what();
    }
  }
  EXPECT_GE(seen, 400);
}

TEST_F(ReferenceOps, Refusals) {
  int seen = 0;
  for (const Json& each : text::reference("ops.jsonl.gz")) {
    if (each["kind"] != "ill_typed") continue;
    const std::string id = each["id"].get<std::string>();
    try {
      typed_module(each);
      ADD_FAILURE() << id << " is accepted\n" << each["text"].get<std::string>();
    } catch (const Error&) {
      ++seen;
    } catch (const std::exception& error) {
      ADD_FAILURE() << id << " breaks Baton: " << error.what();
    }
  }
  EXPECT_GE(seen, 50);
}

bool can_run(const Expr& function) {
  bool all = true;
  post_order(function, [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    all = all && (!call || !call->op() || call->op()->compute);
  });
  return all;
}

/// Runs all cases whose operators can all run (those whose id holds BATON_OPS, if that is set), or every
/// `step`-th of them from `first` on.
void check_values(const RunCall& run, size_t first = 0, size_t step = 1) {
  std::string skipped;
  size_t index = 0;
  for (const Json& each : text::reference("ops.jsonl.gz")) {
    if (each["kind"] != "numeric" || index++ % step != first) continue;
    if (const char* only = std::getenv("BATON_OPS");
        only && each["id"].get<std::string>().find(only) == std::string::npos)
      continue;
    const std::string id = each["id"].get<std::string>();
    try {
      const IRModule module = typed_module(each);
      const Function main = module->find("main");
      if (!can_run(Expr(main))) {  // an operator that is only typed
        skipped += " " + id;
        continue;
      }
      std::vector<NDArray> inputs;
      for (const Json& spec : each["inputs"]) inputs.push_back(input_of(spec));
      const std::vector<NDArray> outputs = evaluate(main, inputs, run);
      EXPECT_EQ(outputs.size(), each["outputs"].size()) << id;
      for (size_t k = 0; k < std::min(outputs.size(), each["outputs"].size()); ++k) {
        const Json& wanted = each["outputs"][k];
        const std::string bytes = decoded(wanted["b64"].get<std::string>());
        const NDArray expected = NDArray::from_bytes(shape_of(wanted), dtype_of(wanted), bytes.data());
        EXPECT_EQ(outputs[k].shape(), expected.shape()) << id;
        EXPECT_EQ(outputs[k].dtype().str(), expected.dtype().str()) << id;
        if (testing::Test::HasFailure() &&
            (outputs[k].shape() != expected.shape() || !(outputs[k].dtype() == expected.dtype())))
          break;
        const std::vector<double> a = test::numbers(outputs[k]), b = test::numbers(expected);
        const double rtol = each["rtol"].get<double>(), atol = each["atol"].get<double>();
        for (size_t i = 0; i < a.size(); ++i) {
          if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
          if (std::fabs(a[i] - b[i]) <= atol + rtol * std::fabs(b[i])) continue;
          ADD_FAILURE() << id << ": element " << i << " of output " << k << " is " << a[i] << ", not " << b[i]
                        << "\n"
                        << each["text"].get<std::string>();
          break;
        }
      }
    } catch (const std::exception& error) {
      ADD_FAILURE() << id << "\n" << each["text"].get<std::string>() << error.what();
    } catch (const Halide::Error& error) {  // no std::exception
      ADD_FAILURE() << id << "\n" << each["text"].get<std::string>() << error.what();
    }
  }
  std::cout << "not run:" << skipped << "\n";
}

class ReferenceValues : public InParts<7> {
 protected:
  void SetUp() override { register_all_ops(); }
};
BATON_TEST_IN_PARTS(ReferenceValues, 7);
TEST_P(ReferenceValues, AreThoseOfStages) { check_values(run_stages, GetParam(), 7); }

TEST_F(ReferenceOps, NoComputeIsLost) {
  int runnable = 0;
  for (const Json& each : text::reference("ops.jsonl.gz"))
    if (each["kind"] == "numeric") runnable += can_run(Expr(typed_module(each)->find("main")));
  EXPECT_GE(runnable, 469);
}

TEST_F(ReferenceOps, SlowCompiledValues) { check_values(run_kernel_of("")); }
TEST_F(ReferenceOps, SlowFoldedValues) { check_values(run_folded()); }
TEST_F(ReferenceOps, SlowTrivialValues) { check_values(run_kernel_of("trivial")); }

}  // namespace
}  // namespace baton
