// Bundles: what a baton-runner measures on a machine without the compiler.
#include "baton/farm/bundle.h"

#include "baton/cli/common.h"
#include "baton/farm/job/bundle_files.h"
#include "baton/farm/job/signature.h"
#include "baton/support/json.h"

namespace baton::cli {

namespace {

class BundleVerb final : public Verb {
 public:
  using Verb::Verb;

  void flags(Flags& flags) override {
    flags.positional("ACTION", &action_, "make, sign, verify or keygen")
        .choices({"make", "sign", "verify", "keygen"});
    flags_.add(flags);
    flags_.add_target(flags);
    flags_.add_choices(flags);
    flags.at("MODEL").doc =
        "make: workload name or .relay file; sign, verify: a bundle; keygen: the secret key's file";
    flags.option("o,output", &output_, "make: the bundle's folder");
    flags.option("key", &key_, "make, sign: the secret key's file (`bundle keygen FILE`)");
    flags.option("trusted-keys", &trusted_keys_,
                 "verify: a file of public keys, of which one must have signed");
    add_threads(flags, &threads_);
    flags.flag("json", &json_, "one JSON object on standard output");
  }

  int run(Io& io) override {
    if (action_ == "make") return make(io);
    if (action_ == "sign") return sign_it(io);
    if (action_ == "keygen") return keygen(io);
    return verify(io);
  }

 private:
  int make(Io& io) {
    if (output_.empty()) throw UsageError("bundle make: name the folder with --output");
    BundleOptions options{flags_.model, std::max(1, threads_)};
    if (!key_.empty()) options.secret_key = read_secret_key(key_);
    const BuildResult built = build_model(flags_, io).build;
    write_bundle(built, output_, options);
    return show(io, output_, read_bundle(output_, {}));
  }

  int sign_it(Io& io) {
    if (key_.empty()) throw UsageError("bundle sign: name the secret key's file with --key");
    const std::string secret = read_secret_key(key_);
    sign_bundle(flags_.model, secret);
    const BundleFiles bundle = read_bundle(flags_.model, {public_key_of(secret)});
    return show(io, flags_.model, bundle);
  }

  int keygen(Io& io) {
    const KeyPair pair = make_key_pair();
    write_key_pair(flags_.model, pair);
    if (json_)
      io.out << Json{{"schema", 1}, {"secret", flags_.model}, {"public", pair.key}}.dump() << '\n';
    else
      io.out << flags_.model << ": the secret key, for --key\n"
             << flags_.model << ".pub: " << pair.key << ", for --trusted-keys\n";
    return 0;
  }

  int verify(Io& io) {
    const std::vector<std::string> keys =
        trusted_keys_.empty() ? std::vector<std::string>() : read_public_keys(trusted_keys_);
    const BundleFiles bundle = read_bundle(flags_.model, keys);
    return show(io, flags_.model, bundle);
  }

  int show(Io& io, const std::string& folder, const BundleFiles& bundle) const {
    const BundleManifest& manifest = bundle.manifest;
    if (json_) {
      Json json = {{"schema", 1},
                   {"bundle", folder},
                   {"digest", bundle.digest},
                   {"model", manifest.model},
                   {"target", manifest.target},
                   {"code_target", manifest.code_target},
                   {"plugins", manifest.plugins},
                   {"threads", manifest.threads}};
      if (!bundle.signed_by.empty()) json["signed_by"] = bundle.signed_by;
      io.out << json.dump() << '\n';
      return 0;
    }
    io.out << folder << ": " << manifest.model << " for " << manifest.target << " (" << manifest.code_target
           << "), " << manifest.files.size() << " files as in its manifest " << bundle.digest.substr(0, 16)
           << (bundle.signed_by.empty() ? "" : ", signed by " + bundle.signed_by.substr(0, 16)) << '\n';
    return 0;
  }

  ModelFlags flags_;
  std::string action_, output_, key_, trusted_keys_;
  int threads_ = 0;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> bundle_verb(std::string name, std::string doc) {
  return std::make_unique<BundleVerb>(std::move(name), std::move(doc));
}

}  // namespace baton::cli
