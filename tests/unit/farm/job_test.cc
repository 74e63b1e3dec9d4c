// What crosses from process to process: jobs, results, greetings; digests and signatures.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "baton/farm/job/job_json.h"
#include "baton/farm/job/machine_lock.h"
#include "baton/farm/job/sha256.h"
#include "baton/farm/job/signature.h"
#include "baton/support/base/files.h"
#include "baton/support/error.h"

namespace baton {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(FarmJob, IsReadAsItWasWritten) {
  Job job{"a/b", "/tmp/x y\".bundle", 2, {}, "node7"};
  job.protocol.caches = {CacheState::kHot, CacheState::kFlushed};
  job.protocol.nodes = true;
  job.protocol.cv = 0.015625;
  EXPECT_EQ(read_job(job_line(job)), job);
  EXPECT_EQ(job_line(job).find('\n'), std::string::npos);
}

TEST(FarmJob, RefusesWhatIsNone) {
  EXPECT_THAT([] { read_job("{"); }, ThrowsMessage<Error>(HasSubstr("not a job")));
  EXPECT_THAT([] { read_job(R"({"id":"a"})"); }, ThrowsMessage<Error>(HasSubstr("bundle")));
  EXPECT_THAT([] { read_job(R"({"id":"a","bundle":"b","protocol":{"caches":["warm"]}})"); },
              ThrowsMessage<Error>(HasSubstr("cache state \"warm\"")));
  EXPECT_THROW(read_job(R"({"id":"a","bundle":"b","threads":0})"), Error);
}

TEST(FarmResult, IsReadAsItWasWritten) {
  JobResult result{"k", "", true, false, "waited 2 s", {}, "m", {}};
  result.device.name = "AMD \xff";  // not all texts of systems are UTF-8
  result.rows.push_back(
      {"node", CacheState::kInModel, {1.5, 2.25, 3}, {1}, true, false, 7, 0.5, 0.25, 1712.5});
  const JobResult read = read_result(result_line(result));
  EXPECT_EQ(read.rows, result.rows);
  EXPECT_EQ(read.note, result.note);
  EXPECT_EQ(read.machine, "m");
  EXPECT_TRUE(read.retry);
  EXPECT_FALSE(read.refused);
}

TEST(FarmResult, RefusesWhatCannotBe) {
  const auto row = [](const char* samples, const char* disturbed) {
    return std::string(R"({"id":"a","rows":[{"node":"","cache":"hot","samples_us":)") + samples +
           R"(,"disturbed":)" + disturbed + "}]}";
  };
  EXPECT_NO_THROW(read_result(row("[1]", "[0]")));
  EXPECT_THAT([&] { read_result(row("[1]", "[1]")); }, ThrowsMessage<Error>(HasSubstr("disturbed sample")));
  EXPECT_THAT([&] { read_result(row("[-1]", "[]")); }, ThrowsMessage<Error>(HasSubstr("no time")));
  EXPECT_THAT([&] { read_result(row("[1]", "[],\"core_ns\":-1")); },
              ThrowsMessage<Error>(HasSubstr("reading of the core")));
  EXPECT_THAT([] { read_result(R"({"id":"a","rows":[]})"); },
              ThrowsMessage<Error>(HasSubstr("neither rows")));
}

TEST(FarmGreeting, OfAnotherVersionIsRefused) {
  const WorkerMachine machine{"m", DeviceSheet::host(), {"dnnl"}};
  std::string line = greeting_line(machine);
  EXPECT_EQ(read_greeting(line).sheet, machine.sheet);
  EXPECT_EQ(read_greeting(line).plugins, machine.plugins);
  line.replace(line.find(":1,"), 3, ":2,");
  EXPECT_THAT([&] { read_greeting(line); }, ThrowsMessage<Error>(HasSubstr("install the same version")));
}

TEST(Sha256, IsThatOfTheStandard) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/// RFC 8032, section 7.1, tests 1 and 2.
TEST(Signature, IsThatOfTheStandard) {
  const std::string secret = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
                    key = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
  EXPECT_EQ(public_key_of(secret), key);
  const std::string signature = sign("", secret);
  EXPECT_EQ(signature,
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
            "d25bf5f0595bbe24655141438e7a100b");
  EXPECT_TRUE(is_signed_by("", key, signature));
  EXPECT_FALSE(is_signed_by("x", key, signature));
  EXPECT_FALSE(is_signed_by("", key, "00" + signature.substr(2)));
  EXPECT_FALSE(is_signed_by("", key, "short"));
  EXPECT_THROW(is_signed_by("", "short", signature), Error);
  EXPECT_FALSE(is_signed_by("", make_key_pair().key, signature));
}

TEST(Signature, KeysAreFiles) {
  TemporaryFolder folder;
  ASSERT_TRUE(folder.create("keys").ok());
  const KeyPair pair = make_key_pair();
  const std::string path = folder.path("key");
  write_key_pair(path, pair);
  EXPECT_EQ(read_secret_key(path), pair.secret);
  EXPECT_THAT(read_public_keys(path + ".pub"), ::testing::ElementsAre(pair.key));
  struct stat about;
  ASSERT_EQ(stat(path.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  EXPECT_THAT([&] { write_key_pair(path, pair); }, ThrowsMessage<Error>(HasSubstr("exists")));
  EXPECT_THAT([&] { read_secret_key(path + ".pub"); }, ThrowsMessage<Error>(HasSubstr("no secret key")));
  ASSERT_TRUE(folder.write("none", "# nobody\n\n").ok());
  EXPECT_THAT([&] { read_public_keys(folder.path("none")); }, ThrowsMessage<Error>(HasSubstr("no key in")));
}

TEST(MachineLock, IsNotFollowedThroughALink) {
  TemporaryFolder folder;
  ASSERT_TRUE(folder.create("lock").ok());
  {
    const MachineLock lock(folder.path("lock"));
  }
  {
    const MachineLock again(folder.path("lock"));
  }
  ASSERT_EQ(symlink(folder.path("lock").c_str(), folder.path("link").c_str()), 0);
  EXPECT_THAT([&] { const MachineLock lock(folder.path("link")); },
              ThrowsMessage<Error>(HasSubstr("BATON_MACHINE_LOCK")));
}

}  // namespace
}  // namespace baton
