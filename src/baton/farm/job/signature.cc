#include "baton/farm/job/signature.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "baton/support/error.h"

namespace baton {
namespace {

constexpr int kEd25519 = 1087;  // NID_ED25519
constexpr size_t kKeyBytes = 32, kSignatureBytes = 64;
constexpr const char* kSecretPrefix = "baton-secret-key-ed25519 ";

struct Crypto {
#define BATON_CRYPTO(result, name, parameters) result(*name) parameters = nullptr;
#include "baton/farm/job/libcrypto.def"
#undef BATON_CRYPTO
};

const Crypto& crypto() {
  static const Crypto loaded = [] {
    Crypto functions;
    void* const library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!library) return functions;
    bool all = true;
#define BATON_CRYPTO(result, name, parameters)                                    \
  functions.name = reinterpret_cast<result(*) parameters>(dlsym(library, #name)); \
  all = all && functions.name;
#include "baton/farm/job/libcrypto.def"
#undef BATON_CRYPTO
    return all ? functions : Crypto();
  }();
  if (!loaded.EVP_DigestVerify)
    throw Error(
        "signatures need OpenSSL 3, and libcrypto.so.3 cannot be loaded: install the Debian package libssl3");
  return loaded;
}

using Handle = std::unique_ptr<void, void (*)(void*)>;

Handle owned(void* pointer, void (*release)(void*), const char* what) {
  if (!pointer) throw Error(std::string("libcrypto refused ") + what);
  return {pointer, release};
}

int digit(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  return -1;
}

/// Empty when it is anything but `bytes` bytes in hexadecimal digits.
std::string from_hex(std::string_view text, size_t bytes) {
  if (text.size() != 2 * bytes) return {};
  std::string raw;
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = digit(text[i]), low = digit(text[i + 1]);
    if (high < 0 || low < 0) return {};
    raw += static_cast<char>(high << 4 | low);
  }
  return raw;
}

std::string to_hex(std::string_view raw) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : raw) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

Handle secret_handle(const std::string& secret) {
  const std::string raw = from_hex(secret, kKeyBytes);
  if (raw.empty()) throw Error("a secret key has 64 hexadecimal digits, this one has not");
  return owned(crypto().EVP_PKEY_new_raw_private_key(kEd25519, nullptr, bytes_of(raw), raw.size()),
               crypto().EVP_PKEY_free, "the secret key");
}

void write_new_file(const std::string& path, const std::string& text, mode_t mode) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (file < 0) throw Error("cannot write the key `" + path + "`: " + std::strerror(errno));
  const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (::close(file) != 0 || !written)
    throw Error("cannot write the key `" + path + "`: " + std::strerror(errno));
}

}  // namespace

KeyPair make_key_pair() {
  std::string raw(kKeyBytes, '\0');
  if (getrandom(raw.data(), raw.size(), 0) != static_cast<ssize_t>(raw.size()))
    throw Error("the system has no random numbers for a key");
  KeyPair pair{to_hex(raw), {}};
  pair.key = public_key_of(pair.secret);
  return pair;
}

std::string public_key_of(const std::string& secret) {
  const Handle handle = secret_handle(secret);
  std::string raw(kKeyBytes, '\0');
  size_t bytes = raw.size();
  if (crypto().EVP_PKEY_get_raw_public_key(handle.get(), bytes_of(raw), &bytes) != 1 || bytes != kKeyBytes)
    throw Error("libcrypto has no public key for the secret one");
  return to_hex(raw);
}

std::string sign(std::string_view message, const std::string& secret) {
  const Handle handle = secret_handle(secret);
  const Handle context = owned(crypto().EVP_MD_CTX_new(), crypto().EVP_MD_CTX_free, "a context");
  std::string signature(kSignatureBytes, '\0');
  size_t bytes = signature.size();
  if (crypto().EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, handle.get()) != 1 ||
      crypto().EVP_DigestSign(context.get(), bytes_of(signature), &bytes, bytes_of(message),
                              message.size()) != 1 ||
      bytes != kSignatureBytes)
    throw Error("libcrypto could not sign");
  return to_hex(signature);
}

bool is_signed_by(std::string_view message, const std::string& key, const std::string& signature) {
  const std::string raw = from_hex(signature, kSignatureBytes), raw_key = from_hex(key, kKeyBytes);
  if (raw_key.empty())
    throw Error("a public key has 64 hexadecimal digits, `" + key.substr(0, 70) + "` has not");
  if (raw.empty()) return false;
  const Handle handle = owned(crypto().EVP_PKEY_new_raw_public_key(
                                  kEd25519, nullptr, bytes_of(std::string_view(raw_key)), raw_key.size()),
                              crypto().EVP_PKEY_free, "the public key");
  const Handle context = owned(crypto().EVP_MD_CTX_new(), crypto().EVP_MD_CTX_free, "a context");
  return crypto().EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, handle.get()) == 1 &&
         crypto().EVP_DigestVerify(context.get(), bytes_of(std::string_view(raw)), raw.size(),
                                   bytes_of(message), message.size()) == 1;
}

void write_key_pair(const std::string& path, const KeyPair& pair) {
  write_new_file(path, kSecretPrefix + pair.secret + "\n", 0600);
  write_new_file(path + ".pub", pair.key + "\n", 0644);
}

std::string read_secret_key(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) throw Error("cannot read the secret key `" + path + "`");
  const std::string secret = line.starts_with(kSecretPrefix) ? line.substr(std::strlen(kSecretPrefix)) : "";
  if (from_hex(secret, kKeyBytes).empty())
    throw Error("`" + path + "` is no secret key of `baton bundle keygen`");
  return secret;
}

std::vector<std::string> read_public_keys(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error("cannot read the trusted keys `" + path + "`");
  std::vector<std::string> keys;
  for (std::string line; std::getline(file, line);) {
    line = line.substr(0, line.find('#'));
    const size_t first = line.find_first_not_of(" \t\r"), last = line.find_last_not_of(" \t\r");
    if (first == std::string::npos) continue;
    keys.push_back(line.substr(first, last - first + 1));
    if (from_hex(keys.back(), kKeyBytes).empty())
      throw Error("`" + path + "`: a public key has 64 hexadecimal digits, `" + keys.back().substr(0, 70) +
                  "` has not");
  }
  if (keys.empty()) throw Error("there is no key in `" + path + "`, so that no bundle could be trusted");
  return keys;
}

}  // namespace baton
