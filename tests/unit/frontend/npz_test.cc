#include "baton/frontend/npz.h"

#include <cstring>
#include <fstream>

#include <gmock/gmock.h>
#include <zip.h>

#include "baton/support/error.h"

#include "codegen/kernels.h"

namespace baton {
namespace {

using testing::HasSubstr;

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// A .npy file of version 1 with this header text and data.
std::string npy(std::string header, const std::string& data) {
  header.resize((10 + header.size() + 63) / 64 * 64 - 10, ' ');
  const auto length = static_cast<uint16_t>(header.size());
  return std::string("\x93NUMPY\x01\0", 8) + std::string(reinterpret_cast<const char*>(&length), 2) + header +
         data;
}

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

class Npz : public testing::Test {
 protected:
  std::string path(const char* name) const { return folder_.path() + "/" + name; }
  std::string error_for(const std::string& bytes) const {
    write_file(path("x.npy"), bytes);
    return error_of([&] { read_npy(path("x.npy")); });
  }
  test::Folder folder_;
};

TEST_F(Npz, RoundTripOfEveryType) {
  NamedArrays arrays;
  for (const DType dtype : {DType::bool_(), DType::int_(8), DType::int_(16), DType::int_(32), DType::int_(64),
                            DType::uint_(8), DType::uint_(16), DType::uint_(32), DType::uint_(64),
                            DType::float_(16), DType::float_(32), DType::float_(64)})
    arrays.emplace_back(dtype.str(), NDArray::zeros({2, 3}, dtype));
  arrays.emplace_back("scalar", NDArray::zeros({}, DType::float_(32)));
  arrays.emplace_back("empty", NDArray::zeros({0, 4}, DType::float_(32)));
  write_npz(path("a.npz"), arrays);
  const NamedArrays again = read_npz(path("a.npz"));
  ASSERT_EQ(again.size(), arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) {
    EXPECT_EQ(again[i].first, arrays[i].first);
    EXPECT_TRUE(again[i].second.equal_bytes(arrays[i].second)) << arrays[i].first;
  }
  EXPECT_FALSE(std::ifstream(path("a.npz.part")));
}

// It was an error: libzip makes no file of an archive without entries.
TEST_F(Npz, NoArrays) {
  write_npz(path("none.npz"), {});
  EXPECT_TRUE(read_npz(path("none.npz")).empty());
}

TEST_F(Npz, ColumnsBecomeRows) {
  const float columns[] = {0, 3, 1, 4, 2, 5};
  write_file(path("f.npy"), npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n",
                                std::string(reinterpret_cast<const char*>(columns), sizeof columns)));
  EXPECT_THAT(read_npy(path("f.npy")).as<float>(), testing::ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(Npz, EveryTruncationIsSeen) {
  write_npy(path("a.npy"), NDArray::zeros({3}, DType::float_(32)));
  const std::string whole = read_file(path("a.npy"));
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_NE(error_for(whole.substr(0, length)), "no error") << length;
  EXPECT_THAT(error_for(whole + "x"), HasSubstr("13 bytes of data"));
  write_npz(path("b.npz"), {{"x", NDArray::zeros({3}, DType::float_(32))}});
  const std::string zip = read_file(path("b.npz"));
  for (size_t length = 0; length < zip.size(); ++length) {
    write_file(path("c.npz"), zip.substr(0, length));
    EXPECT_NE(error_of([&] { read_npz(path("c.npz")); }), "no error") << length;
  }
}

TEST_F(Npz, SaysWhatItSaw) {
  EXPECT_THAT(error_of([&] { read_npy(path("none.npy")); }), HasSubstr("No such file"));
  EXPECT_THAT(error_of([&] { read_npz(path("none.npz")); }), HasSubstr("cannot be opened as .npz"));
  EXPECT_THAT(error_for("hello"), HasSubstr("is not a .npy file"));
  for (const char* type : {">f4", "|O", "<U3", "<f1", "<i3", "<f99999999999"})
    EXPECT_THAT(
        error_for(
            npy(std::string("{'descr': '") + type + "', 'fortran_order': False, 'shape': (1,), }\n", "abcd")),
        HasSubstr("elements of type '" + std::string(type) + "'"));
  EXPECT_THAT(
      error_for(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }\n", "")),
      HasSubstr("more than fits"));
  EXPECT_NE(error_for(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }\n", "")), "no error");
  EXPECT_THAT(error_for(npy("{'fortran_order': False}\n", "")), HasSubstr("no 'descr'"));
}

// Found by the fuzzer: the size that an archive names was allocated before a byte of it was read.
TEST_F(Npz, SizesThatCannotBeAreNotAllocated) {
  write_npz(path("a.npz"), {{"x", NDArray::zeros({3}, DType::float_(32))}});
  std::string zip = read_file(path("a.npz"));
  const size_t directory = zip.find("PK\x01\x02");
  ASSERT_NE(directory, std::string::npos);
  const uint32_t huge = 0xf0000000u;
  std::memcpy(zip.data() + 22, &huge, 4);
  std::memcpy(zip.data() + directory + 24, &huge, 4);
  write_file(path("a.npz"), zip);
  EXPECT_NE(error_of([&] { read_npz(path("a.npz")); }), "no error");
  const uint16_t deflate = ZIP_CM_DEFLATE, other = 12;
  std::memcpy(zip.data() + 8, &deflate, 2);
  std::memcpy(zip.data() + directory + 10, &deflate, 2);
  write_file(path("a.npz"), zip);
  EXPECT_THAT(error_of([&] { read_npz(path("a.npz")); }), HasSubstr("cannot come from"));
  std::string both = zip;  // the compressed size lies too
  std::memcpy(both.data() + 18, &huge, 4);
  std::memcpy(both.data() + directory + 20, &huge, 4);
  write_file(path("a.npz"), both);
  EXPECT_THAT(error_of([&] { read_npz(path("a.npz")); }), HasSubstr("cannot be opened as .npz"));
  std::memcpy(zip.data() + 8, &other, 2);
  std::memcpy(zip.data() + directory + 10, &other, 2);
  write_file(path("a.npz"), zip);
  EXPECT_THAT(error_of([&] { read_npz(path("a.npz")); }), HasSubstr("method 12"));
}

TEST_F(Npz, AFailedWriteLeavesNothing) {
  const std::string there = folder_.path() + "/none/a.npy";
  EXPECT_THROW(write_npy(there, NDArray::zeros({3}, DType::float_(32))), Error);
  EXPECT_THROW(write_npz(there, {{"x", NDArray::zeros({3}, DType::float_(32))}}), Error);
  // A directory, a device: nothing is put in its place.
  EXPECT_THAT(error_of([&] { write_npy(folder_.path(), NDArray::zeros({3}, DType::float_(32))); }),
              HasSubstr("no regular file"));
  EXPECT_THAT(error_of([&] { write_npz("/dev/full", {{"x", NDArray::zeros({3}, DType::float_(32))}}); }),
              HasSubstr("no regular file"));
}

}  // namespace
}  // namespace baton
