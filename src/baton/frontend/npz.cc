#include "baton/frontend/npz.h"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include <zip.h>

#include "baton/support/base/files.h"
#include "baton/support/error.h"

namespace baton {

namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr size_t kMagicBytes = 6;

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw Error(where + ": " + what);
}

// numpy's type text is byte order, kind, bytes: "<f4", "|b1". bfloat16 has none.
std::optional<DType> dtype_of(const std::string& descr) {
  if (descr.size() != 3 || descr[0] == '>') return std::nullopt;
  const int bytes = descr[2] - '0';
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) return std::nullopt;
  switch (descr[1]) {
    case 'b':
      return bytes == 1 ? std::optional(DType::bool_()) : std::nullopt;
    case 'i':
      return DType::int_(8 * bytes);
    case 'u':
      return DType::uint_(8 * bytes);
    case 'f':
      return bytes > 1 ? std::optional(DType::float_(8 * bytes)) : std::nullopt;
    default:
      return std::nullopt;
  }
}

std::string descr_of(DType dtype) {
  if (dtype.is_bool()) return "|b1";
  const char kind = dtype.is_float() ? 'f' : dtype.is_int() ? 'i' : dtype.is_uint() ? 'u' : '?';
  if (kind == '?' || dtype.lanes != 1) throw Error("numpy has no type for " + dtype.str());
  return std::string(dtype.bits == 8 ? "|" : "<") + kind + std::to_string(dtype.bits / 8);
}

// The text after `'key': ` in a header, a Python dict with three known keys.
std::string header_value(const std::string& header, const std::string& key, const std::string& where) {
  const size_t at = header.find("'" + key + "':");
  if (at == std::string::npos) refuse(where, "no '" + key + "' in the .npy header: " + header);
  const size_t begin = header.find_first_not_of(' ', at + key.size() + 3);
  return begin == std::string::npos ? "" : header.substr(begin);
}

Shape parse_shape(const std::string& text, const std::string& where) {
  const size_t close = text.find(')');
  if (text.empty() || text[0] != '(' || close == std::string::npos)
    refuse(where, "no shape in the .npy header: " + text);
  Shape shape;
  std::istringstream numbers(text.substr(1, close - 1));
  for (std::string item; std::getline(numbers, item, ',');) {
    if (item.find_first_not_of(' ') == std::string::npos) continue;
    shape.push_back(std::strtoll(item.c_str(), nullptr, 10));
  }
  return shape;
}

NDArray from_fortran(const NDArray& columns) {
  NDArray rows = NDArray::empty(columns.shape(), columns.dtype());
  const size_t width = columns.dtype().bytes();
  const auto& shape = columns.shape();
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t to = 0; to < rows.size(); ++to) {
    int64_t from = 0;
    for (size_t axis = shape.size(); axis-- > 0;) from = from * shape[axis] + index[axis];
    std::memcpy(static_cast<char*>(rows.data()) + to * width,
                static_cast<const char*>(columns.data()) + from * width, width);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
  return rows;
}

NDArray parse_npy(const std::string& bytes, const std::string& where) {
  if (bytes.size() < 10 || bytes.compare(0, kMagicBytes, kMagic, kMagicBytes) != 0)
    refuse(where, "is not a .npy file");
  const bool wide = bytes[6] >= 2;  // version 1 has two bytes of header length, later ones four
  const size_t start = wide ? 12 : 10;
  if (bytes.size() < start) refuse(where, "is truncated");
  uint32_t length = 0;
  std::memcpy(&length, bytes.data() + 8, wide ? 4 : 2);
  if (length > bytes.size() - start)
    refuse(where, "is truncated: the header says " + std::to_string(length) + " bytes");
  const std::string header = bytes.substr(start, length);
  const std::string quoted = header_value(header, "descr", where);
  const std::string descr = quoted.size() > 1 ? quoted.substr(1, quoted.find('\'', 1) - 1) : "";
  const auto dtype = dtype_of(descr);
  if (!dtype) refuse(where, "holds elements of type '" + descr + "'; use little-endian numbers or booleans");
  const Shape shape = parse_shape(header_value(header, "shape", where), where);
  const auto size = byte_count(shape, *dtype);
  if (!size || static_cast<uint64_t>(*size) != bytes.size() - start - length)
    refuse(where, "has " + std::to_string(bytes.size() - start - length) + " bytes of data, " +
                      describe(shape, *dtype) + " needs " +
                      (size ? std::to_string(*size) : "more than fits"));
  NDArray array = NDArray::from_bytes(shape, *dtype, bytes.data() + start + length);
  if (!array) refuse(where, "does not fit into memory");
  return header_value(header, "fortran_order", where).rfind("True", 0) == 0 ? from_fortran(array) : array;
}

std::string npy_header(const NDArray& array) {
  std::string shape;
  for (int64_t extent : array.shape()) shape += std::to_string(extent) + (array.ndim() == 1 ? "," : ", ");
  if (array.ndim() > 1) shape.resize(shape.size() - 2);
  std::string text =
      "{'descr': '" + descr_of(array.dtype()) + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  text.append(63 - (10 + text.size()) % 64, ' ');
  text += '\n';
  const uint16_t length = static_cast<uint16_t>(text.size());
  return std::string(kMagic, kMagicBytes) + '\x01' + '\0' +
         std::string(reinterpret_cast<const char*>(&length), 2) + text;
}

