// Times the schedule templates with their default parameters on the layers of ResNet-18, VGG-11, MobileNet,
// ResNet-50 and DCGAN: GFLOP/s and the share of the multiply-add peak that a register-only loop reaches in
// the same run.
//   kernel_bench [part of a layer's name | all] [seconds per layer] [tune]
// One thread; run it on an idle machine. Some layers have bars, which hold for operands in the cache. "cold":
// the weights were evicted (copies of them take turns), as in a network larger than the caches.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>

#include <time.h>

#include "baton/ops/shared/conv_attrs.h"
#include "baton/schedule/conv_algorithm.h"

#include "schedule/kernel_builder.h"

namespace baton {
namespace {

using test::KernelBuilder;
using test::Value;
using Shape = std::vector<int64_t>;

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}
double wall_seconds() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

/// Scratch memory is kept, as the runtime's allocator does: fresh pages would cost more than some kernels.
class Scratch {
 public:
  static void* get(Halide::JITUserContext*, size_t bytes) {
    std::lock_guard<std::mutex> lock(self().mutex_);
    bytes = (bytes + 4095) / 4096 * 4096;
    auto found = self().free_.find(bytes);
    if (found != self().free_.end()) {
      void* memory = found->second;
      self().free_.erase(found);
      return memory;
    }
    void* memory = std::aligned_alloc(4096, bytes);
    std::memset(memory, 0, bytes);
    self().size_[memory] = bytes;
    return memory;
  }
  static void put(Halide::JITUserContext*, void* memory) {
    std::lock_guard<std::mutex> lock(self().mutex_);
    self().free_.emplace(self().size_[memory], memory);
  }

