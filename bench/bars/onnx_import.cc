// Bars of the importer: a transformer of 12 layers, 85 MB and 1,411 nodes, with the shape arithmetic that
// exporters write, is a module in 0.3 s and 1.3 times its size. CPU time, minimum of bursts; memory of one.
// Prints `bar, measured, ok` and exits with 1 when one does not hold.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <sys/resource.h>

#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/frontend/onnx/import.h"
#include "baton/support/error.h"

#include "bars/bar.h"
#include "bars/measure.h"
#include "frontend/onnx/proto.h"

namespace baton {
namespace {

using namespace onnx::proto;

constexpr int kLayers = 12, kWidth = 384, kHeads = 12, kNodes = 1411;
constexpr int kFloat = 1, kInt64 = 7;

/// Writes the fields of a graph, in the order of their numbers as protobuf's writers do; names count up.
class Graph {
 public:
  std::string node_of(const std::string& op, const std::vector<std::string>& inputs,
                      const std::string& more = {}) {
    const std::string made = "v" + std::to_string(nodes_++);
    text_of_nodes_ += bytes(1, node(op, inputs, {made}, bytes(3, "/layer/" + op + "_" + made) + more));
    return made;
  }
  std::string constant(const std::vector<int64_t>& values, bool is_scalar = false) {
    const std::vector<int64_t> dims =
        is_scalar ? std::vector<int64_t>{} : std::vector<int64_t>{int64_t(values.size())};
    return node_of("Constant", {},
                   bytes(5, bytes(1, "value") + bytes(5, tensor("", kInt64, dims, raw_data(raw(values)))) +
                                integer(20, 4)));
  }
  std::string weight(const std::vector<int64_t>& dims) {
    const std::string name = "w" + std::to_string(weights_++);
    int64_t count = 1;
    for (const int64_t dim : dims) count *= dim;
    tensors_ +=
        bytes(5, tensor(name, kFloat, dims, raw_data(std::string(static_cast<size_t>(count) * 4, '\x3c'))));
    return name;
  }
  std::string scalar(float value) {
    const std::string name = "w" + std::to_string(weights_++);
    tensors_ += bytes(5, tensor(name, kFloat, {}, raw_data(raw<float>({value}))));
    return name;
  }
  int nodes() const { return nodes_; }
  void add(const std::string& field) { rest_ += field; }
  std::string text() const { return text_of_nodes_ + tensors_ + rest_; }

