// The report as a table for notebooks: a row per kernel with a bar, its operators unfold.
#include <algorithm>
#include <cstdio>
#include <map>

#include "baton/profile/report.h"
#include "baton/text/html.h"

namespace baton {
namespace {

constexpr const char* kStyle =
    "<style>.baton table.p{border-collapse:collapse}.baton table.p td,.baton table.p th{text-align:left;padding:1px 8px;"
    "vertical-align:top}.baton table.p td.n{text-align:right;font-variant-numeric:tabular-nums}"
    ".baton .bar{display:inline-block;height:.7em;background:#0969da}.baton .q{color:#6e7781}"
    ".baton .b{padding:0 5px;border-radius:3px;color:#fff;font-size:85%}.baton summary{cursor:pointer}</style>";

std::string number(double value, const char* pattern) {
  char text[40];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

std::string cell(const std::string& text, const char* kind = nullptr) {
  return (kind ? std::string("<td class=\"") + kind + "\">" : "<td>") + text + "</td>";
}

std::string operator_text(const OperatorRow& row) {
  std::string place = row.source;
  if (row.line) place = "line " + std::to_string(row.line);
  return "<b>" + html_escaped(row.op) + "</b> " + html_escaped(place) + " <span class=\"q\">" + html_escaped(row.type) + "</span>";
}

std::string inside_text(const ProfileReport& report, const KernelRow& kernel) {
  std::string out;
  for (const InsideRow& part : kernel.inside) {
    out += "<div>";
    for (size_t i = 0; i < part.ids.size(); ++i) out += (i ? ", " : "") + operator_text(report.operators.at(part.ids[i]));
    if (part.ids.empty()) out += html_escaped(part.label.empty() ? "load, store, loop" : part.label);
    out += part.below_noise ? " &lt; noise" : " " + number(part.us, "%.2f") + " &micro;s (" + number(part.share * 100, "%.1f") + " %)";
    out += "</div>";
  }
  if (out.empty())
    for (uint32_t id : kernel.origins) out += "<div>" + operator_text(report.operators.at(id)) + "</div>";
  if (kernel.origins.empty() && !kernel.reason.empty()) {
    out += "<div class=\"q\">made for";
    for (uint32_t id : kernel.made_for) out += " " + html_escaped(report.operators.at(id).op);
    out += ": " + html_escaped(kernel.reason) + "</div>";
  }
  return out;
}

std::string total(const char* name, double us, double share) {
  return "<tr><th></th><th>" + std::string(name) + "</th>" + cell(number(us, "%.1f"), "n") +
         cell(number(share * 100, "%.1f") + " %", "n") + "<td></td></tr>";
}

}  // namespace

std::string html(const ProfileReport& report) {
  std::map<std::string, size_t> colours;
  double longest = 0;
  for (const KernelRow& kernel : report.kernels) longest = std::max(longest, kernel.share);
  std::string out = std::string("<div class=\"baton\">") + kStyle + "<table class=\"p\"><caption>" + html_escaped(report.model) +
                    " on " + html_escaped(report.target) + ", " + std::to_string(report.threads) +
                    (report.threads == 1 ? " thread" : " threads") + ", " + std::to_string(report.plain_us.size()) +
                    " runs</caption><tr><th>node</th><th>kernel</th><th>median &micro;s</th><th>share</th><th></th></tr>";
  for (const KernelRow& kernel : report.kernels) {
    std::string name = html_escaped(kernel.name);
    if (!kernel.compiler.empty()) {
      const size_t colour = colours.emplace(kernel.compiler, colours.size()).first->second;
      name += " <span class=\"b\" style=\"background:" + html_colour(colour) + "\">" + html_escaped(kernel.compiler) + "</span>";
    }
    const double width = longest > 0 ? kernel.share / longest * 160 : 0;
    out += "<tr>" + cell(std::to_string(kernel.node), "n") +
           cell("<details><summary>" + name + "</summary>" + inside_text(report, kernel) + "</details>") +
           cell(number(kernel.median_us, "%.2f"), "n") + cell(number(kernel.share * 100, "%.1f") + " %", "n") +
           cell("<span class=\"bar\" style=\"width:" + number(width, "%.0f") + "px\"></span>") + "</tr>";
  }
  const double end_to_end = report.end_to_end_us;
  const auto share = [&](double us) { return end_to_end > 0 ? us / end_to_end : 0; };
  out += total("sum of kernels", report.sum_us, share(report.sum_us));
  out += total("end to end", end_to_end, share(end_to_end));
  out += total("between kernels", report.residual_us(), share(report.residual_us()));
  return out + "</table></div>";
}

}  // namespace baton
