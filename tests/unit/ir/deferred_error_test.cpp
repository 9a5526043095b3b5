// Indices out of range that only a device knows of: said once, and asked for in time (SEMANTICS F6).
#include "catch.h"

#include "ir/deferred_error.h"

using sinter::ir::DeferredError;
using Ptr = std::shared_ptr<DeferredError>;

namespace {

Ptr known(const std::string& text, std::vector<Ptr> before = {}) {
  return std::make_shared<DeferredError>(text, nullptr, std::move(before));
}
Ptr asking(int& asked, bool happened, std::vector<Ptr> before = {}) {
  return std::make_shared<DeferredError>(
      "", [&asked, happened] { return ++asked, happened ? "late" : ""; }, std::move(before));
}

}  // namespace

TEST_CASE("a notice is said once, by the first who asks", "[notice]") {
  const Ptr first = known("first"), second = known("", {first});
  CHECK_FALSE(second->silent());
  CHECK(second->take() == "first");
  CHECK(second->take().empty());
  CHECK(first->take().empty());
  CHECK(first->silent());
  CHECK(second->silent());
}

TEST_CASE("what many plans in a row have read is no chain of them", "[notice]") {
  std::weak_ptr<DeferredError> early;
  Ptr all = known("first");
  for (int i = 0; i < 100000; ++i) {
    all = known("", {all, known("next")});
    if (i == 10) early = all;
  }
  CHECK(early.expired());
  CHECK(all->take() == "first");
  CHECK(all->take().empty());
}

TEST_CASE("the device is asked once, by a read", "[notice]") {
  int asked = 0;
  const Ptr wrong = asking(asked, true), right = asking(asked, false), both = asking(asked, false, {right, wrong});
  CHECK(asked == 0);
  CHECK_FALSE(right->silent());
  CHECK(both->take() == "late");
  CHECK(asked == 3);
  CHECK(both->take().empty());
  CHECK(right->take().empty());
  CHECK(asked == 3);
}

TEST_CASE("a loop that reads nothing asks once in so many plans, and keeps no chain", "[notice]") {
  int asked = 0;
  std::weak_ptr<DeferredError> first;
  Ptr last;
  for (int i = 0; i < 1000; ++i) {
    last = asking(asked, i == 0, last ? std::vector<Ptr>{last} : std::vector<Ptr>{});
    if (i == 0) first = last;
    CHECK(i - asked <= 130);
  }
  CHECK_FALSE(first.expired());  // it has something to say
  CHECK(last->take() == "late");
  CHECK(asked == 1000);
  last = nullptr;
  CHECK(first.expired());
}
