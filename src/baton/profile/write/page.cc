#include "baton/profile/write/page.h"

#include <optional>

#include "baton/page/fill.h"
#include "baton/profile/write/report_json.h"
#include "baton/support/error.h"
#include "baton/support/json.h"

namespace baton {
namespace {

constexpr size_t kMostSamples = 64;  // the maximum for a strip in the details

/// Thins samples evenly, keeping their order.
void thin(Json& samples) {
  if (samples.size() <= kMostSamples) return;
  Json kept = Json::array();
  for (size_t i = 0; i < kMostSamples; ++i)
    kept.push_back(samples[i * (samples.size() - 1) / (kMostSamples - 1)]);
  samples = std::move(kept);
}

Json data_of(const ProfileReport& report) {
  Json json = to_json(report);
  thin(json["end_to_end_us"]["samples"]);
  thin(json["profiled_us"]["samples"]);
  for (Json& kernel : json["kernels"]) thin(kernel["samples"]);
  return json;
}

/// Which rows differ, by their nodes and operators.
Json verdicts_of(const ProfileDiff& difference) {
  Json before = Json::object(), after = Json::object(), operators = Json::object();
  const auto add = [&](const auto& row) {
    for (const uint32_t node : row.a_nodes) before[std::to_string(node)] = row.us.differs();
    for (const uint32_t node : row.b_nodes) after[std::to_string(node)] = row.us.differs();
  };
  for (const DiffGroup& group : difference.groups) add(group);
  for (const DiffOwn& own : difference.own) add(own);
  for (const DiffOperator& row : difference.operators) operators[std::to_string(row.id)] = row.us.differs();
  return {{"before", std::move(before)},
          {"after", std::move(after)},
          {"operators", std::move(operators)},
          {"end_to_end", difference.end_to_end_us.differs()},
          {"sum", difference.sum_us.differs()}};
}

std::string page_of_two(const ProfileReport& before, const ProfileReport& after,
                        const ProfileDiff* difference) {
  const std::string names = before.model == after.model ? after.model : before.model + " and " + after.model;
  Json last = data_of(after);
  if (difference) last["verdicts"] = verdicts_of(*difference);
  return filled_page(page_template(), names + ": difference of two Baton profiles",
                     Json::array({data_of(before), std::move(last)}));
}

}  // namespace

std::string page(const ProfileReport& report) {
  return filled_page(page_template(), report.model + ": Baton profile", Json::array({data_of(report)}));
}

std::string page(const ProfileReport& before, const ProfileReport& after, const ProfileDiff& difference) {
  return page_of_two(before, after, &difference);
}

std::string page(const ProfileReport& before, const ProfileReport& after) {
  std::optional<ProfileDiff> difference;
  try {
    difference = diff(before, after, "the first", "the second");
  } catch (const Error&) {  // of two models
  }
  return page_of_two(before, after, difference ? &*difference : nullptr);
}

}  // namespace baton
