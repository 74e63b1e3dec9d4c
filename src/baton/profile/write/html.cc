// The report as a table for notebooks: one row per kernel with a bar, expandable to its operators.
#include "baton/text/html.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "baton/profile/report/report_text.h"
#include "baton/profile/write/table.h"

namespace baton {
namespace {

// Overrides notebook styles, which centre tables, align right and stripe rows; a kernel and its operators
// form one block.
constexpr const char* kStyle =
    "<style>.baton table.p{display:table;border-collapse:collapse;margin:0;table-layout:auto;max-width:100%}"
    ".baton table.p caption{text-align:left;caption-side:top;padding:2px 8px}"
    ".baton table.p td,.baton table.p th{text-align:left;padding:2px 8px;vertical-align:top;line-height:1.4}"
    ".baton table.p .num{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}"
    ".baton table.p td.kernel{overflow-wrap:anywhere;min-width:9em}"
    ".baton table.p tr.t td,.baton table.p tr.t th{border-top:1px solid;border-color:color-mix(in "
    "srgb,currentColor 40%,transparent)}"
    ".baton .bar{display:inline-block;height:.7em;background:#2f81f7}.baton .q{opacity:.65}"
    ".baton .i{display:flex;justify-content:space-between;gap:1em;padding-left:1.2em}.baton .i "
    ".num{flex:none}"
    ".baton .u{margin:.3em 8px}.baton .u .i{justify-content:start}.baton .u .i>:first-child{flex:0 0 "
    "18em}@media (max-width:640px){.baton table.p .z{display:none}}</style>";

std::string number(double value, const char* pattern) {
  char text[40];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

std::string cell(const std::string& text, const char* kind) {
  return std::string("<td class=\"") + kind + "\">" + text + "</td>";
}

std::string percent(double share) { return number(share * 100, "%.1f") + " %"; }

/// "Tensor[(1, 64, 56, 56), float32]": the operators' result types.
std::string types_of(const ProfileReport& report, const std::vector<uint32_t>& ids) {
  std::string text;
  for (uint32_t id : ids) text += (text.empty() ? "" : "; ") + report.operators.at(id).type;
  return text;
}

std::string item(const std::string& label, const std::string& hint, const std::string& value) {
  return "<div class=\"i\"><span title=\"" + html_escaped(hint) + "\">" + html_escaped(label) +
         "</span> <span class=\"num\">" + html_escaped(value) + "</span></div>";
}

std::string inside_text(const ProfileReport& report, const KernelRow& kernel) {
  std::string out;
  for (const InsideRow& part : kernel.inside)
    out += item(part_label(report, part), types_of(report, part.ids),
                part_time(kernel, part) + (part.below_noise ? "" : " \u00b5s, " + percent(part.share)));
  if (out.empty())
    for (uint32_t id : kernel.origins) out += item(operators_text(report, {id}), types_of(report, {id}), "");
  if (kernel.origins.empty() && !kernel.reason.empty())
    out += "<div class=\"i q\">" +
           html_escaped("made for " + operators_text(report, kernel.made_for) + ": " + kernel.reason) +
           "</div>";
  if (!kernel.trusted)
    out += "<div class=\"i q\">the stages sum to " + percent(kernel.stage_sum) +
           " of the kernel: estimates</div>";
  return out;
}

std::string total(const char* name, double us, double share, const char* kind) {
  return std::string("<tr class=\"") + kind + "\"><th></th><th>" + name + "</th>" +
         cell(number(us, "%.1f"), "num") + cell(percent(share), "num") + "<td class=\"z\"></td></tr>";
}

std::string us_cell(const std::optional<double>& us, bool may_be_noise) {
  return cell(!us ? "" : may_be_noise && *us <= 0 ? "&lt; noise" : us_text(*us), "num");
}

/// Each operator by itself, its kernels, and its part of those.
std::string three_times(const ProfileReport& report) {
  const bool measured = std::any_of(report.operators.begin(), report.operators.end(),
                                    [](const OperatorRow& row) { return row.unfused_us.has_value(); });
  if (!measured) return "";
  std::string out = "<details class=\"u\"><summary>" + counted(report.operators.size(), "operator") +
                    " unfused, fused and inside</summary><table class=\"p\"><tr><th "
                    "class=\"num\">line</th><th>operator</th><th class=\"num\">alone "
                    "&micro;s</th><th>fused in nodes</th><th class=\"num\">inside &micro;s</th></tr>";
  for (const OperatorRow& row : report.operators) {
    if (row.nodes.empty()) continue;
    std::string nodes;
    for (uint32_t node : row.nodes) nodes += (nodes.empty() ? "" : ", ") + std::to_string(node);
    out += "<tr>" + cell(row.line ? std::to_string(row.line) : "", "num") +
           cell(html_escaped(operator_name(row)), "kernel") + us_cell(row.unfused_us, false) +
           cell(nodes, "") + us_cell(row.inside_us, true) + "</tr>";
  }
  return out + "</table></details>";
}

std::string notes(const ProfileReport& report) {
  std::string out;
  for (const std::string& note : report.notes) out += "<div class=\"i q\">" + html_escaped(note) + "</div>";
  return out;
}

/// "2.3 GFLOP/s, 21.0 GB/s, 71 % of what memory allows".
std::string reached(const Roofline& roof) {
  if (roof.gflops <= 0 && roof.gbytes_per_s <= 0) return "";
  std::string text = number(roof.gflops, "%.1f GFLOP/s, ") + number(roof.gbytes_per_s, "%.1f GB/s");
  if (!roof.bound.empty()) text += number(roof.share * 100, ", %.0f %% of what ") + roof.bound + " allows";
  return text;
}

std::string lists_without_time(const ProfileReport& report) {
  std::string out;
  for (const WithoutTime& section : without_time(report)) {
    out += "<details class=\"u\"><summary>" + counted(section.operators.size(), "operator") + " " +
           html_escaped(section.title) + "</summary>";
    for (const auto& [name, why] : section.operators)
      out += "<div class=\"i\"><span>" + html_escaped(name) + "</span> <span class=\"q\">" +
             html_escaped(why) + "</span></div>";
    out += "</details>";
  }
  return out;
}

}  // namespace

std::string html(const ProfileReport& report) {
  std::map<std::string, size_t> colours;
  double longest = 0;
  for (const KernelRow& kernel : report.kernels) longest = std::max(longest, kernel.share);
  std::string out =
      "<div class=\"baton\">" + html_style() + kStyle + "<table class=\"p\"><caption>" +
      html_escaped(report.model) + " on " + html_escaped(report.target) + ", " +
      counted(static_cast<size_t>(report.threads), "thread") + ", " + counted(report.plain_us.size(), "run") +
      "</caption><tr><th class=\"num\">node</th><th>kernel</th>"
      "<th class=\"num\">median &micro;s</th><th class=\"num\">share</th><th class=\"z\"></th></tr>";
  for (const KernelRow& kernel : report.kernels) {
    std::string name = html_escaped(kernel.title);
    if (!kernel.compiler.empty()) {
      const size_t colour = colours.emplace(kernel.compiler, colours.size()).first->second;
      name += " <span class=\"b\" style=\"background:" + html_colour(colour) + "\">" +
              html_escaped(kernel.compiler) + "</span>";
    }
    const double width = longest > 0 ? kernel.share / longest * 160 : 0;
    out += "<tr>" + cell(std::to_string(kernel.node), "num") +
           cell("<details><summary title=\"" + html_escaped(kernel.name) + "\">" + name + "</summary>" +
                    inside_text(report, kernel) + "</details>",
                "kernel") +
           "<td class=\"num\" title=\"" + html_escaped(reached(kernel.roofline)) + "\">" +
           us_text(kernel.median_us) + "</td>" + cell(percent(kernel.share), "num") +
           cell("<span class=\"bar\" style=\"width:" + number(width, "%.0f") + "px\"></span>", "z") + "</tr>";
  }
  const double end_to_end = report.end_to_end_us;
  const auto share = [&](double us) { return end_to_end > 0 ? us / end_to_end : 0; };
  out += total("sum of kernels", report.sum_us, share(report.sum_us), "t");
  out += total("end to end", end_to_end, share(end_to_end), "");
  const double between = report.between_us.value_or(report.residual_us());
  out += total("between kernels", between, share(between), "");
  return out + "</table>" + notes(report) + three_times(report) + lists_without_time(report) + "</div>";
}

}  // namespace baton
