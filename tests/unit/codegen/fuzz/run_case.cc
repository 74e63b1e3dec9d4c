#include "codegen/fuzz/run_case.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <Halide.h>

#include "baton/codegen/backend.h"
#include "baton/codegen/compile.h"
#include "baton/codegen/evaluate/evaluator.h"
#include "baton/driver/pipeline.h"
#include "baton/driver/plan/plan.h"
#include "baton/ir/rules/inference_rule.h"
#include "baton/schedule/kernel_choice.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"
#include "baton/text/printer.h"
#include "baton/types/infer_type.h"

#include "codegen/fuzz/guarded_memory.h"
#include "codegen/fuzz/random_case.h"
#include "codegen/kernels.h"
#include "ops/evaluate.h"
#include "ops/numbers.h"

namespace baton::fuzz {
namespace {

using Arrays = std::vector<NDArray>;

/// A result that is no user's error.
struct Found {
  std::string finding, text;
};

BuildContext context_of_level(int level) {
  auto passes = std::make_shared<PassContext>();
  passes->opt_level = level;
  BuildContext context = host_context().with_passes(passes);
  context.threads = 1;
  return context;
}

/// The program as a parser reads it: as users' programs are.
IRModule module_of(const test::TestCase& built) {
  const IRModule module = make_module();
  module->set("main", built.function);
  return infer_types(parse_module(astext(module), "case.relay"));
}

KernelFunction compiled_function(const Function& function, std::vector<std::shared_ptr<void>>& keep) {
  KernelRequest request;
  request.function = function;
  const KernelSchedule schedule = cost_model_choice()->schedule(function, DeviceSheet::host());
  request.template_name = schedule.template_name, request.params = schedule.params;
  JitKernel kernel = jit_kernel(request, DeviceSheet::host());
  static const bool guarded = (guard_scratch(), true);  // after the handlers of the first kernel were set
  (void)guarded;
  keep.push_back(kernel.keep_alive);
  return kernel.function;
}

void check_memory(const Arrays& outputs, const std::string& kernel) {
  for (const NDArray& output : outputs)
    if (!is_intact(output)) throw Found{"out of bounds", kernel + " writes beside its result"};
  if (take_scratch_damage()) throw Found{"out of bounds", kernel + " writes beside its scratch memory"};
}

/// Runs a plan kernel by kernel, each on guarded copies of exactly the bytes of its tensors.
Arrays run_plan(const GraphPlan& plan, const std::map<std::string, NDArray>& inputs, GuardAt at) {
  const Plan& graph = *plan.graph;
  std::vector<std::shared_ptr<void>> keep;
  std::map<int, KernelFunction> functions;
  Arrays entries(graph.entries.size());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const PlanNode& node = graph.nodes[n];
    Arrays args, outputs;
    for (const EntryId input : node.inputs) args.push_back(entries[input]);
    switch (node.kind) {
      case PlanNode::Kind::kInput: {
        const auto given = inputs.find(node.name);
        NDArray value = given == inputs.end() ? NDArray() : given->second;
        for (const auto& [name, constant] : plan.params)
          if (name == node.name) value = constant;
        if (!value) throw Found{"plan", "the plan has an unknown input " + node.name};
        outputs.push_back(guarded_copy(value, at));
        break;
      }
      case PlanNode::Kind::kNop:
        outputs.push_back(args.at(0).reshaped(graph.entries[node.first_entry].shape));
        break;
      case PlanNode::Kind::kCopy:
        outputs.push_back(guarded_copy(args.at(0), at));
        break;
      case PlanNode::Kind::kKernel: {
        const int kernel = plan.nodes[n].kernel;
        if (!functions.count(kernel))
          functions[kernel] = compiled_function(plan.kernels.at(static_cast<size_t>(kernel)).function, keep);
        for (uint32_t i = 0; i < node.num_outputs; ++i) {
          const PlanEntry& entry = graph.entries[node.first_entry + i];
          outputs.push_back(guarded_array(entry.shape, entry.dtype, at));
        }
        args.insert(args.end(), outputs.begin(), outputs.end());
        if (const int status = test::call_kernel(functions[kernel], args))
          throw Found{"status", node.func_name + " returns " + std::to_string(status)};
        check_memory(outputs, node.func_name);
      }
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (node.kind != PlanNode::Kind::kNop) protect(outputs[i]);
      entries[node.first_entry + i] = outputs[i];
    }
  }
  Arrays results;
  for (const EntryId head : graph.heads) results.push_back(entries[head].copy());
  return results;
}

Arrays run_at_level(const IRModule& module, const Arrays& inputs, int level, GuardAt at) {
  const BuildContext context = context_of_level(level);
  const InstrumentScope scope(context.passes);
  const GraphPlan plan = make_plan(optimize(module, context));
  std::map<std::string, NDArray> named;
  const Function main = module->find("main");
  for (size_t i = 0; i < inputs.size(); ++i) named[main->params()[i]->name()] = inputs[i];
  return run_plan(plan, named, at);
}

/// Call by call, interpreted: mostly faster than compiling. Undefined where a call cannot be.
RunCall interpreted() {
  return [evaluator = make_evaluator(EvaluateBy::kInterpreter)](const CallNode& call, const Arrays& args,
                                                                const Type&) {
    std::vector<Expr> given;
    for (const NDArray& arg : args) given.push_back(make_constant(arg, test::typed({})));
    for (const Expr& arg : call.args())
      if (as_type<TupleTypeNode>(arg->checked_type())) throw NotSupported("tuples are not interpreted here");
    return evaluator->evaluate(
        *make_call(call.callee(), std::move(given), call.attrs(), test::typed(call.checked_type())),
        host_context());
  };
}

/// Interpreting repeats a reduction for each element that reads it: builds compile what is large.
bool is_interpreted(const Arrays& inputs, const Arrays& results) {
  constexpr int64_t kMostElements = 20'000;
  const auto small = [](const NDArray& array) { return array.size() <= kMostElements; };
  return std::ranges::all_of(inputs, small) && std::ranges::all_of(results, small);
}

/// `inputs`, floats among them moved by a few units in the last place.
Arrays moved(const Arrays& inputs, int step) {
  Arrays all;
  for (const NDArray& input : inputs) {
    all.push_back(input.copy());
    if (!input.dtype().is_float()) continue;
    std::vector<double> values = test::numbers(input);
    const double unit = input.dtype().bits == 64 ? 1e-14 : input.dtype().bits == 32 ? 1e-6 : 2e-3;
    for (size_t i = 0; i < values.size(); ++i)
      values[i] += (1e-3 + std::fabs(values[i])) * unit * ((i * 7 + static_cast<size_t>(step) * 3) % 5 - 2.0);
    all.back() = test::from_numbers(values, input.shape(), input.dtype());
  }
  return all;
}

/// Compares with the reference. Where a result of inexact numbers differs, the reference is computed again
/// for inputs that differ in the last places: elements that these change as well are not compared.
class Comparison {
 public:
  /// `values`: whether they are compared, and not shapes and types only.
  Comparison(const test::TestCase& built, Arrays want, bool values)
      : built_(built), want_(std::move(want)), values_(values) {
    post_order(Expr(built.function), [&](const Expr& node) {
      const auto* call = as<CallNode>(node);
      resizes_ |= call && call->op() && call->op()->name.starts_with("image.");
    });
  }

