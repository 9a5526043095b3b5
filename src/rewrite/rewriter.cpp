// An explicit stack of nodes, a map from each node to its final form, and a limit on rule applications.
#include "rewrite/rewriter.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "ir/build.h"
#include "ir/contains.h"
#include "ir/dump.h"
#include "rewrite/trace.h"
#include "sinter/error.h"

namespace sinter::ir {
namespace {

std::atomic<size_t> runs{0};

std::mutex& sink_mutex() {
  static std::mutex* mutex = new std::mutex;  // never destroyed: threads may outlive main
  return *mutex;
}
std::shared_ptr<const RewriteSink>& installed_sink() {
  static auto* sink = new std::shared_ptr<const RewriteSink>;
  return *sink;
}

constexpr size_t kStepsPerNode = 100, kFreeSteps = 10000, kRecentRules = 12;

class RewriteDriver {
 public:
  RewriteDriver(Graph& g, const RuleSet& rules, const char* pass) : context_(g), rules_(rules), pass_(pass) {
    std::lock_guard lock(sink_mutex());
    sink_ = installed_sink();
  }

  UOp run(UOp root) {
    visit(root, true);
    while (!stack_.empty()) {
      RewriteFrame& f = stack_.back();
      if (f.next < f.now->src.size()) {
        visit(f.now->src[f.next++], f.given);  // may reallocate the stack
        continue;
      }
      step(f);
    }
    return final_.at(root.get());
  }

 private:
  /// `now` is the current form of `first`. Its sources before `next` are final or pending.
  struct RewriteFrame {
    UOp first, now;
    size_t next;
    bool given;  ///< part of the input graph, not made by a rule
  };

  void visit(UOp u, bool given) {
    if (final_.contains(u.get())) return;
    given_ += given;
    stack_.push_back({u, u, u->storage() ? u->src.size() : 0, given});
  }

  void step(RewriteFrame& f) {
    if (!f.now->storage()) {
      std::vector<UOp> src;
      src.reserve(f.now->src.size());
      bool changed = false;
      for (UOp s : f.now->src) {
        src.push_back(final_.at(s.get()));
        changed |= !(src.back() == s);
      }
      if (changed) f.now = with_sources(context_.graph, f.now, src);
      if (UOp after = apply(f.now); after && !(after == f.now)) {
        f.now = after;
        f.next = 0;
        f.given = false;
        auto found = final_.find(after.get());
        if (found == final_.end()) return;
        f.now = found->second;
      }
    }
    const UOp first = f.first, now = f.now;
    stack_.pop_back();
    final_[first.get()] = now;
    final_[now.get()] = now;
  }

  UOp apply(UOp u) {
    uint64_t children = 0;
    for (UOp s : u->src) children |= uint64_t{1} << (static_cast<unsigned>(s->op) % 64);
    for (const RuleSet::RuleRef& e : rules_.at(u->op)) {
      if ((e.children & children) != e.children) continue;
      if (!e.rule) {
        const StructuralRule& s = rules_.structural(e);
        if (UOp after = s.apply(context_, u); after && !(after == u)) return record_rewrite(s.name, s.where, u, after);
        continue;
      }
      Match m;
      if (!match(e.rule->left, u, m) || !contains(e.rule->domain, m.last->dtype)) continue;
      if (e.rule->guard && !e.rule->guard(m)) continue;
      if (UOp after = instantiate(e.rule->right, m); !(after == u))
        return record_rewrite(e.rule->name, e.rule->where, u, after);
    }
    return {};
  }

  UOp record_rewrite(const char* rule, std::source_location where, UOp before, UOp after) {
    if (!(after->shape == before->shape) || after->dtype != before->dtype)
      throw InternalError(
          fmt::format("pass {}: rule {} made {} of {}", pass_, rule, describe(after), describe(before)));
    if (sink_ && *sink_) {
      std::lock_guard lock(sink_mutex());
      (*sink_)({pass_, rule, before, after, where});
    }
    recent_[steps_++ % kRecentRules] = rule;
    if (steps_ > kFreeSteps + kStepsPerNode * given_) throw_divergence(after);
    return after;
  }

  [[noreturn]] void throw_divergence(UOp u) {
    std::vector<std::string> names;
    for (size_t i = 0; i < std::min(steps_, kRecentRules); ++i)
      if (!contains(names, recent_[i])) names.push_back(recent_[i]);
    throw InternalError(fmt::format("pass {}: {} steps do not end; rules {} follow each other, last on\n{}", pass_,
                                    steps_, fmt::join(names, ", "), dump(u)));
  }

  RewriteContext context_;
  const RuleSet& rules_;
  const char* pass_;
  std::shared_ptr<const RewriteSink> sink_;
  std::unordered_map<const Node*, UOp> final_;
  std::vector<RewriteFrame> stack_;
  std::array<const char*, kRecentRules> recent_{};
  size_t steps_ = 0, given_ = 0;
};

}  // namespace

RewriteSink set_rewrite_sink(RewriteSink sink) {
  std::lock_guard lock(sink_mutex());
  std::shared_ptr<const RewriteSink> old =
      std::exchange(installed_sink(), sink ? std::make_shared<const RewriteSink>(std::move(sink)) : nullptr);
  return old ? *old : RewriteSink();
}

std::vector<UOp> rewrite(Graph& g, std::span<const UOp> roots, const RuleSet& rules, const char* pass) {
  ++runs;
  RewriteDriver driver(g, rules, pass);
  return mapped(roots, [&](UOp root) { return driver.run(root); });
}

UOp rewrite(Graph& g, UOp root, const RuleSet& rules, const char* pass) {
  return rewrite(g, std::span<const UOp>(&root, 1), rules, pass)[0];
}

size_t rewrite_runs() { return runs; }

}  // namespace sinter::ir
