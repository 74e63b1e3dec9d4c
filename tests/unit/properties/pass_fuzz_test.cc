// Passes on random programs of the kind that they look for: normal forms over patterns, parallel branches,
// regions between qnn.dequantize and qnn.quantize. No crash, types that are right, origins conserved (the
// verifier), the same values.
//
// BATON_FUZZ_SEED=S: the program of that seed, shown. BATON_FUZZ_SECONDS=N: how long each slow test runs;
// BATON_FUZZ_FIRST=S: from which seed on.
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>

#include <gtest/gtest.h>

#include "baton/codegen/backend.h"
#include "baton/driver/initialize.h"
#include "baton/ir/analysis/well_formed.h"
#include "baton/ir/structural.h"
#include "baton/pass/origin_verifier.h"
#include "baton/pass/pass.h"
#include "baton/pass/pass_list.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

#include "properties/module_value.h"
#include "properties/random_branches.h"
#include "properties/random_patterns.h"
#include "properties/random_quantized.h"

namespace baton::properties {
namespace {

using Operands = std::vector<NDArray>;

class PassFuzz : public ::testing::Test {
 protected:
  void SetUp() override {
    initialize();
    passes_ = std::make_shared<PassContext>();
    passes_->opt_level = 4;
    passes_->instruments = {std::make_shared<OriginVerifier>()};
  }

  /// One program: its faults are reported by EXPECT.
  using Check = std::function<void(uint64_t seed, bool show)>;

  /// The first `count` seeds, or the one that BATON_FUZZ_SEED names.
  void check_some(int count, const Check& check) {
    if (const char* seed = std::getenv("BATON_FUZZ_SEED"))
      return check(std::strtoull(seed, nullptr, 10), true);
    for (int seed = 0; seed < count && !HasFailure(); ++seed) check(static_cast<uint64_t>(seed), false);
  }
  void check_for_long(const Check& check) {
    const char *seconds = std::getenv("BATON_FUZZ_SECONDS"), *first = std::getenv("BATON_FUZZ_FIRST");
    const auto end = std::chrono::steady_clock::now() +
                     std::chrono::duration<double>(seconds ? std::strtod(seconds, nullptr) : 120);
    uint64_t seed = first ? std::strtoull(first, nullptr, 10) : 1000, programs = 0;
    for (; std::chrono::steady_clock::now() < end && !HasFailure(); ++seed, ++programs) check(seed, false);
    std::cout << programs << " programs";
    for (const auto& [pass, count] : changed_) std::cout << "; " << pass << " changed " << count;
    std::cout << "\n";
  }

  IRModule typed(const std::string& text, uint64_t seed) {
    return infer(parse_module(text, "seed " + std::to_string(seed)));
  }
  IRModule infer(const IRModule& module) { return (*make_pass("InferType"))(module, host_context()); }

