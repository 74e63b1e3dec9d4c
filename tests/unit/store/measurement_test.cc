#include "baton/store/measurement.h"

#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "baton/store/measurement_json.h"
#include "baton/support/error.h"

#include "store/measurements.h"

namespace baton {
namespace {

TEST(MeasurementJson, EveryFieldReadsBack) {
  const Measurement m = made_up::measurement();
  const std::string line = measurement_line(m);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const Measurement back = measurement_from_line(line);
  EXPECT_EQ(back, m);
  EXPECT_EQ(back.id(), m.id());
  EXPECT_EQ(measurement_line(back), line);
}

TEST(MeasurementJson, RowsOfOlderStoresKeepTheirId) {
  Measurement m = made_up::measurement();
  const std::string with_protocol = m.id();
  m.protocol.clear();  // not said before version 6
  const std::string with_clock = m.id();
  m.core_ns = 0;  // not read before version 3
  EXPECT_EQ(m.id(), "618c0476b896170f049cbf6e0d655de8");
  EXPECT_EQ(with_clock, "c19e186a9ad3ea0edacfbbe5064c5f75");
  EXPECT_EQ((std::set{m.id(), with_clock, with_protocol}.size()), 3u);
}

TEST(MeasurementJson, DefaultsReadBack) {
  const Measurement m;
  EXPECT_EQ(measurement_from_line(measurement_line(m)), m);
}

TEST(MeasurementJson, JsonOfAttributesIsKeptAsItWasWritten) {
  Measurement m = made_up::measurement();
  m.work.operators[0].attributes = Json::parse(R"({ "strides" : [2, 2], "epsilon": 1e-5 })");
  m.build.parameters = "";
  EXPECT_EQ(measurement_from_line(measurement_line(m)), m);
}

TEST(MeasurementJson, SaysWhatIsWrong) {
  const auto error_of = [](const std::string& line) -> std::string {
    try {
      measurement_from_line(line);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const std::string good = measurement_line(made_up::measurement());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string line = good;
    return line.replace(line.find(from), from.size(), to);
  };
  EXPECT_NE(error_of("{").find("not JSON"), std::string::npos);
  EXPECT_NE(error_of("[1]").find("not a measurement"), std::string::npos);
  EXPECT_NE(error_of(with("\"baton_measurement\":1", "\"baton_measurement\":9")).find("version 9"),
            std::string::npos);
  EXPECT_NE(error_of(with("\"machine\"", "\"mashine\"")).find("machine"), std::string::npos);
  EXPECT_NE(error_of(with("\"in model\"", "\"cold\"")).find("`cold`"), std::string::npos);
  EXPECT_NE(error_of(with("\"kind\":\"kernel\"", "\"kind\":\"colonel\"")).find("`colonel`"),
            std::string::npos);
  EXPECT_NE(error_of(with("\"disturbed\":[3,29]", "\"disturbed\":[3,30]")).find("number 30"),
            std::string::npos);
  EXPECT_NE(error_of(with("device sheet 1", "device sheet 9")).find("device sheet"), std::string::npos);
  EXPECT_NE(error_of(with("\"operators\":[", "\"operators\":{\"a\":[").append("}")), "");
}

TEST(Measurement, EveryFieldIsPartOfTheId) {
  const Measurement m = made_up::measurement();
  const auto changed = [&](auto change) {
    Measurement other = m;
    change(other);
    return other.id() != m.id();
  };
  EXPECT_TRUE(changed([](Measurement& o) { o.work.text += " "; }));
  EXPECT_TRUE(changed([](Measurement& o) { o.work.kind = WorkKind::kPart; }));
  EXPECT_TRUE(changed([](Measurement& o) { o.build.opt_level = 3; }));
  EXPECT_TRUE(changed([](Measurement& o) { o.build.parameters = "{}"; }));
  EXPECT_TRUE(changed([](Measurement& o) { o.device.cores = 9; }));
  EXPECT_TRUE(changed([](Measurement& o) { o.device.peaks->gflops = 9; }));
  EXPECT_TRUE(changed([](Measurement& o) { o.machine = "there"; }));
  EXPECT_TRUE(changed([](Measurement& o) { o.threads = 5; }));
  EXPECT_TRUE(changed([](Measurement& o) { o.cache = CacheState::kHot; }));
  EXPECT_TRUE(changed([](Measurement& o) { o.samples_us[4] += 1e-9; }));
  EXPECT_TRUE(changed([](Measurement& o) { o.disturbed.pop_back(); }));
  EXPECT_TRUE(changed([](Measurement& o) { o.outliers.clear(); }));
  EXPECT_TRUE(changed([](Measurement& o) { o.plus_minus_us = 0; }));
  EXPECT_TRUE(changed([](Measurement& o) { o.plus_minus_us.reset(); }));
  EXPECT_TRUE(changed([](Measurement& o) { o.origins[1].source = "x"; }));
  EXPECT_TRUE(changed([](Measurement& o) { std::swap(o.origins, o.made_for); }));
  EXPECT_TRUE(changed([](Measurement& o) { o.model.swap(o.family); }));
  EXPECT_TRUE(changed([](Measurement& o) { o.begun_s += 1; }));
  EXPECT_TRUE(changed([](Measurement& o) { o.share = 1; }));
  EXPECT_TRUE(changed([](Measurement& o) { o.protocol = "profile"; }));
  EXPECT_TRUE(changed([](Measurement& o) { o.configuration.clear(); }));
  EXPECT_EQ(m.id().size(), 32u);
}

TEST(Measurement, ADeviceIsTheSameAfterItsPeaksWereMeasuredAnew) {
  const DeviceSheet sheet = made_up::measurement().device;
  DeviceSheet later = sheet;
  later.peaks->gflops = 99;
  later.links.clear();
  EXPECT_EQ(sheet_identity(sheet), sheet_identity(later));
  EXPECT_NE(sheet_digest(sheet), sheet_digest(later));
  later.cores = 4;
  EXPECT_NE(sheet_identity(sheet), sheet_identity(later));
}

TEST(Measurement, NumbersAreFiniteAndSamplesAreThere) {
  Measurement m = made_up::measurement();
  EXPECT_NO_THROW(check_measurement(m));
  m.samples_us[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(check_measurement(m), Error);
  m = made_up::measurement();
  m.median_us = std::numeric_limits<double>::infinity();
  EXPECT_THROW(check_measurement(m), Error);
  m = made_up::measurement();
  m.outliers = {30};
  EXPECT_THROW(check_measurement(m), Error);
}

}  // namespace
}  // namespace baton
