#include "baton/codegen/kernel/kernel_cache.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "baton/codegen/kernel/kernel_key.h"
#include "baton/support/base/checksum.h"
#include "baton/support/base/environment.h"
#include "baton/support/base/files.h"
#include "baton/support/json.h"

namespace baton {
namespace {

namespace fs = std::filesystem;
/// "BATONKE2", the whole key, payload bytes, checksum of the payload.
struct EntryHeader {
  char magic[8];
  KernelKey key;
  uint64_t bytes;
  uint64_t checksum;
};
static_assert(sizeof(EntryHeader) == 40);
constexpr char kMagic[8] = {'B', 'A', 'T', 'O', 'N', 'K', 'E', '2'};

std::string pack(const Kernel& kernel) {
  Json meta;
  meta["template"] = kernel.template_name;
  meta["params"] = kernel.params;
  meta["stages"] = kernel.stages;
  if (!kernel.cases.empty()) {
    meta["cases"] = Json::array();
    for (const ExtentCase& each : kernel.cases)
      meta["cases"].push_back({{"condition", each.condition},
                               {"template", each.template_name},
                               {"params", each.params},
                               {"undefined", each.undefined}});
  }
  meta["skipped"] = kernel.skipped;
  meta["marks"] = Json::array();
  for (const MarkSite& site : kernel.marks) {
    Json holds = Json::array();
    for (const HeldStage& held : site.holds) holds.push_back({{"block", held.block}, {"stage", held.stage}});
    meta["marks"].push_back({{"id", site.id},
                             {"block", site.block},
                             {"stage", site.stage},
                             {"name", site.name},
                             {"holds", std::move(holds)}});
  }
  const std::string text = meta.dump();
  const uint64_t size = text.size();
  std::string bytes(reinterpret_cast<const char*>(&size), sizeof size);
  return bytes + text + kernel.object;
}

std::optional<Kernel> unpack(const KernelKey& key, const std::string& bytes) {
  uint64_t size = 0;
  if (bytes.size() < sizeof size) return std::nullopt;
  std::memcpy(&size, bytes.data(), sizeof size);
  if (size > bytes.size() - sizeof size) return std::nullopt;
  const Json meta = Json::parse_or_discard(std::string_view(bytes).substr(sizeof size, size));
  if (meta.is_discarded()) return std::nullopt;
  try {
    Kernel kernel;
    kernel.key = key;
    kernel.symbol = kernel_symbol(key);
    kernel.template_name = meta.at("template").get<std::string>();
    kernel.params = meta.at("params").get<KernelParams>();
    kernel.stages = meta.at("stages").get<std::vector<std::vector<std::string>>>();
    kernel.skipped = meta.at("skipped").get<std::vector<std::string>>();
    if (meta.contains("cases"))
      for (const Json& each : meta.at("cases"))
        kernel.cases.push_back({each.at("condition").get<std::string>(),
                                each.at("template").get<std::string>(), each.at("params").get<KernelParams>(),
                                each.at("undefined").get<std::vector<int>>()});
    for (const Json& site : meta.at("marks")) {
      kernel.marks.push_back({site.at("id").get<int>(),
                              site.at("block").get<int>(),
                              site.at("stage").get<std::string>(),
                              site.at("name").get<std::string>(),
                              {}});
      for (const Json& held : site.at("holds"))
        kernel.marks.back().holds.push_back(
            {held.at("block").get<int>(), held.at("stage").get<std::string>()});
    }
    kernel.object = bytes.substr(sizeof size + size);
    kernel.from_cache = true;
    return kernel;
  } catch (const JsonError&) {
    return std::nullopt;
  }
}

}  // namespace

std::string KernelCache::default_directory() {
  const std::shared_ptr<const Environment> given = environment();
  if (!given->cache_dir.empty()) return given->cache_dir;
  if (!given->cache_home.empty()) return given->cache_home + "/baton";
  return given->home.empty() ? "" : given->home + "/.cache/baton";
}

int64_t KernelCache::default_limit_bytes() {
  const std::string text = environment()->cache_mb;
  char* end = nullptr;
  const long long megabytes = std::strtoll(text.c_str(), &end, 10);
  const bool usable = !text.empty() && *end == '\0' && megabytes >= 0 && megabytes < (1 << 30);
  return (usable ? megabytes : 1024) << 20;
}

KernelCache& KernelCache::shared() {
  static KernelCache cache(default_directory());
  return cache;
}

KernelCache::KernelCache(std::string directory, int64_t limit_bytes)
    : directory_(std::move(directory)), limit_bytes_(limit_bytes) {}

std::string KernelCache::path(const KernelKey& key, const std::string& kind) const {
  const std::string name = key.hex();
  return directory_ + "/" + name.substr(0, 2) + "/" + name + "." + kind;
}

void KernelCache::warn_once(const std::string& what) {
  if (writable_.exchange(false))
    std::fprintf(stderr,
                 "baton: warning: the kernel cache `%s` cannot be written to (%s): kernels are compiled each "
                 "time; set "
                 "BATON_CACHE_DIR to another folder\n",
                 directory_.c_str(), what.c_str());
}

std::optional<std::string> KernelCache::load_bytes(const KernelKey& key, const std::string& kind) {
  if (directory_.empty()) return std::nullopt;
  const std::string file = path(key, kind);
  Result<std::string> bytes = read_file(file);
  if (!bytes.ok()) return std::nullopt;
  EntryHeader header{};
  if (bytes->size() >= sizeof header) std::memcpy(&header, bytes->data(), sizeof header);
  const bool whole = std::memcmp(header.magic, kMagic, sizeof kMagic) == 0 && header.key == key &&
                     header.bytes == bytes->size() - sizeof header &&
                     header.checksum == checksum64(bytes->data() + sizeof header, header.bytes, key.low);
  if (!whole) {
    unlink(file.c_str());
    return std::nullopt;
  }
  utimensat(AT_FDCWD, file.c_str(), nullptr,
            0);  // marks it as used: trim() removes the oldest; failure is harmless
  bytes->erase(0, sizeof header);
  return std::move(*bytes);
}

void KernelCache::store_bytes(const KernelKey& key, const std::string& kind, const std::string& bytes) {
  if (directory_.empty() || !writable_) return;
  const std::string file = path(key, kind);
  std::error_code failed;
  fs::create_directories(fs::path(file).parent_path(), failed);
  if (failed) return warn_once(failed.message());
  EntryHeader header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.key = key;
  header.bytes = bytes.size();
  header.checksum = checksum64(bytes.data(), bytes.size(), key.low);
  const Status status = replace_file(file, {{reinterpret_cast<const char*>(&header), sizeof header}, bytes});
  if (!status.ok()) return warn_once(status.message);
  stored_ += static_cast<int64_t>(sizeof header + bytes.size());
}

std::optional<Kernel> KernelCache::load(const KernelKey& key) {
  const std::optional<std::string> bytes = load_bytes(key, "kernel");
  if (!bytes) return std::nullopt;
  std::optional<Kernel> kernel = unpack(key, *bytes);
  if (!kernel) unlink(path(key).c_str());
  return kernel;
}

void KernelCache::store(const Kernel& kernel) { store_bytes(kernel.key, "kernel", pack(kernel)); }

/// Processes know nothing of each other: each looks with the probability that its share of a step is.
void KernelCache::trim_if_due() {
  const int64_t stored = stored_.exchange(0), step = std::max<int64_t>(limit_bytes_ / 64, 1);
  thread_local std::minstd_rand random{std::random_device()()};
  if (stored >= std::uniform_int_distribution<int64_t>(1, step)(random)) trim();
}

void KernelCache::trim() {
  if (directory_.empty()) return;
  struct Entry {
    fs::file_time_type used;
    int64_t bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  int64_t total = 0;
  std::error_code ignored;
  for (fs::recursive_directory_iterator at(directory_, ignored), end; !ignored && at != end;
       at.increment(ignored)) {
    std::error_code gone;  // other processes may trim concurrently
    // Entries lie in folders of two digits: the store of measurements and predictors beside these are no
    // cache.
    if (at.depth() == 0 && at->path().filename().string().size() != 2) at.disable_recursion_pending();
    const bool entry = at.depth() == 1 && at->is_regular_file(gone);
    if (gone || !entry) continue;
    const auto bytes = static_cast<int64_t>(at->file_size(gone));
    const auto used = at->last_write_time(gone);
    if (gone) continue;
    entries.push_back({used, bytes, at->path()});
    total += bytes;
  }
  if (total <= limit_bytes_) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total <= limit_bytes_ / 4 * 3) break;
    std::error_code gone;
    fs::remove(entry.path, gone);
    total -= entry.bytes;
  }
}

}  // namespace baton
