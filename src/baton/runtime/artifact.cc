#include "baton/runtime/artifact.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "baton/runtime/thread_pool.h"
#include "baton/support/base/checksum.h"
#include "baton/support/base/files.h"

namespace baton {
namespace {

// As in PNG: line ends and the end-of-file character detect a transfer in text mode.
constexpr char kMagic[8] = {'B', 'A', 'T', 'O', 'N', '\r', '\n', '\x1a'};
constexpr size_t kSectionAlignment = 4096;
constexpr size_t kTensorAlignment = 64;
constexpr size_t kMaxSections = 4096;

struct FileHeader {
  char magic[8];
  uint32_t version;
  uint32_t sections;
  uint64_t file_bytes;
  uint64_t table_checksum;
};
static_assert(sizeof(FileHeader) == 32);

struct TableRow {
  char name[32];
  uint64_t offset;
  uint64_t bytes;
  uint64_t checksum;
  uint64_t zero;
};
static_assert(sizeof(TableRow) == 64);

/// A row of kParamsIndex, one per constant, followed by its shape (int64 each) and its name, zero-padded to 8
/// bytes.
struct IndexRow {
  uint64_t offset;  // in section kParams
  uint64_t bytes;
  uint32_t name_bytes;
  uint32_t dimensions;
  uint8_t type_code;
  uint8_t type_bits;
  uint16_t type_lanes;
  uint32_t zero;
};
static_assert(sizeof(IndexRow) == 32);

/// At the start of a section kPlugin, before the blob.
struct PluginHeader {
  uint32_t abi;
  uint32_t zero;
  uint64_t bytes;
  char plugin[48];  // zeros: the plug-in has the backend's name. The blob is aligned to a cache line.
};
static_assert(sizeof(PluginHeader) == 64);

size_t round_up(size_t value, size_t to) { return (value + to - 1) / to * to; }

template <typename T>
void put(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string system_error(const std::string& what) { return what + ": " + std::strerror(errno); }

Status pad_to(TemporaryFile& file, size_t position) {
  static constexpr char kZeros[kSectionAlignment] = {};
  return file.append(kZeros, position - file.position());
}

/// The offsets of the constants in their section, and the index section.
struct ParamsLayout {
  std::vector<size_t> offsets;
  size_t bytes = 0;
  std::string index;
};

ParamsLayout lay_out(const NamedArrays& params) {
  ParamsLayout layout;
  put(layout.index, static_cast<uint64_t>(params.size()));
  for (const auto& [name, array] : params) {
    const size_t alignment = array.bytes() >= kSectionAlignment ? kSectionAlignment : kTensorAlignment;
    const size_t offset = round_up(layout.bytes, alignment);
    layout.offsets.push_back(offset);
    layout.bytes = offset + array.bytes();
    const DType type = array.dtype();
    put(layout.index, IndexRow{offset, array.bytes(), static_cast<uint32_t>(name.size()),
                               static_cast<uint32_t>(array.ndim()), static_cast<uint8_t>(type.code),
                               type.bits, type.lanes, 0});
    for (const int64_t extent : array.shape()) put(layout.index, extent);
    layout.index += name;
    layout.index.resize(round_up(layout.index.size(), 8));
  }
  // Kernels may read one vector past the end of a tensor.
  layout.bytes = round_up(layout.bytes, kTensorAlignment) + kTensorAlignment;
  return layout;
}

Status write_params(TemporaryFile& file, const NamedArrays& params, const ParamsLayout& layout) {
  const size_t start = file.position();
  for (size_t i = 0; i < params.size(); ++i) {
    // Less than a page at a time: no tensor has a larger alignment.
    if (Status status = pad_to(file, start + layout.offsets[i]); !status.ok()) return status;
    if (Status status = file.append(params[i].second.data(), params[i].second.bytes()); !status.ok())
      return status;
  }
  return pad_to(file, start + layout.bytes);
}

/// Part of a tensor, with its own checksum.
struct Piece {
  const uint8_t* data;
  size_t bytes;
  uint64_t checksum;
};
constexpr size_t kPieceBytes = 1 << 20;

int sum_piece(void*, int index, uint8_t* pieces) {
  Piece& piece = reinterpret_cast<Piece*>(pieces)[index];
  piece.checksum = checksum64(piece.data, piece.bytes);
  return 0;
}

/// The checksum of section kParams: a checksum of the checksums of its tensors' pieces, so that neither side
/// needs the section in one piece, and large constants are read by several threads. Padding between tensors
/// is not covered: no result depends on it.
uint64_t params_checksum(const NamedArrays& params) {
  std::vector<Piece> pieces;
  size_t total = 0;
  for (const auto& [name, array] : params) {
    const auto* data = static_cast<const uint8_t*>(array.data());
    for (size_t at = 0; at == 0 || at < array.bytes(); at += kPieceBytes)
      pieces.push_back({data + at, std::min(kPieceBytes, array.bytes() - at), 0});
    total += array.bytes();
  }
  auto* const first = reinterpret_cast<uint8_t*>(pieces.data());
  const int count = static_cast<int>(pieces.size());
  constexpr size_t kWorthThreads = 8 * kPieceBytes;
  if (total >= kWorthThreads)
    parallel_for(sum_piece, nullptr, 0, count, first);
  else
    for (int i = 0; i < count; ++i) sum_piece(nullptr, i, first);
  std::vector<uint64_t> sums;
  for (const Piece& piece : pieces) sums.push_back(piece.checksum);
  return checksum64(sums.data(), sums.size() * sizeof(uint64_t));
}

struct Mapping {
  void* data;
  size_t bytes;
};

}  // namespace

void ArtifactWriter::add(std::string name, std::string content) {
  sections_.push_back({std::move(name), std::move(content)});
}

void ArtifactWriter::set_params(NamedArrays params) { params_ = std::move(params); }

void ArtifactWriter::add_plugin(const std::string& backend, uint32_t abi, std::string_view blob,
                                const std::string& plugin) {
  std::string content;
  PluginHeader header{abi, 0, blob.size(), {}};
  if (plugin != backend)
    std::memcpy(header.plugin, plugin.data(), std::min(plugin.size(), sizeof header.plugin - 1));
  put(content, header);
  content += blob;
  add(section::kPlugin + backend, std::move(content));
}

Status ArtifactWriter::write(const std::string& path) const {
  const ParamsLayout layout = lay_out(params_);
  std::vector<TableRow> table;
  size_t end = sizeof(FileHeader) + (sections_.size() + 2) * sizeof(TableRow);
  const auto place = [&](const std::string& name, size_t bytes, uint64_t checksum) {
    TableRow row{};
    std::memcpy(row.name, name.data(), std::min(name.size(), sizeof row.name - 1));
    row.offset = round_up(end, kSectionAlignment);
    row.bytes = bytes;
    row.checksum = checksum;
    end = row.offset + bytes;
    table.push_back(row);
  };
  for (const Section& section : sections_) {
    if (section.name.empty() || section.name.size() >= sizeof(TableRow::name)) {
      return Status::invalid("a section of an artifact cannot be called `" + section.name + "`");
    }
    place(section.name, section.content.size(), checksum64(section.content.data(), section.content.size()));
  }
  place(section::kParamsIndex, layout.index.size(), checksum64(layout.index.data(), layout.index.size()));
  place(section::kParams, layout.bytes,
        params_checksum(params_));  // last: its size is known before it is written

  FileHeader header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kArtifactVersion;
  header.sections = static_cast<uint32_t>(table.size());
  header.file_bytes = end;
  header.table_checksum = checksum64(table.data(), table.size() * sizeof(TableRow));

  TemporaryFile file;
  Status status = file.create(path);
  if (status.ok()) status = file.append(&header, sizeof header);
  if (status.ok()) status = file.append(table.data(), table.size() * sizeof(TableRow));
  for (size_t i = 0; i < table.size() && status.ok(); ++i) {
    status = pad_to(file, table[i].offset);
    if (!status.ok()) break;
    if (i < sections_.size()) {
      status = file.append(sections_[i].content.data(), sections_[i].content.size());
    } else if (i == sections_.size()) {
      status = file.append(layout.index.data(), layout.index.size());
    } else {
      status = write_params(file, params_, layout);
    }
  }
  return status.ok() ? file.keep() : status;
}

Result<std::shared_ptr<const Artifact>> Artifact::open(const std::string& path, bool verify) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return Status::io(system_error("cannot open the artifact `" + path + "`"));
  struct stat about;
  if (fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) {
    ::close(descriptor);
    return Status::io("cannot open the artifact `" + path + "`: it is not a file");
  }
  const size_t bytes = static_cast<size_t>(about.st_size);
  // A private writable mapping: writing to a constant copies its page instead of faulting.
  void* data = bytes ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor, 0) : nullptr;
  ::close(descriptor);
  if (data == MAP_FAILED) return Status::io(system_error("cannot map the artifact `" + path + "`"));
  std::shared_ptr<void> owner(new Mapping{data, bytes}, [](Mapping* mapping) {
    if (mapping->data) munmap(mapping->data, mapping->bytes);
    delete mapping;
  });
  return read({static_cast<const uint8_t*>(data), bytes}, "`" + path + "`", std::move(owner), verify);
}

