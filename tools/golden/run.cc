// Runs what a RUN line asks for.

#include "baton/codegen/backend.h"
#include "baton/pass/origin_verifier.h"
#include "baton/pass/pass.h"
#include "baton/pass/pass_list.h"
#include "baton/support/diagnostic.h"
#include "baton/text/parser.h"
#include "baton/text/printer.h"

#include "case.h"

namespace baton::golden {

namespace {

// By default the text shows structure and origins: what a pass must get right. Flags add or take away.
PrintOptions print_options(const Case& which) {
  PrintOptions options;
  options.version = options.types = options.spans = false;
  options.origins = !which.passes.empty();
  options.origin_table = false;  // the names behind the operators say enough
  options.metadata = PrintOptions::Metadata::kNone;
  for (const std::string& flag : which.flags) {
    if (flag == "--version")
      options.version = true;
    else if (flag == "--types")
      options.types = true;
    else if (flag == "--spans")
      options.spans = true;
    else if (flag == "--origins")
      options.origins = true;
    else if (flag == "--no-origins")
      options.origins = false;
    else if (flag == "--meta")
      options.metadata = PrintOptions::Metadata::kFull;
    else if (flag != "--expr")
      throw UsageError("golden: unknown flag " + flag);
  }
  return options;
}

bool has_flag(const Case& which, std::string_view flag) {
  for (const std::string& each : which.flags)
    if (each == flag) return true;
  return false;
}

std::string run_expr(const Case& which) {
  const Expr expr = parse_expr(which.text, which.path);
  if (which.form == "parse") return "";
  if (which.form == "str") return str(expr);
  if (which.form == "astext") return astext(expr);
  return print(expr, print_options(which));
}

// Under a strict context: what its level enables, origins checked after each pass.
IRModule run_passes(const Case& which, IRModule module, const RunPass& run_last) {
  BuildContext context = host_context();
  context.passes->opt_level = which.opt_level;
  context.passes->instruments.push_back(std::make_shared<OriginVerifier>());
  const InstrumentScope scope(context.passes);
  if (!which.target.empty()) context.targets = {Target::parse(which.target)};
  const std::vector<Pass> passes = parse_passes(which.passes);
  for (size_t i = 0; i < passes.size(); ++i)
    module = run_last && i + 1 == passes.size() ? run_last(passes[i], module, context)
                                                : (*passes[i])(module, context);
  return module;
}

std::string run_module(const Case& which, const RunPass& run_last) {
  IRModule module = parse_module(which.text, which.path);
  if (!which.passes.empty()) module = run_passes(which, module, run_last);
  if (which.form == "parse") return "";
  if (which.form == "str") return str(module);
  if (which.form == "astext") return astext(module);
  return print(*module, print_options(which));
}

}  // namespace

Outcome run(const Case& which, const RunPass& run_last) {
  try {
    std::string text = has_flag(which, "--expr") ? run_expr(which) : run_module(which, run_last);
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
    return {std::move(text), false};
  } catch (const DiagnosticError& error) {
    return {render(error.diagnostics()), true};
  } catch (const Error& error) {
    return {std::string("error: ") + error.what() + "\n", true};
  }
}

}  // namespace baton::golden
