// Files that the safetensors format forbids, each refused with the file, what is wrong, and where; files that do not
// fit into memory; and what save() does to what stands in its place.
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "catch.h"
#include "sinter/sinter.h"
#include "unit/runtime_support.h"

using namespace sinter;
namespace fs = std::filesystem;

namespace {

/// A folder of this test, gone with it.
struct Folder {
  explicit Folder(const char* name) : path(fs::temp_directory_path() / fmt::format("{}.{}", name, getpid())) {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  fs::path operator/(const char* name) const { return path / name; }
  auto files() const { return std::distance(fs::directory_iterator(path), {}); }
  fs::path path;
};

std::string size_bytes(uint64_t size) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(size >> (8 * i)));
  return bytes;
}
/// A file of that header and so many bytes of numbers.
std::string file_of(const std::string& header, size_t numbers) {
  return size_bytes(header.size()) + header + std::string(numbers, '\1');
}
void write(const fs::path& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

/// What loading says; empty if it is loaded.
std::string refusal(const fs::path& path) {
  try {
    nn::load_file(path);
    return "";
  } catch (const UsageError& e) { return e.what(); }
}

struct Malformed {
  const char* what;
  std::string header;
  size_t numbers;                  ///< bytes behind it
  std::vector<std::string> words;  ///< of the error
};

/// An entry of 8 bytes from `begin` on.
std::string entry(const std::string& name, int begin) {
  return fmt::format(R"("{}":{{"dtype":"F32","shape":[2],"data_offsets":[{},{}]}})", name, begin, begin + 8);
}
/// A file of one entry "w", whose numbers are 8 bytes.
std::string lone(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return fmt::format(R"({{"w":{{"dtype":{},"shape":{},"data_offsets":{}}}}})", dtype, shape, offsets);
}

const std::string kDeep(100000, '[');

const Malformed kMalformed[] = {
    {"a name twice", "{" + entry("a", 0) + "," + entry("a", 8) + "}", 16, {"\"a\"", "twice", "[0, 8)", "[8, 16)"}},
    {"a name twice, other names between",
     "{" + entry("a", 0) + "," + entry("b", 8) + "," + entry("a", 16) + "}",
     24,
     {"\"a\"", "[0, 8)", "[16, 24)"}},
    {"a name twice, once escaped", "{" + entry("a", 0) + "," + entry("\\u0061", 8) + "}", 16, {"\"a\"", "twice"}},
    {"a dtype twice",
     R"({"w":{"dtype":"F32","dtype":"I32","shape":[2],"data_offsets":[0,8]}})",
     8,
     {"\"w\"", "\"dtype\" twice"}},
    {"a shape twice",
     R"({"w":{"dtype":"F32","shape":[2],"shape":[1,2],"data_offsets":[0,8]}})",
     8,
     {"\"w\"", "\"shape\" twice"}},
    {"offsets twice",
     R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"data_offsets":[0,8]}})",
     8,
     {"\"w\"", "\"data_offsets\" twice"}},
    {"metadata twice", R"({"__metadata__":{},"__metadata__":{},)" + entry("a", 0) + "}", 8, {"__metadata__", "twice"}},
    {"a word of metadata twice", R"({"__metadata__":{"k":"1","k":"2"},)" + entry("a", 0) + "}", 8, {"\"k\" twice"}},
    {"metadata that is a number", R"({"__metadata__":5})", 0, {"__metadata__", "5"}},
    {"metadata of numbers", R"({"__metadata__":{"k":5}})", 0, {"__metadata__", "5"}},
    {"metadata of objects", R"({"__metadata__":{"k":{}}})", 0, {"__metadata__", "an object"}},
    {"ranges that overlap",
     "{" + entry("a", 0) + "," + entry("b", 4) + "}",
     12,
     {"\"b\"", "[4, 12)", "\"a\"", "[0, 8)"}},
    {"equal ranges", "{" + entry("a", 0) + "," + entry("b", 0) + "}", 8, {"\"b\"", "overlap [0, 8) of \"a\""}},
    {"an empty tensor inside another one",
     "{" + entry("a", 0) + R"(,"e":{"dtype":"F32","shape":[0],"data_offsets":[4,4]}})",
     8,
     {"\"e\"", "[4, 4)", "\"a\"", "[0, 8)"}},
    {"a gap",
     "{" + entry("a", 0) + "," + entry("b", 12) + "}",
     20,
     {"[8, 12)", "\"a\"", "[0, 8)", "\"b\"", "[12, 20)"}},
    {"a gap at the beginning", "{" + entry("a", 4) + "}", 12, {"[0, 4)", "\"a\"", "[4, 12)"}},
    {"bytes behind the last", "{" + entry("a", 0) + "}", 9, {"[8, 9)", "\"a\"", "[0, 8)"}},
    {"bytes and no tensor", "{}", 4, {"[0, 4)"}},
    {"an empty tensor behind the end",
     R"({"e":{"dtype":"F32","shape":[0],"data_offsets":[4,4]}})",
     0,
     {"\"e\"", "[4, 4)"}},
    {"offsets beyond the file", "{" + entry("a", 0) + "}", 7, {"\"a\"", "[0, 8)", "7 follow"}},
    {"offsets out of order", lone("\"F32\"", "[2]", "[8,0]"), 8, {"\"w\"", "[8, 0)"}},
    {"a negative offset", lone("\"F32\"", "[2]", "[-8,0]"), 8, {"\"w\"", "-8", "data_offsets"}},
    {"an offset with a fraction", lone("\"F32\"", "[2]", "[0,8.0]"), 8, {"\"w\"", "8.0"}},
    {"an offset that is text", lone("\"F32\"", "[2]", "[0,\"8\"]"), 8, {"\"w\"", "\"8\""}},
    {"an offset beyond 64 bits",
     lone("\"F32\"", "[2]", "[0,18446744073709551624]"),
     8,
     {"\"w\"", "18446744073709551624"}},
    {"the largest offsets",
     lone("\"F32\"", "[2]", "[18446744073709551608,18446744073709551615]"),
     8,
     {"\"w\"", "18446744073709551608"}},
    {"three offsets", lone("\"F32\"", "[2]", "[0,4,8]"), 8, {"\"w\"", "3 data_offsets"}},
    {"no offsets", lone("\"F32\"", "[2]", "[]"), 8, {"\"w\"", "0 data_offsets"}},
    {"a list of lists", lone("\"F32\"", "[[2]]", "[0,8]"), 8, {"\"w\"", "a list", "shape"}},
    {"a shape that is a number", lone("\"F32\"", "2", "[0,8]"), 8, {"shape of \"w\"", "2"}},
    {"a shape that is null", lone("\"F32\"", "null", "[0,8]"), 8, {"shape of \"w\"", "null"}},
    {"a negative size", lone("\"F32\"", "[-2]", "[0,8]"), 8, {"\"w\"", "-2", "shape"}},
    {"a size that is true", lone("\"F32\"", "[true]", "[0,4]"), 4, {"\"w\"", "true", "shape"}},
    {"a size with an exponent", lone("\"F32\"", "[2e0]", "[0,8]"), 8, {"\"w\"", "2e0", "shape"}},
    {"a shape of another number of bytes",
     lone("\"F32\"", "[3]", "[0,8]"),
     8,
     {"\"w\"", "float32 [3]", "12 bytes", "[0, 8)"}},
    {"a dtype of another number of bytes", lone("\"F64\"", "[2]", "[0,8]"), 8, {"\"w\"", "16 bytes"}},
    {"elements beyond 64 bits",
     lone("\"F32\"", "[4294967296,4294967296]", "[0,0]"),
     0,
     {"\"w\"", "[4294967296, 4294967296]", "2^56"}},
    {"bytes beyond 64 bits", lone("\"F32\"", "[4611686018427387904]", "[0,0]"), 0, {"\"w\"", "2^56"}},
    {"a size beyond int64", lone("\"F32\"", "[9223372036854775808]", "[0,0]"), 0, {"\"w\"", "2^56"}},
    {"sizes that only an empty axis makes few",
     lone("\"F32\"", "[0,144115188075855872]", "[0,0]"),
     0,
     {"\"w\"", "2^56"}},
    {"a dtype that the format does not have", lone("\"F31\"", "[2]", "[0,8]"), 8, {"\"w\"", "\"F31\"", "BF16"}},
    {"a dtype in small letters", lone("\"f32\"", "[2]", "[0,8]"), 8, {"\"w\"", "\"f32\""}},
    {"a dtype that is a number", lone("5", "[2]", "[0,8]"), 8, {"dtype of \"w\"", "5"}},
    {"a dtype that is a list", lone("[\"F32\"]", "[2]", "[0,8]"), 8, {"dtype of \"w\"", "a list"}},
    {"no dtype", R"({"w":{"shape":[2],"data_offsets":[0,8]}})", 8, {"\"w\"", "lacks dtype"}},
    {"no shape", R"({"w":{"dtype":"F32","data_offsets":[0,8]}})", 8, {"\"w\"", "lacks shape"}},
    {"no offsets at all", R"({"w":{"dtype":"F32","shape":[2]}})", 8, {"\"w\"", "lacks data_offsets"}},
    {"an entry that is a list", R"({"w":[]})", 0, {"\"w\"", "a list"}},
    {"an entry that is text", R"({"w":"F32"})", 0, {"\"w\"", "\"F32\""}},
    {"no header", "", 0, {"does not begin with {"}},
    {"spaces first", " {}", 0, {"does not begin with {"}},
    {"a byte order mark first", "\xef\xbb\xbf{}", 0, {"does not begin with {"}},
    {"a list", "[]", 0, {"does not begin with {"}},
    {"no JSON", "{w}", 0, {"no JSON"}},
    {"JSON that ends early", R"({"w":)", 0, {"no JSON"}},
    {"two objects", "{}{}", 0, {"no JSON"}},
    {"a zero byte behind it", std::string("{}\0", 3), 0, {"no JSON"}},
    {"a comment", "{/**/}", 0, {"no JSON"}},
    {"a comma too many", "{" + entry("a", 0) + ",}", 8, {"no JSON"}},
    {"a name that is no UTF-8", "{" + entry("\xff", 0) + "}", 8, {"UTF-8"}},
    {"half of a surrogate", "{" + entry("\\ud800", 0) + "}", 8, {"no JSON"}},
    {"a number that no machine has", lone("\"F32\"", "[1e999]", "[0,8]"), 8, {"no JSON"}},
    {"deep lists", R"({"w":{"shape":)" + kDeep, 0, {"\"w\""}},
};

}  // namespace

