// Code of GPU kernels: text for the driver, and the launches that compute each kernel. The compile-time half
// of a backend writes the blob, its plug-in reads it: one declaration of each record serves both. Headers
// only, since a plug-in links nothing of Baton; of the standard library only. docs/design/0028-opencl.md has
// the format.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace baton {

/// An argument of a device function.
struct DeviceArgument {
  enum class Kind : uint32_t {
    kTensor = 0,    ///< the kernel's tensor `index`: inputs in order, then outputs
    kScratch = 1,   ///< an intermediate result
    kConstant = 2,  ///< an array of the kernel
    kNumber = 3     ///< the low `bytes` of `number`
  };
  Kind kind = Kind::kNumber;
  uint32_t index = 0;
  uint32_t bytes = 0;
  uint64_t number = 0;
  friend bool operator==(const DeviceArgument&, const DeviceArgument&) = default;
};

/// One launch of a device function, with `shared_bytes` of memory shared by a block.
struct DeviceLaunch {
  std::string function;
  uint32_t blocks[3] = {1, 1, 1}, threads[3] = {1, 1, 1};  ///< threads: per block
  uint32_t shared_bytes = 0;
  std::vector<DeviceArgument> arguments;
  friend bool operator==(const DeviceLaunch&, const DeviceLaunch&) = default;
};

/// A kernel.
struct DeviceCode {
  std::string source;                  ///< OpenCL C, PTX
  uint32_t tensors = 0;                ///< arguments of the kernel
  std::vector<std::string> constants;  ///< their bytes
  std::vector<uint64_t> scratch;       ///< bytes of each intermediate result
  std::vector<DeviceLaunch> launches;  ///< in order; each sees what those before it have written
  friend bool operator==(const DeviceCode&, const DeviceCode&) = default;
};

/// What makes the blobs of one backend: its first bytes, and its name in errors.
struct DeviceCodeFormat {
  std::string_view magic;  ///< "baton opencl"
  std::string_view shown;  ///< "OpenCL"
};

inline constexpr DeviceCodeFormat kOpenClCode{"baton opencl", "OpenCL"}, kCudaCode{"baton cuda", "CUDA"};
inline constexpr uint32_t kDeviceCodeVersion = 1;

/// Appends little-endian numbers, and texts behind their lengths.
class DeviceCodeWriter {
 public:
  void put(uint32_t number) { put_bytes(number, 4); }
  void put_long(uint64_t number) { put_bytes(number, 8); }
  void put_text(std::string_view text) {
    put_long(text.size());
    bytes += text;
  }
  std::string bytes;

 private:
  void put_bytes(uint64_t number, int size) {
    for (int i = 0; i < size; ++i) bytes += static_cast<char>(number >> (8 * i));
  }
};

/// Reads what DeviceCodeWriter wrote; after the first failure everything is 0 and empty.
class DeviceCodeReader {
 public:
  explicit DeviceCodeReader(std::string_view bytes) : bytes_(bytes) {}

  std::string_view take(uint64_t size) {
    if (size > bytes_.size()) {
      ok_ = false;
      bytes_ = {};
      return {};
    }
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  uint32_t number() { return static_cast<uint32_t>(bytes_of(4)); }
  uint64_t long_number() { return bytes_of(8); }
  std::string_view text() { return take(long_number()); }
  /// A number of items of at least `size` bytes each: what is left must hold them.
  uint32_t count_of(size_t size) {
    const uint32_t value = number();
    if (value <= bytes_.size() / size) return value;
    ok_ = false;
    return 0;
  }
  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && bytes_.empty(); }

 private:
  uint64_t bytes_of(size_t size) {
    const std::string_view bytes = take(size);
    uint64_t value = 0;
    for (size_t i = 0; i < bytes.size(); ++i)
      value |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    return value;
  }
  std::string_view bytes_;
  bool ok_ = true;
};

/// A kernel as bytes.
inline std::string packed(const DeviceCode& code) {
  DeviceCodeWriter out;
  out.put_text(code.source);
  out.put(code.tensors);
  out.put(static_cast<uint32_t>(code.constants.size()));
  for (const std::string& constant : code.constants) out.put_text(constant);
  out.put(static_cast<uint32_t>(code.scratch.size()));
  for (const uint64_t size : code.scratch) out.put_long(size);
  out.put(static_cast<uint32_t>(code.launches.size()));
  for (const DeviceLaunch& launch : code.launches) {
    out.put_text(launch.function);
    for (const uint32_t count : launch.blocks) out.put(count);
    for (const uint32_t count : launch.threads) out.put(count);
    out.put(launch.shared_bytes);
    out.put(static_cast<uint32_t>(launch.arguments.size()));
    for (const DeviceArgument& argument : launch.arguments) {
      out.put(static_cast<uint32_t>(argument.kind));
      out.put(argument.index);
      out.put(argument.bytes);
      out.put_long(argument.number);
    }
  }
  return std::move(out.bytes);
}

