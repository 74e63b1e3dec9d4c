#include "baton/support/base/params_blob.h"

#include <bit>
#include <cstring>

#include "baton/support/base/checksum.h"

namespace baton {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the formats are little endian and are copied as they are");

constexpr uint64_t kParamsMagic = 0xF7E58D4F05049CB7;
constexpr size_t kHeaderBytes = 16;  // magic, checksum
constexpr uint64_t kArrayMagic = 0xDD5E40F096B4A13F;
constexpr int32_t kCpuDevice = 1;
constexpr int32_t kMaxDimensions = 64;
constexpr size_t kArrayHeaderBytes = 8 + 8 + 8 + 4 + 4;

template <typename T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename T>
bool take(std::span<const uint8_t>& in, T& value) {
  if (in.size() < sizeof value) return false;
  std::memcpy(&value, in.data(), sizeof value);
  in = in.subspan(sizeof value);
  return true;
}

Status truncated(std::string_view where, uint64_t wanted, size_t left) {
  return Status::bad_data("parameter data ends within " + std::string(where) + ": " + std::to_string(wanted) +
                          " more bytes expected, " + std::to_string(left) + " left");
}

Status check_count(uint64_t count, size_t smallest, size_t left, std::string_view what) {
  if (count <= left / smallest) return Status::success();
  return Status::bad_data("parameter data claims " + std::to_string(count) + " " + std::string(what) +
                          " but has only " + std::to_string(left) + " bytes left");
}

// The format has no checksum, but a word of its header that is zero and that readers skip: files of ours have
// their checksum there. Two bits are always set, so that no single bit makes it zero, which means: none.
uint64_t blob_checksum(std::string_view after) { return checksum64(after.data(), after.size()) | 3; }

}  // namespace

void append_ndarray_blob(std::string& out, const NDArray& array) {
  put(out, kArrayMagic);
  put(out, uint64_t{0});
  put(out, kCpuDevice);
  put(out, int32_t{0});
  put(out, static_cast<int32_t>(array.ndim()));
  put(out, static_cast<uint8_t>(array.dtype().code));
  put(out, array.dtype().bits);
  put(out, array.dtype().lanes);
  for (const int64_t extent : array.shape()) put(out, extent);
  put(out, static_cast<int64_t>(array.bytes()));
  if (array.bytes()) out.append(static_cast<const char*>(array.data()), array.bytes());
}

Result<NDArray> read_ndarray_blob(std::span<const uint8_t>& blob) {
  uint64_t magic = 0, reserved = 0;
  int32_t device_type = 0, device_id = 0, ndim = 0;
  DType dtype;
  if (blob.size() < kArrayHeaderBytes) return truncated("a tensor's header", kArrayHeaderBytes, blob.size());
  take(blob, magic);
  take(blob, reserved);
  if (magic != kArrayMagic)
    return Status::bad_data("parameter data holds something that is not a tensor (wrong magic number)");
  take(blob, device_type);
  take(blob, device_id);
  take(blob, ndim);
  take(blob, dtype.code);
  take(blob, dtype.bits);
  take(blob, dtype.lanes);
  if (static_cast<uint8_t>(dtype.code) > static_cast<uint8_t>(DType::Code::kBFloat) || dtype.bits == 0 ||
      dtype.lanes == 0) {
    return Status::bad_data("parameter data holds a tensor of unknown type (code " +
                            std::to_string(static_cast<int>(dtype.code)) + ", " + std::to_string(dtype.bits) +
                            " bits, " + std::to_string(dtype.lanes) + " lanes)");
  }
  if (ndim < 0 || ndim > kMaxDimensions) {
    return Status::bad_data("parameter data holds a tensor of " + std::to_string(ndim) + " dimensions");
  }
  Shape shape(static_cast<size_t>(ndim));
  for (int64_t& extent : shape) {
    if (!take(blob, extent)) return truncated("a tensor's shape", sizeof extent, blob.size());
  }
  int64_t stored = 0;
  if (!take(blob, stored)) return truncated("a tensor's size", sizeof stored, blob.size());
  const std::optional<int64_t> bytes = byte_count(shape, dtype);
  if (!bytes || *bytes != stored) {
    return Status::bad_data("parameter data holds a tensor " + describe(shape, dtype) + " with " +
                            std::to_string(stored) + " bytes, which does not fit its shape");
  }
  if (static_cast<uint64_t>(stored) > blob.size())
    return truncated("a tensor's data", static_cast<uint64_t>(stored), blob.size());
  NDArray array = NDArray::from_bytes(std::move(shape), dtype, blob.data());
  if (!array.defined())
    return Status::out_of_memory("no memory for a parameter of " + std::to_string(stored) + " bytes");
  blob = blob.subspan(static_cast<size_t>(stored));
  return array;
}

std::string write_params_blob(const NamedArrays& params) {
  size_t room = 32;
  for (const auto& [name, array] : params) {
    room += 8 + name.size() + kArrayHeaderBytes + 8 + 8 * array.shape().size() + array.bytes();
  }
  std::string out;
  out.reserve(room);
  put(out, kParamsMagic);
  put(out, uint64_t{0});
  put(out, static_cast<uint64_t>(params.size()));
  for (const auto& [name, array] : params) {
    put(out, static_cast<uint64_t>(name.size()));
    out += name;
  }
  put(out, static_cast<uint64_t>(params.size()));
  for (const auto& [name, array] : params) append_ndarray_blob(out, array);
  const uint64_t checksum = blob_checksum(std::string_view(out).substr(kHeaderBytes));
  std::memcpy(out.data() + kHeaderBytes - sizeof checksum, &checksum, sizeof checksum);
  return out;
}

Result<NamedArrays> read_params_blob(std::span<const uint8_t> blob) {
  uint64_t magic = 0, reserved = 0, names = 0, arrays = 0;
  if (!take(blob, magic) || magic != kParamsMagic) {
    return Status::bad_data(
        "not a parameter file: it does not begin with the magic number of saved parameters");
  }
  if (!take(blob, reserved)) return truncated("the header", 16, blob.size());
  const uint64_t checksum =
      reserved ? blob_checksum({reinterpret_cast<const char*>(blob.data()), blob.size()}) : 0;
  if (!take(blob, names)) return truncated("the header", 8, blob.size());
  if (Status status = check_count(names, sizeof(uint64_t), blob.size(), "names"); !status.ok()) return status;
  NamedArrays params(static_cast<size_t>(names));
  for (auto& [name, array] : params) {
    uint64_t length = 0;
    if (!take(blob, length)) return truncated("a name's length", sizeof length, blob.size());
    if (length > blob.size()) return truncated("a name", length, blob.size());
    name.assign(reinterpret_cast<const char*>(blob.data()), static_cast<size_t>(length));
    blob = blob.subspan(static_cast<size_t>(length));
  }
  if (!take(blob, arrays)) return truncated("the number of tensors", sizeof arrays, blob.size());
  if (arrays != names) {
    return Status::bad_data("parameter data has " + std::to_string(names) + " names but " +
                            std::to_string(arrays) + " tensors");
  }
  for (auto& [name, array] : params) {
    Result<NDArray> read = read_ndarray_blob(blob);
    if (!read.ok()) return Status{read.status().code, "parameter `" + name + "`: " + read.status().message};
    array = std::move(*read);
  }
  if (!blob.empty()) {
    return Status::bad_data("parameter data has " + std::to_string(blob.size()) +
                            " bytes too many at its end");
  }
  // Compared last: what else is wrong says more.
  if (checksum != reserved)
    return Status::bad_data("parameter data is damaged: its checksum is another one; copy or save it again");
  return params;
}

}  // namespace baton
