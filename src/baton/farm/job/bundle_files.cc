#include "baton/farm/job/bundle_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "baton/farm/job/sha256.h"
#include "baton/farm/job/signature.h"
#include "baton/support/error.h"
#include "baton/support/json.h"

namespace baton {
namespace {

constexpr int64_t kLargestManifest = 16 << 20;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  operator int() const { return number_; }

 private:
  int number_;
};

std::string system_reason() { return std::strerror(errno); }

/// The whole of a regular file of the folder. Symbolic links are not followed.
std::string read_plain(int folder, const std::string& name, int64_t most) {
  // Non-blocking: opening a pipe would wait for its other end.
  const Descriptor file(::openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file < 0)
    throw Error("its file " + name + (errno == ELOOP ? " is a symbolic link" : ": " + system_reason()));
  struct stat about;
  if (fstat(file, &about) != 0) throw Error("its file " + name + ": " + system_reason());
  if (!S_ISREG(about.st_mode)) throw Error("its file " + name + " is not a plain file");
  if (about.st_size > most)
    throw Error("its file " + name + " has " + std::to_string(about.st_size) + " bytes, more than the " +
                std::to_string(most) + " it may have");
  std::string bytes(static_cast<size_t>(about.st_size), '\0');
  size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t got = ::read(file, bytes.data() + at, bytes.size() - at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error("its file " + name + ": " + system_reason());
    if (got == 0) break;
    at += static_cast<size_t>(got);
  }
  bytes.resize(at);
  return bytes;
}

std::vector<std::string> names_in(int folder) {
  const int again = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const listing = again >= 0 ? fdopendir(again) : nullptr;
  if (!listing) throw Error("its folder cannot be listed: " + system_reason());
  std::vector<std::string> names;
  while (const dirent* entry = readdir(listing)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  closedir(listing);
  std::sort(names.begin(), names.end());
  return names;
}

std::string check_signature(int folder, std::string_view manifest,
                            const std::vector<std::string>& trusted_keys) {
  if (faccessat(folder, kSignatureFile, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
    throw Error("it is not signed, and only signed bundles are run here (--trusted-keys)");
  const Json json = Json::parse_or_discard(read_plain(folder, kSignatureFile, 4096));
  std::string key, signature;
  if (json.is_object()) {
    if (json.contains("key") && json["key"].is_string()) key = json["key"].get<std::string>();
    if (json.contains("signature") && json["signature"].is_string())
      signature = json["signature"].get<std::string>();
  }
  if (std::ranges::find(trusted_keys, key) == trusted_keys.end())
    throw Error("it is signed by the key " + (key.empty() ? "(none)" : key.substr(0, 64)) +
                ", which is not among the trusted keys");
  if (!is_signed_by(manifest, key, signature))
    throw Error("its signature does not fit its manifest: it was changed after it was signed");
  return key;
}

BundleFiles read(const std::string& path, const std::vector<std::string>& trusted_keys) {
  const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder < 0) throw Error("its folder cannot be opened: " + system_reason());
  const std::string text = read_plain(folder, kManifestFile, kLargestManifest);
  BundleFiles bundle;
  if (!trusted_keys.empty()) bundle.signed_by = check_signature(folder, text, trusted_keys);
  bundle.manifest = BundleManifest::parse(text);
  bundle.digest = sha256_hex(text);
  for (const std::string& name : names_in(folder))
    if (name != kManifestFile && name != kSignatureFile && !bundle.manifest.files.contains(name))
      throw Error("it has a file " + name + " that its manifest does not name");
  for (const auto& [name, file] : bundle.manifest.files) {
    std::string bytes = read_plain(folder, name, file.bytes);
    if (static_cast<int64_t>(bytes.size()) != file.bytes)
      throw Error("its file " + name + " has " + std::to_string(bytes.size()) + " bytes, its manifest says " +
                  std::to_string(file.bytes) + ": copy the bundle again");
    if (sha256_hex(bytes) != file.sha256)
      throw Error("its file " + name + " is not the one of its manifest (SHA-256): copy the bundle again");
    bundle.bytes[name] = std::move(bytes);
  }
  return bundle;
}

}  // namespace

BundleFiles read_bundle(const std::string& folder, const std::vector<std::string>& trusted_keys) {
  try {
    return read(folder, trusted_keys);
  } catch (const Error& error) {
    throw Error("the bundle `" + folder + "` is refused: " + error.what());
  }
}

std::string signature_text(std::string_view manifest, const std::string& secret) {
  return Json{{"algorithm", "ed25519"}, {"key", public_key_of(secret)}, {"signature", sign(manifest, secret)}}
             .dump() +
         "\n";
}

}  // namespace baton
