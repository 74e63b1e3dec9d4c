#include "baton/target/machine.h"

#include <gmock/gmock.h>
#include <sched.h>

namespace baton {
namespace {

TEST(Machine, HostIsSoundAndAlwaysTheSame) {
  const Machine& host = Machine::host();
  EXPECT_EQ(&host, &Machine::host());
  EXPECT_THAT(host.cpu, testing::HasSubstr("-linux"));
  EXPECT_GE(host.float_lanes, 4);
  EXPECT_GE(host.vector_registers, 16);
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  EXPECT_EQ(host.cores, CPU_COUNT(&set));
  EXPECT_GE(host.l1_bytes, 8 << 10);
  EXPECT_GE(host.l2_bytes, host.l1_bytes);
}

TEST(Machine, WideVectorsComeWithTheirFeature) {
  const Machine& host = Machine::host();
  EXPECT_EQ(host.float_lanes == 16, host.cpu.find("avx512_skylake") != std::string::npos);
  if (host.float_lanes >= 8) {
    EXPECT_THAT(host.cpu, testing::HasSubstr("-avx"));
  }
}

}  // namespace
}  // namespace baton
