// Which of the models that were compared is kept.
#include <gtest/gtest.h>

#include "baton/map/measure/map_model.h"

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
