// What is made of samples that were recorded on a real machine (bench/record_samples.cc): on a quiet one,
// beside two busy loops, on one and two threads, and with a busy loop on the same processor. The numbers of
// recorded/expected.txt are those of the code that measured before there was one clock (design note 0018).
// Two rules were joined on purpose: a profile's, by which a window that is too short is judged with the next
// one, and a job's, by which what is left at the end is judged, too.
#include <cstdio>
#include <deque>
#include <fstream>
#include <sstream>
#include <utility>

#include <gmock/gmock.h>

#include "baton/clock/windows.h"
#include "baton/farm/measure/measure_job.h"

#include "test_paths.h"

namespace baton {
namespace {

const char* const kSeries[] = {"run", "dense", "dense_1", "softmax"};

struct Recording {
  std::vector<std::deque<RoundSamples>> series;  // of each kernel, by round
  std::string load;
};

SystemReading parsed_reading(std::istringstream& line) {
  CpuUse use;
  SystemReading reading;
  line >> use.at_s >> use.all_s >> use.own_s >> use.steal_s >> reading.throttled_s >> use.processors;
  reading.cpu = use;
  return reading;
}

void add_samples(std::istringstream& line, std::vector<std::deque<RoundSamples>>& series) {
  Sample sample;
  line >> sample.slow >> sample.core_ns;
  for (auto& rounds : series) {
    line >> sample.us >> sample.held >> sample.computed_us;
    rounds.back().add(sample);
  }
}

/// Judged by the windows of the recording: between two readings of what the system counted.
Recording recording(const std::string& name) {
  std::ifstream file(std::string(source_dir()) + "/tests/unit/clock/recorded/" + name + ".txt");
  Recording found;
  found.series.resize(std::size(kSeries));
  SystemReading now;
  DisturbanceWindows windows([&] { return now; });
  bool begins = true;
  std::string text, kind;
  while (std::getline(file, text)) {
    std::istringstream line(text);
    line >> kind;
    if (kind == "round") {
      begins = true;
      for (auto& rounds : found.series) windows.track(rounds.emplace_back().disturbed);
    } else if (kind == "sample") {
      add_samples(line, found.series);
    } else {
      now = parsed_reading(line);
      if (!std::exchange(begins, false)) windows.pause();
      windows.resume();
    }
  }
  windows.finish();
  found.load = windows.sum().text();
  return found;
}

std::string text_of(const Estimate& found) {
  char text[200];
  std::snprintf(text, sizeof text, "%.6f +- %.6f of %zu in %zu rounds, %zu left out, core %.3f%s%s", found.us,
                found.plus_minus_us.value_or(-1), found.samples_us.size(), found.rounds_us.size(),
                found.left_out, found.core_ns, found.under_load.empty() ? "" : " under load",
                found.interrupted ? " interrupted" : "");
  return text;
}

std::string text_of(const JobRow& row) {
  char text[200];
  std::snprintf(text, sizeof text, "%zu samples, median %.6f, %zu disturbed, %d calls%s%s",
                row.samples_us.size(), median(row.samples_us), row.disturbed.size(), row.calls_per_sample,
                row.under_load ? " under load" : "", row.interrupted ? " interrupted" : "");
  return text;
}

/// As one measurement of a campaign: without rounds.
RoundSamples joined(const std::vector<RoundSamples>& rounds) {
  RoundSamples all;
  for (const RoundSamples& round : rounds)
    for (size_t i = 0; i < round.us.size(); ++i) {
      all.add({round.us[i], round.held[i], round.slow[i], round.computed_us[i], round.core_ns[i]});
      all.disturbed.back() = round.disturbed[i];
    }
  return all;
}

std::string said_of(const std::string& name) {
  Recording found = recording(name);
  std::ostringstream out;
  out << name << ": " << found.load << "\n";
  for (size_t i = 0; i < std::size(kSeries); ++i) {
    std::vector<RoundSamples> rounds(found.series[i].begin(), found.series[i].end());
    leave_out_slow(rounds);
    const RoundSamples all = joined(rounds);
    out << name << " " << kSeries[i] << "\n  marks ";
    for (const bool disturbed : all.disturbed) out << (disturbed ? 'd' : '.');
    char least[40];
    std::snprintf(least, sizeof least, "%.6f", least_disturbed_us(all.us));
    out << "\n  least disturbed " << least << "\n  job " << text_of(summed_up(all, Protocol(), 2))
        << "\n  enough";
    for (const double cv : {0.003, 0.03, 0.3}) out << (enough({all}, {30, cv}) ? " yes" : " no");
    out << "\n";
    out << "  " << text_of(estimate(rounds, found.load, 1)) << "\n";
  }
  return out.str();
}

TEST(RecordedSamples, GiveTheTimesThatTheyGave) {
  std::ifstream file(std::string(source_dir()) + "/tests/unit/clock/recorded/expected.txt");
  std::ostringstream expected, found;
  expected << file.rdbuf();
  for (const char* name : {"quiet", "busy", "busy_threads", "shared_core"}) found << said_of(name);
  EXPECT_EQ(found.str(), expected.str());
}

}  // namespace
}  // namespace baton