 private:
  static Scratch& self() {
    static Scratch scratch;
    return scratch;
  }
  std::mutex mutex_;
  std::multimap<size_t, void*> free_;
  std::map<void*, size_t> size_;
};

int serial(Halide::JITUserContext* context, int (*body)(Halide::JITUserContext*, int, uint8_t*), int min,
           int extent, uint8_t* closure) {
  for (int i = min; i < min + extent; ++i)
    if (const int code = body(context, i, closure)) return code;
  return 0;
}

/// GFLOP/s of multiply-adds that never leave the registers.
double fma_peak() {
  double best = 0;
#if defined(__x86_64__)
  for (int round = 0; round < 7; ++round) {
    const long count = 2000000;
    long n = count;
    const double start = cpu_seconds();
    if (DeviceSheet::host().float_lanes == 16) {
      asm volatile(
          "1:\n\t"
          "vfmadd231ps %%zmm30,%%zmm31,%%zmm0\n\tvfmadd231ps %%zmm30,%%zmm31,%%zmm1\n\tvfmadd231ps "
          "%%zmm30,%%zmm31,%%zmm2\n\t"
          "vfmadd231ps %%zmm30,%%zmm31,%%zmm3\n\tvfmadd231ps %%zmm30,%%zmm31,%%zmm4\n\tvfmadd231ps "
          "%%zmm30,%%zmm31,%%zmm5\n\t"
          "vfmadd231ps %%zmm30,%%zmm31,%%zmm6\n\tvfmadd231ps %%zmm30,%%zmm31,%%zmm7\n\tvfmadd231ps "
          "%%zmm30,%%zmm31,%%zmm8\n\t"
          "vfmadd231ps %%zmm30,%%zmm31,%%zmm9\n\tvfmadd231ps %%zmm30,%%zmm31,%%zmm10\n\tvfmadd231ps "
          "%%zmm30,%%zmm31,%%zmm11\n\t"
          "dec %0\n\tjnz 1b\n\tvzeroupper\n\t"
          : "+r"(n)::"cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
            "xmm10", "xmm11");
    } else {
      asm volatile(
          "1:\n\t"
          "vfmadd231ps %%ymm14,%%ymm15,%%ymm0\n\tvfmadd231ps %%ymm14,%%ymm15,%%ymm1\n\tvfmadd231ps "
          "%%ymm14,%%ymm15,%%ymm2\n\t"
          "vfmadd231ps %%ymm14,%%ymm15,%%ymm3\n\tvfmadd231ps %%ymm14,%%ymm15,%%ymm4\n\tvfmadd231ps "
          "%%ymm14,%%ymm15,%%ymm5\n\t"
          "vfmadd231ps %%ymm14,%%ymm15,%%ymm6\n\tvfmadd231ps %%ymm14,%%ymm15,%%ymm7\n\tvfmadd231ps "
          "%%ymm14,%%ymm15,%%ymm8\n\t"
          "vfmadd231ps %%ymm14,%%ymm15,%%ymm9\n\tvfmadd231ps %%ymm14,%%ymm15,%%ymm10\n\tvfmadd231ps "
          "%%ymm14,%%ymm15,%%ymm11\n\t"
          "dec %0\n\tjnz 1b\n\tvzeroupper\n\t"
          : "+r"(n)::"cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
            "xmm10", "xmm11");
    }
    best = std::max(best, 12.0 * 2 * DeviceSheet::host().float_lanes * count / (cpu_seconds() - start) / 1e9);
  }
#endif
  return best;
}

struct Timing {
  double compile_s, hot_ms, cold_ms;
};

/// Inputs whose copies take turns: the second one, the weight.
constexpr size_t kWeight = 1;
constexpr int64_t kEvicting = 96 << 20;

Timing measure(LoweredKernel& kernel, double seconds) {
  const double start = wall_seconds();
  const double cpu_start = cpu_seconds();
  const Halide::Callable callable = test::compile(kernel, [](Halide::Pipeline& pipeline) {
    pipeline.jit_handlers().custom_malloc = Scratch::get;
    pipeline.jit_handlers().custom_free = Scratch::put;
    pipeline.jit_handlers().custom_do_par_for = serial;
  });
  Timing timing{cpu_seconds() - cpu_start, 1e30, 1e30};
  static_cast<void>(start);
  std::vector<void*> memory;
  auto floats = [&](int64_t count) {
    float* data = static_cast<float*>(std::aligned_alloc(4096, (count * 4 + 4095) / 4096 * 4096));
    for (int64_t i = 0; i < count; ++i) data[i] = static_cast<float>(i * 2654435761u % 1000) * 0.002f - 1;
    memory.push_back(data);
    return data;
  };
  int64_t weight_bytes = 0;
  if (kernel.inputs.size() > kWeight)
    weight_bytes = test::elements(test::input_shape(kernel.inputs[kWeight])) * 4;
  const int copies =
      weight_bytes
          ? static_cast<int>(std::min<int64_t>(200, std::max<int64_t>(2, kEvicting / weight_bytes + 1)))
          : 1;
  std::vector<std::vector<Halide::Runtime::Buffer<float>>> turns(copies);
  for (size_t i = 0; i < kernel.inputs.size(); ++i) {
    const Shape shape = test::input_shape(kernel.inputs[i]);
    float* shared = floats(test::elements(shape));
    for (int turn = 0; turn < copies; ++turn)
      turns[turn].push_back(
          test::view(i == kWeight && turn > 0 ? floats(test::elements(shape)) : shared, shape));
  }
  const Shape& shape = kernel.outputs.front().shape();
  float* out = floats(test::elements(shape));
  for (auto& turn : turns) turn.push_back(test::view(out, shape));

  auto once = [&](int turn) { test::call(callable, turns[turn]); };
  once(0);
  const double until = wall_seconds() + seconds / 2;
  for (int i = 0; wall_seconds() < until || i < 3; ++i) {
    const double begin = cpu_seconds();
    once(0);
    timing.hot_ms = std::min(timing.hot_ms, (cpu_seconds() - begin) * 1e3);
  }
  const double end = wall_seconds() + seconds / 2;
  const int burst = std::min(copies, 20);
  int turn = 0;
  for (int i = 0; wall_seconds() < end || i < 3; ++i) {
    const double begin = cpu_seconds();
    for (int k = 0; k < burst; ++k) once(turn = (turn + 1) % copies);
    timing.cold_ms = std::min(timing.cold_ms, (cpu_seconds() - begin) * 1e3 / burst);
  }
  for (void* data : memory) std::free(data);
  return timing;
}

std::string blocked(const char* axes, int64_t in, int64_t out) {
  std::string text = axes;
  for (const auto& [mark, value] : {std::pair{"#", in}, {"@", out}})
    if (const size_t at = text.find(mark); at != std::string::npos)
      text.replace(at, 1, std::to_string(value));
  return text;
}

struct Layer {
  std::string name;
  double flops;
  std::function<LoweredKernel()> make;
  double bar_share = 0;  ///< of the multiply-add peak, operands in the cache; 0: none
  double bar_us = 0;
};

Layer with_share(Layer layer, double share) {
  layer.bar_share = share;
  return layer;
}
Layer with_us(Layer layer, double us) {
  layer.bar_us = us;
  return layer;
}

/// A convolution with bias and relu, packed as the layout pass packs it, by the algorithm that it chooses.
Layer conv(int64_t c, int64_t hw, int64_t o, int64_t k, int64_t stride, int64_t pad, bool depthwise = false) {
  const DeviceSheet& sheet = DeviceSheet::host();
  const int64_t out = (hw + 2 * pad - k) / stride + 1, ib = channel_block(c, sheet),
                ob = channel_block(o, sheet);
  char name[80];
  std::snprintf(name, sizeof name, "%s%ldx%ld s%ld %ld->%ld@%ld", depthwise ? "dw" : "", long(k), long(k),
                long(stride), long(c), long(o), long(hw));
  ConvShape shape{1, c, o, out, out, k, k, stride, stride, 1, 1, depthwise ? c : 1};
  const ConvAlgorithm algorithm = choose_conv_algorithm(shape, sheet);
  const double flops = 2.0 * out * out * o * (depthwise ? 1 : c) * k * k;
  return {name, flops, [=] {
            KernelBuilder b("conv");
            const Value x = b.input({1, c / ib, hw, hw, ib});
            const Shape result{1, o / ob, out, out, ob}, bias{1, o / ob, 1, 1, ob};
            Value y;
            if (algorithm.kind == ConvAlgorithm::Kind::kWinograd) {
              const int64_t a = algorithm.tile_size + 2;
              const std::string op = "nn.contrib_conv2d_winograd_without_weight_transform";
              const Attrs attrs = test::op_attrs(op, {{"tile_size", algorithm.tile_size},
                                                      {"padding", Shape{pad, pad}},
                                                      {"channels", o},
                                                      {"kernel_size", Shape{k, k}},
                                                      {"data_layout", blocked("NCHW#c", ib, 0)},
                                                      {"kernel_layout", blocked("HWOI#i@o", ib, ob)},
                                                      {"out_layout", blocked("NCHW#c", ob, 0)}});
              y = b.call(op, {x, b.input({a, a, o / ob, c / ib, ib, ob})}, attrs, result);
            } else {
              Conv2DAttrs attrs;
              attrs.strides = {stride, stride}, attrs.padding = {pad, pad}, attrs.channels = o,
              attrs.kernel_size = Shape{k, k};
              attrs.data_layout = blocked("NCHW#c", ib, 0), attrs.out_layout = blocked("NCHW#c", ob, 0);
              attrs.kernel_layout = depthwise ? blocked("OIHW1i@o", 0, ob) : blocked("OIHW#i@o", ib, ob);
              if (depthwise) attrs.groups = c;
              const Value weight =
                  depthwise ? b.input({o / ob, 1, k, k, 1, ob}) : b.input({o / ob, c / ib, k, k, ib, ob});
              y = b.call(depthwise ? "nn.contrib_depthwise_conv2d_NCHWc" : "nn.contrib_conv2d_NCHWc",
                         {x, weight}, make_attrs(attrs), result);
            }
            return b.finish(b.call("nn.relu", {b.call("add", {y, b.input(bias)}, {}, result)}, {}, result));
          }};
}

/// A transposed convolution of square images with bias and relu, in the layouts that the layout pass gives
/// it.
Layer deconv(int64_t c, int64_t hw, int64_t o, int64_t k, int64_t stride, int64_t pad) {
  const int64_t out = (hw - 1) * stride + k - 2 * pad;
  char name[80];
  std::snprintf(name, sizeof name, "deconv%ldx%ld s%ld %ld->%ld@%ld", long(k), long(k), long(stride), long(c),
                long(o), long(hw));
  ConvShape shape{.in_channels = c, .out_channels = o, .out_width = out, .stride_width = stride};
  const TransposeBlocks blocks = transpose_blocks(shape, DeviceSheet::host());
  const int64_t ib = blocks.in, ob = blocks.out;
  return {name, 2.0 * hw * hw * c * o * k * k, [=] {
            KernelBuilder b("deconv");
            const bool packed = ob > 1;
            const std::string op = "nn.conv2d_transpose", plain = "NCHW";
            const Attrs attrs =
                test::op_attrs(op, {{"strides", Shape{stride, stride}},
                                    {"padding", Shape{pad, pad}},
                                    {"channels", o},
                                    {"kernel_size", Shape{k, k}},
                                    {"data_layout", packed ? blocked("NCHW#c", ib, 0) : plain},
                                    {"kernel_layout", packed ? blocked("OHWI@o", 0, ob) : "HWIO"},
                                    {"out_layout", packed ? blocked("NCHW#c", ob, 0) : plain}});
            Shape result{1, o, out, out}, bias{1, o, 1, 1};
            if (packed) result = {1, o / ob, out, out, ob}, bias = {1, o / ob, 1, 1, ob};
            const Value x = b.input(packed ? Shape{1, c / ib, hw, hw, ib} : Shape{1, c, hw, hw});
            const Value y = b.call(op, {x, b.input(packed ? Shape{o / ob, k, k, c, ob} : Shape{k, k, c, o})},
                                   attrs, result);
            return b.finish(b.call("nn.relu", {b.call("add", {y, b.input(bias)}, {}, result)}, {}, result));
          }};
}

Layer dense(int64_t m, int64_t k, int64_t n) {
  const int64_t block = dense_block(n, DeviceSheet::host());
  return {
      "dense " + std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n), 2.0 * m * k * n, [=] {
        KernelBuilder b("dense");
        const Attrs attrs = test::op_attrs("nn.contrib_dense_pack", {{"units", n}});
        const Value x = b.input({m, k});
        const Value y =
            b.call("nn.contrib_dense_pack", {x, b.input({(n + block - 1) / block, k, block})}, attrs, {m, n});
        return b.finish(b.call("nn.relu", {b.call("add", {y, b.input({1, n})}, {}, {m, n})}, {}, {m, n}));
      }};
}