Result<std::shared_ptr<const Artifact>> Artifact::from_memory(std::span<const uint8_t> bytes, bool verify) {
  return read(bytes, "(in memory)", nullptr, verify);
}

Result<std::shared_ptr<const Artifact>> Artifact::read(std::span<const uint8_t> file,
                                                       const std::string& shown, std::shared_ptr<void> owner,
                                                       bool verify) {
  const std::shared_ptr<Artifact> artifact(new Artifact);
  artifact->shown_ = shown;
  artifact->owner_ = owner;
  Status status = artifact->read_sections(file);
  if (status.ok()) status = artifact->read_params(owner);
  if (status.ok() && verify) status = artifact->check_params();
  if (!status.ok()) return status;
  return std::shared_ptr<const Artifact>(artifact);
}

Status Artifact::read_sections(std::span<const uint8_t> file) {
  const std::string again = "; build it again with `baton build`";
  FileHeader header{};
  if (!file.empty()) std::memcpy(&header, file.data(), std::min(file.size(), sizeof header));
  if (file.size() < sizeof kMagic || std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) {
    const bool text_mode = file.size() >= 5 && std::memcmp(header.magic, kMagic, 5) == 0;
    return Status::bad_data(shown_ +
                            (text_mode ? " was damaged when it was copied (as text, or not to its end)"
                                       : " is not an artifact of Baton") +
                            " (" + std::to_string(file.size()) + " bytes)" + again);
  }
  const auto truncated = [&] {
    return Status::bad_data(shown_ + " is not complete: it has " + std::to_string(file.size()) +
                            " bytes of " +
                            (file.size() < sizeof header ? "its header" : std::to_string(header.file_bytes)) +
                            "; copy it again, or build it again with `baton build`");
  };
  if (file.size() < sizeof header) return truncated();
  if (header.version != kArtifactVersion) {
    const bool newer = header.version > kArtifactVersion;
    return Status::bad_data(shown_ + " has format " + std::to_string(header.version) +
                            ", this Baton reads format " + std::to_string(kArtifactVersion) +
                            (newer ? ": update Baton, or build the model again with this one" : again));
  }
  if (file.size() < header.file_bytes) return truncated();
  const Status damaged = Status::bad_data(shown_ + " is damaged" + again);
  if (file.size() > header.file_bytes || header.sections > kMaxSections ||
      sizeof header + header.sections * sizeof(TableRow) > file.size()) {
    return damaged;
  }
  const std::span table = file.subspan(sizeof header, header.sections * sizeof(TableRow));
  if (checksum64(table.data(), table.size()) != header.table_checksum) return damaged;
  for (size_t i = 0; i < header.sections; ++i) {
    TableRow row;
    std::memcpy(&row, table.data() + i * sizeof row, sizeof row);
    if (row.offset % kSectionAlignment != 0 || row.offset > file.size() ||
        row.bytes > file.size() - row.offset || row.name[sizeof row.name - 1] != 0) {
      return damaged;
    }
    sections_.push_back({row.name, file.subspan(row.offset, row.bytes), row.checksum});
    const Section& section = sections_.back();
    if (section.name == section::kParams) continue;
    if (checksum64(section.bytes.data(), section.bytes.size()) != row.checksum) {
      return Status::bad_data(shown_ + " is damaged in its section " + section.name + again);
    }
  }
  return Status::success();
}

