#include "baton/profile/report/peaks.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>

#include <sys/mman.h>
#include <unistd.h>

#include "baton/clock/quiet.h"
#include "baton/profile/measure/peak_loops.h"
#include "baton/runtime/system/timers.h"
#include "baton/runtime/thread_pool.h"
#include "baton/support/base/checksum.h"
#include "baton/support/error.h"
#include "baton/support/version.h"
#include "baton/target/machine_name.h"

namespace baton {

namespace {

constexpr int64_t kKeptSeconds = 24 * 3600;
constexpr size_t kPage = size_t{2} << 20;
constexpr int kAttempts = 3;
constexpr double kNoLimitS = 1e9;

int call_task(void* user, int index, uint8_t*) {
  (*static_cast<const std::function<void(int)>*>(user))(index);
  return 0;
}

/// The shortest time, in seconds, for `work(thread)` to finish on all threads, over several attempts within
/// about `ms` milliseconds.
double least_seconds(int threads, double ms, const std::function<void(int)>& work) {
  auto* user = const_cast<std::function<void(int)>*>(&work);
  double least = 1e300;
  const int64_t start = monotonic_ns();
  do {
    const int64_t begin = monotonic_ns();
    parallel_for(call_task, user, 0, threads, nullptr);
    least = std::min(least, static_cast<double>(monotonic_ns() - begin) * 1e-9);
  } while (static_cast<double>(monotonic_ns() - start) < ms * 1e6);
  return least;
}

/// Memory that has been written to: untouched pages all map to one zero page.
class Field {
 public:
  explicit Field(size_t bytes) : bytes_((bytes + kPage - 1) / kPage * kPage) {
    void* at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
      throw Error("no memory to measure this machine's bandwidth: " + std::to_string(bytes_ >> 20) +
                  " MB; see --no-peaks");
    madvise(at, bytes_, MADV_HUGEPAGE);
    data_ = static_cast<float*>(at);
    for (size_t i = 0; i < count(); i += 1024) data_[i] = 1;
  }
  ~Field() { munmap(data_, bytes_); }
  Field(const Field&) = delete;
  Field& operator=(const Field&) = delete;
  const float* data() const { return data_; }
  size_t count() const { return bytes_ / sizeof(float); }