TEST_CASE("safetensors files that the format forbids are refused, with file, name and ranges", "[error]") {
  const Folder folder("sinter_malformed");
  const fs::path path = folder / "x.safetensors";
  for (const Malformed& m : kMalformed) {
    write(path, file_of(m.header, m.numbers));
    const std::string said = refusal(path);
    INFO(m.what << ": " << said);
    CHECK(said.find(path.string()) != said.npos);
    for (const std::string& word : m.words) {
      INFO(word);
      CHECK(said.find(word) != said.npos);
    }
  }
  for (uint64_t size :
       {uint64_t{3}, uint64_t{100} << 20, (uint64_t{100} << 20) + 1, std::numeric_limits<uint64_t>::max()}) {
    write(path, size_bytes(size) + "{}");  // shorter than it says
    CHECK(refusal(path).find(fmt::format("header has {} bytes; 2 follow", size)) != std::string::npos);
  }
  write(path, file_of("{}", 0));
  fs::resize_file(path, uint64_t{200} << 20);
  std::fstream(path, std::ios::binary | std::ios::in | std::ios::out) << size_bytes((uint64_t{100} << 20) + 1);
  CHECK(refusal(path).find("at most 104857600 are allowed") != std::string::npos);
}

TEST_CASE("safetensors files that the format allows are read", "[nn]") {
  const Folder folder("sinter_wellformed");
  const fs::path path = folder / "x.safetensors";
  const std::string empty = R"("e":{"dtype":"F32","shape":[0,3],"data_offsets":[8,8]})";
  const struct {
    std::string header;
    size_t numbers, tensors;
  } files[] = {
      {"{}", 0, 0},
      {"{}      ", 0, 0},
      {"{" + entry("b", 8) + "," + entry("a", 0) + "}", 16, 2},  // in any order
      {"{" + entry("a", 0) + "," + empty + "," + entry("b", 8) + "}", 16, 3},
      {R"({"__metadata__":{"format":"pt","dtype":"F32"},)" + entry("a", 0) + "}", 8, 1},
      {R"({"w":{"later":{"x":[1,{}]},"dtype":"U8","shape":[],"data_offsets":[0,1]}})", 1, 1},
      {"{" + entry("\\u00e4\\n", 0) + "}", 8, 1},
  };
  for (const auto& f : files) {
    INFO(f.header);
    write(path, file_of(f.header, f.numbers));
    CHECK(nn::load_file(path).size() == f.tensors);
  }
  write(path, file_of(lone("\"BOOL\"", "[2]", "[0,2]"), 0) + std::string("\0\5", 2));
  CHECK(nn::load_file(path)[0].second.to_vector<bool>() == std::vector<bool>{false, true});
}

