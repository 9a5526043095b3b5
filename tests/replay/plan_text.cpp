#include "replay/plan_text.h"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "ir/build.h"
#include "ir/dump.h"
#include "ir/text_cursor.h"
#include "ir_text/parse.h"

namespace replay {

using namespace sinter;
using schedule::PlanGraph;
using schedule::Policy;

std::string to_text(const PlanGraph& plan, Policy policy) {
  ir::Graph& g = *plan.graph;
  std::vector<ir::UOp> roots;
  std::vector<int> homes;
  for (const schedule::Output& o : plan.outputs) {
    roots.push_back(o.value);
    homes.push_back(o.home);
  }
  for (size_t i = 0; i < plan.slots.size(); ++i)
    roots.push_back(ir::param(g, static_cast<int64_t>(i), plan.slots[i].dtype, plan.slots[i].shape));
  for (size_t i = 0; i < plan.args.size(); ++i) roots.push_back(ir::argument(g, static_cast<int64_t>(i), plan.args[i]));
  for (const Var& v : plan.vars) roots.push_back(ir::variable(g, v, DType::I64));
  return fmt::format("{}{} slots {} args {} vars {} homes [{}]\n", kHead, policy == Policy::Fused ? "fused" : "unfused",
                     plan.slots.size(), plan.args.size(), plan.vars.size(), fmt::join(homes, ", ")) +
         ir::dump(roots);
}

RecordedPlan parse_plan(std::string_view text) {
  const size_t line = text.find('\n');
  ir::TextCursor c{text.substr(0, line), "the head of a plan"};
  c.expect("plan");
  RecordedPlan out{{}, c.consume("fused") ? Policy::Fused : (c.expect("unfused"), Policy::Unfused)};
  const auto count = [&](const char* what) {
    c.expect(what);
    return c.integer<size_t>();
  };
  const size_t slots = count("slots"), args = count("args"), vars = count("vars");
  std::vector<int> homes;
  c.expect("homes");
  for (c.expect("["); !c.consume("]"); homes.push_back(c.integer<int>()))
    if (!homes.empty()) c.expect(",");

  PlanGraph& plan = out.graph;
  plan.graph = std::make_shared<ir::Arena>();
  const std::vector<ir::UOp> roots = ir::parse(text.substr(line + 1), *plan.graph);
  if (roots.size() != homes.size() + slots + args + vars) c.fail("another number of roots");
  auto next = roots.begin();
  for (const int home : homes) plan.outputs.push_back({*next++, home});
  for (size_t i = 0; i < slots; ++i, ++next) plan.slots.push_back({(*next)->dtype, (*next)->shape});
  for (size_t i = 0; i < args; ++i, ++next) plan.args.push_back((*next)->dtype);
  for (size_t i = 0; i < vars; ++i, ++next) plan.vars.push_back((*next)->get<Var>());
  return out;
}

}  // namespace replay
