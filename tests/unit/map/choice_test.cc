// Which of the models that were compared is kept.
#include <gtest/gtest.h>

#include "baton/map/model/map_model.h"

namespace baton {
namespace {

MappedModel timed(const std::string& name, bool single, double us, double spread = 0.001) {
  MappedModel model{.name = name, .single = single};
  model.modelled_us = model.measured_us = us;
  for (int i = 0; i < 6; ++i) model.rounds_us.push_back(us * (1 + spread * (i % 2 ? 1 : -1) * (1 + i)));
  return model;
}

MapReport report_of(std::vector<MappedModel> models) {
  MapReport report;
  report.models = std::move(models);
  report.choose(std::vector<bool>(report.models.size(), true));
  return report;
}

TEST(MapChoice, IsTheFastest) {
  const MapReport report =
      report_of({timed("a", true, 10), timed("b", true, 8), timed("mapping 1", false, 6)});
  EXPECT_EQ(report.best().name, "mapping 1");
  EXPECT_EQ(report.best_single, 1U);
  EXPECT_NEAR(report.speedup(), 8.0 / 6, 1e-9);
}

TEST(MapChoice, OfEqualOnesTheSingleBackend) {
  EXPECT_EQ(report_of({timed("a", true, 8), timed("mapping 1", false, 8)}).chosen, 0U);
}

TEST(MapChoice, WithinTheNoiseTheSingleBackendIsKeptAndSaidSo) {
  const MapReport report = report_of({timed("a", true, 8, 0.05), timed("mapping 1", false, 7.9)});
  EXPECT_EQ(report.chosen, 0U);
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_NE(report.notes[0].find("mapping 1 is not faster than a beyond the noise"), std::string::npos);
}

// With all rounds disturbed a mapping that is 4 % slower was reported as "1.259x +-0".
TEST(MapChoice, WithoutKnownNoiseTheSingleBackendIsKept) {
  std::vector<MappedModel> models{timed("a", true, 8), timed("mapping 1", false, 6)};
  for (MappedModel& each : models) each.rounds_us.clear();
  const MapReport report = report_of(models);
  EXPECT_EQ(report.chosen, 0U);
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_NE(report.notes[0].find("too few rounds were measured"), std::string::npos);
}

TEST(MapChoice, BesideOtherProgramsOnlyWhatTheyCannotFeignCounts) {
  std::vector<MappedModel> models{timed("a", true, 8), timed("mapping 1", false, 7.6)};
  EXPECT_EQ(report_of(models).chosen, 1U);
  for (MappedModel& each : models) {
    each.under_load = "1.2 of 2 processors busy elsewhere";
    each.plus_minus_us = 0.1 * each.measured_us;
  }
  MapReport report = report_of(models);
  EXPECT_EQ(report.chosen, 0U);
  EXPECT_GT(report.plus_minus, 0.05);
  report.note_load();
  EXPECT_NE(report.notes.back().find("measured beside other programs (1.2 of 2"), std::string::npos);
  models[1] = timed("mapping 1", false, 5);
  EXPECT_EQ(report_of(models).chosen, 1U) << "that is faster for certain";
}

TEST(MapChoice, PredictedTimesHaveNoRounds) {
  MapReport report;
  report.predicted = true;
  report.models = {timed("a", true, 8), timed("mapping 1", false, 6)};
  for (MappedModel& each : report.models) each.rounds_us.clear();
  report.choose({true, true});
  EXPECT_EQ(report.chosen, 1U);
}

TEST(MapChoice, WhatCannotBeUsedOrHasNoTimeDoesNotCount) {
  MapReport report;
  report.models = {timed("a", true, 10), timed("b", true, 1), timed("c", true, 0),
                   timed("mapping 1", false, 2)};
  report.choose({true, false, true, true});
  EXPECT_EQ(report.best_single, 0U);
  EXPECT_EQ(report.best().name, "mapping 1");
}

TEST(MapChoice, WithoutAKnownSingleBackendTheBestIsAlone) {
  const MapReport report = report_of({timed("a", true, 0), timed("mapping 1", false, 2)});
  EXPECT_EQ(report.chosen, 1U);
  EXPECT_EQ(report.best_single, 1U);
}

}  // namespace
}  // namespace baton