inline bool refers_to_something(const DeviceArgument& argument, const DeviceCode& code) {
  switch (argument.kind) {
    case DeviceArgument::Kind::kTensor:
      return argument.index < code.tensors;
    case DeviceArgument::Kind::kScratch:
      return argument.index < code.scratch.size();
    case DeviceArgument::Kind::kConstant:
      return argument.index < code.constants.size();
    case DeviceArgument::Kind::kNumber:
      return argument.bytes >= 1 && argument.bytes <= sizeof argument.number;
  }
  return false;
}

inline bool read_launch(DeviceCodeReader& reader, const DeviceCode& code, DeviceLaunch& launch) {
  constexpr size_t kArgumentBytes = 20;
  launch.function = reader.text();
  for (uint32_t& blocks : launch.blocks) blocks = reader.number();
  for (uint32_t& threads : launch.threads) threads = reader.number();
  launch.shared_bytes = reader.number();
  const uint32_t arguments = reader.count_of(kArgumentBytes);
  for (uint32_t i = 0; i < arguments; ++i) {
    DeviceArgument argument;
    argument.kind = static_cast<DeviceArgument::Kind>(reader.number());
    argument.index = reader.number();
    argument.bytes = reader.number();
    argument.number = reader.long_number();
    if (!refers_to_something(argument, code)) return false;
    launch.arguments.push_back(argument);
  }
  const auto is_zero = [](uint32_t count) { return count == 0; };
  return reader.ok() && std::none_of(launch.blocks, launch.blocks + 3, is_zero) &&
         std::none_of(launch.threads, launch.threads + 3, is_zero);
}

/// The inverse of packed(); false when the bytes are damaged: every count, length and index is checked.
inline bool unpack(std::string_view bytes, DeviceCode& code) {
  constexpr size_t kTextBytes = 8, kLaunchBytes = 44;
  DeviceCodeReader reader(bytes);
  code.source = reader.text();
  code.tensors = reader.number();
  const uint32_t constants = reader.count_of(kTextBytes);
  for (uint32_t i = 0; i < constants; ++i) code.constants.emplace_back(reader.text());
  const uint32_t scratch = reader.count_of(sizeof(uint64_t));
  for (uint32_t i = 0; i < scratch; ++i) code.scratch.push_back(reader.long_number());
  const uint32_t launches = reader.count_of(kLaunchBytes);
  for (uint32_t i = 0; i < launches; ++i) {
    code.launches.emplace_back();
    if (!read_launch(reader, code, code.launches.back())) return false;
  }
  return reader.at_end();
}

/// The kernels of a model: packed kernels, and which of them each name is.
struct DeviceBlob {
  std::vector<std::string_view> units;
  std::map<std::string, uint32_t, std::less<>> unit_of;
};

inline std::string packed(const DeviceBlob& blob, const DeviceCodeFormat& format) {
  DeviceCodeWriter out;
  out.bytes = format.magic;
  out.put(kDeviceCodeVersion);
  out.put(static_cast<uint32_t>(blob.units.size()));
  for (const std::string_view unit : blob.units) out.put_text(unit);
  out.put(static_cast<uint32_t>(blob.unit_of.size()));
  for (const auto& [name, unit] : blob.unit_of) {
    out.put_text(name);
    out.put(unit);
  }
  return std::move(out.bytes);
}

/// Reads a blob: views of its bytes. Why it cannot be used, in words that follow "cannot load the model's
/// code: "; empty when it can.
inline std::string unpack(std::string_view bytes, const DeviceCodeFormat& format, DeviceBlob& blob) {
  constexpr size_t kTextBytes = 8, kNameBytes = 12;
  const std::string shown(format.shown);
  DeviceCodeReader reader(bytes);
  if (reader.take(format.magic.size()) != format.magic) return "its code is no code for " + shown;
  if (const uint32_t version = reader.number(); version != kDeviceCodeVersion)
    return "its code is of version " + std::to_string(version) + ", this plug-in reads version " +
           std::to_string(kDeviceCodeVersion) + ": build the model again with this version of Baton";
  bool whole = true;
  const uint32_t units = reader.count_of(kTextBytes);
  for (uint32_t i = 0; i < units; ++i) blob.units.push_back(reader.text());
  const uint32_t names = reader.count_of(kNameBytes);
  for (uint32_t i = 0; i < names; ++i) {
    const std::string_view name = reader.text();
    const uint32_t unit = reader.number();
    whole &= unit < blob.units.size();
    blob.unit_of[std::string(name)] = unit;
  }
  if (whole && reader.at_end()) return "";
  return "its code for " + shown + " is damaged: build the model again";
}

/// The names of the kernels that are unit `number`, as an error says them: "`a`, `b`".
inline std::string names_of(const DeviceBlob& blob, uint32_t number) {
  std::string names;
  for (const auto& [name, unit] : blob.unit_of)
    if (unit == number) names += (names.empty() ? "`" : ", `") + name + "`";
  return names;
}

}  // namespace baton
