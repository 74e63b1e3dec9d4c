// The runtime half of `openblas`: matrix products by OpenBLAS, in the memory of the host. The library is
// opened when the first model that needs it is loaded.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include <dlfcn.h>

#include "baton/runtime/baton_backend.h"
#include "baton/runtime/plugins/openblas/products_blob.h"

namespace baton::openblas_plugin {
namespace {

using openblas_blob::Product;

// CBLAS's numbers.
constexpr int kRowMajor = 101, kNoTranspose = 111, kTranspose = 112;

template <class T>
using Gemm = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k, T alpha, const T* a,
                      int lda, const T* b, int ldb, T beta, T* c, int ldc);

struct Library {
  Gemm<float> sgemm = nullptr;
  Gemm<double> dgemm = nullptr;
  void (*set_threads)(int) = nullptr;
  std::string missing = {};  // why it cannot be used
};

Library opened() {
  Library library;
  void* handle = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* why = dlerror();
    library.missing = std::string("OpenBLAS is missing (") + (why ? why : "no reason given") +
                      "): install the Debian package libopenblas0-pthread";
    return library;
  }
  library.sgemm = reinterpret_cast<Gemm<float>>(dlsym(handle, "cblas_sgemm"));
  library.dgemm = reinterpret_cast<Gemm<double>>(dlsym(handle, "cblas_dgemm"));
  library.set_threads = reinterpret_cast<void (*)(int)>(dlsym(handle, "openblas_set_num_threads"));
  if (!library.sgemm || !library.dgemm || !library.set_threads)
    library.missing = "libopenblas.so.0 has no cblas_sgemm, cblas_dgemm or openblas_set_num_threads";
  return library;
}

const Library& library() {
  static const Library* const the = new Library(opened());  // never closed: its threads live on
  return *the;
}

const baton_host* host_of_process = nullptr;
thread_local std::string last_error_text;

int fail(std::string why) {
  last_error_text = std::move(why);
  return -1;
}

/// OpenBLAS has one number of threads for the process.
void use_threads(int threads) {
  static std::atomic<int> now{0};
  if (now.exchange(threads) != threads) library().set_threads(threads);
}

struct Module {
  std::map<std::string, Product> products;
};

template <class T>
void multiply(Gemm<T> gemm, const Product& product, const void* a, const void* b, void* result) {
  const int rows = static_cast<int>(product.rows), columns = static_cast<int>(product.columns),
            depth = static_cast<int>(product.depth);
  for (uint64_t i = 0; i < product.batch; ++i)
    gemm(kRowMajor, product.transpose_a ? kTranspose : kNoTranspose,
         product.transpose_b ? kTranspose : kNoTranspose, rows, columns, depth, T{1},
         static_cast<const T*>(a) + (product.a_batched ? i * product.rows * product.depth : 0),
         product.transpose_a ? rows : depth,
         static_cast<const T*>(b) + (product.b_batched ? i * product.depth * product.columns : 0),
         product.transpose_b ? depth : columns, T{0},
         static_cast<T*>(result) + i * product.rows * product.columns, columns);
}

int inputs_of(const Product& product) { return static_cast<int>(std::max(product.a, product.b)) + 1; }

int run(void* context, void** args) {
  const Product& product = *static_cast<const Product*>(context);
  const auto host = [&](uint64_t index) { return static_cast<const baton_tensor*>(args[index])->host; };
  void* const result = host(static_cast<uint64_t>(inputs_of(product)));
  use_threads(std::max(1, host_of_process->threads()));
  if (product.bits == 32)
    multiply(library().sgemm, product, host(product.a), host(product.b), result);
  else
    multiply(library().dgemm, product, host(product.a), host(product.b), result);
  return 0;
}

int load(const void* bytes, size_t count, void** module) {
  if (!library().missing.empty()) return fail(library().missing);
  const auto products = openblas_blob::products_of({static_cast<const char*>(bytes), count});
  if (!products)
    return fail("its code is no blob of this version of openblas, or damaged: build the model again");
  auto loaded = std::make_unique<Module>();
  for (const Product& each : *products)
    if (!loaded->products.emplace(each.symbol, each).second) return fail("its code has a kernel twice");
  *module = loaded.release();
  return 0;
}

int bind(void* module, const char* symbol, int32_t tensors, void*, baton_bound* bound) {
  auto& products = static_cast<Module*>(module)->products;
  const auto at = products.find(symbol);
  if (at == products.end()) return fail("its code has no such kernel");
  if (inputs_of(at->second) + 1 != tensors)
    return fail("the kernel has " + std::to_string(inputs_of(at->second) + 1) + " tensors, the plan gives " +
                std::to_string(tensors));
  *bound = {run, &at->second};
  return 0;
}

const baton_backend kOpenBlas = {
    .abi_version = BATON_BACKEND_ABI,
    .struct_bytes = sizeof(baton_backend),
    .name = "openblas",
    .last_error = [] { return last_error_text.c_str(); },
    .device_count = [] { return int32_t{0}; },
    .device_kind = nullptr,
    .device_name = nullptr,
    .allocate = nullptr,
    .release = nullptr,
    .copy = nullptr,
    .queue_create = nullptr,
    .queue_destroy = nullptr,
    .queue_wait = nullptr,
    .event_create = nullptr,
    .event_destroy = nullptr,
    .event_record = nullptr,
    .event_ns = nullptr,
    .load = load,
    .unload = [](void* module) { delete static_cast<Module*>(module); },
    .bind = bind,
    .unbind = [](baton_bound) {},
    .parts = nullptr,
    .run_parts = nullptr,
    .memory_bytes = nullptr,
};

}  // namespace
}  // namespace baton::openblas_plugin

extern "C" const baton_backend* baton_backend_entry(const baton_host* host) {
  using namespace baton::openblas_plugin;
  if (host->struct_bytes < offsetof(baton_host, threads) + sizeof(host->threads))
    return nullptr;  // an older runtime
  host_of_process = host;
  return &kOpenBlas;
}
