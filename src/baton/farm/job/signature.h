#pragma once
// Ed25519 signatures by OpenSSL's libcrypto, which is loaded when a signature is made or verified: whoever
// uses neither needs no such library.
#include <string>
#include <string_view>
#include <vector>

namespace baton {

/// Keys and signatures are hexadecimal: 64 digits of a key, 128 of a signature.
struct KeyPair {
  std::string secret, key;
};

/// These functions throw Error without libcrypto 3 on this machine, and for malformed keys.
KeyPair make_key_pair();
std::string public_key_of(const std::string& secret);
std::string sign(std::string_view message, const std::string& secret);
bool is_signed_by(std::string_view message, const std::string& key, const std::string& signature);

/// Writes the secret key to `path`, readable by its owner alone, and the public one to `path`.pub. Throws
/// Error when one of them exists.
void write_key_pair(const std::string& path, const KeyPair& pair);
std::string read_secret_key(const std::string& path);
/// The public keys of a file: one per line, `#` begins a comment. Throws Error when there is none in it.
std::vector<std::string> read_public_keys(const std::string& path);

}  // namespace baton
