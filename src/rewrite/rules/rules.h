// The rule sets. Each is created once. simplify_rules() is their union.
#pragma once

#include "rewrite/rule.h"

namespace sinter::ir {

const RuleSet& fold_rules();     ///< constant folding, casts of casts
const RuleSet& algebra_rules();  ///< integers that wrap
const RuleSet& boolean_rules();  ///< conditions, comparisons and selects
const RuleSet& float_rules();    ///< exact for NaN, +-0 and +-inf (SEMANTICS F4)
const RuleSet& index_rules();    ///< index expressions and the predicates of loads and stores
const RuleSet& simplify_rules();

}  // namespace sinter::ir
