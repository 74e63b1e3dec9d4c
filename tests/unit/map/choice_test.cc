// Which of the models that were compared is kept, and what judges the choice.
#include <gmock/gmock.h>

#include "baton/map/model/choose.h"

namespace baton {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Twelve rounds around `us`.
Estimate around(double us, double spread = 0.001) {
  Estimate time;
  time.us = us;
  time.plus_minus_us = spread * us;
  for (int i = 0; i < 12; ++i) time.rounds_us.push_back(us * (1 + spread * (i % 2 ? 1 : -1) * (1 + i % 6)));
  return time;
}

MappedModel timed(const std::string& name, bool single, double us) {
  MappedModel model{.name = name, .single = single};
  model.modelled_us = us;
  model.measured = around(us);
  return model;
}

MappedModel verified(const std::string& name, bool single, double chosen_by_us, const Estimate& time) {
  MappedModel model = timed(name, single, chosen_by_us);
  model.verified = time;
  return model;
}

MapChoice chosen_of(const std::vector<MappedModel>& models, bool predicted = false) {
  return choose(models, std::vector<bool>(models.size(), true), predicted);
}

MapReport report_of(const std::vector<MappedModel>& models) {
  MapReport report;
  report.models = models;
  const JudgedChoice judged = judge(models, chosen_of(models), MapObjective::kSerial);
  report.choice = judged.choice;
  if (!judged.note.empty()) report.notes.push_back(judged.note);
  return report;
}

TEST(MapChoice, IsTheFastest) {
  const MapChoice choice =
      chosen_of({timed("a", true, 10), timed("b", true, 8), timed("mapping 1", false, 6)});
  EXPECT_EQ(choice.chosen, 2U);
  EXPECT_EQ(choice.best_single, 1U);
  EXPECT_FALSE(choice.plus_minus);
}

TEST(MapChoice, OfEqualOnesTheSingleBackend) {
  EXPECT_EQ(chosen_of({timed("a", true, 8), timed("mapping 1", false, 8)}).chosen, 0U);
}

TEST(MapChoice, WhatCannotBeUsedOrHasNoTimeDoesNotCount) {
  const MapChoice choice =
      choose({timed("a", true, 10), timed("b", true, 1), timed("c", true, 0), timed("mapping 1", false, 2)},
             {true, false, true, true}, /*predicted=*/false);
  EXPECT_EQ(choice.best_single, 0U);
  EXPECT_EQ(choice.chosen, 3U);
}

TEST(MapChoice, WithoutAKnownSingleBackendTheBestIsAlone) {
  const MapChoice choice = chosen_of({timed("a", true, 0), timed("mapping 1", false, 2)});
  EXPECT_EQ(choice.chosen, 1U);
  EXPECT_EQ(choice.best_single, 1U);
}

TEST(MapChoice, PredictedIsByThePrices) {
  std::vector<MappedModel> models{timed("a", true, 8), timed("mapping 1", false, 6)};
  for (MappedModel& each : models) each.measured = {};
  MapReport report;
  report.predicted = true;
  report.models = models;
  report.choice = chosen_of(models, report.predicted);
  EXPECT_EQ(report.best().name, "mapping 1");
  EXPECT_NEAR(report.speedup(), 8.0 / 6, 1e-9);
}

TEST(MapRivals, AreTheSingleBackendsThatMayBeTheBest) {
  std::vector<MappedModel> models{timed("a", true, 8.01), timed("b", true, 8), timed("c", true, 9),
                                  timed("mapping 1", false, 6)};
  const MapChoice choice = chosen_of(models);
  const std::vector<bool> usable(models.size(), true);
  EXPECT_THAT(rivals_of(models, usable, choice), ElementsAre(1U, 0U));
  models[2].measured.plus_minus_us.reset();
  EXPECT_THAT(rivals_of(models, usable, choice), ElementsAre(1U, 0U, 2U))
      << "too few rounds rule nothing out";
}

// The rounds that chose reported, too: a mapping that is 4 % slower was "1.259x +-0".
TEST(MapVerification, ReportsWhatLaterRoundsFound) {
  const MapReport report =
      report_of({verified("a", true, 10, around(10)), verified("mapping 1", false, 5, around(8))});
  EXPECT_EQ(report.best().name, "mapping 1");
  EXPECT_NEAR(report.speedup(), 10.0 / 8, 1e-9);
  ASSERT_TRUE(report.choice.plus_minus);
  EXPECT_GT(*report.choice.plus_minus, 0.014) << "two processes differ by a hundredth each";
  EXPECT_LT(*report.choice.plus_minus, 0.03);
  EXPECT_TRUE(report.notes.empty());
}

TEST(MapVerification, ASlowerOneIsNotKept) {
  const MapReport report =
      report_of({verified("a", true, 10, around(10)), verified("mapping 1", false, 8, around(10.4))});
  EXPECT_EQ(report.best().name, "a");
  EXPECT_EQ(report.speedup(), 1);
  EXPECT_FALSE(report.choice.plus_minus) << "nothing is claimed";
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_THAT(report.notes[0],
              HasSubstr("mapping 1 is not faster than a beyond the noise of +-2 % (0.962x, in rounds"));
}

TEST(MapVerification, WithinTheNoiseTheSingleBackendWins) {
  EXPECT_EQ(
      report_of({verified("a", true, 10, around(10, 0.03)), verified("mapping 1", false, 8, around(9.7))})
          .best()
          .name,
      "a");
  EXPECT_EQ(report_of({verified("a", true, 10, around(10)), verified("mapping 1", false, 8, around(9.9))})
                .best()
                .name,
            "a")
      << "what two processes differ by";
}

TEST(MapVerification, IsBesideTheBestSingleBackendOfTheseRounds) {
  const MapReport report =
      report_of({verified("a", true, 10, around(10)), verified("b", true, 10.1, around(9)),
                 verified("mapping 1", false, 8, around(8))});
  EXPECT_EQ(report.best_single().name, "b");
  EXPECT_NEAR(report.speedup(), 9.0 / 8, 1e-9);
}

// Of 7 us by one lucky round a library was "alone the fastest", and took 47.
TEST(MapVerification, SaysWhichOfTheSingleBackendsIsTheFastest) {
  const MapReport report = report_of({verified("a", true, 43, around(8)), verified("b", true, 7, around(47)),
                                      timed("mapping 1", false, 44)});
  EXPECT_EQ(report.best().name, "a");
  EXPECT_EQ(report.best_single().name, "a");
  EXPECT_TRUE(report.notes.empty());
}

TEST(MapVerification, TooFewRoundsAreSaid) {
  for (const size_t rounds : {0U, 2U}) {
    std::vector<MappedModel> models{verified("a", true, 10, around(10)),
                                    verified("mapping 1", false, 5, around(5))};
    for (MappedModel& each : models) each.verified.rounds_us.resize(rounds);
    const MapReport report = report_of(models);
    EXPECT_EQ(report.best().name, "a");
    EXPECT_FALSE(report.choice.plus_minus);
    ASSERT_EQ(report.notes.size(), 1U);
    EXPECT_THAT(report.notes[0], HasSubstr("too few rounds (" + std::to_string(rounds) + ")"));
  }
}

TEST(MapVerification, BesideOtherProgramsOnlyWhatTheyCannotFeignCounts) {
  std::vector<MappedModel> models{verified("a", true, 8, around(8)),
                                  verified("mapping 1", false, 7, around(7.6))};
  EXPECT_EQ(report_of(models).best().name, "mapping 1");
  for (MappedModel& each : models) {
    each.verified.under_load = "1.2 of 2 processors busy elsewhere";
    each.verified.plus_minus_us = 0.1 * each.verified.us;
  }
  MapReport report = report_of(models);
  EXPECT_EQ(report.best().name, "a");
  report.note_load();
  EXPECT_THAT(report.notes.back(), HasSubstr("measured beside other programs (1.2 of 2"));
  models[1].verified = around(5);
  EXPECT_EQ(report_of(models).best().name, "mapping 1") << "that is faster for certain";
}

}  // namespace
}  // namespace baton