  /// `module` after `passes`, checked for form and types; null where a pass says that it is not for it.
  IRModule after(const std::string& passes, const IRModule& module, bool show) {
    try {
      const BuildContext under = host_context().with_passes(passes_);
      const InstrumentScope scope(passes_);
      IRModule result = module;
      for (const Pass& pass : parse_passes(passes)) result = infer((*pass)(result, under));
      EXPECT_TRUE(types_are_right(*result));
      const auto faults = form_faults(*result);
      EXPECT_TRUE(faults.empty()) << faults.front().text;
      changed_[passes] += !structural_equal(*module, *result);
      return result;
    } catch (const NotSupported& error) {
      if (show) std::cout << passes << ": " << error.what() << "\n";
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
    return {};
  }

  /// The same values after each of `passes`.
  void check_values(const std::string& text, uint64_t seed, bool show,
                    const std::vector<std::string>& passes) {
    if (show) std::cout << text;
    interpreter_.forget();
    SCOPED_TRACE("BATON_FUZZ_SEED=" + std::to_string(seed));
    const IRModule module = typed(text, seed);
    const Operands expected = value_of_main(interpreter_, module);
    for (const std::string& each : passes) {
      SCOPED_TRACE(each);
      const IRModule result = after(each, module, show);
      if (!result) continue;
      try {
        EXPECT_LE(difference(expected, value_of_main(interpreter_, result)), 2e-4);
      } catch (const NotSupported& error) {
        if (show) std::cout << each << ": " << error.what() << "\n";
      }
    }
  }

  PassContextRef passes_;
  run::Interpreter interpreter_;
  std::map<std::string, int> changed_;
};

// ---- Patterns

const std::vector<std::string> kForms = {"ToANormalForm",
                                         "ToBasicBlockNormalForm",
                                         "ToGraphNormalForm",
                                         "ToANormalForm,ToGraphNormalForm",
                                         "ToBasicBlockNormalForm,ToANormalForm",
                                         "ToGraphNormalForm,ToBasicBlockNormalForm",
                                         "ToANormalForm,ManifestLifetimes",
                                         "ToANormalForm,AnnotateUsedMemory",
                                         "DeadCodeElimination",
                                         "DeadCodeElimination(inline_once=True)",
                                         "EliminateCommonSubexpr",
                                         "LambdaLift",
                                         "PartialEvaluate",
                                         "to_cps",
                                         "to_cps,un_cps",
                                         "Defunctionalization",
                                         "FoldConstant",
                                         "FuseOps",
                                         "PlanDevices",
                                         "CombineParallelDense"};

TEST_F(PassFuzz, NormalFormsOverPatterns) {
  check_some(60, [&](uint64_t seed, bool show) { check_values(random_patterns(seed), seed, show, kForms); });
}
TEST_F(PassFuzz, SlowNormalFormsOverPatterns) {
  check_for_long([&](uint64_t seed, bool show) { check_values(random_patterns(seed), seed, show, kForms); });
}

// ---- Parallel branches

const std::vector<std::string> kCombines = {"CombineParallelDense(min_num_branches=2)",
                                            "CombineParallelDense(min_num_branches=2, to_batch=False)",
                                            "CombineParallelBatchMatmul(min_num_branches=2)",
                                            "CombineParallelConv2D(min_num_branches=2)", "BatchingOps"};

TEST_F(PassFuzz, ParallelBranches) {
  check_some(60,
             [&](uint64_t seed, bool show) { check_values(random_branches(seed), seed, show, kCombines); });
}
TEST_F(PassFuzz, SlowParallelBranches) {
  check_for_long(
      [&](uint64_t seed, bool show) { check_values(random_branches(seed), seed, show, kCombines); });
}

// ---- Quantised regions

NDArray quantized_argument(const std::string& name, const TensorTypeNode& type) {
  const NDArray rule = parameter_value(name, type.extents(), type.dtype());
  if (name[0] == 'q') return rule;
  NDArray value = NDArray::empty(type.extents(), type.dtype());
  for (int64_t i = 0; i < value.size(); ++i) {
    const auto number = static_cast<int64_t>(name.size()) * 3 + name.back() + i;
    if (name[0] == 's')
      value.as<float>()[static_cast<size_t>(i)] = 0.5f / static_cast<float>(1 << (number % 4));
    else
      value.as<int32_t>()[static_cast<size_t>(i)] = static_cast<int32_t>(number % 5) - 2;
  }
  return value;
}

Operands quantized_value(run::Interpreter& interpreter, const IRModule& module) {
  std::vector<run::Value> args;
  for (const Var& param : module->find("main")->params())
    args.push_back(run::tensor(quantized_argument(param->name(), *as_type<TensorTypeNode>(type_of(*param)))));
  const run::Value value = interpreter.run(module, "main", args);
  Operands arrays;
  if (value.array) arrays.push_back(value.array);
  for (const run::Value& field : value.fields) arrays.push_back(field.array);
  return arrays;
}

double most_apart(const Operands& a, const Operands& b) {
  double most = a.size() == b.size() ? 0 : 1e30;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i)
    for (int64_t at = 0; at < a[i].size(); ++at)
      if (a[i].dtype().is_int() || a[i].dtype().is_uint())
        most = std::max(most, std::abs(run::element(a[i], at) - run::element(b[i], at)));
  return most;
}

class QuantizedFuzz : public PassFuzz {
 protected:
  void check(uint64_t seed, bool show) {
    const QuantizedProgram program = random_quantized(seed);
    if (show) std::cout << program.text << "within " << program.quanta << " quanta\n";
    interpreter_.forget();
    SCOPED_TRACE("BATON_FUZZ_SEED=" + std::to_string(seed));
    const IRModule module = typed(program.text, seed);
    const std::string lower = "qnn.Legalize,qnn.CanonicalizeOps";
    for (const char* pass : {"FakeQuantizationToInteger", "FakeQuantizationToInteger(hard_fail=True)",
                             "FakeQuantizationToInteger(use_qat=True)"}) {
      SCOPED_TRACE(pass);
      const IRModule integers = after(pass, module, show);
      if (!integers) continue;
      const IRModule lowered = after(lower, integers, show);
      if (!lowered || program.quanta < 0 || structural_equal(*module, *integers)) continue;
      const IRModule plain = after(lower, module, show);
      ++compared_;
      EXPECT_LE(most_apart(quantized_value(interpreter_, plain), quantized_value(interpreter_, lowered)),
                program.quanta);
    }
  }
  int compared_ = 0;
};

TEST_F(QuantizedFuzz, Regions) {
  check_some(60, [&](uint64_t seed, bool show) { check(seed, show); });
  EXPECT_TRUE(std::getenv("BATON_FUZZ_SEED") || compared_ > 20) << compared_;
}
TEST_F(QuantizedFuzz, SlowRegions) {
  check_for_long([&](uint64_t seed, bool show) { check(seed, show); });
}

}  // namespace
}  // namespace baton::properties