Status Artifact::read_params(const std::shared_ptr<void>& owner) {
  std::span<const uint8_t> index = bytes(section::kParamsIndex);
  const std::span<const uint8_t> data = bytes(section::kParams);
  if (index.empty()) return Status::success();
  const Status damaged = Status::bad_data(
      shown_ + " is damaged in the index of its constants; build it again with `baton build`");
  const auto take = [&index](void* to, size_t count) {
    if (index.size() < count) return false;
    if (count) std::memcpy(to, index.data(), count);
    index = index.subspan(count);
    return true;
  };
  uint64_t count = 0;
  if (!take(&count, sizeof count) || count > index.size() / sizeof(IndexRow)) return damaged;
  params_.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    IndexRow row;
    if (!take(&row, sizeof row) || row.dimensions > 64 || row.dimensions > index.size() / 8) return damaged;
    Shape shape(row.dimensions);
    if (!take(shape.data(), shape.size() * sizeof(int64_t)) || row.name_bytes > index.size()) return damaged;
    std::string name(reinterpret_cast<const char*>(index.data()), row.name_bytes);
    index = index.subspan(std::min(index.size(), round_up(row.name_bytes, 8)));
    const DType type{static_cast<DType::Code>(row.type_code), row.type_bits, row.type_lanes};
    const std::optional<int64_t> bytes = byte_count(shape, type);
    if (row.type_code > static_cast<uint8_t>(DType::Code::kBFloat) || !bytes ||
        static_cast<uint64_t>(*bytes) != row.bytes || row.offset % kTensorAlignment != 0 ||
        row.offset > data.size() || row.bytes > data.size() - row.offset) {
      return damaged;
    }
    // The mapping is read-only; constants are never written.
    void* at = const_cast<uint8_t*>(data.data() + row.offset);
    auto* hold = new std::shared_ptr<void>(owner);
    params_.emplace_back(std::move(name),
                         NDArray::view(
                             at, std::move(shape), type,
                             [](void* held) { delete static_cast<std::shared_ptr<void>*>(held); }, hold));
  }
  return Status::success();
}

