// Data sets and downloads, without a network: from file:// addresses in a folder of the test.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ranges>
#include <set>
#include <thread>

#include "catch.h"
#include "sinter/data.h"
#include "sinter/sinter.h"
#include "unit/runtime_support.h"

using namespace sinter;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

/// A folder that goes with the test.
struct Folder {
  Folder() : path((fs::temp_directory_path() / "sinter-data-XXXXXX").string()) { REQUIRE(mkdtemp(path.data())); }
  ~Folder() { fs::remove_all(path); }
  fs::path operator/(const char* name) const { return fs::path(path) / name; }
  std::string path;
};

void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string idx(std::vector<uint8_t> sizes, size_t values) {
  std::string text{0, 0, 8, static_cast<char>(sizes.size())};
  for (uint8_t size : sizes) text += {0, 0, 0, static_cast<char>(size)};
  return text + std::string(values, 7);
}
/// Four IDX files of two training images and one test image.
void write_set(const fs::path& folder) {
  fs::create_directories(folder);
  write(folder / "train-images-idx3-ubyte", idx({2, 28, 28}, 2 * 784));
  write(folder / "train-labels-idx1-ubyte", idx({2}, 2));
  write(folder / "t10k-images-idx3-ubyte", idx({1, 28, 28}, 784));
  write(folder / "t10k-labels-idx1-ubyte", idx({1}, 1));
}

/// The labels in the order in which a shuffled pass gives them.
std::vector<int64_t> order_of_a_pass(const data::Dataset& set) {
  std::vector<int64_t> order;
  for (auto [x, y] : set.batches(64, shuffle))
    for (int64_t label : y.to_vector<int64_t>()) order.push_back(label);
  return order;
}

const std::string kText = "twelve bytes";
const std::string kSum = "d4ce2c527afe674c7a086bd74e256019e3d5dcdb31eeb6eaadef5ada8c4383b9";

}  // namespace

TEST_CASE("Fashion-MNIST is read from a folder, SINTER_DATA or the cache folder", "[data]") {
  const Folder folder;
  fs::create_directories(folder / "empty");
  const runtime_test::ScopedEnv data("SINTER_DATA", (folder / "empty").string()),
      cache("XDG_CACHE_HOME", (folder / "cache").string());
  write_set(folder / "cache" / "sinter" / "fashion-mnist");
  data::Mnist set = data::fashion_mnist();
  CHECK(set.origin == (folder / "cache" / "sinter" / "fashion-mnist").string());
  CHECK(set.train.size() == 2);
  CHECK(set.test.size() == 1);
  CHECK_FALSE(set.subset);
  const runtime_test::ScopedEnv wrong("SINTER_DATA", (folder / "missing").string());
  CHECK_THROWS_WITH(data::mnist(), Contains("missing is no folder"));
  CHECK(set.test.batches(INT64_MAX).count() == 1);
  auto batches = set.test.batches(1);
  CHECK((*batches.begin()).x.to_vector<float>()[0] == Approx((7 / 255.0 - 0.2860) / 0.3530));

  const runtime_test::ScopedEnv named("SINTER_DATA", (folder / "data").string());
  write_set(folder / "data" / "fashion-mnist");
  CHECK(data::fashion_mnist().origin == (folder / "data" / "fashion-mnist").string());
  write_set(folder / "own");
  CHECK(data::fashion_mnist(folder / "own").origin == (folder / "own").string());
  CHECK(data::mnist(folder / "own").train.size() == 2);
  fs::remove(folder / "own" / "t10k-labels-idx1-ubyte");
  CHECK_THROWS_WITH(data::fashion_mnist(folder / "own"), Contains("own lacks") && Contains("data_test.cpp"));
}

