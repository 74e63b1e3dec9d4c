// Bars of backends beside the processor's: what a call of a region costs, and how fast tensors are copied to
// and from each device. Prints `bar, measured, ok` and exits with 1 when one does not hold.
//
//   devices [MEGABYTES ...]      sizes of the copies (default: 1 16 64)
//
// A region is one primitive of 16 elements, so its time is an upper bound of the call's: CPU time of one
// thread. The link of an OpenCL device is what the same copies take when the driver is called by hand; the
// others have no bar (mirror changes the protection of pages for each copy). Minimum over bursts, in turn.
#define CL_TARGET_OPENCL_VERSION 120
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <CL/cl.h>
#include <dlfcn.h>

#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/runtime/device.h"
#include "baton/runtime/executor.h"
#include "baton/runtime/plugin.h"
#include "baton/runtime/system/timers.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"

#include "bars/bar.h"

namespace baton {
namespace {

using bars::report;

constexpr int kBursts = 30;

/// `count` regions for `compiler` in a row, or the same operators on the processor.
std::string chain(int count, const std::string& compiler) {
  const std::string type = "Tensor[(16), float32]";
  std::string regions, main = "def @main(%x: " + type + ") {\n";
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i), from = i ? "%" + std::to_string(i - 1) : "%x";
    main += "  %" + n + " = @region" + n + "(" + from + ");\n";
    regions += "def @region" + n + "(%a: " + type + ", Inline=1, Compiler=\"" + compiler +
               "\", global_symbol=\"region" + n + "\", Primitive=1) -> " + type + " { nn.relu(%a) }\n";
  }
  main += "  %" + std::to_string(count - 1) + "\n}\n";
  return "#[version = \"0.0.5\"]\n" + regions + main;
}

/// Nanoseconds of one run of the program.
double run_ns(const std::string& text) {
  BuildOptions options;
  options.context = host_context();
  options.context.targets = {Target::parse("llvm")};
  const BuildResult built = build(parse_module(text, "chain.relay"), options);
  const auto executor = make_executor(built);
  executor->set_threads(1);
  double least = 1e300;
  for (int burst = 0; burst < kBursts; ++burst) {
    constexpr int kRuns = 200;
    const int64_t start = thread_cpu_ns();
    for (int run = 0; run < kRuns; ++run)
      if (const Status status = executor->run(); !status.ok()) throw Error(status.message);
    least = std::min(least, static_cast<double>(thread_cpu_ns() - start) / kRuns);
  }
  return least;
}

void measure_regions() {
  if (const auto plugin = Plugin::find("dnnl"); !plugin.ok()) {
    std::printf("dnnl: not measured: %s\n", plugin.status().message.c_str());
    return;
  }
  constexpr int kMore = 100;
  const double one = run_ns(chain(1, "dnnl")), many = run_ns(chain(1 + kMore, "dnnl"));
  report("call of a region of dnnl, one primitive of 16 elements", 2000, (many - one) / kMore, "ns");
}

enum class Direction { kIn, kOut };

/// The first OpenCL device of the first platform, driven by hand: blocking copies on a queue of its own.
class OpenClLink {
 public:
  static std::optional<OpenClLink> open() {
    OpenClLink link;
    void* library = dlopen("libOpenCL.so.1", RTLD_NOW);
    if (!library) return std::nullopt;
    const auto function = [&]<typename F>(const char* name, F*) {
      return reinterpret_cast<F*>(dlsym(library, name));
    };
    link.write_ = function("clEnqueueWriteBuffer", &clEnqueueWriteBuffer);
    link.read_ = function("clEnqueueReadBuffer", &clEnqueueReadBuffer);
    link.create_buffer_ = function("clCreateBuffer", &clCreateBuffer);
    link.release_ = function("clReleaseMemObject", &clReleaseMemObject);
    cl_platform_id platform = nullptr;
    cl_device_id device = nullptr;
    if (function("clGetPlatformIDs", &clGetPlatformIDs)(1, &platform, nullptr) ||
        function("clGetDeviceIDs", &clGetDeviceIDs)(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr))
      return std::nullopt;
    cl_int status = 0;
    link.context_ =
        function("clCreateContext", &clCreateContext)(nullptr, 1, &device, nullptr, nullptr, &status);
    if (status) return std::nullopt;
    link.queue_ = function("clCreateCommandQueue", &clCreateCommandQueue)(link.context_, device,
                                                                          CL_QUEUE_PROFILING_ENABLE, &status);
    if (status) return std::nullopt;
    return link;
  }

