// Adds spans to programs that were not parsed from text, or were changed since: the module is printed and
// parsed again as "GeneratedSource", and every node gets its span there. Everything else, origins too, is
// unchanged.

#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"
#include "baton/text/printer.h"
#include "baton/transform/spans.h"

namespace baton {

namespace {

/// Walks a program and its reparsed form in parallel; either may share fewer nodes than the other.
void collect_spans(const Function& function, const Function& read, PointerMap<Span>& spans) {
  std::vector<std::pair<Expr, Expr>> todo{{Expr(function), Expr(read)}};
  while (!todo.empty()) {
    const auto [node, twin] = std::move(todo.back());
    todo.pop_back();
    if (node->kind() != twin->kind() || !spans.insert(node.get(), twin->span()).second) continue;
    std::vector<Expr> children;
    for_each_child(*node, [&](const Expr& child) { children.push_back(child); });
    size_t at = 0;
    for_each_child(*twin, [&](const Expr& child) {
      if (at < children.size()) todo.emplace_back(children[at], child);
      ++at;
    });
  }
}

}  // namespace

Pass annotate_spans() {
  return module_pass({0, "AnnotateSpans", {}}, [](IRModule module, const BuildContext& context) {
    IRModule read;
    {
      const OriginScope scope(OriginSet::none());  // the nodes come from `module`, so no origins are created
      try {
        read = parse_module(astext(module), "GeneratedSource");
      } catch (const Error& error) {
        throw Error(
            "AnnotateSpans: the module's text cannot be read back; a value that is used in a branch and "
            "outside of it needs a "
            "name first (ToBasicBlockNormalForm)\n" +
            std::string(error.what()));
      }
    }
    PointerMap<Span> spans;
    const auto functions = module->functions();
    for (const auto& [name, function] : functions)
      if (const Function twin = read->find(name)) collect_spans(function, twin, spans);
    SpanWriter writer(spans);
    for (const auto& [name, function] : functions) {
      const Function result = as_ref<FunctionNode>(writer.run(Expr(function)));
      if (result != function) module->replace(name, result);
    }
    return (*make_pass("InferType"))(module, context);
  });
}

}  // namespace baton
