// The machine's counters of energy, on folders like those of Linux.
#include "baton/clock/energy_counter.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "baton/support/error.h"

#include "changed_setting.h"

namespace baton {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class EnergyCounterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) / ("powercap-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& zone, const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(folder_ / zone);
    std::ofstream(folder_ / zone / file) << text << '\n';
  }
  void add(const std::string& zone, const std::string& name, uint64_t uj, uint64_t range) const {
    write(zone, "name", name);
    write(zone, "energy_uj", std::to_string(uj));
    write(zone, "max_energy_range_uj", std::to_string(range));
  }
  std::string error() const {
    try {
      EnergyCounter counter(folder_.string());
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  std::filesystem::path folder_;
};

TEST_F(EnergyCounterTest, AddsPackagesAndMemoryAndNothingTwice) {
  add("intel-rapl:0", "package-0", 1000, 1'000'000);
  add("intel-rapl:0:0", "core", 500, 1'000'000);
  add("intel-rapl:0:1", "dram", 70, 1'000'000);
  add("intel-rapl:1", "package-1", 0, 1'000'000);
  add("intel-rapl:2", "psys", 5000, 1'000'000);
  write("intel-rapl", "name", "package");  // the driver itself
  EnergyCounter counter(folder_.string());
  EXPECT_THAT(counter.zones(), ElementsAre("package-0", "dram", "package-1"));
  EXPECT_EQ(counter.read_uj(), 0);
  write("intel-rapl:0", "energy_uj", "1500");
  write("intel-rapl:0:0", "energy_uj", "900");
  write("intel-rapl:0:1", "energy_uj", "100");
  write("intel-rapl:1", "energy_uj", "7");
  EXPECT_EQ(counter.read_uj(), 537);
  EXPECT_EQ(counter.read_uj(), 537);
}

TEST_F(EnergyCounterTest, BeginsAgainAtItsRange) {
  add("intel-rapl:0", "package-0", 262'143'000'000, 262'143'328'850);
  EnergyCounter counter(folder_.string());
  write("intel-rapl:0", "energy_uj", "1000");
  EXPECT_EQ(counter.read_uj(), 329'850);
  write("intel-rapl:0", "energy_uj", "2000");
  EXPECT_EQ(counter.read_uj(), 330'850);
}

TEST_F(EnergyCounterTest, SaysWhatIsMissing) {
  EXPECT_THAT(error(), HasSubstr("has no counter of energy: " + folder_.string() + " has no intel-rapl:N"));
  write("intel-rapl:0", "name", "package-0");
  EXPECT_THAT(error(), HasSubstr("intel-rapl:0/energy_uj cannot be read"));
  add("intel-rapl:0", "package-0", 1, 10);
  EXPECT_EQ(error(), "");
  EnergyCounter counter(folder_.string());
  std::filesystem::remove_all(folder_ / "intel-rapl:0");
  EXPECT_THROW(counter.read_uj(), Error);
}

TEST(EnergyCounter, TheFolderCanBeGiven) {
  {
    const ChangedSetting changed(&Environment::powercap, "/elsewhere");
    EXPECT_EQ(powercap_folder(), "/elsewhere");
  }
  EXPECT_EQ(powercap_folder(), "/sys/class/powercap");
}

}  // namespace
}  // namespace baton
