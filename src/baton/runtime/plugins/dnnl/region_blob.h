#pragma once
// The format of compiled `dnnl` regions: oneDNN primitives over numbered tensors. Written by codegen/dnnl,
// read by the plug-in beside this file; each side includes only this header.
//
//   bytes 0..7    "BATONDNN"
//   bytes 8..15   the version of the format (kBlobVersion)
//   bytes 16..23  the size of the whole blob in bytes
//   bytes 24..31  checksum() of all bytes from 32 on
//   bytes 32..    the records below, each field as 8 little-endian bytes (integers, enums, doubles), lists
//   and
//                 texts with their length before them; then, aligned to 64 bytes, the data of the constants
//
// A step is one primitive: it reads views of tensors and writes one whole tensor, rounded to its type.
// Products of bytes are sums of int32, exact; or, with scales, numbers that post-operations bring back to
// bytes. The layout of a temporary is chosen by oneDNN when the blob is loaded; inputs, outputs and constants
// are dense with the strides given here.
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace baton::dnnl_blob {

inline constexpr char kMagic[] = "BATONDNN";
inline constexpr int64_t kBlobVersion = 2;
inline constexpr size_t kHeaderBytes = 32, kDataAlignment = 64;
inline constexpr int64_t kMostAxes = 12;  // oneDNN's DNNL_MAX_NDIMS

using Dims = std::vector<int64_t>;

enum class TensorKind : int64_t { kInput, kOutput, kConstant, kTemporary, kCount };

enum class ElementType : int64_t { kFloat32, kInt32, kInt8, kUint8, kCount };

constexpr size_t bytes_of(ElementType type) {
  return type == ElementType::kFloat32 || type == ElementType::kInt32 ? 4 : 1;
}

enum class StepKind : int64_t {
  kConvolution,    // data, weights, maybe bias
  kDeconvolution,  // the same; weights as (out, in, ...)
  kInnerProduct,   // data (m, k), weights (n, k), maybe bias (n)
  kMatmul,         // (batch, m, k), (batch or 1, k, n), maybe bias (1, 1, n)
  kPooling,
  kSoftmax,
  kEltwise,
  kBinary,  // the first operand has the shape of the result
  kConcat,
  kReorder,
  kLayerNorm,  // (rows, n), maybe scale (n) and shift (n); alpha: epsilon
  kBatchNorm,  // data, scale, shift, mean and variance of the channels; alpha: epsilon
  kCount
};

enum class Algorithm : int64_t {
  kNone,
  kPoolMax,
  kPoolAverage,        // over the cells inside the data
  kPoolAveragePadded,  // over all cells of the window
  kSoftmax,
  kLogSoftmax,
  kRelu,  // alpha: the slope below zero
  kSigmoid,
  kTanh,
  kExp,
  kLog,
  kSqrt,
  kAbs,
  kClip,    // alpha to beta
  kGelu,    // by erf
  kLinear,  // alpha * x + beta
  kRound,   // to the nearest integer, halves to even ones
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kMaximum,
  kMinimum,
  kCount
};

enum class PostKind : int64_t { kSum, kEltwise, kBinary, kCount };

struct TensorInfo {
  TensorKind kind = TensorKind::kTemporary;
  Dims dims = {}, strides = {};  // strides in elements
  int64_t index = 0;             // of an input or output: its position among these
  int64_t data = 0;              // of a constant: its offset in the data, in bytes
  ElementType type = ElementType::kFloat32;
};

/// Elements of a tensor, as if it was stored with the strides of its TensorInfo.
struct View {
  int64_t tensor = 0;
  Dims dims = {}, strides = {};
};

/// Applied to the result of a step, in order.
struct PostOp {
  PostKind kind = PostKind::kEltwise;
  Algorithm algorithm = Algorithm::kNone;
  double alpha = 0, beta = 0;      // of kSum: alpha times the operand is added
  std::vector<View> operand = {};  // one for kSum (of the result's shape) and kBinary (broadcast), else none
};

struct Step {
  StepKind kind = StepKind::kReorder;
  Algorithm algorithm = Algorithm::kNone;
  std::vector<View> inputs = {};
  int64_t output = 0;  // a tensor
  int64_t axis = 0;    // of softmax and concat
  double alpha = 0, beta = 0;
  Dims strides = {}, dilates = {}, before = {}, after = {},
       window = {};  // of convolutions and pools; dilates 0: dense
  std::vector<PostOp> posts = {};
  // For products of bytes:
  int64_t largest = 0;            // int32 sums: no sum of products exceeds it, data of int8 taken as uint8
  std::vector<View> scales = {};  // at most one: factors of the result, float32, by channel or a single one
  std::vector<View> zeros = {};   // at most one: the zero point of the data, one int32
};

struct Region {
  std::string symbol = {};
  std::vector<TensorInfo> tensors = {};
  std::vector<Step> steps = {};
};

struct Blob {
  int64_t check_only = 0;  // 1: without data; loads if oneDNN has a primitive for every step
  std::vector<Region> regions = {};
};

/// FNV-1a over words of 8 bytes, the last one filled with zeros.
inline uint64_t checksum(const char* bytes, size_t count) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t at = 0; at < count; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + at, count - at < 8 ? count - at : 8);
    hash = (hash ^ word) * 0x100000001b3u;
  }
  return hash;
}

