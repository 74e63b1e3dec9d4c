#include "baton/driver/partition_for.h"

#include <algorithm>

#include "baton/byoc/matcher.h"
#include "baton/ir/build.h"
#include "baton/ir/inspect.h"
#include "baton/ir/op.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/support/error.h"
#include "baton/transform/simplify/simplify_inference.h"

namespace baton {
namespace {

IRModule run(IRModule module, const BuildContext& context,
             const std::vector<std::pair<const char*, PassArgs>>& passes) {
  for (const auto& [name, args] : passes) module = (*make_pass(name, args))(module, context);
  return module;
}

/// Collects answers for the operators of calls.
class Answers {
 public:
  Answers(const OriginTable& table, const Backend& backend)
      : table_(table), backend_(backend), operators_(table.size()) {}

  void taken(const CallNode& call, const std::string& how) {
    for_each(call, [&](TakenOperator& each) {
      each.met = each.taken = true;
      each.how = how;
    });
  }
  /// A call outside of regions.
  void left(const CallNode& call) {
    std::string why = refusal_of_call(backend_, call);
    if (why.empty()) why = "its region was given up";
    for_each(call, [&](TakenOperator& each) {
      each.met = true;
      if (!each.taken) each.how = why;
    });
  }
  std::vector<TakenOperator> result() { return std::move(operators_); }

 private:
  template <class Body>
  void for_each(const CallNode& call, Body&& body) {
    for (const Origin* origin : call.origins().origins())
      if (const auto id = table_.find(origin)) body(operators_[index(*id)]);
  }

  const OriginTable& table_;
  const Backend& backend_;
  std::vector<TakenOperator> operators_;
};

}  // namespace

namespace {

/// Typed, normalisations simplified and scales folded into weights, but for calls that are primitives of
/// their library.
IRModule simplified(const IRModule& module, const std::vector<std::string>& backends, const MayCompute& may,
                    const BuildContext& context, bool lower_qnn) {
  IRModule simple = run(module, context, {{"InferType", {}}});
  // Else what quantises constants goes, such as biases.
  if (lower_qnn)
    simple = run(simple, context, {{"qnn.CanonicalizeOps", {}}, {"InferType", {}}});
  else
    simple = run(simple, context, {{"FoldConstant", {{"fold_qnn", true}}}, {"InferType", {}}});
  // Normalisations that are primitives of a library stay whole.
  std::vector<BackendRef> records;
  for (const std::string& backend : backends)
    if (const BackendRef record = find_region_backend(backend)) records.push_back(record);
  const auto is_primitive = [&](const CallNode& call) {
    return std::ranges::any_of(records, [&](const BackendRef& record) {
      return (!may || may(call, record->name)) &&
             std::ranges::any_of(record->operators, [&](const OperatorRule& rule) {
               return call.op()->name == rule.op && rule.refuses(call).empty();
             });
    });
  };
  simple = (*simplify_inference_but(is_primitive))(simple, context);
  return run(simple, context,
             {{"FoldConstant", {}}, {"FoldScaleAxis", {}}, {"FoldConstant", {}}, {"InferType", {}}});
}

/// Whether `may` gives all calls that `pattern` matches at `root` to that backend.
bool all_its_own(const DFPattern& pattern, const Expr& root, const std::string& backend,
                 const MayCompute& may) {
  const auto its_own = [&](const Expr& expr) {
    const auto* call = as<CallNode>(expr);
    return !call || !call->op() || may(*call, backend);
  };
  if (DFMatcher::needs_graph(pattern)) return its_own(root);
  DFMatcher matcher(pattern, nullptr);
  if (!matcher.match(root)) return false;
  const DFMatches matches = matcher.matches();
  return std::ranges::all_of(matches.all(), [&](const auto& match) {
    return match.first->kind() != DFPatternKind::kCall || std::ranges::all_of(match.second, its_own);
  });
}

/// The patterns of a backend, for calls that `may` gives to it.
PatternTable own_patterns(const std::string& backend, const MayCompute& may) {
  PatternTable table = pattern_table(backend);
  for (CompositePattern& entry : table)
    entry.check = [check = entry.check, pattern = entry.pattern, backend, may](const Expr& root) {
      return all_its_own(pattern, root, backend, may) && (!check || check(root));
    };
  return table;
}

}  // namespace

IRModule prepared_for_regions(const IRModule& module, const std::string& backend, const BuildContext& context,
                              bool lower_qnn) {
  const IRModule simple = simplified(module, {backend}, {}, context, lower_qnn);
  if (!has_pattern_table(backend)) return simple;
  return run(simple, context, {{"MergeComposite", {{"pattern_table", backend}}}, {"InferType", {}}});
}

IRModule partition_for(const IRModule& module, const std::string& backend, const BuildContext& context,
                       const PartitionOptions& options) {
  const AttrValue targets(AttrList{AttrValue(backend)});
  IRModule split = run(prepared_for_regions(module, backend, context, options.lower_qnn), context,
                       {{"AnnotateTarget", {{"targets", targets}, {"offered", true}}}});
  if (options.merge) split = run(split, context, {{"MergeCompilerRegions", {}}});
  return run(split, context, {{"PartitionGraph", {{"mod_name", options.mod_name}}}, {"InferType", {}}});
}

IRModule partition_among(const IRModule& module, const std::vector<std::string>& backends,
                         const MayCompute& may, const BuildContext& context,
                         const PartitionOptions& options) {
  IRModule split = simplified(module, backends, may, context, options.lower_qnn);
  for (const std::string& backend : backends)
    if (has_pattern_table(backend))
      split =
          run((*merge_composite(own_patterns(backend, may)))(split, context), context, {{"InferType", {}}});
  split = (*annotate_target(backends, may))(split, context);
  if (options.merge) split = run(split, context, {{"MergeCompilerRegions", {}}});
  return run(split, context, {{"PartitionGraph", {{"mod_name", options.mod_name}}}, {"InferType", {}}});
}

std::vector<TakenOperator> taken_operators(const IRModule& module, const Backend& backend,
                                           const BuildContext& context) {
  const IRModule split = partition_for(module, backend.name, context);
  Answers answers(module->origins(), backend);
  const auto is_operator = [](const Expr& node) {
    const auto* call = as<CallNode>(node);
    return call && call->op() ? call : nullptr;
  };
  for (const auto& [name, function] : split->functions()) {
    const bool region = text_attr(*function, "Compiler") == backend.name;
    post_order(function->body(), [&](const Expr& node) {
      if (const CallNode* call = is_operator(node)) region ? answers.taken(*call, "") : answers.left(*call);
      // Composites are functions, whose bodies are visited too: with their names, behind.
      const auto* call = as<CallNode>(node);
      const auto* composite = call ? as<FunctionNode>(call->callee()) : nullptr;
      const std::string label = composite ? text_attr(*composite, "Composite") : "";
      if (!region || label.empty()) return;
      post_order(composite->body(), [&](const Expr& inner) {
        if (const CallNode* each = is_operator(inner)) answers.taken(*each, "in the composite " + label);
      });
    });
  }
  return answers.result();
}

}  // namespace baton