 private:
  size_t bytes_;
  float* data_ = nullptr;
};

KernelKey entry_key(const DeviceSheet& sheet, int threads) {
  const std::string text = "sheet 2/" + std::string(version()) + '/' + machine_name() + '/' +
                           std::to_string(threads) + '\n' + sheet.text();
  return digest128(text.data(), text.size());
}

int64_t seconds_of_calendar() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// The peak depends on the precision: unknown for types other than float32 and float64.
double flops_roof(const DevicePeaks& peaks, const std::string& dtype) {
  if (dtype == "float32") return peaks.gflops;
  return dtype == "float64" ? peaks.gflops / 2 : 0;
}

struct Supply {
  const char* name;
  double gbytes_per_s;
};

/// Where the operands of `row` come from, run after run, in a program that needs `program_bytes`.
Supply supply_of(const KernelRow& row, const DevicePeaks& peaks, double program_bytes) {
  if (row.bytes <= peaks.cache_bytes) return {"cache", peaks.cache_gbytes_per_s};
  if (program_bytes > 0 && program_bytes <= peaks.l3_program_bytes) return {"L3", peaks.l3_gbytes_per_s};
  return {"memory", peaks.gbytes_per_s};
}

Roofline roofline_of(const KernelRow& row, const DevicePeaks& peaks, double program_bytes) {
  Roofline roof = row.roofline;
  if (row.median_us <= 0) return roof;
  const auto [supply, bandwidth] = supply_of(row, peaks, program_bytes);
  const double peak = flops_roof(peaks, roof.dtype);
  const double compute_us = peak > 0 ? row.flops / peak / 1e3 : 0,
               move_us = bandwidth > 0 ? row.bytes / bandwidth / 1e3 : 0;
  if (compute_us <= 0 && move_us <= 0) return roof;
  roof.share = std::max(compute_us, move_us) / row.median_us;
  roof.bound = compute_us >= move_us ? "compute" : supply;
  return roof;
}

}  // namespace

DevicePeaks measure_peaks(const DeviceSheet& sheet, int threads) {
  const ThreadScope scope(threads);
  const PeakLoops loops = peak_loops(sheet.float_lanes);
  DevicePeaks peaks;
  peaks.threads = threads;
  peaks.cache_bytes = static_cast<double>(sheet.l2_bytes) * threads;
  std::vector<float> results(static_cast<size_t>(threads) * 16);  // one cache line each
  const auto keep = [&](int thread, float value) { results[static_cast<size_t>(thread) * 16] = value; };

  constexpr int64_t kRounds = 100'000;  // half a millisecond
  const double multiply =
      least_seconds(threads, 25, [&](int thread) { keep(thread, loops.multiply_add(kRounds)); });
  peaks.gflops = static_cast<double>(loops.flops_per_round) * kRounds * threads / multiply * 1e-9;

  // Twice the shared cache, so that hardly any read hits it.
  const size_t bytes = static_cast<size_t>(std::clamp<int64_t>(2 * sheet.l3_bytes, 64 << 20, 256 << 20));
  const Field field(bytes);
  const auto part = static_cast<int64_t>(field.count() / static_cast<size_t>(threads)) & ~int64_t{255};
  const double read = least_seconds(
      threads, 30, [&](int thread) { keep(thread, loops.read(field.data() + thread * part, part)); });
  peaks.gbytes_per_s = static_cast<double>(part) * sizeof(float) * threads / read * 1e-9;

  // GB/s of reading `bytes` per thread again and again.
  const auto again = [&](int64_t bytes, int times) {
    const int64_t count = std::min(bytes / static_cast<int64_t>(sizeof(float)) & ~int64_t{255}, part);
    const double seconds = least_seconds(threads, 20, [&](int thread) {
      float sum = 0;
      for (int i = 0; i < times; ++i) sum += loops.read(field.data() + thread * part, count);
      keep(thread, sum);
    });
    return static_cast<double>(count) * sizeof(float) * times * threads / seconds * 1e-9;
  };
  peaks.cache_gbytes_per_s = again(sheet.l2_bytes / 2, 40);
  if (const int64_t half = sheet.l3_bytes / 2; half > sheet.l2_bytes * threads) {
    peaks.l3_program_bytes = static_cast<double>(half);
    // Little of it is left in the cores' own caches then, and other programs displace little.
    peaks.l3_gbytes_per_s = again(std::min(4 * sheet.l2_bytes, half / threads), 16);
  }
  return peaks;
}

std::optional<DeviceSheet> kept_sheet(const std::string& text, int64_t now) {
  std::optional<DeviceSheet> sheet = DeviceSheet::from_text(text);
  if (!sheet || !sheet->peaks) return std::nullopt;
  const int64_t age = now - sheet->peaks->measured_s;
  return age < 0 || age > kKeptSeconds ? std::nullopt : sheet;
}

namespace {

/// Measures until nothing disturbs it, `attempts` times and `seconds` at most, and keeps what is undisturbed.
RatedSheet sheet_by_attempts(const DeviceSheet& sheet, int threads, KernelCache& cache, int attempts,
                             double seconds, const SystemSource& system) {
  const KernelKey key = entry_key(sheet, threads);
  const int64_t now = seconds_of_calendar(), begin = monotonic_ns();
  if (const auto text = cache.load_bytes(key, "sheet"))
    if (const auto kept = kept_sheet(*text, now)) return {*kept, ""};
  RatedSheet rated{sheet, ""};
  DevicePeaks most;
  Disturbance busy;
  for (int attempt = 0; attempt == 0 || (attempt < attempts && seconds_since(begin) < seconds); ++attempt) {
    const SystemReading before = system();
    DevicePeaks peaks = measure_peaks(sheet, threads);
    const Disturbance what = disturbance(before, system());
    peaks.measured_s = now;
    if (!what.any()) {
      rated.sheet.peaks = peaks;
      cache.store_bytes(key, "sheet", rated.sheet.text());
      return rated;
    }
    busy += what;
    if (attempt == 0) most = peaks;
    for (double DevicePeaks::* rate : {&DevicePeaks::gflops, &DevicePeaks::gbytes_per_s,
                                       &DevicePeaks::cache_gbytes_per_s, &DevicePeaks::l3_gbytes_per_s})
      most.*rate = std::max(most.*rate, peaks.*rate);
  }
  rated.sheet.peaks = most;
  rated.busy = busy.any() ? busy.text() : "other programs used the processors";
  return rated;
}

}  // namespace

std::optional<DeviceSheet> measured_sheet(const DeviceSheet& sheet, int threads, KernelCache& cache,
                                          std::string& why, const SystemSource& system) {
  RatedSheet rated = sheet_by_attempts(sheet, threads, cache, kAttempts, kNoLimitS, system);
  if (rated.busy.empty()) return std::move(rated.sheet);
  why = std::move(rated.busy);
  return std::nullopt;
}

RatedSheet rated_sheet(const DeviceSheet& sheet, int threads, KernelCache& cache, double seconds,
                       const SystemSource& system) {
  return sheet_by_attempts(sheet, threads, cache, std::numeric_limits<int>::max(), seconds, system);
}

bool on_processor(const KernelRow& row) {
  return row.simulated.empty() && row.copied_from.empty() && (row.device.empty() || row.device == "cpu");
}

void add_peaks(ProfileReport& report, const DeviceSheet& sheet) {
  BATON_CHECK(sheet.peaks, "a sheet without peaks");
  report.device = sheet;
  const auto& memory = report.memory;
  const double needed = memory ? memory->constants_bytes + memory->inputs_bytes + memory->workspace_bytes : 0;
  for (KernelRow& row : report.kernels)
    if (on_processor(row)) row.roofline = roofline_of(row, *sheet.peaks, needed);
}

}  // namespace baton