// ---- The fields of each record in order, for Writer and Reader alike.

template <class Io>
void transfer(Io& io, TensorInfo& tensor) {
  io(tensor.kind), io(tensor.dims), io(tensor.strides), io(tensor.index), io(tensor.data);
  io(tensor.type);
}
template <class Io>
void transfer(Io& io, View& view) {
  io(view.tensor), io(view.dims), io(view.strides);
}
template <class Io>
void transfer(Io& io, PostOp& post) {
  io(post.kind), io(post.algorithm), io(post.alpha), io(post.beta), io(post.operand);
}
template <class Io>
void transfer(Io& io, Step& step) {
  io(step.kind), io(step.algorithm), io(step.inputs), io(step.output), io(step.axis), io(step.alpha);
  io(step.beta), io(step.strides), io(step.dilates), io(step.before), io(step.after), io(step.window);
  io(step.posts), io(step.largest), io(step.scales), io(step.zeros);
}
template <class Io>
void transfer(Io& io, Region& region) {
  io(region.symbol), io(region.tensors), io(region.steps);
}
template <class Io>
void transfer(Io& io, Blob& blob) {
  io(blob.check_only), io(blob.regions);
}

class Writer {
 public:
  std::string bytes;

  void operator()(int64_t value) {
    char word[8];
    for (char& byte : word) byte = static_cast<char>(value & 0xff), value >>= 8;
    bytes.append(word, sizeof word);
  }
  void operator()(double value) { (*this)(std::bit_cast<int64_t>(value)); }
  void operator()(const std::string& text) {
    (*this)(static_cast<int64_t>(text.size()));
    bytes += text;
  }
  template <class E>
    requires std::is_enum_v<E>
  void operator()(E value) {
    (*this)(static_cast<int64_t>(value));
  }
  template <class T>
  void operator()(std::vector<T>& list) {
    (*this)(static_cast<int64_t>(list.size()));
    for (T& each : list) {
      if constexpr (std::is_same_v<T, int64_t>)
        (*this)(each);
      else
        transfer(*this, each);
    }
  }
};

/// Stops at the first field that cannot be: ok is false then, and the record incomplete.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}
  bool ok = true;

  void operator()(int64_t& value) {
    value = 0;
    if (left_.size() < 8) ok = false;
    if (!ok) return;
    for (int i = 7; i >= 0; --i) value = value * 256 + static_cast<uint8_t>(left_[static_cast<size_t>(i)]);
    left_.remove_prefix(8);
  }
  void operator()(double& value) {
    int64_t bits = 0;
    (*this)(bits);
    value = std::bit_cast<double>(bits);
  }
  void operator()(std::string& text) {
    const size_t size = length(1);
    text = left_.substr(0, size);
    left_.remove_prefix(size);
  }
  template <class E>
    requires std::is_enum_v<E>
  void operator()(E& value) {
    int64_t number = 0;
    (*this)(number);
    if (number < 0 || number >= static_cast<int64_t>(E::kCount)) ok = false, number = 0;
    value = static_cast<E>(number);
  }
  template <class T>
  void operator()(std::vector<T>& list) {
    const size_t size = length(8);
    for (size_t i = 0; i < size && ok; ++i) {
      T& each = list.emplace_back();
      if constexpr (std::is_same_v<T, int64_t>)
        (*this)(each);
      else
        transfer(*this, each);
    }
  }
  std::string_view left() const { return left_; }

 private:
  /// A length of elements that take at least `least` bytes each.
  size_t length(size_t least) {
    int64_t count = 0;
    (*this)(count);
    if (count < 0 || static_cast<uint64_t>(count) > left_.size() / least) ok = false;
    return ok ? static_cast<size_t>(count) : 0;
  }
  std::string_view left_;
};

}  // namespace baton::dnnl_blob