  void allocate(size_t bytes) {
    cl_int status = 0;
    buffer_ = create_buffer_(context_, CL_MEM_READ_WRITE, bytes, nullptr, &status);
    if (status)
      throw Error("clCreateBuffer of " + std::to_string(bytes) + " bytes: " + std::to_string(status));
  }
  void release() { release_(buffer_); }

  void copy(Direction direction, std::vector<char>& host) {
    const cl_int status =
        direction == Direction::kIn
            ? write_(queue_, buffer_, CL_TRUE, 0, host.size(), host.data(), 0, nullptr, nullptr)
            : read_(queue_, buffer_, CL_TRUE, 0, host.size(), host.data(), 0, nullptr, nullptr);
    if (status) throw Error("a copy by hand: " + std::to_string(status));
  }

 private:
  decltype(&clEnqueueWriteBuffer) write_ = nullptr;
  decltype(&clEnqueueReadBuffer) read_ = nullptr;
  decltype(&clCreateBuffer) create_buffer_ = nullptr;
  decltype(&clReleaseMemObject) release_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_mem buffer_ = nullptr;
};

template <typename Work>
double wall_ns(Work work) {
  const int64_t start = monotonic_ns();
  work();
  return static_cast<double>(monotonic_ns() - start);
}

/// Copies of one size by Baton, and by hand where there is a link.
void measure_copy(const Device& device, const std::string& name, OpenClLink* by_hand, Direction direction,
                  size_t bytes) {
  Result<DeviceBlock> block = device.allocate(bytes);
  if (!block.ok()) {
    std::printf("%s, %zu MB: %s\n", name.c_str(), bytes >> 20, block.status().message.c_str());
    return;
  }
  if (by_hand) by_hand->allocate(bytes);
  std::vector<char> host(bytes, 1);
  double copy = 1e300, link = 1e300;
  for (int burst = 0; burst < kBursts; ++burst) {
    copy = std::min(copy, wall_ns([&] {
                      const Status status = direction == Direction::kIn
                                                ? device.copy_in(block->memory(), host.data(), bytes)
                                                : device.copy_out(host.data(), block->memory(), bytes);
                      if (!status.ok()) throw Error(status.message);
                    }));
    if (by_hand) link = std::min(link, wall_ns([&] { by_hand->copy(direction, host); }));
  }
  if (by_hand) by_hand->release();
  char speed[40];
  std::snprintf(speed, sizeof speed, "%.1f GB/s", static_cast<double>(bytes) / copy);
  const std::string what = name + ", " + std::to_string(bytes >> 20) + " MB " +
                           (direction == Direction::kIn ? "to it: " : "from it: ") + speed;
  if (by_hand)
    bars::report_least((what + ", part of the link").c_str(), 0.9, link / copy, "");
  else
    std::printf("%s\n", what.c_str());
}

void measure_copies(const std::vector<size_t>& sizes) {
  for (const BackendRef& backend : backends()) {
    if (backend->name == "llvm") continue;
    const auto plugin = Plugin::find(backend->name);
    if (!plugin.ok() || !(*plugin)->table().device_count || (*plugin)->table().device_count() == 0) continue;
    const auto device = Device::open(**plugin, 0);
    if (!device.ok()) {
      std::printf("%s: not measured: %s\n", backend->name.c_str(), device.status().message.c_str());
      continue;
    }
    std::optional<OpenClLink> by_hand;
    if (backend->name == "opencl") by_hand = OpenClLink::open();
    for (const size_t bytes : sizes)
      for (const Direction direction : {Direction::kIn, Direction::kOut})
        measure_copy(**device, backend->name, by_hand ? &*by_hand : nullptr, direction, bytes);
  }
}

}  // namespace
}  // namespace baton

int main(int count, char** words) {
  std::vector<size_t> sizes;
  for (int i = 1; i < count; ++i) sizes.push_back(std::strtoull(words[i], nullptr, 10) << 20);
  if (sizes.empty()) sizes = {size_t{1} << 20, size_t{16} << 20, size_t{64} << 20};
  for (const size_t bytes : sizes)
    if (bytes == 0) return std::fprintf(stderr, "devices: sizes are whole megabytes, at least 1\n"), 2;
  try {
    baton::initialize();
    baton::measure_regions();
    baton::measure_copies(sizes);
  } catch (const baton::Error& error) {
    return std::fprintf(stderr, "devices: %s\n", error.what()), 2;
  }
  return baton::bars::all_hold ? 0 : 1;
}