 private:
  std::string text_of_nodes_, tensors_, rest_;
  int nodes_ = 0, weights_ = 0;
};

std::string ints(const std::string& name, const std::vector<int64_t>& values) {
  std::string text = bytes(1, name);
  for (const int64_t value : values) text += integer(8, value);
  return bytes(5, text + integer(20, 7));
}
std::string int_of(const std::string& name, int64_t value) {
  return bytes(5, bytes(1, name) + integer(3, value) + integer(20, 2));
}

std::string linear(Graph& g, const std::string& x, int64_t from, int64_t to) {
  return g.node_of("Add", {g.node_of("MatMul", {x, g.weight({from, to})}), g.weight({to})});
}

std::string norm(Graph& g, const std::string& x) {
  const auto mean = [&](const std::string& of) { return g.node_of("ReduceMean", {of}, ints("axes", {-1})); };
  const std::string centred = g.node_of("Sub", {x, mean(x)});
  const std::string variance = mean(g.node_of("Pow", {centred, g.scalar(2)}));
  const std::string scaled =
      g.node_of("Div", {centred, g.node_of("Sqrt", {g.node_of("Add", {variance, g.scalar(1e-5F)})})});
  return g.node_of("Add", {g.node_of("Mul", {scaled, g.weight({kWidth})}), g.weight({kWidth})});
}

/// The batch and length of `x` in front of `rest`, as exporters of PyTorch write it.
std::string reshaped(Graph& g, const std::string& value, const std::string& x,
                     const std::vector<int64_t>& rest) {
  std::vector<std::string> parts;
  for (const int64_t axis : {0, 1})
    parts.push_back(g.node_of(
        "Unsqueeze",
        {g.node_of("Gather", {g.node_of("Shape", {x}), g.constant({axis}, true)}), g.constant({0})}));
  parts.push_back(g.constant(rest));
  return g.node_of("Reshape", {value, g.node_of("Concat", parts, int_of("axis", 0))});
}

std::string attention(Graph& g, const std::string& x) {
  std::vector<std::string> heads;
  for (const int part : {0, 1, 2})
    heads.push_back(g.node_of(
        "Transpose", {reshaped(g, linear(g, x, kWidth, kWidth), x, {kHeads, kWidth / kHeads})},
        ints("perm", part == 1 ? std::vector<int64_t>{0, 2, 3, 1} : std::vector<int64_t>{0, 2, 1, 3})));
  const std::string scores = g.node_of("Div", {g.node_of("MatMul", {heads[0], heads[1]}), g.scalar(5.6F)});
  const std::string mixed =
      g.node_of("MatMul", {g.node_of("Softmax", {scores}, int_of("axis", -1)), heads[2]});
  return linear(g, reshaped(g, g.node_of("Transpose", {mixed}, ints("perm", {0, 2, 1, 3})), x, {kWidth}),
                kWidth, kWidth);
}

std::string feed_forward(Graph& g, const std::string& x) {
  const std::string wide = linear(g, x, kWidth, 4 * kWidth);
  const std::string erf = g.node_of("Erf", {g.node_of("Div", {wide, g.scalar(1.414F)})});
  const std::string gelu =
      g.node_of("Mul", {g.node_of("Mul", {wide, g.node_of("Add", {erf, g.scalar(1)})}), g.scalar(0.5F)});
  return linear(g, gelu, 4 * kWidth, kWidth);
}

void write_transformer(const std::string& path) {
  Graph g;
  std::string x = "x";
  for (int layer = 0; layer < kLayers; ++layer) {
    x = g.node_of("Add", {x, attention(g, norm(g, x))});
    x = g.node_of("Add", {x, feed_forward(g, norm(g, x))});
  }
  while (g.nodes() < kNodes) x = g.node_of("Identity", {x});
  g.add(bytes(11, value("x", kFloat, {"batch", "length", std::to_string(kWidth)})) +
        bytes(12, value(x, kFloat, {})));
  std::ofstream(path, std::ios::binary) << model(g.text());
}

void import(const std::string& path) {
  const IRModule module = onnx::import_file(path, {}, host_context()).module;
  if (module->origins().size() < kNodes) throw Error("nodes are missing");
}

/// Of this process, at most so far.
double peak_bytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

int measure(int bursts) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("baton_import_" + std::to_string(getpid()) + ".onnx");
  bars::alone([&] {  // the memory that writing takes is not this process's
    write_transformer(path);
    return 0.0;
  });
  const auto size = static_cast<double>(std::filesystem::file_size(path));
  double best = 1e300;
  for (int i = 0; i < bursts; ++i)
    best = std::min(best, bars::alone([&] { return bars::cpu_ns([&] { import(path); }); }));
  const double memory = bars::alone([&] {
    const double before = peak_bytes();
    import(path);
    return peak_bytes() - before;
  });
  std::filesystem::remove(path);
  std::printf("a transformer of %d layers, %d nodes and %.1f MB\n", kLayers, kNodes, size * 1e-6);
  bars::report("import of an ONNX file: CPU time", 0.3, best * 1e-9, "s");
  bars::report("import of an ONNX file: memory beside its size", 1.3, memory / size, "times");
  return bars::all_hold ? 0 : 1;
}

}  // namespace
}  // namespace baton

int main(int argc, char** argv) {
  const int bursts = argc > 1 ? std::atoi(argv[1]) : 5;
  if (bursts < 1) {
    std::fprintf(stderr, "usage: onnx_import [BURSTS]; seen: %s\n", argv[1]);
    return 2;
  }
  baton::initialize();
  return baton::measure(bursts);
}
