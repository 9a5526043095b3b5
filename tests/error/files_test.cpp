// Damaged files: IDX, gzip and safetensors. Whatever is cut or changed, the reader says so and loads nothing.
#include <fmt/core.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "catch.h"
#include "sinter/data.h"
#include "sinter/sinter.h"
#include "unit/runtime_support.h"

using namespace sinter;

namespace {

std::vector<uint8_t> idx_bytes() { return {0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6}; }

std::vector<uint8_t> gzip(const std::vector<uint8_t>& raw) {
  z_stream s{};
  deflateInit2(&s, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::vector<uint8_t> out(raw.size() + 100);
  s.next_in = const_cast<Bytef*>(raw.data());
  s.avail_in = static_cast<uInt>(raw.size());
  s.next_out = out.data();
  s.avail_out = static_cast<uInt>(out.size());
  deflate(&s, Z_FINISH);
  out.resize(out.size() - s.avail_out);
  deflateEnd(&s);
  return out;
}

/// A name of this process: test runs beside each other do not meet.
std::filesystem::path temporary(const char* name) {
  return std::filesystem::temp_directory_path() / fmt::format("{}.{}", name, getpid());
}
std::vector<char> read(const std::filesystem::path& p) {
  std::ifstream in(p, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write(const std::filesystem::path& p, const std::vector<char>& bytes) {
  std::ofstream(p, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

TEST_CASE("IDX files of any damage are refused", "[error]") {
  const std::vector<uint8_t> good = idx_bytes();
  CHECK(data::parse_idx(good, "x").shape == std::vector<int64_t>{2, 3});
  CHECK(data::parse_idx(gzip(good), "x").values == std::vector<uint8_t>{1, 2, 3, 4, 5, 6});
  for (size_t cut = 0; cut < good.size(); ++cut)
    CHECK_THROWS_AS(data::parse_idx({good.begin(), good.begin() + static_cast<long>(cut)}, "x"), UsageError);
  const std::vector<uint8_t> packed = gzip(good);
  for (size_t cut = 2; cut < packed.size(); ++cut)
    CHECK_THROWS_AS(data::parse_idx({packed.begin(), packed.begin() + static_cast<long>(cut)}, "x"), UsageError);
  for (size_t at : {size_t{0}, size_t{2}, size_t{3}, size_t{7}, size_t{8}}) {
    std::vector<uint8_t> bad = good;
    bad[at] ^= 0x55;
    CHECK_THROWS_AS(data::parse_idx(bad, "x"), UsageError);
  }
  CHECK_THROWS_WITH(data::parse_idx(gzip(packed), "x"), Catch::Contains("mark of an IDX file"));  // unpacked once
  CHECK_THROWS_AS(data::read_idx("/nonexistent/file"), UsageError);
  CHECK_THROWS_WITH(data::read_idx("/"), Catch::Contains("is a folder"));
  CHECK_THROWS_AS(data::mnist("/nonexistent"), UsageError);
}

namespace {

/// A gzip file whose content is `head` and then zeros.
std::vector<uint8_t> gzip_of_zeros(const std::vector<uint8_t>& head, size_t zeros) {
  z_stream s{};
  deflateInit2(&s, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::vector<uint8_t> out(zeros / 100 + 1000), block(1 << 20);
  s.next_out = out.data();
  s.avail_out = static_cast<uInt>(out.size());
  s.next_in = const_cast<Bytef*>(head.data());
  s.avail_in = static_cast<uInt>(head.size());
  deflate(&s, Z_NO_FLUSH);
  for (size_t done = 0; done < zeros; done += block.size()) {
    s.next_in = block.data();
    s.avail_in = static_cast<uInt>(block.size());
    deflate(&s, Z_NO_FLUSH);
  }
  deflate(&s, Z_FINISH);
  out.resize(out.size() - s.avail_out);
  deflateEnd(&s);
  return out;
}

/// The most memory that the process has had since forget_peak(), in bytes; 0 where the system does not say.
size_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
  return 0;
}
bool forget_peak() { return static_cast<bool>(std::ofstream("/proc/self/clear_refs") << 5 << std::flush); }

}  // namespace

TEST_CASE("a gzip of zeros is no IDX file, and takes no memory", "[error]") {
  constexpr size_t kZeros = 256 << 20;
  const std::vector<uint8_t> zeros = gzip_of_zeros({}, kZeros),
                             long_tail = gzip_of_zeros({0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3}, kZeros),
                             huge = gzip_of_zeros({0, 0, 8, 2, 0, 1, 0, 0, 0, 1, 0, 0}, 1 << 20);
  const bool known = forget_peak();
  const size_t before = peak_memory();
  CHECK_THROWS_WITH(data::parse_idx(zeros, "x"), Catch::Contains("its type is 0x0"));
  CHECK_THROWS_WITH(data::parse_idx(long_tail, "x"), Catch::Contains("ask for 6 values, it holds more"));
  CHECK_THROWS_WITH(data::parse_idx(huge, "x"), Catch::Contains("ask for 4294967296 values"));
  const auto path = temporary("sinter_zeros.gz");
  write(path, {zeros.begin(), zeros.end()});
  CHECK_THROWS_AS(data::read_idx(path), UsageError);
  std::filesystem::remove(path);
  if (known) CHECK(peak_memory() - before < kZeros / 8);
}

TEST_CASE("an IDX file of several gzip members is one, and what is no member is damage", "[error]") {
  const std::vector<uint8_t> good = idx_bytes(), first = gzip({good.begin(), good.begin() + 9}),
                             second = gzip({good.begin() + 9, good.end()});
  std::vector<uint8_t> both = first;
  both.insert(both.end(), second.begin(), second.end());
  CHECK(data::parse_idx(both, "x").values == std::vector<uint8_t>{1, 2, 3, 4, 5, 6});
  both.push_back(7);
  CHECK_THROWS_AS(data::parse_idx(both, "x"), UsageError);
  std::vector<uint8_t> plain = good;
  plain.push_back(7);
  CHECK_THROWS_AS(data::parse_idx(plain, "x"), UsageError);
}

TEST_CASE("the subset in the library is real and whole", "[nn]") {
  const runtime_test::ScopedEnv nowhere("SINTER_DATA", {}),
      cache("XDG_CACHE_HOME", temporary("sinter_no_cache").string());
  data::Mnist m = data::mnist();
  REQUIRE(m.subset);
  CHECK(m.train.size() == 6000);
  CHECK(m.test.size() == 1000);
  CHECK(m.train.labels()[0] == 5);  // the first digit of MNIST
  int64_t count = 0;
  for (auto [x, y] : m.test.batches(256)) {
    CHECK(x.shape()[1] == 784);
    count += y.numel();
  }
  CHECK(count == 1000);
}

TEST_CASE("a pass over a data set keeps it", "[nn]") {
  std::vector<int64_t> labels;
  for (auto [x, y] : data::Dataset({0, 255, 0, 255, 0, 255}, {7, 8, 9}, 1, 2, 0.5, 0.5).batches(2)) {
    CHECK(x.to_vector<float>() == (labels.empty() ? std::vector<float>{-1, 1, -1, 1} : std::vector<float>{-1, 1}));
    for (int64_t label : y.to_vector<int64_t>()) labels.push_back(label);
  }
  CHECK(labels == std::vector<int64_t>{7, 8, 9});
}

TEST_CASE("a save that fails leaves nothing behind", "[error]") {
  const auto folder = temporary("sinter_save_test");
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "taken" / "inside");
  const auto files = [&] { return std::distance(std::filesystem::directory_iterator(folder), {}); };
  const nn::NamedTensors good{{"x", ones({2})}}, poisoned{{"x", ones({3})[from({7})]}};
  CHECK_THROWS_AS(nn::save(poisoned, folder / "a"), UsageError);  // found out while the numbers are written
  CHECK_THROWS_AS(nn::save(good, folder / "taken"), BackendError);
  CHECK_THROWS_AS(nn::save(good, folder / "missing" / "a"), BackendError);
  CHECK_THROWS_WITH(nn::save(good, folder / "missing" / "a"), Catch::Contains("no folder"));
  CHECK_THROWS_WITH(nn::save(nn::NamedTensors{{"\xff", ones({1})}}, folder / "a"), Catch::Contains("UTF-8"));
  CHECK(files() == 1);
  CHECK_THROWS_WITH(nn::load_file(folder), Catch::Contains("no regular file"));
  std::vector<std::thread> threads;  // of one process, to one file
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 10; ++k) nn::save(good, folder / "a");
    });
  for (std::thread& t : threads) t.join();
  CHECK(nn::load_file(folder / "a")[0].second.to_vector<float>() == std::vector<float>{1, 1});
  CHECK(files() == 2);
  std::filesystem::remove_all(folder);
}

TEST_CASE("safetensors: what is saved is what is loaded", "[nn]") {
  const auto path = temporary("sinter_state_test.safetensors");
  nn::Linear a(3, 2), b(3, 2);
  nn::save(a, path);
  nn::load(b, path);
  CHECK(b.weight.to_vector<float>() == a.weight.to_vector<float>());
  CHECK(b.weight.needs_grad());
  nn::NamedTensors all{{"i", arange(5)},
                       {"d", from(std::vector<double>{1.5, -0.0}, {2, 1})},
                       {"b", arange(3) == 1},
                       {"empty", zeros({0, 3})}};
  nn::save(all, path);
  nn::NamedTensors back = nn::load_file(path);
  REQUIRE(back.size() == 4);
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::sort(back.begin(), back.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < all.size(); ++i) {
    const auto& [name, want] = all[i];
    const auto& [loaded, t] = back[i];
    CHECK(loaded == name);
    CHECK(t.dtype() == want.dtype());
    CHECK(t.shape() == want.shape());
    CHECK(t.to_string() == want.to_string());
  }
  CHECK(std::signbit(back[1].second.to_vector<double>()[1]));
  nn::Linear other(4, 2);
  CHECK_THROWS_AS(nn::load(other, back), UsageError);
  std::filesystem::remove(path);
}

TEST_CASE("safetensors of any damage are refused and nothing is half-loaded", "[error]") {
  const auto path = temporary("sinter_damage_test.safetensors");
  nn::Linear a(3, 2), b(3, 2);
  nn::save(a, path);
  const std::vector<char> good = read(path);
  const std::vector<float> before = b.weight.to_vector<float>();
  for (size_t cut = 0; cut < good.size(); ++cut) {
    write(path, {good.begin(), good.begin() + static_cast<long>(cut)});
    CHECK_THROWS_AS(nn::load(b, path), UsageError);
  }
  std::mt19937 random(5);
  for (int i = 0; i < 300; ++i) {  // one changed byte in the header: refused, or still a well-formed file
    std::vector<char> bad = good;
    bad[random() % 150] = static_cast<char>(random());
    write(path, bad);
    try {
      nn::load_file(path);
    } catch (const UsageError&) {}
  }
  write(path, good);
  nn::NamedTensors state = nn::load_file(path);
  state.pop_back();
  CHECK_THROWS_AS(nn::load(b, state), UsageError);
  CHECK(b.weight.to_vector<float>() == before);
  std::filesystem::remove(path);
}
