#include "baton/profile/report/comparison.h"

#include <algorithm>
#include <array>
#include <utility>

#include "baton/support/error.h"

namespace baton {
namespace {

constexpr std::array<std::pair<OffloadVerdict, const char*>, 7> kVerdicts = {
    {{OffloadVerdict::kNotTaken, "not taken"},
     {OffloadVerdict::kWrong, "wrong"},
     {OffloadVerdict::kNotMeasured, "not measured"},
     {OffloadVerdict::kUnreliable, "unreliable"},
     {OffloadVerdict::kFaster, "faster"},
     {OffloadVerdict::kSlower, "slower"},
     {OffloadVerdict::kWithinNoise, "within noise"}}};

}  // namespace

const char* verdict_name(OffloadVerdict verdict) {
  return std::ranges::find(kVerdicts, verdict, [](const auto& each) { return each.first; })->second;
}

OffloadVerdict verdict_named(const std::string& name) {
  const auto at = std::ranges::find(kVerdicts, name, [](const auto& each) { return each.second; });
  if (at == kVerdicts.end()) throw Error("`" + name + "` is no verdict of a comparison");
  return at->first;
}

const OffloadRow* best_choice(const ComparedFunction& function) {
  const OffloadRow* best = nullptr;
  for (const OffloadRow& row : function.others)
    if (row.verdict == OffloadVerdict::kFaster && (!best || row.total_us < best->total_us)) best = &row;
  return best;
}

double Comparison::base_us() const {
  double us = 0;
  for (const ComparedFunction& function : functions) us += function.calls() * function.own_us;
  return us;
}

double Comparison::best_us() const {
  double us = 0;
  for (const ComparedFunction& function : functions) {
    const OffloadRow* best = best_choice(function);
    us += function.calls() * (best ? best->total_us : function.own_us);
  }
  return us;
}

size_t Comparison::best_calls(const std::string& backend) const {
  size_t calls = 0;
  for (const ComparedFunction& function : functions) {
    const OffloadRow* best = best_choice(function);
    if ((best ? best->backend : base) == backend) calls += function.nodes.size();
  }
  return calls;
}

std::vector<std::string> Comparison::wrong() const {
  std::vector<std::string> found;
  for (const ComparedFunction& function : functions)
    for (const OffloadRow& row : function.others)
      if (row.verdict == OffloadVerdict::kWrong)
        found.push_back(row.backend + " computes node " + std::to_string(function.node) + " `" +
                        function.func_name + "` differently: " + row.why);
  return found;
}

}  // namespace baton
