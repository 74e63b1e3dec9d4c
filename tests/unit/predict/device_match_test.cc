// Whether two sheets are of one device.
#include "baton/predict/device_match.h"

#include <gmock/gmock.h>

namespace baton {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

DeviceSheet processor() {
  DeviceSheet sheet;
  sheet.name = "AMD EPYC";
  sheet.code_target = "x86-64-linux-tune_znver5-sse41-avx";
  sheet.processor = "AuthenticAMD family 26 model 2 stepping 1, under KVMKVMKVM";
  sheet.cores = 2;
  sheet.peaks = DevicePeaks{1, 264, 64, 257, 1 << 20, 121, 16 << 20, 1700000000};
  return sheet;
}

/// Of before processors were recorded.
DeviceSheet older() {
  DeviceSheet sheet = processor();
  sheet.processor.clear();
  return sheet;
}

TEST(DeviceMatch, TheSameDeviceOnAnotherDay) {
  DeviceSheet later = processor();
  later.peaks->gflops *= 0.93;
  later.peaks->gbytes_per_s *= 1.3;
  later.peaks->measured_s += 86400;
  later.cores = 1;  // a container of fewer processors
  EXPECT_THAT(why_other_device(processor(), later), IsEmpty());
  later.peaks.reset();
  EXPECT_THAT(why_other_device(processor(), later), IsEmpty()) << "it says which processor it is";
}

TEST(DeviceMatch, OneNameIsNotOneDevice) {
  DeviceSheet other = processor();
  other.processor = "AuthenticAMD family 25 model 17 stepping 1, under KVMKVMKVM";
  EXPECT_THAT(why_other_device(processor(), other), HasSubstr("family 26 model 2"));
  other.processor = "AuthenticAMD family 26 model 2 stepping 0, under KVMKVMKVM";
  EXPECT_THAT(why_other_device(processor(), other), HasSubstr("stepping 0"));
  other.processor = "AuthenticAMD family 26 model 2 stepping 1";
  EXPECT_THAT(why_other_device(processor(), other), HasSubstr("under KVMKVMKVM"));
}

TEST(DeviceMatch, CodeCachesAndNamesTell) {
  DeviceSheet other = older();
  other.code_target = "x86-64-linux-tune_znver4-sse41-avx";
  EXPECT_THAT(why_other_device(older(), other), HasSubstr("code for znver5, this machine: znver4"));
  other = older();
  other.code_target += "-avx2";
  EXPECT_THAT(why_other_device(older(), other), HasSubstr("-avx2"));
  other = older();
  other.l1_bytes = 48 << 10;
  EXPECT_THAT(why_other_device(older(), other), HasSubstr("a first-level cache of 32768 bytes"));
  other = older();
  other.not_overlapped = 0.1;
  EXPECT_THAT(why_other_device(older(), other), HasSubstr("other facts"));
  other = older();
  other.name = "AMD EPYC 9R45";
  EXPECT_THAT(why_other_device(older(), other), HasSubstr("AMD EPYC 9R45"));
}

TEST(DeviceMatch, RatesTellWhereProcessorsWereNotRecorded) {
  EXPECT_THAT(why_other_device(older(), processor()), IsEmpty());
  DeviceSheet slower = processor();
  slower.peaks->gflops = 118;
  EXPECT_THAT(why_other_device(older(), slower), HasSubstr("it computes 264 GFLOP/s, this machine: 118"));
  EXPECT_THAT(why_other_device(processor(), slower), HasSubstr("it computes 264 GFLOP/s"));
  slower = processor();
  slower.peaks->l3_gbytes_per_s = 40;
  EXPECT_THAT(why_other_device(older(), slower), HasSubstr("third-level cache at 121 GB/s"));
  slower.peaks.reset();
  EXPECT_THAT(why_other_device(older(), slower), HasSubstr("could not be measured"));
  DeviceSheet never = older();
  never.peaks.reset();
  EXPECT_THAT(why_other_device(never, processor()), HasSubstr("was not recorded"));
}

TEST(DeviceMatch, OtherDevicesAreToldByTheirFacts) {
  DeviceSheet gpu = processor();
  gpu.kind = "cuda", gpu.device_type = 2, gpu.name = "H100";
  EXPECT_THAT(why_other_device(gpu, processor()), HasSubstr("of kind cuda"));
  gpu.peaks.reset();
  gpu.processor.clear();
  EXPECT_THAT(why_other_device(gpu, gpu), IsEmpty());
}

TEST(DeviceMatch, AnotherModelOfOneFamilyIsLike) {
  DeviceSheet like = processor();
  like.processor = "AuthenticAMD family 26 model 17 stepping 0";
  like.name = "AMD EPYC 9755";
  like.l2_bytes *= 2;
  like.peaks->gflops *= 0.6;
  const DeviceMatch match = match_of(processor(), like);
  EXPECT_EQ(match.likeness, Likeness::kLike);
  EXPECT_THAT(match.why, HasSubstr("family 26 model 2"));
  EXPECT_EQ(match_of(processor(), processor()).likeness, Likeness::kSame);
  // The same one at another speed: a cloud's machine of another size.
  DeviceSheet slower = processor();
  slower.peaks->gflops *= 0.6;
  EXPECT_EQ(match_of(processor(), slower).likeness, Likeness::kLike);
}

TEST(DeviceMatch, AnotherFamilyOtherCodeOrFarRatesAreAnotherDevice) {
  DeviceSheet other = processor();
  other.processor = "AuthenticAMD family 25 model 17 stepping 1, under KVMKVMKVM";
  EXPECT_EQ(match_of(processor(), other).likeness, Likeness::kOther);
  other = processor();
  other.code_target += "-avx512";
  EXPECT_EQ(match_of(processor(), other).likeness, Likeness::kOther);
  other = processor();
  other.peaks->gflops *= 0.4;
  EXPECT_EQ(match_of(processor(), other).likeness, Likeness::kOther);
  other = processor();
  other.processor = "AuthenticAMD family 26 model 17 stepping 0";
  other.peaks.reset();  // nothing to rescale by
  EXPECT_EQ(match_of(processor(), other).likeness, Likeness::kOther);
}

TEST(DeviceMatch, TitlesNameTheProcessor) {
  EXPECT_EQ(device_title(processor()),
            "AMD EPYC (AuthenticAMD family 26 model 2 stepping 1, under KVMKVMKVM)");
  EXPECT_EQ(device_title(older()), "AMD EPYC (znver5)");
}

}  // namespace
}  // namespace baton