  std::string difference(const Arrays& got) {
    if (got.size() != want_.size())
      return std::to_string(got.size()) + " results, not " + std::to_string(want_.size());
    for (size_t k = 0; k < got.size(); ++k) {
      if (got[k].shape() != want_[k].shape() || !(got[k].dtype() == want_[k].dtype()))
        return "result " + std::to_string(k) + " is " + describe(got[k].shape(), got[k].dtype()) + ", not " +
               describe(want_[k].shape(), want_[k].dtype());
      if (!values_) continue;
      const std::string element = differing_element(k, got[k]);
      if (!element.empty()) return element;
    }
    return "";
  }

 private:
  std::string differing_element(size_t k, const NDArray& got) {
    const std::vector<double> a = test::numbers(got), b = test::numbers(want_[k]);
    double largest = 1;
    for (const double value : b)
      if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
    const DType type = got.dtype();
    int bits = type.bits;  // of the least precise float: operators of several types compute in any of them
    for (const NDArray& input : built_.inputs)
      if (input.dtype().is_float()) bits = std::min<int>(bits, input.dtype().bits);
    const double tolerance = (bits == 64 ? 1e-11 : bits == 32 ? 2e-5 : 1e-2) * largest;
    for (size_t i = 0; i < a.size(); ++i) {
      // Large integers may come from functions that are computed in float32; resized images are cut off to
      // integers, which may be one apart.
      const double near =
          type.is_float() ? tolerance : std::max(4e-6 * std::fabs(b[i]), resizes_ ? 1.0 : 0.0);
      if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])) || std::fabs(a[i] - b[i]) <= near) continue;
      if (is_unstable(k, i, a[i], b[i])) continue;
      return "element " + std::to_string(i) + " of result " + std::to_string(k) + " is " +
             std::to_string(a[i]) + ", not " + std::to_string(b[i]);
    }
    return "";
  }

  bool is_unstable(size_t k, size_t i, double got, double want) {
    if (std::ranges::none_of(built_.inputs, [](const NDArray& input) { return input.dtype().is_float(); }))
      return false;
    if (near_.empty())
      for (int step = 0; step < 3; ++step) {
        const Arrays results = evaluate(built_.function, moved(built_.inputs, step));
        near_.emplace_back();
        for (const NDArray& result : results) near_.back().push_back(test::numbers(result));
      }
    double spread = 0;
    for (const auto& results : near_) {
      const double value = results.at(k).at(i);
      if (std::isfinite(value) != std::isfinite(want)) return true;
      if (std::isfinite(value)) spread = std::max(spread, std::fabs(value - want));
    }
    return spread > 0 && std::fabs(got - want) <= 20 * spread;
  }

  const test::TestCase& built_;
  const Arrays want_;
  const bool values_;
  bool resizes_ = false;
  std::vector<std::vector<std::vector<double>>> near_;
};