Layer batch_matmul(int64_t batch, int64_t m, int64_t k, int64_t n, bool transpose_a, bool transpose_b) {
  return {std::string("batch_matmul ") + "NT"[transpose_a] + "NT"[transpose_b] + " " + std::to_string(batch) +
              "x" + std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n),
          2.0 * batch * m * k * n, [=] {
            KernelBuilder b("matmul");
            const Attrs attrs = test::op_attrs("nn.batch_matmul",
                                               {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}});
            const Value x = b.input(transpose_a ? Shape{batch, k, m} : Shape{batch, m, k});
            const Value w = b.input(transpose_b ? Shape{batch, n, k} : Shape{batch, k, n});
            return b.finish(b.call("nn.batch_matmul", {x, w}, attrs, {batch, m, n}));
          }};
}

Layer reduce(const std::string& op, const Shape& in, const std::vector<int64_t>& axes) {
  Shape out = in;
  std::string name = op;
  for (const int64_t extent : in) name += " " + std::to_string(extent);
  for (const int64_t axis : axes) name += ", axis " + std::to_string(axis), out[axis] = 1;
  return {name, double(test::elements(in)), [=] {
            KernelBuilder b("reduce");
            return b.finish(
                b.call(op, {b.input(in)}, test::op_attrs(op, {{"axis", axes}, {"keepdims", true}}), out));
          }};
}

