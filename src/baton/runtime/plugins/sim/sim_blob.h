#pragma once
// The format of compiled `sim` kernels: the simulated device, how long each kernel takes on it, and the
// library of the processor's code that computes them. Written by codegen/sim, read by the plug-in beside this
// file; each side includes only this header.
//
//   bytes 0..7    "BATONSIM"
//   bytes 8..15   the version of the format (kVersion)
//   bytes 16..    fields, little endian: integers and numbers in 8 bytes, texts with their length before them
//   then          the number of kernels; of each its name and its time; the library
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace baton::sim_blob {

inline constexpr char kMagic[] = "BATONSIM";
inline constexpr uint64_t kVersion = 1;
inline constexpr size_t kMagicBytes = 8;

/// What the run half needs to know of a device.
struct Device {
  std::string name;  ///< "npu"
  int64_t kind = 0;  ///< the number that plans know it by, from BATON_FIRST_SIMULATED_KIND on
  int64_t memory_bytes = 0;
  double memory_gbytes_per_s = 0;
  double link_latency_ns = 0, link_gbytes_per_s = 0;
  friend bool operator==(const Device&, const Device&) = default;
};

struct Program {
  Device device;
  std::vector<std::pair<std::string, double>> kernels;  ///< their symbols, and nanoseconds per call
  std::string library;                                  ///< a shared library for the processor
};

/// Visits all fields but the kernels, in the order of the blob: one declaration for writer and reader.
template <class Device, class Visit>
void visit_device(Device& device, Visit&& visit) {
  visit(device.name);
  visit(device.kind);
  visit(device.memory_bytes);
  visit(device.memory_gbytes_per_s);
  visit(device.link_latency_ns);
  visit(device.link_gbytes_per_s);
}

class Writer {
 public:
  explicit Writer(std::string& bytes) : bytes_(bytes) {}
  void operator()(uint64_t value) {
    for (int i = 0; i < 8; ++i) bytes_ += static_cast<char>(value >> (8 * i));
  }
  void operator()(int64_t value) { (*this)(static_cast<uint64_t>(value)); }
  void operator()(double value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    (*this)(bits);
  }
  void operator()(const std::string& text) {
    (*this)(static_cast<uint64_t>(text.size()));
    bytes_ += text;
  }

 private:
  std::string& bytes_;
};

/// Reads what Writer wrote; `good` is false from the first field on that is not there.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  void operator()(uint64_t& value) {
    value = 0;
    if (!(good = good && bytes_.size() >= 8)) return;
    for (int i = 0; i < 8; ++i) value |= static_cast<uint64_t>(static_cast<uint8_t>(bytes_[i])) << (8 * i);
    bytes_.remove_prefix(8);
  }
  void operator()(int64_t& value) {
    uint64_t bits = 0;
    (*this)(bits);
    value = static_cast<int64_t>(bits);
  }
  void operator()(double& value) {
    uint64_t bits = 0;
    (*this)(bits);
    std::memcpy(&value, &bits, sizeof value);
  }
  void operator()(std::string& text) {
    uint64_t size = 0;
    (*this)(size);
    if (!(good = good && size <= bytes_.size())) return;
    text = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
  }
  bool at_end() const { return bytes_.empty(); }
  bool good = true;

 private:
  std::string_view bytes_;
};

inline std::string written(const Program& program) {
  std::string bytes(kMagic, kMagicBytes);
  Writer write(bytes);
  write(kVersion);
  visit_device(program.device, write);
  write(static_cast<uint64_t>(program.kernels.size()));
  for (const auto& [name, ns] : program.kernels) {
    write(name);
    write(ns);
  }
  write(program.library);
  return bytes;
}

/// Why the bytes are no program; empty when they are one.
inline std::string read(std::string_view bytes, Program& program) {
  if (bytes.substr(0, kMagicBytes) != std::string_view(kMagic, kMagicBytes))
    return "it is not code for a simulated device";
  Reader reader(bytes.substr(kMagicBytes));
  uint64_t version = 0, count = 0;
  reader(version);
  if (reader.good && version != kVersion)
    return "it was made for version " + std::to_string(version) + " of the format, this is version " +
           std::to_string(kVersion) + ": build the model again";
  visit_device(program.device, reader);
  reader(count);
  for (uint64_t i = 0; i < count && reader.good; ++i) {
    program.kernels.emplace_back();
    reader(program.kernels.back().first);
    reader(program.kernels.back().second);
    // Neither negative nor infinite, nor no number.
    reader.good = reader.good && program.kernels.back().second >= 0 && program.kernels.back().second < 1e18;
  }
  reader(program.library);
  const Device& device = program.device;
  const bool sound = reader.good && reader.at_end() && device.memory_bytes > 0 &&
                     device.memory_gbytes_per_s > 0 && device.link_gbytes_per_s > 0 &&
                     device.link_latency_ns >= 0;
  return sound ? "" : "it is damaged";
}

}  // namespace baton::sim_blob
