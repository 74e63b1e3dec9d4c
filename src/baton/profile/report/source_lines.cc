#include "baton/profile/report/source_lines.h"

#include <algorithm>
#include <charconv>

#include "baton/ir/op.h"
#include "baton/profile/report/titles.h"
#include "baton/text/printer.h"

namespace baton {

namespace {

// Encloses an operator's id in the printed text; occurs in no Relay text.
constexpr char kOpenMark = '\x01', kCloseMark = '\x02';

bool lacks_place(const OperatorRow& row) { return row.line == 0 && row.source.empty(); }

std::string marked_text(const BuildResult& built) {
  const OriginTable& table = built.optimized->origins();
  PrintOptions options;
  options.spans = false;
  options.metadata = PrintOptions::Metadata::kComment;
  options.annotate = [&](const Expr& expr) -> std::string {
    const auto* call = as<CallNode>(expr);
    if (!call || !call->op() || expr->origins().origins().size() != 1) return "";
    const auto id = table.find(expr->origins().origins()[0]);
    return id ? kOpenMark + std::to_string(index(*id)) + kCloseMark : "";
  };
  return print(*built.source, options);
}

}  // namespace

void add_source_lines(ProfileReport& report, const BuildResult& built) {
  if (!built.source || std::none_of(report.operators.begin(), report.operators.end(), lacks_place)) return;
  const std::string marked = marked_text(built);
  std::string text;
  uint32_t line = 1;
  for (size_t at = 0; at < marked.size(); ++at) {
    if (marked[at] != kOpenMark) {
      line += marked[at] == '\n';
      text += marked[at];
      continue;
    }
    const size_t end = marked.find(kCloseMark, at);
    size_t id = report.operators.size();
    std::from_chars(marked.data() + at + 1, marked.data() + end, id);
    if (id < report.operators.size() && lacks_place(report.operators[id])) report.operators[id].line = line;
    at = end;
  }
  report.sources.insert(report.sources.begin(), {"", std::move(text)});
  if (report.source.empty()) report.source = "the printed module";
  for (KernelRow& kernel : report.kernels) kernel.title.clear();
  add_titles(report);
}

}  // namespace baton