// Checked before writing: a rename would replace a device or a pipe by a file.
void check_target(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    refuse(path, "is there and is no regular file");
}

void replace_file(const std::string& temporary, const std::string& path) {
  std::error_code error;
  std::filesystem::rename(temporary, path, error);
  if (error) refuse(path, "cannot be written: " + error.message());
}

struct ZipCloser {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using Zip = std::unique_ptr<zip_t, ZipCloser>;

Zip open_zip(const std::string& path, int flags) {
  int code = 0;
  Zip archive(zip_open(path.c_str(), flags, &code));
  if (archive) return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  refuse(path, "cannot be opened as .npz: " + text);
}

// The uncompressed content of one entry. The archive's stated sizes are not trusted: allocates at most what
// the compressed bytes can hold.
std::string read_entry(zip_t* archive, const zip_stat_t& entry, const std::string& path) {
  constexpr zip_uint64_t kMostDeflated = 1032;  // deflate's highest ratio
  const std::string where = path + ": " + entry.name;
  if (entry.comp_method != ZIP_CM_STORE && entry.comp_method != ZIP_CM_DEFLATE)
    refuse(where, "is compressed in a way that numpy does not write (method " +
                      std::to_string(entry.comp_method) + ")");
  std::error_code unknown;
  const uint64_t there = std::filesystem::file_size(path, unknown);
  if (entry.comp_size > there || entry.size / kMostDeflated > entry.comp_size ||
      (entry.comp_method == ZIP_CM_STORE && entry.size != entry.comp_size))
    refuse(where, "is damaged: " + std::to_string(entry.size) + " bytes cannot come from " +
                      std::to_string(entry.comp_size) + " in a file of " + std::to_string(there));
  zip_file_t* file = zip_fopen_index(archive, entry.index, 0);
  if (!file) refuse(where, zip_strerror(archive));
  std::string bytes(entry.size, '\0');
  const zip_int64_t read = zip_fread(file, bytes.data(), bytes.size());
  // libzip compares the checksum when it reaches the end of the entry.
  char beyond = 0;
  const bool ended = read == static_cast<zip_int64_t>(bytes.size()) && zip_fread(file, &beyond, 1) == 0;
  const std::string why = zip_error_strerror(zip_file_get_error(file));
  zip_fclose(file);
  if (!ended) refuse(where, "is damaged: " + why);
  return bytes;
}

}  // namespace

NDArray read_npy(const std::string& path) {
  const Result<std::string> bytes = read_file(path);
  if (!bytes.ok()) refuse(path, "cannot be read: " + bytes.status().message);
  return parse_npy(*bytes, path);
}

NamedArrays read_npz(const std::string& path) {
  const Zip archive = open_zip(path, ZIP_RDONLY | ZIP_CHECKCONS);
  NamedArrays arrays;
  for (zip_int64_t i = 0, count = zip_get_num_entries(archive.get(), 0); i < count; ++i) {
    zip_stat_t entry;
    zip_stat_index(archive.get(), i, 0, &entry);
    std::string name = entry.name;
    const std::string bytes = read_entry(archive.get(), entry, path);
    NDArray array = parse_npy(bytes, path + ": " + name);
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    arrays.emplace_back(std::move(name), std::move(array));
  }
  return arrays;
}

void write_npy(const std::string& path, const NDArray& array) {
  check_target(path);
  const std::string temporary = path + ".part";
  {
    std::ofstream file(temporary, std::ios::binary);
    const std::string header = npy_header(array);
    file.write(header.data(), static_cast<std::streamsize>(header.size()));
    file.write(static_cast<const char*>(array.data()), static_cast<std::streamsize>(array.bytes()));
    file.close();
    if (!file) {
      const std::string why = std::strerror(errno);
      std::remove(temporary.c_str());
      refuse(path, "cannot be written: " + why);
    }
  }
  replace_file(temporary, path);
}

void write_npz(const std::string& path, const NamedArrays& arrays) {
  check_target(path);
  const std::string temporary = path + ".part";
  if (arrays.empty()) {  // libzip writes no file then
    std::ofstream(temporary, std::ios::binary) << "PK\x05\x06" + std::string(18, '\0');
    replace_file(temporary, path);
    return;
  }
  Zip archive = open_zip(temporary, ZIP_CREATE | ZIP_TRUNCATE);
  std::vector<std::string> contents;  // libzip reads them at close
  contents.reserve(arrays.size());
  for (const auto& [name, array] : arrays) {
    contents.push_back(npy_header(array) +
                       std::string(static_cast<const char*>(array.data()), array.bytes()));
    zip_source_t* source =
        zip_source_buffer(archive.get(), contents.back().data(), contents.back().size(), 0);
    const zip_int64_t index = zip_file_add(archive.get(), (name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) refuse(path, zip_strerror(archive.get()));
    zip_set_file_compression(archive.get(), static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
  }
  if (zip_close(archive.get()) != 0) {
    const std::string why = zip_strerror(archive.get());
    archive.reset();
    std::remove(temporary.c_str());
    refuse(path, "cannot be written: " + why);
  }
  static_cast<void>(archive.release());
  replace_file(temporary, path);
}

}  // namespace baton
