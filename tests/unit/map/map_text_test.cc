// What `baton map` prints of a mapping, exactly.
#include "baton/map/model/map_text.h"

#include <gtest/gtest.h>

namespace baton {
namespace {

Estimate measured(double us, size_t rounds) {
  Estimate time;
  time.us = us;
  time.rounds_us.assign(rounds, us);
  return time;
}

/// A mapping that the rounds which chose it showed 1.33 times as fast as it is.
MapReport small_report() {
  MapReport report;
  report.backends = {"llvm", "dnnl"};
  report.models.push_back({.name = "llvm", .single = true, .backend_of = {0, 0}, .modelled_us = 10});
  report.models.push_back(
      {.name = "dnnl", .single = true, .backend_of = {1, 0}, .regions = 1, .modelled_us = 12});
  report.models.push_back({.name = "mapping 1", .backend_of = {0, 1}, .regions = 1, .modelled_us = 6});
  report.models[0].measured = measured(10, 6);
  report.models[1].measured = measured(12, 6);
  report.models[2].measured = measured(6, 6);
  report.models[0].verified = measured(10, 12);
  report.models[2].verified = measured(8, 12);
  report.choice = {2, 0, 0.021};
  report.bound_us = 6;
  report.method = "along the graph";
  return report;
}

TEST(MapText, ComparesByTheRoundsAfterTheChoice) {
  EXPECT_EQ(
      map_table(small_report()),
      "  who computes it    regions  modelled us  measured us  verified us  speed-up  operators\n"
      "  llvm                     0        10.00        10.00        10.00    1.000x  llvm 2\n"
      "  dnnl                     1        12.00        12.00            -         -  llvm 1, dnnl 1\n"
      "* mapping 1                1         6.00         6.00         8.00    1.250x  llvm 1, dnnl 1\n"
      "\n"
      "  mapping 1 is 1.250x as fast as the best single backend, llvm (+-2.1 %), by 12 rounds of both that "
      "were measured after it was chosen\n"
      "  by the prices no mapping takes less than 6.00 us (along the graph)\n"
      "  0.0 s building, 0.0 s measuring, 0.00 s searching\n");
}

TEST(MapText, ClaimsNothingWhereTheSingleBackendIsKept) {
  MapReport report = small_report();
  report.choice = {0, 0};
  report.notes = {"mapping 1 is not faster than llvm beyond the noise of +-30 %"};
  const std::string text = map_table(report);
  EXPECT_NE(text.find("\n  llvm alone is the fastest\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("+-0"), std::string::npos) << text;
  EXPECT_EQ(report.speedup(), 1);
}

TEST(MapText, PredictedTimesAreComparedByThePrices) {
  MapReport report = small_report();
  for (MappedModel& each : report.models) each.measured = each.verified = {};
  report.predicted = true;
  report.machine = "zen5";
  report.choice.plus_minus.reset();
  EXPECT_NE(map_table(report).find(
                "\n  mapping 1 is 1.667x as fast as the best single backend, llvm, predicted, not "
                "measured, of zen5\n"),
            std::string::npos)
      << map_table(report);
}

}  // namespace
}  // namespace baton
