// One layer computed by oneDNN called by hand, as a peer of `baton bench` (bursts.py): plain arrays in and
// out.
//
//   onednn_layer KIND NAME=NUMBERS ...
//
// KIND: convolution, deconvolution, matmul, reduction_{sum,mean,max,min}, pooling_{max,avg,avg_padded}.
// NAME: src, weights, dst (extents); src_strides, weights_strides (in elements; none: row-major); strides,
// dilates, left, right, kernel; src_file, weights_file (raw floats, removed once read); constant (1: the
// weights are packed before). Weights of groups have an axis more.
//
// A user would take what is faster: plain layouts, or the primitive's own with a reorder before and after.
// Both are tried at the start, and the faster one is timed.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include <sys/resource.h>

#include "dnnl.hpp"

namespace {

using dnnl::algorithm;
using dnnl::memory;
using Dims = memory::dims;

std::map<std::string, std::string> words;

Dims dims_of(const std::string& name) {
  Dims dims;
  std::istringstream text(words[name]);
  for (std::string each; std::getline(text, each, ',');) dims.push_back(std::stoll(each));
  return dims;
}

Dims row_major(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

memory::desc plain(const std::string& name) {
  const Dims dims = dims_of(name), strides = dims_of(name + "_strides");
  return {dims, memory::data_type::f32, strides.empty() ? row_major(dims) : strides};
}

memory::desc any(const std::string& name) {
  return {dims_of(name), memory::data_type::f32, memory::format_tag::any};
}

std::vector<float> floats_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  std::vector<float> values(static_cast<size_t>(file.tellg()) / sizeof(float));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(float)));
  std::remove(path.c_str());
  return values;
}

struct Layer {
  dnnl::primitive primitive;
  memory::desc src, weights, dst;  // as the primitive wants them
};

Layer make(const std::string& kind, const dnnl::engine& engine, bool own_layouts) {
  const auto inference = dnnl::prop_kind::forward_inference;
  // Pools and reductions take the layout of their source as it is: pools may be given one with channels in
  // blocks.
  const bool pool = kind.rfind("pooling_", 0) == 0, reduction = kind.rfind("reduction_", 0) == 0;
  memory::desc src = plain("src"), dst = plain("dst");
  if (own_layouts && pool) src = {dims_of("src"), memory::data_type::f32, memory::format_tag::nChw16c};
  if (own_layouts && !pool && !reduction) src = any("src");
  if (own_layouts && !reduction) dst = any("dst");
  const Dims strides = dims_of("strides"), dilates = dims_of("dilates"), left = dims_of("left"),
             right = dims_of("right");
  const bool constant = words["constant"] == "1";
  const auto whole = [](const auto& described) {
    return Layer{dnnl::primitive(described), described.src_desc(), described.weights_desc(),
                 described.dst_desc()};
  };
  const auto without_weights = [](const auto& described) {
    return Layer{dnnl::primitive(described), described.src_desc(), {}, described.dst_desc()};
  };
  if (kind == "convolution")
    return whole(dnnl::convolution_forward::primitive_desc(engine, inference, algorithm::convolution_auto,
                                                           src, any("weights"), dst, strides, dilates, left,
                                                           right));
  if (kind == "deconvolution")
    return whole(
        dnnl::deconvolution_forward::primitive_desc(engine, inference, algorithm::deconvolution_direct, src,
                                                    any("weights"), dst, strides, dilates, left, right));
  if (kind == "matmul")
    return whole(
        dnnl::matmul::primitive_desc(engine, src, constant ? any("weights") : plain("weights"), dst));
  const std::string what = kind.substr(kind.find('_') + 1);
  if (pool) {
    const algorithm how = what == "max"   ? algorithm::pooling_max
                          : what == "avg" ? algorithm::pooling_avg_exclude_padding
                                          : algorithm::pooling_avg_include_padding;
    return without_weights(dnnl::pooling_forward::primitive_desc(engine, inference, how, src, dst, strides,
                                                                 dims_of("kernel"), dilates, left, right));
  }
  const algorithm how = what == "sum"    ? algorithm::reduction_sum
                        : what == "mean" ? algorithm::reduction_mean
                        : what == "max"  ? algorithm::reduction_max
                                         : algorithm::reduction_min;
  return without_weights(dnnl::reduction::primitive_desc(engine, how, src, dst, 0.f, 0.f));
}

