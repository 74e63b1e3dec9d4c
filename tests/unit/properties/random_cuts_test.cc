// What must hold for every part of every program that can be cut out: it is well-formed and typed, its
// operators are those that it says, and it computes what the whole program computes there. The same part
// marked for a compiler and partitioned leaves the program's value as it was.
//
// BATON_RANDOM_SEED=S: only the program of that seed, shown. BATON_RANDOM_PROGRAMS=N: the slow test with N
// programs.
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "baton/driver/cut/cut.h"
#include "baton/driver/cut/cut_program.h"
#include "baton/driver/cut/cut_text.h"
#include "baton/driver/cut/cut_values.h"
#include "baton/driver/cut/mark_region.h"
#include "baton/driver/initialize.h"
#include "baton/driver/pipeline.h"
#include "baton/interpreter/interpreted_program.h"
#include "baton/ir/analysis/well_formed.h"
#include "baton/ir/functions.h"
#include "baton/ir/visit.h"
#include "baton/pass/origin_verifier.h"
#include "baton/pass/pass.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/support/error.h"
#include "baton/support/log.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

#include "properties/module_value.h"
#include "properties/random_module.h"

namespace baton::properties {
namespace {

using Arrays = std::map<std::string, NDArray>;

NDArray rule_value(const Var& param) {
  const auto* type = as_type<TensorTypeNode>(declared_type(*param));
  if (!type || !type->is_static()) throw NotSupported("%" + param->name() + " is no tensor of known shape");
  return parameter_value(param->name(), type->extents(), type->dtype());
}

class RandomCuts : public ::testing::Test {
 protected:
  void SetUp() override {
    initialize();
    old_sink_ = set_log_sink([](const std::string&) {});
    context_ = std::make_shared<PassContext>();
    context_->opt_level = 3;
    context_->instruments = {std::make_shared<OriginVerifier>()};
  }
  void TearDown() override { set_log_sink(old_sink_); }

  static std::vector<NDArray> run(const IRModule& module, const Arrays& given) {
    const BuildContext context = host_context();
    const program::InterpretedProgram program(module, optimize, context);
    std::vector<program::Value> args;
    for (const Var& param : program.params()) {
      const auto at = given.find(param->name());
      args.push_back(program::tensor_value(at == given.end() ? rule_value(param) : at->second));
    }
    const program::Value result = program.run(args, context);
    std::vector<NDArray> arrays;
    if (const auto* tensor = program::as_value<program::TensorValue>(result))
      arrays.push_back(tensor->array());
    else
      for (const program::Value& field : program::as_value<program::TupleValue>(result)->fields())
        arrays.push_back(program::as_value<program::TensorValue>(field)->array());
    return arrays;
  }

  static std::set<const Origin*> operators_in(const IRModuleNode& module) {
    std::set<const Origin*> found;
    for (const auto& [name, function] : module.functions())
      post_order(Expr(function), [&](const Expr& node) {
        const auto* call = as<CallNode>(node);
        if (call && call->op())
          found.insert(call->origins().origins().begin(), call->origins().origins().end());
      });
    return found;
  }

  void check_cut(CutProgram& program, const CutChoice& choice, bool show) {
    const CutGraph& graph = program.graph();
    const Cut cut = cut_out(graph, choice);
    if (show) std::cout << cut_text(cut, "The part") << "\n";
    EXPECT_TRUE(well_formed(*cut.module));
    EXPECT_TRUE(types_are_right(*cut.module));
    std::set<const Origin*> told;
    for (const CutOperator& each : choice.operators) told.insert(each.origin);
    EXPECT_EQ(operators_in(*cut.module), told);

    std::vector<Expr> sources;
    for (const CutParam& param : cut.params) sources.push_back(param.source);
    const size_t inputs = sources.size();
    for (const CutOutput& output : cut.outputs) sources.push_back(output.source);
    const std::vector<NDArray> all = run(program_returning(graph, sources), {});
    Arrays given;
    for (size_t i = 0; i < inputs; ++i) given[cut.params[i].var->name()] = all[i];
    const std::vector<NDArray> expected(all.begin() + static_cast<ptrdiff_t>(inputs), all.end());
    EXPECT_LE(difference(expected, run(cut.module, given)), 1e-5);
    ++cuts_;
  }

