#pragma once
// Reads a bundle from an untrusted source: nothing of it is used before all of it is verified.
#include <string>
#include <vector>

#include "baton/farm/job/manifest.h"

namespace baton {

/// A verified bundle, in memory: what was verified is what is used, whatever becomes of the files.
struct BundleFiles {
  BundleManifest manifest;
  std::string digest;  ///< SHA-256 of the manifest, so of everything: the bundle's name in caches
  std::map<std::string, std::string> bytes;  ///< by file
  std::string signed_by;                     ///< public key; empty: not signed, or no key was asked for
};

/// Throws Error with the folder and what is wrong: a file that is missing, changed, a symbolic link, or not
/// in the manifest. `trusted_keys`: not empty: one of them must have signed the manifest.
BundleFiles read_bundle(const std::string& folder, const std::vector<std::string>& trusted_keys);

/// The text of manifest.sig.
std::string signature_text(std::string_view manifest, const std::string& secret);

}  // namespace baton
