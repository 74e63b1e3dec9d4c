// Traces: what Perfetto asks of nested complete events, checked without Perfetto.
#include "baton/profile/write/trace.h"

#include <cmath>
#include <set>

#include <gmock/gmock.h>

#include "baton/profile/write/report_json.h"
#include "baton/support/json.h"

#include "profile/made_up.h"

namespace baton {
namespace {

struct Event {
  int64_t from, to;
  std::string category, name;
  Json args;
};

/// Complete events by track, in the order of the file; everything about their form is checked.
std::map<int, std::vector<Event>> tracks_of(const Json& trace) {
  EXPECT_EQ(trace.at("displayTimeUnit"), "ns");
  std::map<int, std::vector<Event>> tracks;
  std::set<int> named;
  for (const Json& event : trace.at("traceEvents")) {
    EXPECT_TRUE(event.at("pid").is_number_integer() && event.at("tid").is_number_integer() &&
                event.at("name").is_string());
    EXPECT_TRUE(event.at("args").is_object());
    if (event.at("ph") == "M") {
      if (event.at("name") == "thread_name") named.insert(event.at("tid").get<int>());
      continue;
    }
    EXPECT_EQ(event.at("ph"), "X");
    EXPECT_TRUE(named.count(event.at("tid").get<int>())) << "a track without a name";
    const double ts = event.at("ts").get<double>() * 1e3, dur = event.at("dur").get<double>() * 1e3;
    EXPECT_NEAR(ts, std::round(ts), 1e-3) << "not a whole nanosecond";
    EXPECT_NEAR(dur, std::round(dur), 1e-3);
    EXPECT_GE(dur, 0);
    tracks[event.at("tid").get<int>()].push_back({std::llround(ts), std::llround(ts) + std::llround(dur),
                                                  event.at("cat").get<std::string>(),
                                                  event.at("name").get<std::string>(), event.at("args")});
  }
  return tracks;
}

/// Each event lies in one of the level above, and beside those of its own; kernels and what lies between fill
/// the model.
void check_nesting(const std::vector<Event>& events) {
  const std::map<std::string, int> levels = {{"model", 0}, {"kernel", 1}, {"between", 1}, {"operator", 2}};
  std::vector<const Event*> open;
  std::map<const Event*, int64_t> filled;
  int64_t last = 0;
  for (const Event& event : events) {
    EXPECT_GE(event.from, last) << "events are in the order of time";
    last = event.from;
    const size_t level = static_cast<size_t>(levels.at(event.category));
    ASSERT_LE(level, open.size()) << event.name;
    open.resize(level);
    if (!open.empty()) {
      EXPECT_GE(event.from, open.back()->from + filled[open.back()])
          << event.name << " overlaps the one before";
      EXPECT_LE(event.to, open.back()->to) << event.name << " leaves " << open.back()->name;
      if (level == 1) {
        EXPECT_EQ(event.from, open.back()->from + filled[open.back()]) << "a gap before " << event.name;
      }
      filled[open.back()] = event.to - open.back()->from;
    }
    open.push_back(&event);
  }
  for (const Event& event : events)
    if (event.category == "model") {
      EXPECT_EQ(filled[&event], event.to - event.from) << "kernels do not add up to " << event.name;
    }
}

TEST(Trace, NestsModelKernelOperator) {
  const ProfileReport report = test::made_up();
  auto tracks = tracks_of(Json::parse(trace_json(report)));
  ASSERT_EQ(tracks.size(), 2u);
  for (const auto& [track, events] : tracks) check_nesting(events);
  std::vector<std::string> names;
  for (const Event& event : tracks[1]) names.push_back(event.category + " " + event.name);
  EXPECT_THAT(names, testing::ElementsAre(
                         "model net", "kernel layout_transform, for line 3",
                         "kernel conv2d + bias_add + relu, line 3", "operator nn.conv2d line 3  [conv]",
                         "operator nn.bias_add line 4  as add", "operator load, store, loop  [conv]",
                         "kernel softmax, line 8", "operator nn.softmax line 8", "kernel add + tanh, line 9",
                         "operator add line 9, tanh line 10", "between between kernels"));
  EXPECT_EQ(tracks[1][0].to, 50000);
  EXPECT_EQ(tracks[1].back().to - tracks[1].back().from, 4000);
  const Event& conv = tracks[1][3];
  EXPECT_EQ(conv.args["origins"], Json({0}));
  EXPECT_EQ(conv.args["lines"], Json({3}));
  EXPECT_EQ(conv.args["types"][0], "Tensor[(1, 8), float32]");
  EXPECT_EQ(conv.args["method"], "markers");
  EXPECT_EQ(conv.args["us"], 8) << "as measured; drawn in proportion, since the stages sum up to 110 %";
  EXPECT_LT(conv.to - conv.from, 8000);
  EXPECT_EQ(tracks[1][2].args["below_noise"][0], "nn.relu line 5");
  EXPECT_EQ(tracks[1][2].args["flops"], 20000);
  EXPECT_EQ(tracks[1][9].args["method"], "not split");
  EXPECT_EQ(tracks[2][0].to, 70000) << "the build without fusion";
}

TEST(Trace, MeasuredRunsAreLaidOutOneAfterAnother) {
  const auto tracks = tracks_of(Json::parse(trace_json(test::made_up(), 3)));
  ASSERT_EQ(tracks.size(), 3u);
  const std::vector<Event>& events = tracks.at(3);
  check_nesting(events);
  std::vector<const Event*> runs;
  for (const Event& event : events)
    if (event.category == "model") runs.push_back(&event);
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0]->to, 51000);
  EXPECT_EQ(runs[1]->from, runs[0]->to);
  EXPECT_EQ(tracks_of(Json::parse(trace_json(test::made_up(), 1000))).at(3).size(), 7 * (1 + 4 + 1u))
      << "no more runs than there are";
}

