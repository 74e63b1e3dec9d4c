#include "baton/profile/write/page.h"

#include <nlohmann/json.hpp>

#include "baton/page/fill.h"
#include "baton/profile/write/report_json.h"

namespace baton {
namespace {

using Json = nlohmann::ordered_json;

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

}  // namespace

std::string page(const ProfileReport& report) {
  return filled_page(page_template(), report.model + ": Baton profile", Json::array({data_of(report)}));
}

std::string page(const ProfileReport& before, const ProfileReport& after) {
  const std::string names = before.model == after.model ? after.model : before.model + " and " + after.model;
  return filled_page(page_template(), names + ": difference of two Baton profiles",
                     Json::array({data_of(before), data_of(after)}));
}

}  // namespace baton
