#include "baton/profile/report/titles.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "baton/ir/rules/brief.h"
#include "baton/profile/report/report_text.h"

namespace baton {

namespace {

constexpr size_t kNamed = 5;  // operators in a title; the others are counted

std::string for_causes(const ProfileReport& report, const std::vector<uint32_t>& causes) {
  if (causes.empty()) return "";
  const std::string more = causes.size() > 1 ? " and " + std::to_string(causes.size() - 1) + " more" : "";
  return ", for " + report.operators.at(causes[0]).place() + more;
}

/// Relay writes the type of a scalar as its data type: "float32".
bool is_scalar_name(const std::string& type) {
  return !type.empty() && std::isalpha(static_cast<unsigned char>(type[0])) &&
         type.find_first_of("[(") == std::string::npos &&
         std::isdigit(static_cast<unsigned char>(type.back()));
}

}  // namespace

std::string shape_in(const std::string& type) {
  constexpr std::string_view kTensor = "Tensor[(";
  std::string text;
  for (size_t at = type.find(kTensor); at != std::string::npos; at = type.find(kTensor, at)) {
    at += kTensor.size();
    std::string shape;
    for (; at < type.size() && type[at] != ')'; ++at)
      if (type[at] == ',')
        shape += 'x';
      else if (type[at] != ' ')
        shape += type[at];
    if (shape.ends_with('x')) shape.pop_back();  // (1,)
    text += (text.empty() ? "" : "; ") + (shape.empty() ? "scalar" : shape);
  }
  if (text.empty() && is_scalar_name(type)) return "scalar";
  return text;
}

uint32_t leading_operator(const ProfileReport& report, const std::vector<uint32_t>& ids) {
  return *std::max_element(ids.begin(), ids.end(), [&](uint32_t a, uint32_t b) {
    return report.operators.at(a).flops < report.operators.at(b).flops;
  });
}

std::string kernel_title(const ProfileReport& report, const KernelRow& kernel) {
  if (kernel.origins.empty()) {
    const auto function = report.functions.find(kernel.func_name);
    const bool known = function != report.functions.end() && !function->second.brief.empty();
    return (known ? function->second.brief : short_name(kernel.name)) + for_causes(report, kernel.made_for);
  }
  const uint32_t lead = leading_operator(report, kernel.origins);
  size_t others = 0;
  std::string text;
  for (const uint32_t id : kernel.origins) {
    if (id != lead && ++others >= kNamed) continue;
    const OperatorRow& row = report.operators.at(id);
    text += (text.empty() ? "" : " + ") + (id == lead && !row.brief.empty() ? row.brief : brief_name(row.op));
  }
  if (others >= kNamed) text += " + " + std::to_string(others - kNamed + 1) + " more";
  return text + ", " + report.operators.at(lead).place();
}

void add_titles(ProfileReport& report) {
  std::map<std::string, int> count;
  for (KernelRow& kernel : report.kernels) {
    // First, since what has no room for a title cuts its end off.
    if (kernel.title.empty())
      kernel.title = (kernel.simulated.empty() ? "" : "simulated: ") + kernel_title(report, kernel);
    ++count[kernel.title];
  }
  for (KernelRow& kernel : report.kernels)
    if (count[kernel.title] > 1) kernel.title += ", node " + std::to_string(kernel.node);
}

}  // namespace baton