const Artifact::Section* Artifact::find(std::string_view name) const {
  const auto found =
      std::find_if(sections_.begin(), sections_.end(), [name](const Section& s) { return s.name == name; });
  return found == sections_.end() ? nullptr : &*found;
}

std::span<const uint8_t> Artifact::bytes(std::string_view name) const {
  const Section* section = find(name);
  return section ? section->bytes : std::span<const uint8_t>();
}

std::string_view Artifact::text(std::string_view name) const {
  const std::span<const uint8_t> content = bytes(name);
  return {reinterpret_cast<const char*>(content.data()), content.size()};
}

bool Artifact::has(std::string_view name) const { return find(name) != nullptr; }

std::vector<std::string> Artifact::names() const {
  std::vector<std::string> names;
  for (const Section& section : sections_) names.push_back(section.name);
  return names;
}

Result<std::vector<PluginCode>> Artifact::plugins() const {
  std::vector<PluginCode> plugins;
  const std::string_view prefix = section::kPlugin;
  for (const Section& section : sections_) {
    if (!section.name.starts_with(prefix)) continue;
    PluginHeader header{};
    if (section.bytes.size() >= sizeof header) std::memcpy(&header, section.bytes.data(), sizeof header);
    if (section.bytes.size() < sizeof header || header.bytes != section.bytes.size() - sizeof header)
      return Status::bad_data(shown_ + " is damaged in its section " + section.name +
                              "; build it again with `baton build`");
    header.plugin[sizeof header.plugin - 1] = 0;
    const std::string backend = section.name.substr(prefix.size());
    plugins.push_back({backend, header.plugin[0] ? header.plugin : backend, header.abi,
                       section.bytes.subspan(sizeof header)});
  }
  return plugins;
}

Status Artifact::check_params() const {
  const Section* section = find(section::kParams);
  if (!section || params_checksum(params_) == section->checksum) return Status::success();
  return Status::bad_data(shown_ + " is damaged in its constants; build it again with `baton build`");
}

}  // namespace baton
