#include "baton/runtime/vm/program_blob.h"

#include <cstring>
#include <type_traits>

#include "baton/runtime/vm/check.h"

namespace baton::vm {
namespace {

constexpr uint32_t kVersion = 4;
constexpr uint64_t kMost = uint64_t{1} << 28;  // elements of one list
constexpr int kDeepest = 64;                   // tuples in tuples of a parameter's type

// Each structure is described once, by fields(): the writer and the reader follow it.

class Writer {
 public:
  static constexpr bool kReads = false;
  std::string take() { return std::move(bytes_); }
  bool ok() const { return true; }

  template <class T>
  void plain(T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void count(uint64_t& size) { plain(size); }
  void text(std::string& value) {
    uint64_t size = value.size();
    plain(size);
    bytes_ += value;
  }
  bool enter() { return true; }
  void leave() {}

 private:
  std::string bytes_;
};

class Reader {
 public:
  static constexpr bool kReads = true;
  explicit Reader(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && bytes_.empty(); }

  template <class T>
  void plain(T& value) {
    if (bytes_.size() < sizeof value) {
      ok_ = false;
      value = {};
      return;
    }
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_ = bytes_.subspan(sizeof value);
  }
  /// The length of a list, each element of which takes a byte at least.
  void count(uint64_t& size) {
    plain(size);
    if (size > kMost || size > bytes_.size()) ok_ = false;
    if (!ok_) size = 0;
  }
  void text(std::string& value) {
    uint64_t size = 0;
    count(size);
    value.assign(reinterpret_cast<const char*>(bytes_.data()), size);
    bytes_ = bytes_.subspan(size);
  }
  bool enter() { return ok_ = ok_ && ++depth_ < kDeepest; }
  void leave() { --depth_; }

 private:
  std::span<const uint8_t> bytes_;
  bool ok_ = true;
  int depth_ = 0;
};

template <class Archive, class T>
void each(Archive& archive, T& value);

template <class Archive, class T>
void each(Archive& archive, std::vector<T>& list) {
  uint64_t size = list.size();
  archive.count(size);
  if constexpr (Archive::kReads) list.resize(size);
  for (T& value : list) {
    if (!archive.ok()) return;
    each(archive, value);
  }
}

template <class Archive, class... Ts>
void all(Archive& archive, Ts&... values) {
  (each(archive, values), ...);
}

template <class Archive>
void fields(Archive& archive, DType& type) {
  all(archive, type.code, type.bits, type.lanes);
}
template <class Archive>
void fields(Archive& archive, std::pair<uint32_t, uint32_t>& pair) {
  all(archive, pair.first, pair.second);
}
template <class Archive>
void fields(Archive& archive, ExtentStep& step) {
  all(archive, step.op, step.a, step.b, step.number);
}
template <class Archive>
void fields(Archive& archive, ExtentCheck& check) {
  all(archive, check.a, check.b, check.what);
}
template <class Archive>
void fields(Archive& archive, PieceTensor& tensor) {
  all(archive, tensor.dtype, tensor.extents, tensor.home, tensor.place, tensor.device);
}
template <class Archive>
void fields(Archive& archive, PieceCall& call) {
  all(archive, call.kernel, call.inputs, call.outputs, call.extents, call.undefined, call.node);
}
template <class Archive>
void fields(Archive& archive, Piece& piece) {
  all(archive, piece.steps, piece.checks, piece.tensors, piece.inputs, piece.outputs, piece.input_names,
      piece.calls, piece.slots, piece.most_bytes);
}
template <class Archive>
void fields(Archive& archive, ParameterType& type) {
  if (!archive.enter()) return;
  all(archive, type.kind, type.dtype, type.extents, type.names, type.most, type.fields);
  archive.leave();
}
template <class Archive>
void fields(Archive& archive, CodeLine& line) {
  all(archive, line.word, line.line, line.column, line.what);
}
template <class Archive>
void fields(Archive& archive, FunctionCode& code) {
  all(archive, code.name, code.parameters, code.captured, code.registers, code.parameter_names,
      code.parameter_types, code.result_type, code.code, code.nodes, code.lines, code.line, code.is_global);
}
template <class Archive>
void fields(Archive& archive, KernelName& kernel) {
  all(archive, kernel.name, kernel.backend, kernel.device);
}
template <class Archive>
void fields(Archive& archive, ConstructorEntry& entry) {
  program::ConstructorInfo info;
  if (entry.info) info = *entry.info;
  all(archive, entry.tag, info.name, info.type_name, info.arity);
  if constexpr (Archive::kReads)
    entry.info = std::make_shared<program::ConstructorInfo>(
        program::ConstructorInfo{std::move(info.name), std::move(info.type_name), info.arity});
}
template <class Archive>
void fields(Archive& archive, Program& program) {
  uint32_t version = kVersion;
  each(archive, version);
  uint64_t constants = program.constants.size();
  each(archive, constants);
  if (version != kVersion || constants != program.constants.size()) return;
  all(archive, program.functions, program.pieces, program.kernels, program.operators, program.constructors,
      program.texts, program.devices);
}

template <class Archive, class T>
void each(Archive& archive, T& value) {
  if constexpr (std::is_same_v<T, std::string>)
    archive.text(value);
  else if constexpr (std::is_same_v<T, bool>) {
    uint8_t byte = value;
    archive.plain(byte);
    value = byte != 0;
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
    archive.plain(value);
  else
    fields(archive, value);
}

}  // namespace

std::string program_blob(const Program& program) {
  Writer writer;
  fields(writer, const_cast<Program&>(program));  // a writer changes nothing
  return writer.take();
}

Result<std::shared_ptr<const Program>> read_program(std::span<const uint8_t> bytes, NamedArrays constants) {
  uint32_t version = 0;
  if (bytes.size() >= sizeof version) std::memcpy(&version, bytes.data(), sizeof version);
  if (version != kVersion)
    return Status::bad_data("the program is of version " + std::to_string(version) +
                            "; this runtime reads version " + std::to_string(kVersion) + ": build it again");
  auto program = std::make_shared<Program>();
  program->constants = std::move(constants);
  Reader reader(bytes);
  fields(reader, *program);
  if (!reader.at_end()) return Status::bad_data("the program is damaged: its parts do not fit its length");
  for (const FunctionCode& function : program->functions)
    if (function.parameter_names.size() != function.parameters ||
        function.parameter_types.size() != function.parameters)
      return Status::bad_data("the program is damaged: parameters of " + function.name);
  if (Status status = check(*program); !status.ok()) return status;
  return std::shared_ptr<const Program>(std::move(program));
}

}  // namespace baton::vm