/// Results by the unscheduled computes.
struct Reference {
  Arrays results;
  bool unspecified = false;  ///< values depend on the code generator: shapes and memory are checked only
};

bool all_finite(const NDArray& array) {
  return !array.dtype().is_float() ||
         std::ranges::all_of(test::numbers(array), [](double value) { return std::isfinite(value); });
}

/// Unspecified are what comparisons, clamps and casts make of NaN and infinity, and norms of integers, which
/// SimplifyInference computes by other steps.
Reference reference_of(const test::TestCase& built) {
  Reference reference;
  reference.results = evaluate(
      built.function, built.inputs, [&](const CallNode& call, const Arrays& args, const Type& result) {
        reference.unspecified |= !std::ranges::all_of(args, all_finite);
        reference.unspecified |=
            call.op()->rules.get<InferenceRule>() && !args.empty() && !args[0].dtype().is_float();
        return run_stages(call, args, result);
      });
  return reference;
}

Verdict run_built(const test::TestCase& built, bool at_end) {
  const IRModule module = module_of(built);
  const Reference reference = reference_of(built);
  Comparison comparison(built, reference.results, !reference.unspecified);
  const auto compare = [&](const Arrays& got, const std::string& how) {
    const std::string text = comparison.difference(got);
    if (!text.empty()) throw Found{"value " + how, how + ": " + text};
  };
  bool refused = false;
  std::string why;
  try {
    if (is_interpreted(built.inputs, reference.results))
      compare(evaluate(built.function, built.inputs, interpreted()), "interpreted");
  } catch (const NotSupported&) {  // interpreters may decline
  }
  for (const int level : {0, 3}) {
    const GuardAt at = at_end == (level == 0) ? GuardAt::kEnd : GuardAt::kBegin;
    try {
      compare(run_at_level(module, built.inputs, level, at), "level " + std::to_string(level));
    } catch (const Error& error) {
      refused = true, why = error.what();
    }
  }
  return {refused ? Verdict::Kind::kRefused : Verdict::Kind::kAgrees, "", why};
}

/// The class of an internal error: its text without numbers that vary.
std::string class_of_error(std::string text) {
  text = text.substr(0, text.find('\n'));
  std::erase_if(text, [](char c) { return std::isdigit(static_cast<unsigned char>(c)); });
  return text.substr(0, 80);
}

Verdict found(const std::string& kind, const std::string& text) {
  return {Verdict::Kind::kFound, kind + " " + class_of_error(text), text};
}

/// `run` on the case, and what it throws as a verdict.
template <class Run>
Verdict verdict_of(const KernelCase& chain, bool dynamic, const Run& run) {
  try {
    const test::TestCase built = build_case(chain);
    std::string why;
    if (!is_usable(built, &why, dynamic)) return {Verdict::Kind::kRefused, "", why};
    return run(built);
  } catch (const Found& finding) {
    return {Verdict::Kind::kFound, finding.finding, finding.text};
  } catch (const Error& error) {
    return {Verdict::Kind::kRefused, "", error.what()};
  } catch (const InternalError& error) {
    return found("InternalError", error.what());
  } catch (const Halide::Error& error) {
    return found("Halide::Error", error.what());
  } catch (const std::exception& error) {
    return found("exception", error.what());
  }
}

}  // namespace

Verdict run_case(const KernelCase& chain) {
  return verdict_of(chain, false, [&](const test::TestCase& built) {
    return run_built(built, case_text(chain).size() % 2 == 0);
  });
}

Verdict run_reference(const KernelCase& chain) {
  return verdict_of(chain, true, [](const test::TestCase& built) {
    evaluate(built.function, built.inputs, run_stages);
    return Verdict{};
  });
}

std::string relay_text(const KernelCase& chain) {
  try {
    const IRModule module = make_module();
    module->set("main", build_case(chain).function);
    return astext(module);
  } catch (const std::exception& error) {
    return std::string("// ") + error.what() + "\n";
  }
}

}  // namespace baton::fuzz
