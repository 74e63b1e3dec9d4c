// Bars of the store: 1,000,000 rows, inserts per second in transactions of 1000, and the example query of
// docs/design/0036. Prints `bar, measured, ok` and exits with 1 when one does not hold.
#include "baton/store/store.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <unistd.h>

#include "baton/runtime/system/timers.h"

#include "bars/bar.h"
#include "store/measurements.h"

namespace baton {
namespace {

constexpr int kRows = 1'000'000, kBatch = 1000, kWorks = 20'000;

/// A campaign's row: one of 20,000 kernels on one of four backends, with 30 samples.
Measurement row_of(int number) {
  Measurement m = made_up::measurement(number);
  const int work = number % kWorks;
  const int kernel = 1 + work % 7 / 2 * 2, stride = 1 + work / 7 % 2, channels = 8 * (1 + work / 14 % 64);
  const std::string size = std::to_string(kernel), step = std::to_string(stride);
  const bool relu = work % 3 != 0;
  m.work.text = "fn (%p0: Tensor[(1, " + std::to_string(channels) + ", 56, 56), float32], %p1: Tensor[(64, " +
                std::to_string(channels) + ", " + size + ", " + size + "), float32]) { nn.conv2d(" +
                std::to_string(work) + ") }" + std::string(400, ' ');
  m.work.operators[0].attributes = "{\"strides\":[" + step + "," + step +
                                   "],\"padding\":[1,1,1,1],\"groups\":1,"
                                   "\"kernel_size\":[" +
                                   size + "," + size + "],\"data_layout\":\"NCHW\"}";
  if (!relu) m.work.operators[1].op = "sigmoid";
  m.work.flops = 1e6 * channels * kernel * kernel;
  m.work.brief = "conv2d " + size + "x" + size;
  static const char* const kBackends[] = {"llvm", "dnnl", "opencl", "sim_npu"};
  m.build.backend = m.build.target = kBackends[number / kWorks % 4];
  m.origins[0].id = static_cast<uint32_t>(work % 100);
  m.unreliable.clear();
  return m;
}

void measure(const std::string& path) {
  {
    Store store = Store::open(path, Store::Mode::kWrite);
    std::vector<Measurement> batch;
    double inserting = 0, slowest = 0;
    for (int first = 0; first < kRows; first += kBatch) {
      batch.clear();
      for (int i = first; i < first + kBatch; ++i) batch.push_back(row_of(i));
      const int64_t start = monotonic_ns();
      if (store.insert(batch) != kBatch) std::abort();
      const double seconds = seconds_since(start);
      inserting += seconds;
      slowest = std::max(slowest, seconds);
    }
    bars::report_least("rows inserted per second, 1,000,000 in all", 5000, kRows / inserting, "1/s");
    std::printf("the slowest transaction of %d rows took %.3f s\n", kBatch, slowest);
  }
  std::printf("the file has %.0f bytes a row\n",
              static_cast<double>(std::filesystem::file_size(path)) / kRows);
  const Store store = Store::open(path, Store::Mode::kRead);
  StoreQuery query;
  query.kind = WorkKind::kKernel;
  query.operators = {"nn.conv2d", "nn.relu"};
  query.attributes = {{"nn.conv2d", "kernel_size", "[3,3]"}, {"nn.conv2d", "strides", "[2,2]"}};
  int64_t start = monotonic_ns();
  const StoreTable table = store.table(query, {"target", "brief", "flops", "median_us"});
  const size_t places = store.places(query).size();
  bars::report("all 3x3 convolutions with stride 2 fused with relu", 1, seconds_since(start), "s");
  std::printf("they are %zu rows, of %zu device(s)\n", table.rows.size(), places);
  start = monotonic_ns();
  const StoreTable means = store.sql(
      "SELECT backend, count(*), avg(median_us) FROM rows WHERE work IN (SELECT work FROM attributes a JOIN"
      " attributes b USING (work, position) WHERE a.name = 'kernel_size' AND a.value = '[3,3]' AND"
      " b.name = 'strides' AND b.value = '[2,2]') GROUP BY backend");
  bars::report("the same as SQL, means per backend", 1, seconds_since(start), "s");
  if (table.rows.empty() || means.rows.size() != 4) std::abort();
}

}  // namespace
}  // namespace baton

int main(int argc, char** argv) {
  if (argc == 2) {  // a new file, which is kept
    baton::measure(argv[1]);
    return baton::bars::all_hold ? 0 : 1;
  }
  std::string folder = (std::filesystem::temp_directory_path() / "baton-store-XXXXXX").string();
  if (!mkdtemp(folder.data())) return 1;
  baton::measure(folder + "/m.db");
  std::filesystem::remove_all(folder);
  return baton::bars::all_hold ? 0 : 1;
}