Layer map(const std::string& op, const Shape& shape) {
  return {op + " " + std::to_string(test::elements(shape)), double(test::elements(shape)), [=] {
            KernelBuilder b("map");
            return b.finish(b.call(op, {b.input(shape)}, {}, shape));
          }};
}

Layer pool(const std::string& op, int64_t c, int64_t hw, int64_t size, int64_t stride, int64_t pad) {
  const bool global = op == "nn.global_avg_pool2d";
  const int64_t ib = channel_block(c, DeviceSheet::host()),
                out = global ? 1 : (hw + 2 * pad - size) / stride + 1;
  return {op + " " + std::to_string(size) + " s" + std::to_string(stride) + " " + std::to_string(c) + "@" +
              std::to_string(hw),
          double(c) * out * out * size * size, [=] {
            KernelBuilder b("pool");
            const std::string layout = blocked("NCHW#c", ib, 0);
            std::vector<std::pair<std::string, AttrValue>> attrs{{"layout", layout}};
            if (!global)
              attrs.insert(attrs.end(), {{"pool_size", std::vector<int64_t>{size, size}},
                                         {"strides", std::vector<int64_t>{stride, stride}},
                                         {"padding", std::vector<int64_t>{pad, pad}}});
            return b.finish(b.call(op, {b.input({1, c / ib, hw, hw, ib})}, test::op_attrs(op, attrs),
                                   {1, c / ib, out, out, ib}));
          }};
}