/// The layer with its memory; run() takes the plain source to the plain result.
class Runner {
 public:
  Runner(const std::string& kind, const dnnl::engine& engine, bool own_layouts, std::vector<float>& src,
         std::vector<float>& weights, std::vector<float>& dst)
      : stream_(engine), layer_(make(kind, engine, own_layouts)) {
    const memory given(plain("src"), engine, src.data()), result(plain("dst"), engine, dst.data());
    const memory from = reordered(given, layer_.src, engine);
    const bool moves_out = layer_.dst != plain("dst");
    const memory to = moves_out ? memory(layer_.dst, engine) : result;
    std::unordered_map<int, memory> arguments{{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}};
    if (!weights.empty()) {
      const memory plain_weights(plain("weights"), engine, weights.data());
      const bool constant = words["constant"] == "1";
      const memory packed = reordered(plain_weights, layer_.weights, engine);
      arguments.emplace(DNNL_ARG_WEIGHTS, packed);
      if (constant && !steps_.empty() && packed.get() != plain_weights.get()) {
        steps_.back().first.execute(stream_, steps_.back().second);  // once, not in every run
        stream_.wait();
        steps_.pop_back();
      }
    }
    steps_.emplace_back(layer_.primitive, arguments);
    if (moves_out)
      steps_.emplace_back(dnnl::reorder(to, result),
                          std::unordered_map<int, memory>{{DNNL_ARG_FROM, to}, {DNNL_ARG_TO, result}});
  }

  void run() {
    for (const auto& [primitive, arguments] : steps_) primitive.execute(stream_, arguments);
    stream_.wait();
  }

 private:
  memory reordered(const memory& from, const memory::desc& wanted, const dnnl::engine& engine) {
    if (from.get_desc() == wanted) return from;
    const memory to(wanted, engine);
    steps_.emplace_back(dnnl::reorder(from, to),
                        std::unordered_map<int, memory>{{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
    return to;
  }

  dnnl::stream stream_;
  Layer layer_;
  std::vector<std::pair<dnnl::primitive, std::unordered_map<int, memory>>> steps_;
};

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double cpu_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

double least_of(Runner& runner, double seconds) {
  runner.run();
  double least = 1e300;
  const double end = wall_seconds() + seconds;
  for (int runs = 0; runs < 3 || wall_seconds() < end; ++runs) {
    const double begin = wall_seconds();
    runner.run();
    least = std::min(least, wall_seconds() - begin);
  }
  return least;
}

void write_npy(const std::string& path, const std::vector<float>& values) {
  std::string header =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(values.size()) + ",), }";
  header.resize((10 + header.size() + 64) / 64 * 64 - 10 - 1, ' ');
  header += '\n';
  std::ofstream file(path, std::ios::binary);
  const auto size = static_cast<uint16_t>(header.size());
  file.write("\x93NUMPY\x01\x00", 8);
  file.write(reinterpret_cast<const char*>(&size), 2);
  file << header;
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(float)));
}

void serve(Runner& runner, const std::vector<float>& dst, bool own_layouts) {
  const dnnl_version_t* version = dnnl_version();
  std::printf("{\"version\": \"oneDNN %d.%d.%d%s\"}\n", version->major, version->minor, version->patch,
              own_layouts ? ", own layouts" : "");
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    const std::string verb = line.substr(0, line.find(' ')), value = line.substr(line.find(' ') + 1);
    if (verb == "output") {
      write_npy(value, dst);
      std::puts("{}");
    } else {
      int runs = 0;
      const double cpu = cpu_seconds(), wall = wall_seconds(), end = wall + std::stod(value) / 1e3;
      for (; runs < 2 || wall_seconds() < end; ++runs) runner.run();
      std::printf("{\"runs\": %d, \"cpu\": %.9f, \"wall\": %.9f}\n", runs, cpu_seconds() - cpu,
                  wall_seconds() - wall);
    }
    std::fflush(stdout);
  }
}

int work(const std::string& kind) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  std::vector<float> src = floats_of(words["src_file"]), weights;
  if (!words["weights_file"].empty()) weights = floats_of(words["weights_file"]);
  std::vector<float> dst(plain("dst").get_size() / sizeof(float));
  Runner with_plain(kind, engine, false, src, weights, dst);
  Runner with_own(kind, engine, true, src, weights, dst);
  const bool own_layouts = least_of(with_own, 0.02) < least_of(with_plain, 0.02);
  Runner& runner = own_layouts ? with_own : with_plain;
  runner.run();
  serve(runner, dst, own_layouts);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::fputs("usage: onednn_layer KIND NAME=NUMBERS ...\n", stderr);
    return 2;
  }
  for (int i = 2; i < count; ++i) {
    const std::string word = arguments[i];
    words[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  }
  try {
    return work(arguments[1]);
  } catch (const dnnl::error& error) {
    std::fprintf(stderr, "oneDNN: %s: %s\n", arguments[1], error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "onednn_layer: %s\n", error.what());
  }
  return 1;
}
