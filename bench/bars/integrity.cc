// Bars of integrity: no file with a flipped bit gives another result, and checking is fast. Prints `bar,
// measured, ok` and exits with 1 when one does not hold.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <unistd.h>

#include "baton/runtime/artifact.h"
#include "baton/runtime/system/timers.h"
#include "baton/runtime/thread_pool.h"

#include "bars/bar.h"
#include "driver/bit_flips.h"

namespace baton {
namespace {

constexpr int kFlips = 2500;  // of each of four kinds

void measure_flips(const std::string& folder) {
  test::FlipSubjects subjects(folder);
  const auto report = [](const char* what, const test::FlipCounts& counts) {
    std::printf("%s: %d flips, %d refused, %d without a meaning\n", what, kFlips, counts.refused,
                counts.same);
    bars::report((std::string("other results of ") + what + ", one bit of " + std::to_string(kFlips)).c_str(),
                 0, counts.other, "");
  };
  report("an artifact", subjects.artifact(kFlips));
  report("an .npz", subjects.npz(kFlips));
  report("a .params of Baton", subjects.params(kFlips));
  report("a cache entry", subjects.cache_entry(kFlips));
}

/// Opening an artifact of 512 MB from the page cache, the whole of it against leaving out its constants.
void measure_speed(const std::string& folder) {
  const std::string path = folder + "/large.baton";
  constexpr int64_t kBytes = int64_t{512} << 20;
  {
    ArtifactWriter writer;
    writer.set_params({{"large", tensor_value("large", {kBytes / 4 - 1000}, DType::float_(32))},
                       {"small", tensor_value("small", {1000}, DType::float_(32))}});
    if (!writer.write(path).ok()) return;
  }
  const auto least_s = [&](bool verify) {
    double least = 1e300;
    for (int i = 0; i < 7; ++i) {
      const int64_t start = monotonic_ns();
      if (!Artifact::open(path, verify).ok()) std::abort();
      least = std::min(least, static_cast<double>(monotonic_ns() - start) * 1e-9);
    }
    return least;
  };
  for (const int threads : {1, default_threads()}) {
    const ThreadScope scope(threads);
    const double seconds = least_s(true) - least_s(false);
    bars::report_least(("constants verified by " + std::to_string(threads) + " thread(s)").c_str(),
                       threads == 1 ? 0 : 5, static_cast<double>(kBytes) / seconds * 1e-9, "GB/s");
    if (default_threads() == 1) break;
  }
}

}  // namespace
}  // namespace baton

int main() {
  std::string folder = (std::filesystem::temp_directory_path() / "baton-integrity-XXXXXX").string();
  if (!mkdtemp(folder.data())) return 1;
  baton::measure_flips(folder);
  baton::measure_speed(folder);
  std::filesystem::remove_all(folder);
  return baton::bars::all_hold ? 0 : 1;
}