TEST_CASE("fetch brings a whole file or none", "[data][fetch]") {
  const Folder folder;
  write(folder / "source", kText);
  const data::RemoteFile file{"file://" + (folder / "source").string(), kSum, kText.size()};
  const fs::path target = folder / "new" / "target", part = folder / "new" / "target.part";

  SECTION("it is there, its progress was told, and it is not fetched again") {
    uint64_t last = 0;
    bool ordered = true;
    data::fetch(file, target, [&](const std::string& name, uint64_t done, uint64_t total) {
      ordered = ordered && name == "target" && last <= done && total == kText.size();
      last = done;
    });
    CHECK(ordered);
    CHECK(last == kText.size());
    CHECK(read(target) == kText);
    CHECK_FALSE(fs::exists(part));
    fs::remove(folder / "source");
    data::fetch(file, target);
    CHECK(read(target) == kText);
  }
  SECTION("it goes on with what came before") {
    fs::create_directory(folder / "new");
    write(part, kText.substr(0, 5));
    data::fetch(file, target);
    CHECK(read(target) == kText);
  }
  SECTION("what came before is no part of it") {
    fs::create_directory(folder / "new");
    write(part, GENERATE(as<std::string>(), "wrong", "a wrong one that is longer"));
    data::fetch(file, target);
    CHECK(read(target) == kText);
  }
  SECTION("another file comes") {
    write(folder / "source", "twelve bytez");
    CHECK_THROWS_AS(data::fetch(file, target), BackendError);
    CHECK_THROWS_WITH(data::fetch(file, target), Contains("12 bytes that are not the file") && Contains(kSum));
    CHECK_FALSE(fs::exists(target));
    CHECK_FALSE(fs::exists(part));
  }
  SECTION("a damaged file is replaced") {
    fs::create_directory(folder / "new");
    write(target, "damaged");
    data::fetch(file, target);
    CHECK(read(target) == kText);
  }
  SECTION("there is none") {
    fs::create_directory(folder / "new");
    write(part, kText.substr(0, 5));
    fs::remove(folder / "source");
    CHECK_THROWS_WITH(data::fetch(file, target), Contains("cannot be read (curl's status 37)") && Contains("file://"));
    CHECK_FALSE(fs::exists(target));
    CHECK(read(part) == kText.substr(0, 5));  // the next attempt goes on with it
  }
  SECTION("the sum is none") { CHECK_THROWS_AS(data::fetch({file.url, "abc", 12}, target), UsageError); }
  SECTION("curl is missing") {
    const runtime_test::ScopedEnv path("PATH", folder.path);
    CHECK_THROWS_WITH(data::fetch(file, target), Contains("curl is missing"));
  }
}

TEST_CASE("a download that fails leaves no half of a set", "[data][fetch]") {
  const Folder folder;
  fs::create_directories(folder / "empty");
  const runtime_test::ScopedEnv data("SINTER_DATA", (folder / "empty").string()),
      cache("XDG_CACHE_HOME", (folder / "cache").string());
  const std::string url = "file://" + folder.path + "/mirror";
  CHECK_THROWS_WITH(data::download_mnist({.url = url}), Contains(url + "/train-images-idx3-ubyte.gz"));
  fs::create_directory(folder / "mirror");
  write(folder / "mirror" / "train-images-idx3-ubyte.gz", "not found");  // a mirror's page instead of the file
  CHECK_THROWS_WITH(data::download_mnist({.url = url}), Contains("9 bytes that are not the file"));
  CHECK_THROWS_AS(data::download_fashion_mnist({.folder = folder / "own", .url = url}), BackendError);
  CHECK(data::mnist().subset);
  const runtime_test::ScopedEnv home("HOME", ""), none("XDG_CACHE_HOME", "");
  CHECK_THROWS_WITH(data::download_mnist(), Contains("name a folder"));
}

TEST_CASE("passes begun by several threads have the orders that one thread would give them", "[data]") {
  STATIC_REQUIRE(std::ranges::input_range<data::Dataset::Batches>);
  std::vector<uint8_t> labels(100);
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<uint8_t>(i);
  data::Dataset set(std::vector<uint8_t>(100, 0), labels, 1, 1, 0, 1);
  set.seed(5);
  std::set<std::vector<int64_t>> alone, together;
  for (int i = 0; i < 12; ++i) alone.insert(order_of_a_pass(set));
  CHECK(alone.size() == 12);
  set.seed(5);
  std::vector<std::vector<int64_t>> orders(12);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const data::Dataset copy = set;  // copies share the orders
      for (size_t i = 0; i < 3; ++i) orders[3 * t + i] = order_of_a_pass(copy);
    });
  for (std::thread& t : threads) t.join();
  together.insert(orders.begin(), orders.end());
  CHECK(together == alone);
}
