// InlineVector against std::vector: random operations across the border between its own memory and the heap's.
#include "sinter/inline_vector.h"

#include <random>
#include <stdexcept>
#include <thread>

#include "catch.h"
#include "sinter/shape.h"

using sinter::InlineVector;

TEST_CASE("an inline vector does what a vector does", "[inline_vector]") {
  using Short = InlineVector<int64_t, 4>;
  std::mt19937 rng(1);
  auto pick = [&](size_t most) { return static_cast<size_t>(rng()) % (most + 1); };
  int outgrown = 0;
  for (int round = 0; round < 300; ++round) {
    Short mine;
    std::vector<int64_t> plain;
    for (int step = 0; step < 40; ++step) {
      const auto at = static_cast<std::ptrdiff_t>(pick(plain.size()));
      const auto value = static_cast<int64_t>(rng());
      const std::vector<int64_t> more(pick(3), value);
      switch (pick(9)) {
        case 0:
        case 1: mine.push_back(value), plain.push_back(value); break;
        case 2: mine.insert(mine.begin() + at, value), plain.insert(plain.begin() + at, value); break;
        case 3:
          mine.insert(mine.begin() + at, more.begin(), more.end()),
              plain.insert(plain.begin() + at, more.begin(), more.end());
          break;
        case 4:
          if (plain.empty()) break;
          if (at < static_cast<std::ptrdiff_t>(plain.size()))
            mine.erase(mine.begin() + at), plain.erase(plain.begin() + at);
          break;
        case 5: mine.erase(mine.begin(), mine.begin() + at), plain.erase(plain.begin(), plain.begin() + at); break;
        case 6: {
          const size_t size = pick(7);
          mine.resize(size), plain.resize(size);
          break;
        }
        case 7: {
          Short copy(mine), other(more);
          other = copy;
          mine = std::move(other);
          CHECK(other.empty());
          break;
        }
        case 8: {
          Short taken(std::move(mine));
          CHECK(mine.empty());
          mine = taken;
          break;
        }
        default: mine = Short(std::vector<int64_t>(mine)); break;
      }
      REQUIRE(mine == plain);
      outgrown += plain.size() > 4;
    }
  }
  CHECK(outgrown > 300);
}

TEST_CASE("an inline vector whose elements cannot be converted keeps no memory", "[inline_vector]") {
  struct Bad {
    operator int() const { throw std::runtime_error("no number"); }
  };
  const std::vector<Bad> many(9);
  CHECK_THROWS_AS((InlineVector<int, 2>(many.begin(), many.end())), std::runtime_error);  // LeakSanitizer looks
}

TEST_CASE("threads that make the same variable have the same one", "[inline_vector][var]") {
  std::vector<std::vector<sinter::Var>> made(4);
  std::vector<std::thread> threads;
  for (auto& mine : made)
    threads.emplace_back([&mine] {
      for (int i = 0; i < 200; ++i) mine.emplace_back("interned" + std::to_string(i), 1, 100 + i);
    });
  for (std::thread& t : threads) t.join();
  for (const auto& mine : made)
    for (size_t i = 0; i < mine.size(); ++i) {
      CHECK(mine[i] == made[0][i]);
      CHECK(mine[i].name() == "interned" + std::to_string(i));
      CHECK((i == 0 || !(mine[i] == mine[i - 1])));
    }
}