TEST(Trace, ThreadsOfARunAreLanes) {
  ProfileReport report = test::made_up();
  const uint32_t first = report.kernels[0].node, second = report.kernels[1].node;
  // The loop of thread 1 ends after its kernel by its clock, which differs a little: drawn to the kernel's
  // end.
  report.timeline =
      RunTimeline{{{first, 100, 2000}, {second, 2100, 9000}},
                  {{0, 2200, 8000, 5}, {1, 300, 1500, 1}, {1, 2300, 9100, 3}, {3, 2400, 8800, 4}},
                  9500};
  const auto tracks = tracks_of(Json::parse(trace_json(read_report(to_json(report).dump(), "p.json"))));
  ASSERT_EQ(tracks.size(), 5u);
  const auto names = [&](int track) {
    std::vector<std::string> found;
    for (const Event& event : tracks.at(track))
      found.push_back(event.category + " " + event.name + " " + std::to_string(event.from) + " " +
                      std::to_string(event.to));
    return found;
  };
  const std::string one = report.kernels[0].title, two = report.kernels[1].title;
  EXPECT_THAT(names(10), testing::ElementsAre("model net 0 9500", "kernel " + one + " 100 2000",
                                              "kernel " + two + " 2100 9000", "loop loop 2200 8000"));
  EXPECT_THAT(names(11), testing::ElementsAre("loop " + one + " 300 1500", "loop " + two + " 2300 9000"));
  EXPECT_THAT(names(13), testing::ElementsAre("loop " + two + " 2400 8800"));
  EXPECT_EQ(tracks.at(13)[0].args["iterations"], 4);
  EXPECT_EQ(tracks.at(13)[0].args["node"], second);
}

TEST(Trace, KernelsThatTakeMoreThanThePlainRunLeaveNothingBetween) {
  ProfileReport report = test::made_up();
  report.end_to_end_us = 40;  // the clock was slower when the kernels were timed
  const auto tracks = tracks_of(Json::parse(trace_json(report)));
  check_nesting(tracks.at(1));
  EXPECT_EQ(tracks.at(1)[0].to, 46000);
  EXPECT_EQ(tracks.at(1)[0].args["residual_us"], -6);
}

TEST(Trace, ManyShortPartsStayInTheirKernel) {
  ProfileReport report = test::made_up();
  KernelRow& kernel = report.kernels[1];
  kernel.inside.clear();
  for (int i = 0; i < 997; ++i)
    kernel.inside.push_back({{0}, "x", false, "s", 1.0003 / 997, 0.01, InsideMethod::kMarkers, false});
  for (const auto& [track, events] : tracks_of(Json::parse(trace_json(report)))) check_nesting(events);
}

}  // namespace
}  // namespace baton
