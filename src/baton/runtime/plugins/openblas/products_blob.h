#pragma once
// The format of compiled `openblas` kernels, each one matrix product or a batch of them. Written by
// codegen/openblas, read by the plug-in beside this file; each side includes only this header.
//
//   bytes 0..7    "BATONBLA"
//   bytes 8..15   the version of the format (kProductsVersion)
//   bytes 16..23  the number of products
//   then each product: the fields of Product in order, 8 little-endian bytes each, and its name with its
//   length before it
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace baton::openblas_blob {

inline constexpr std::string_view kMagic = "BATONBLA";
inline constexpr uint64_t kProductsVersion = 1;

/// result[i] = op(a[i]) * op(b[i]) for each i of `batch`; all arrays are dense and row-major.
struct Product {
  uint64_t bits = 32;  ///< of an element: 32 or 64
  uint64_t batch = 1, rows = 1, columns = 1, depth = 1;
  uint64_t transpose_a = 0, transpose_b = 0;  ///< 1: stored as (depth, rows), (columns, depth)
  uint64_t a_batched = 0, b_batched = 0;      ///< 0: one matrix for the whole batch
  uint64_t a = 0, b = 1;                      ///< the kernel's inputs; the same one for a square
  std::string symbol = {};
};

inline std::array<uint64_t*, 11> fields_of(Product& product) {
  return {&product.bits,        &product.batch,     &product.rows,
          &product.columns,     &product.depth,     &product.transpose_a,
          &product.transpose_b, &product.a_batched, &product.b_batched,
          &product.a,           &product.b};
}

inline void put(std::string& bytes, uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(value >> shift & 0xff);
}

inline std::string blob_of(std::vector<Product> products) {
  std::string bytes(kMagic);
  put(bytes, kProductsVersion);
  put(bytes, products.size());
  for (Product& each : products) {
    for (const uint64_t* field : fields_of(each)) put(bytes, *field);
    put(bytes, each.symbol.size());
    bytes += each.symbol;
  }
  return bytes;
}

/// Extents that a product may have: OpenBLAS counts in 32 bits.
inline constexpr uint64_t kMostExtent = 0x7fffffff;

/// Whether a product can be computed without leaving its arrays.
inline bool is_proper(const Product& product) {
  for (const uint64_t extent : {product.batch, product.rows, product.columns, product.depth})
    if (extent < 1 || extent > kMostExtent) return false;
  for (const uint64_t flag :
       {product.transpose_a, product.transpose_b, product.a_batched, product.b_batched, product.a, product.b})
    if (flag > 1) return false;
  return product.bits == 32 || product.bits == 64;
}

/// The products, or nothing when `bytes` is no blob of this version.
inline std::optional<std::vector<Product>> products_of(std::string_view bytes) {
  bool whole = true;
  const auto next = [&] {
    uint64_t value = 0;
    whole = whole && bytes.size() >= 8;
    if (!whole) return value;
    for (int i = 7; i >= 0; --i) value = value << 8 | static_cast<uint8_t>(bytes[static_cast<size_t>(i)]);
    bytes.remove_prefix(8);
    return value;
  };
  if (!bytes.starts_with(kMagic)) return std::nullopt;
  bytes.remove_prefix(kMagic.size());
  if (next() != kProductsVersion) return std::nullopt;
  std::vector<Product> products;
  for (uint64_t left = next(); left > 0 && whole; --left) {
    Product& product = products.emplace_back();
    for (uint64_t* field : fields_of(product)) *field = next();
    const uint64_t length = next();
    whole = whole && length <= bytes.size() && is_proper(product);
    if (!whole) break;
    product.symbol = bytes.substr(0, length);
    bytes.remove_prefix(length);
  }
  if (!whole || !bytes.empty()) return std::nullopt;
  return products;
}

}  // namespace baton::openblas_blob
