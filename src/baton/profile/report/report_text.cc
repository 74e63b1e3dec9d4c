#include "baton/profile/report/report_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "baton/ir/rules/brief.h"

namespace baton {
namespace {

std::string readers(const OperatorRow& row) {
  std::string text = row.folded_into.size() == 1 ? "into a constant of node" : "into constants of nodes";
  for (size_t i = 0; i < row.folded_into.size(); ++i)
    text += (i ? ", " : " ") + std::to_string(row.folded_into[i]);
  return text;
}

}  // namespace

std::string whose_times(const ProfileReport& report) {
  return report.predicted.empty() ? "" : ", predicted for " + report.machine;
}

std::string short_name(const std::string& name) {
  const std::string prefix = "tvmgen_default_";
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

std::string us_text(double us) {
  char text[40];
  if (us != 0 && std::abs(us) < 0.9995)
    std::snprintf(text, sizeof text, std::abs(us) < 0.00995 ? "%.1f ns" : "%.0f ns", us * 1e3);
  else
    std::snprintf(text, sizeof text, us < 9.995 ? "%.2f" : "%.1f", us);
  return text;
}

std::string us_with_unit(double us) {
  const std::string text = us_text(us);
  return text.ends_with("ns") ? text : text + " us";
}

std::string operators_text(const ProfileReport& report, const std::vector<uint32_t>& ids) {
  std::string text;
  for (size_t i = 0; i < ids.size() && i < 3; ++i) {
    const OperatorRow& row = report.operators.at(ids[i]);
    text += (i ? ", " : "") + row.op + " " + row.place();
  }
  return ids.size() > 3 ? text + " and " + std::to_string(ids.size() - 3) + " more" : text;
}

std::string operator_name(const OperatorRow& row) {
  const std::string text = row.brief.empty() ? brief_name(row.op) : row.brief;
  return row.line || row.source.empty() ? text : text + " " + row.source;
}

std::string part_label(const ProfileReport& report, const InsideRow& part) {
  const std::string source = operators_text(report, part.ids);
  std::string label = source.empty() ? part.label : source;
  if (part.rest) label += (label.empty() ? "" : ", ") + std::string("load, store, loop");
  if (!part.stage.empty() && part.method != InsideMethod::kAblation) {
    label += "  [" + part.stage;
    for (const std::string* more : {&part.reason, &part.implementation, &part.layouts})
      if (!more->empty()) label += (more == &part.reason ? ", " : " ") + *more;
    label += "]";
  }
  // Shows the operator's name in the kernel where it differs: the add that a batch_norm became.
  if (!source.empty() && report.operators.at(part.ids.front()).op != part.label)
    label += "  as " + part.label;
  return label;
}

std::string part_time(const KernelRow& kernel, const InsideRow& part) {
  return part.below_noise ? "< noise" : (kernel.trusted ? "" : "~") + us_text(part.us);
}

std::vector<WithoutTime> without_time(const ProfileReport& report) {
  WithoutTime folded{"folded at compile time (FoldConstant: all their inputs are constants)", {}};
  WithoutTime partly{"partly folded (FoldConstant computed what depends on weights alone)", {}};
  WithoutTime retired{"retired", {}};
  for (const OperatorRow& row : report.operators) {
    const std::string name = row.op + " " + row.place();
    if (!row.retired_by.empty())
      retired.operators.emplace_back(name, row.retired_by + ": " + row.retired_why);
    else if (row.nodes.empty())
      folded.operators.emplace_back(name, readers(row));
    else if (!row.folded_into.empty())
      partly.operators.emplace_back(name, readers(row));
  }
  std::vector<WithoutTime> sections;
  for (WithoutTime* section : {&folded, &partly, &retired})
    if (!section->operators.empty()) sections.push_back(std::move(*section));
  return sections;
}

}  // namespace baton