Layer softmax(int64_t rows, int64_t n) {
  return {
      "softmax " + std::to_string(rows) + "x" + std::to_string(n), 5.0 * rows * n, [=] {
        KernelBuilder b("softmax");
        return b.finish(b.call("nn.softmax", {b.input({rows, n})}, test::op_attrs("nn.softmax"), {rows, n}));
      }};
}

Layer pointwise(const std::string& name, const Shape& shape) {
  return {name, 2.0 * test::elements(shape), [=] {
            KernelBuilder b("pointwise");
            const Value sum = b.call("add", {b.input(shape), b.input(shape)}, {}, shape);
            return b.finish(b.call("nn.relu", {sum}, {}, shape));
          }};
}

std::vector<Layer> layers() {
  std::vector<Layer> all;
  // ResNet-18
  all.push_back(conv(3, 224, 64, 7, 2, 3));
  for (int64_t c : {64, 128, 256, 512}) all.push_back(conv(c, 3584 / c, c, 3, 1, 1));
  for (int64_t c : {64, 128, 256})
    all.push_back(conv(c, 3584 / c, 2 * c, 3, 2, 1)), all.push_back(conv(c, 3584 / c, 2 * c, 1, 2, 0));
  // VGG-11
  all.push_back(conv(3, 224, 64, 3, 1, 1));
  all.push_back(conv(64, 112, 128, 3, 1, 1));
  all.push_back(conv(128, 56, 256, 3, 1, 1));
  all.push_back(conv(256, 56, 256, 3, 1, 1));
  all.push_back(conv(256, 28, 512, 3, 1, 1));
  all.push_back(conv(512, 28, 512, 3, 1, 1));
  all.push_back(conv(512, 14, 512, 3, 1, 1));
  // ResNet-50 and MobileNet
  for (int64_t c : {64, 128, 256, 512}) {
    const int64_t hw = 3584 / c;
    all.push_back(conv(c, hw, 4 * c, 1, 1, 0));
    all.push_back(conv(4 * c, hw, c, 1, 1, 0));
  }
  all.push_back(conv(3, 224, 32, 3, 2, 1));
  for (int64_t c : {32, 128, 256, 512, 1024}) {
    const int64_t hw = c == 32 ? 112 : 7168 / c;
    all.push_back(conv(c, hw, c, 3, 1, 1, true));
    all.push_back(conv(c, hw, c == 32 ? 64 : c, 1, 1, 0));
  }
  for (int64_t c : {64, 128, 256, 512}) all.push_back(conv(c, 7168 / c, c, 3, 2, 1, true));
  // DCGAN, and an upsampling of U-Net
  all.push_back(deconv(100, 1, 512, 4, 1, 0));
  for (int64_t c : {512, 256, 128}) all.push_back(deconv(c, 2048 / c, c / 2, 4, 2, 1));
  all.push_back(deconv(64, 32, 3, 4, 2, 1));
  all.push_back(deconv(128, 64, 64, 2, 2, 0));
  for (auto [k, n] :
       {std::pair<int64_t, int64_t>{512, 1000}, {25088, 4096}, {4096, 4096}, {4096, 1000}, {784, 128}})
    all.push_back(dense(1, k, n));
  all.push_back(dense(128, 768, 3072));
  // Rows a multiple of 4096 bytes apart, and their neighbours.
  for (const int64_t m : {128, 8, 16, 26, 100, 1000})
    for (const int64_t k : {512, 768, 1024, 1536, 2048, 3072, 3088, 4096})
      all.push_back(with_share(dense(m, k, 768), m < 100 ? 0 : 0.9));
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      all.push_back(with_share(batch_matmul(12, 128, 64, 128, ta, tb), 0.8));
      all.push_back(with_share(batch_matmul(12, 128, 128, 64, ta, tb), 0.8));
      all.push_back(batch_matmul(1, 512, 512, 512, ta, tb));
      all.push_back(batch_matmul(1000, 4, 4, 4, ta, tb));
    }
  for (const char* op : {"mean", "max"}) {
    all.push_back(with_us(reduce(op, {128, 768}, {1}), 8));
    all.push_back(reduce(op, {128, 768}, {0}));
    all.push_back(reduce(op, {128, 768}, {0, 1}));
    all.push_back(reduce(op, {64, 49, 100}, {1}));
  }
  for (const char* op : {"exp", "sigmoid", "tanh", "erf"}) all.push_back(map(op, {128, 768}));
  all.push_back(with_us(softmax(1536, 128), 94));
  all.push_back(pool("nn.max_pool2d", 64, 112, 3, 2, 1));
  all.push_back(pool("nn.max_pool2d", 64, 224, 2, 2, 0));
  all.push_back(pool("nn.max_pool2d", 512, 14, 2, 2, 0));
  all.push_back(pool("nn.global_avg_pool2d", 512, 7, 7, 1, 0));
  all.push_back(softmax(1, 1000));
  all.push_back(softmax(256, 1024));
  all.push_back(pointwise("add relu 64@56", {1, 4, 56, 56, 16}));
  all.push_back(pointwise("add relu 64@56 plain", {1, 64, 56, 56}));
  return all;
}