TEST_CASE("a safetensors file larger than memory is OutOfMemory, and one that fits is held once", "[error]") {
  const Folder folder("sinter_large");
  const fs::path path = folder / "x.safetensors";
  constexpr uint64_t kTera = uint64_t{1} << 40, kHeld = 96 << 20;
  const auto sparse = [&](uint64_t bytes) {
    const std::string whole = file_of(lone("\"U8\"", fmt::format("[{}]", bytes), fmt::format("[0,{}]", bytes)), 0);
    write(path, whole);
    fs::resize_file(path, whole.size() + bytes);
  };
  const runtime_test::ScopedEnv limit("SINTER_MEMORY_LIMIT", "128M");
  sparse(kTera);
  CHECK_THROWS_AS(nn::load_file(path), OutOfMemory);
  sparse(kHeld);
  std::ofstream("/proc/self/clear_refs") << 5 << std::flush;  // forgets the peak
  const auto peak = [] {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
    return 0ull;
  };
  const auto before = peak();
  CHECK(nn::load_file(path)[0].second.numel() == static_cast<int64_t>(kHeld));
  CHECK(peak() - before < kHeld + kHeld / 4);
}

TEST_CASE("save writes what a symbolic link points to, keeps modes, and refuses what is no regular file", "[error]") {
  const Folder folder("sinter_save_places");
  const nn::NamedTensors state{{"x", ones({2})}};
  const auto holds = [](const fs::path& path) { return nn::load_file(path)[0].second.to_vector<float>().size() == 2; };
  const auto mode = [](const fs::path& path) {
    struct stat info{};
    stat(path.c_str(), &info);
    return info.st_mode & 07777;
  };

  fs::create_directory(folder / "real");
  write(folder / "real" / "file", "old");
  fs::create_symlink("real/file", folder / "link");
  fs::create_symlink("link", folder / "second");
  fs::create_symlink("real/new", folder / "dangling");
  fs::create_directory_symlink("real", folder / "folder");
  for (const fs::path& place : {folder / "link", folder / "second", folder / "dangling", folder / "folder" / "file"}) {
    INFO(place);
    write(folder / "real" / "file", "old");
    nn::save(state, place);
    CHECK(holds(place));
  }
  for (const char* link : {"link", "second", "dangling", "folder"}) CHECK(fs::is_symlink(folder / link));
  CHECK(holds(folder / "real" / "file"));
  CHECK(holds(folder / "real" / "new"));
  fs::create_symlink("b", folder / "a");
  fs::create_symlink("a", folder / "b");
  fs::create_symlink("nowhere/file", folder / "lost");
  CHECK_THROWS_AS(nn::save(state, folder / "a"), BackendError);
  CHECK_THROWS_AS(nn::save(state, folder / "lost"), BackendError);

  for (mode_t wanted : {0600, 0640, 0664, 0755}) {
    chmod((folder / "real" / "file").c_str(), wanted);
    nn::save(state, folder / "link");
    CHECK(mode(folder / "real" / "file") == wanted);
  }
  const mode_t mask = umask(027);
  nn::save(state, folder / "fresh");
  umask(mask);
  CHECK(mode(folder / "fresh") == 0640);

  mkfifo((folder / "pipe").c_str(), 0600);
  CHECK_THROWS_AS(nn::save(state, folder / "pipe"), BackendError);
  CHECK_THROWS_WITH(nn::save(state, folder / "pipe"), Catch::Contains("no regular file"));
  CHECK(fs::is_fifo(folder / "pipe"));
  CHECK_THROWS_WITH(nn::load_file(folder / "pipe"), Catch::Contains("no regular file"));
  CHECK_THROWS_AS(nn::save(state, "/dev/null"), BackendError);
  CHECK(fs::is_character_file("/dev/null"));
  CHECK_THROWS_AS(nn::save(state, folder / "real"), BackendError);
  CHECK_THROWS_AS(nn::save(state, folder / "missing" / "file"), BackendError);
  CHECK_THROWS_AS(nn::save(state, folder / "missing/"), BackendError);
  CHECK_THROWS_AS(nn::save(state, folder / "fresh" / "file"), BackendError);  // a folder that is a file
  CHECK_THROWS_AS(nn::save(state, ""), BackendError);
  const std::string longest(255, 'n');
  nn::save(state, folder / longest.c_str());
  CHECK(holds(folder / longest.c_str()));
  CHECK_THROWS_AS(nn::save(state, folder / (longest + "n").c_str()), BackendError);
  CHECK(folder.files() == 11);  // what was made above, and nothing aside
  CHECK(std::distance(fs::directory_iterator(folder / "real"), {}) == 2);
}
