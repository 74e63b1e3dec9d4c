// A model as one file: plan, kernels, constants and origins. It runs without the compiler and without
// temporary files.
//
// Layout (little endian): a header, a table of sections, then the sections, each at a multiple of 4096 bytes,
// so that constants are used in place from the mapped file.
//   header:  char magic[8] "BATON\r\n\x1a", u32 version, u32 sections, u64 file bytes, u64 checksum of the
//   table section: char name[32], u64 offset, u64 bytes, u64 checksum, u64 zero
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/support/base/params_blob.h"
#include "baton/support/base/status.h"

namespace baton {

inline constexpr uint32_t kArtifactVersion = 2;

/// Section names of a model. An artifact may have others.
namespace section {
inline constexpr const char* kPlan = "graph.json";  ///< with kProgram: its calls, as reports read them
inline constexpr const char* kKernels = "kernels.so";
inline constexpr const char* kProcessor = "processor";       ///< what the kernels need: Halide's target
inline constexpr const char* kParams = "params";             ///< the data of the constants
inline constexpr const char* kParamsIndex = "params.index";  ///< their names, types and offsets
inline constexpr const char* kOrigins = "origins.json";
inline constexpr const char* kMeta = "meta.json";
inline constexpr const char* kProgram = "program";           ///< of the virtual machine: what runs, then
inline constexpr const char* kFunctions = "functions.json";  ///< of a program: its kernels in Relay
inline constexpr const char* kSignature = "signature.json";  ///< of a program: the types of main's parameters
inline constexpr const char* kOperators = "operators.json";  ///< what its compiler evaluates
inline constexpr const char* kPlugin = "plugin/";            ///< followed by a backend's name: its code
}  // namespace section

/// Collects sections and writes them.
class ArtifactWriter {
 public:
  /// Adds a section. The name must be unique and at most 31 bytes long; the content is stored.
  void add(std::string name, std::string content);

  /// Adds a backend's code for its plug-in: section kPlugin + name. `abi`: the BATON_BACKEND_ABI it was
  /// compiled for. `plugin`: the name of the plug-in, at most 47 bytes, where it is not that of the backend.
  void add_plugin(const std::string& backend, uint32_t abi, std::string_view blob,
                  const std::string& plugin = {});

  /// Sets the constants: sections kParams and kParamsIndex. Arrays must be defined; their data is not copied.
  void set_params(NamedArrays params);

  /// Writes the file atomically: under a temporary name beside `path`, renamed when complete. On error an
  /// existing file is unchanged.
  Status write(const std::string& path) const;

 private:
  struct Section {
    std::string name;
    std::string content;
  };
  std::vector<Section> sections_;
  NamedArrays params_;
};

/// The code of one backend in an artifact.
struct PluginCode {
  std::string backend;
  std::string plugin;  ///< the plug-in that loads it
  uint32_t abi;
  std::span<const uint8_t> blob;
};

/// An opened and verified artifact. The file stays mapped while this, or a constant of it, is alive.
class Artifact {
 public:
  /// Verifies the checksums of all sections. `verify`: false leaves out the constants, for which
  /// check_params() can be called later.
  static Result<std::shared_ptr<const Artifact>> open(const std::string& path, bool verify = true);

  /// The same for bytes in memory, which must outlive the result.
  static Result<std::shared_ptr<const Artifact>> from_memory(std::span<const uint8_t> bytes,
                                                             bool verify = true);

  /// The contents of a section; empty when there is none.
  std::span<const uint8_t> bytes(std::string_view name) const;
  std::string_view text(std::string_view name) const;
  bool has(std::string_view name) const;
  std::vector<std::string> names() const;

  /// In the order they were added.
  Result<std::vector<PluginCode>> plugins() const;

  /// The constants, in the order given to the writer: read-only views of the mapped file.
  const NamedArrays& params() const { return params_; }

  /// Verifies the checksum of the constants, in parallel when they are large.
  Status check_params() const;

 private:
  struct Section {
    std::string name;
    std::span<const uint8_t> bytes;
    uint64_t checksum;
  };
  static Result<std::shared_ptr<const Artifact>> read(std::span<const uint8_t> file, const std::string& shown,
                                                      std::shared_ptr<void> owner, bool verify);
  Status read_sections(std::span<const uint8_t> file);
  Status read_params(const std::shared_ptr<void>& owner);
  const Section* find(std::string_view name) const;

  std::vector<Section> sections_;
  NamedArrays params_;
  std::string shown_;
  std::shared_ptr<void> owner_;
};

}  // namespace baton