std::string text(const ScheduleParams& params) {
  std::string all;
  for (const auto& [name, value] : params) all += " " + name + "=" + std::to_string(value);
  return all;
}

int run(int argc, char** argv) {
  const std::string only = argc > 1 ? argv[1] : "all";
  const double seconds = argc > 2 ? std::atof(argv[2]) : 0.2;
  const bool tune = argc > 3;
  const double peak = fma_peak();
  const DeviceSheet& sheet = DeviceSheet::host();
  std::printf("multiply-add peak %.1f GFLOP/s, one thread; %d lanes\n", peak, sheet.float_lanes);
  for (const Layer& layer : layers()) {
    if (only != "all" && layer.name.find(only) == std::string::npos) continue;
    LoweredKernel kernel = layer.make();
    const ScheduleTemplate& chosen = find_template(kernel, sheet);
    std::vector<ScheduleParams> tries{chosen.default_params(kernel, sheet)};
    if (tune)
      for (const ScheduleParams& params : chosen.candidates(kernel, sheet))
        if (params != tries.front()) tries.push_back(params);
    std::vector<std::pair<double, std::string>> lines;
    for (const ScheduleParams& params : tries) {
      LoweredKernel fresh = layer.make();
      chosen.apply(fresh, params, sheet);
      const Timing t = measure(fresh, seconds);
      char line[300];
      std::snprintf(line, sizeof line,
                    "%-26s %-14s hot %8.3f cold %8.3f ms %7.1f GFLOP/s %4.0f %%  compile %.2f s %s",
                    layer.name.c_str(), chosen.name, t.hot_ms, t.cold_ms, layer.flops / t.cold_ms / 1e6,
                    100 * layer.flops / t.cold_ms / 1e6 / peak, t.compile_s, text(params).c_str());
      if (lines.empty()) {
        std::printf("%s\n", line);
        const double share = layer.flops / t.hot_ms / 1e6 / peak, us = t.hot_ms * 1e3;
        if (layer.bar_share > 0)
          std::printf("   bar %.0f %% of the peak, measured %.0f %%, %s\n", 100 * layer.bar_share,
                      100 * share, share >= layer.bar_share ? "ok" : "NOT REACHED");
        if (layer.bar_us > 0)
          std::printf("   bar %.1f us, measured %.1f us, %s\n", layer.bar_us, us,
                      us <= layer.bar_us ? "ok" : "NOT REACHED");
      }
      std::fflush(stdout);
      lines.emplace_back(t.cold_ms, line);
    }
    std::sort(lines.begin(), lines.end());
    for (size_t i = 0; tune && i < std::min<size_t>(5, lines.size()); ++i)
      std::printf("   %s\n", lines[i].second.c_str());
  }
  return 0;
}

}  // namespace
}  // namespace baton

int main(int argc, char** argv) {
  try {
    return baton::test::with_halide_errors([&] { return baton::run(argc, argv); });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kernel_bench: %s\n", error.what());
    return 1;
  }
}