  void check_mark(CutProgram& program, const CutChoice& choice) {
    const BuildContext under = host_context().with_passes(context_);
    const InstrumentScope scope(under.passes);
    MarkedModule marked;
    try {
      marked = mark_region(program.graph(), choice, "random", under);
    } catch (const NotSupported&) {  // a branch
      return;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("reads no value"), std::string::npos) << error.what();
      return;
    }
    const IRModule& before = program.graph().module();
    const std::vector<NDArray> expected = value_of_main(interpreter_, before);
    EXPECT_LE(difference(expected, value_of_main(interpreter_, partition_marked(marked.module, under))),
              1e-5);
    ++marks_;
  }

  void check(uint64_t seed, bool show) {
    const std::string text = random_module(seed);
    if (show) std::cout << text;
    SCOPED_TRACE("BATON_RANDOM_SEED=" + std::to_string(seed));
    BuildOptions options{.context = host_context()};
    options.context.passes->opt_level = 3;
    IRModule module = infer_types(parse_module(text, "seed " + std::to_string(seed)));
    for (const Var& param : module->find("main")->params())
      if (param->name()[0] == 'c') options.params.emplace_back(param->name(), rule_value(param));
    // Weights as parameters, and as constants of the program.
    if (seed % 2 != 0) {
      module = bind_params(module, options.params);
      options.params.clear();
    }
    interpreter_.forget();
    std::mt19937_64 random(seed);
    try {
      CutProgram program(module, options);
      for (int i = 0; i < 4; ++i) {
        const CutSelection selection = part_of(program, random);
        if (show) std::cout << "nodes " << selection.nodes << ", operators " << selection.operators << "\n";
        try {
          const CutChoice choice = program.choose(selection);
          check_cut(program, choice, show);
          check_mark(program, choice);
        } catch (const NotSupported& error) {
          if (show) std::cout << error.what() << "\n";
        } catch (const Error& error) {
          const std::string what = error.what();
          const bool refused = what.find("leaves a hole") != std::string::npos ||
                               what.find("inputs and constants only") != std::string::npos ||
                               what.find("is an input or a constant") != std::string::npos ||
                               what.find("the compiler added it") != std::string::npos ||
                               what.find("what was chosen cuts") != std::string::npos ||
                               what.find("nothing that main returns needs it") != std::string::npos;
          EXPECT_TRUE(refused) << what;
          ++refused_;
        }
      }
    } catch (const NotSupported& error) {  // references
      if (show) std::cout << error.what() << "\n";
    }
  }

  /// A range of nodes; of a program that has none, because it branches, a range of operators.
  static CutSelection part_of(CutProgram& program, std::mt19937_64& random) {
    size_t count = 0;
    try {
      count = program.plan().plan->nodes.size();
    } catch (const NotSupported&) {
    }
    const bool nodes = count != 0;
    if (!nodes) count = program.graph().module()->origins().size();
    size_t first = random() % count, last = random() % count;
    if (first > last) std::swap(first, last);
    if (nodes) return {"", std::to_string(first) + ":" + std::to_string(last), ""};
    std::string operators;
    for (size_t i = first; i <= last; ++i) operators += (i == first ? "id:" : ",id:") + std::to_string(i);
    return {"", "", operators};
  }

  LogSink old_sink_;
  PassContextRef context_;
  run::Interpreter interpreter_;
  int cuts_ = 0, marks_ = 0, refused_ = 0;
};

TEST_F(RandomCuts, ComputeWhatTheWholeComputes) {
  if (const char* seed = std::getenv("BATON_RANDOM_SEED"))
    return check(std::strtoull(seed, nullptr, 10), true);
  for (uint64_t seed = 0; seed < 40; ++seed) check(seed, false);
  EXPECT_GE(cuts_, 60) << refused_ << " were refused";
  EXPECT_GE(marks_, 50);
}

TEST_F(RandomCuts, SlowTwoThousandPrograms) {
  const char* programs = std::getenv("BATON_RANDOM_PROGRAMS");
  const int count = programs ? std::atoi(programs) : 2000;
  for (int seed = 0; seed < count && !HasFailure(); ++seed) check(static_cast<uint64_t>(seed), false);
  std::cout << cuts_ << " parts cut out, " << marks_ << " marked, " << refused_ << " refused\n";
  EXPECT_GE(cuts_, refused_);
}

}  // namespace
}  // namespace baton::properties
