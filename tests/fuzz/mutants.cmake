# The faults of mutant.h, as edits of the library's sources: the first text, which stands in its file once, becomes the
# second, in which @@ is the first and FAULT(X) says whether X is switched on. test_mutants is linked with the edited copies
# in place of the library's objects (tests/CMakeLists.txt); the library has none of it.

# -- src/runtime/cpu/float_control.cpp
edit(src/runtime/cpu/float_control.cpp [=[
  std::fesetenv(FE_DFL_ENV);]=] [=[
  if (!FAULT(CallersFloats)) std::fesetenv(FE_DFL_ENV);]=])

# -- src/runtime/exec/arena.cpp
edit(src/runtime/exec/arena.cpp [=[
    const PlanBuffer& b = plan.buffers[i];
    const int64_t size]=] [=[
    PlanBuffer b = plan.buffers[i];
    if (FAULT(ArenaOverlap)) b.last = std::max(b.first, b.last - 1);
    const int64_t size]=])

# -- src/gradient/adjoint_elementwise.cpp
edit(src/gradient/adjoint_elementwise.cpp [=[
  if (a.wants(0)) a.give(0, where(first, a.g, half));]=] [=[
  if (FAULT(MaxTieToFirst)) first = ~second;
@@]=])

# -- src/plan/materialize.cpp
edit(src/plan/materialize.cpp [=[
if (p.slot >= 0) {
      if (held)]=] [=[
const bool lost = (FAULT(PositionsAreGiven) && p.node->op == Op::Arange) || (FAULT(NumbersAreGiven) && (p.node->op == Op::Const || p.node->op == Op::Num));
    given[i] = lost;
    if (p.slot >= 0) {
      if (held)]=])
edit(src/plan/materialize.cpp [=[
    value[i] |= p.outlives;]=] [=[
    value[i] |= p.outlives && !FAULT(PositionsAreGiven) && !FAULT(NumbersAreGiven);]=])
edit(src/plan/materialize.cpp [=[
given[i] = false;]=] [=[
given[i] = lost;]=])
edit(src/plan/materialize.cpp [=[
if (value[i] && !d.stored[i]) {]=] [=[
if (value[i] && !d.stored[i] && !FAULT(ValueNotKept) && !(plan.lean && FAULT(SpareUnkept))) {]=])
edit(src/plan/materialize.cpp [=[
return schedule::bytes_of(plan_.positions[i].node) < behind(i); }]=] [=[
return FAULT(SpareStored) || schedule::bytes_of(plan_.positions[i].node) < behind(i); }]=])
edit(src/plan/materialize.cpp [=[
slot >= 0 && kept[i]) taken]=] [=[
slot >= 0 && kept[i] && !FAULT(InPlaceUnderKeptReader)) taken]=])
edit(src/plan/materialize.cpp [=[
taken[h] = true;]=] [=[
taken[h] = !FAULT(StorageWrittenTwice);]=])

# -- src/plan/plan_key.cpp
edit(src/plan/plan_key.cpp [=[
        state(p);
]=] [=[
        if (!FAULT(NarrowKey)) state(p);
]=])
edit(src/plan/plan_key.cpp [=[
          word(static_cast<uint32_t>(plan_.history[edge].source)]=] [=[
          if (!FAULT(NarrowKey)) @@]=])
edit(src/plan/plan_key.cpp [=[
    for (const StorageUse& s : plan_.storages)
      word(]=] [=[
    if (!FAULT(NarrowKey))
      @@]=])

# -- src/schedule/fusion/hazards.cpp
edit(src/schedule/fusion/hazards.cpp [=[
bool reads_only_what_it_writes(Partition& p, int kernel, int buffer, int store) {]=] [=[
@@
  if (FAULT(InPlaceOverReads)) return true;]=])

# -- src/schedule/lower/launch_order.cpp
edit(src/schedule/lower/launch_order.cpp [=[
if (writer != k) wait(writer, k);]=] [=[
if (writer != k && !FAULT(ReaderEdgeDropped)) wait(writer, k);]=])
edit(src/schedule/lower/launch_order.cpp [=[
        wait(k, static_cast<size_t>(p.kernel_of[node]));]=] [=[
        if (!FAULT(StoreEdgeDropped)) wait(k, static_cast<size_t>(p.kernel_of[node]));]=])
edit(src/schedule/lower/launch_order.cpp [=[
    const bool free =]=] [=[
    const bool free = FAULT(DependentLaunch) ||]=])
edit(src/schedule/lower/launch_order.cpp [=[
    out.back().insert(out.back().end(), kernels]=] [=[
    // Within a launch any order is right: in this one, dependent kernels show.
    out.back().insert(FAULT(DependentLaunch) ? out.back().begin() : out.back().end(), kernels]=])

# -- src/schedule/schedule.cpp
edit(src/schedule/schedule.cpp [=[
    step.buffers = std::move(instance.buffers);]=] [=[
@@
    if (known && FAULT(WrongBuffers)) {
      const auto first = std::find_if(out_.plan.steps.begin(), out_.plan.steps.end(),
                                      [&](const runtime::PlanStep& s) { return s.program == step.program; });
      for (size_t i = 0; i < step.buffers.size(); ++i)
        if (std::find(instance.writes.begin(), instance.writes.end(), step.buffers[i]) == instance.writes.end())
          step.buffers[i] = first->buffers[i];
    }]=])

# -- src/plan/liveness.cpp
edit(src/plan/liveness.cpp [=[
    for (UOp n : request_.dying_refs) ends(n);]=] [=[
@@
    if (FAULT(CommitCountedTwice))
      for (UOp n : request_.dying_refs) ends(n);]=])

# -- src/plan/fingerprint.cpp
edit(src/plan/fingerprint.cpp [=[
    if (state_of(n, liveness) != met.state || ]=] [=[
    if ((state_of(n, liveness) != met.state && !FAULT(BlindImprint)) || ]=])
edit(src/plan/fingerprint.cpp [=[
(stored || (a.op == ir::Op::Num && b.op == ir::Op::Num));]=] [=[
(stored || (a.op == ir::Op::Num && b.op == ir::Op::Num) || (FAULT(AnyNumberFits) && a.op == b.op && a.attr.index() == b.attr.index()));]=])
edit(src/plan/fingerprint.cpp [=[
slots.number(n->storage()) != met.slot) return false;]=] [=[
(slots.number(n->storage()) != met.slot && !FAULT(AnySlotFits))) return false;]=])

# -- src/plan/canonicalize.cpp
edit(src/plan/canonicalize.cpp [=[
      p.outlives |= held;]=] [=[
      if (!(FAULT(FirstDecidesOutlives) && p.node != n)) p.outlives |= held;]=])
edit(src/plan/canonicalize.cpp [=[
return owners == storage->owners && ]=] [=[
return (owners == storage->owners || FAULT(InPlaceWithOtherOwner)) && ]=])

# -- src/plan/compiled_plan.cpp
edit(src/plan/compiled_plan.cpp [=[
build_plan_graph(plan, materialization, plan_key, is_argument)]=] [=[
build_plan_graph(plan, materialization, plan_key, FAULT(StaleNumber) ? std::vector<uint8_t>(is_argument.size()) : is_argument)]=])

# -- src/plan/eval_order.cpp
edit(src/plan/eval_order.cpp [=[
if (d.in_place[i] < 0) continue;]=] [=[
if (d.in_place[i] < 0 || FAULT(NoReaderOrder)) continue;]=])
edit(src/plan/eval_order.cpp [=[
if (blocked.empty()) throw]=] [=[
if (blocked.empty() || FAULT(CirclesNotCut)) throw]=])

# -- src/schedule/lower/index_map.cpp
edit(src/schedule/lower/index_map.cpp [=[
case Op::Arange: return ir::cast(at.index[0], n->dtype);]=] [=[
case Op::Arange:
        return ir::cast(FAULT(ArangeOffByOne) ? math_.add(at.index[0], math_.constant(1)) : at.index[0], n->dtype);]=])
edit(src/schedule/lower/index_map.cpp [=[
  UOp negative = m.lt(i, m.constant(0));]=] [=[
@@
  if (FAULT(NegativeIndex)) negative = m.constant(0);]=])

# -- src/schedule/lower/rangeify.cpp
edit(src/schedule/lower/rangeify.cpp [=[
    if (!r.predicate) return v;]=] [=[
    if (!r.predicate || FAULT(GateLost)) return v;]=])
edit(src/schedule/lower/rangeify.cpp [=[
index_map_.range(tasks_along(p_.space, kernel_, a))]=] [=[
index_map_.range(FAULT(PartMissing) ? Dim(tasks_along(p_.space, kernel_, a).bound() - 1) : tasks_along(p_.space, kernel_, a))]=])

edit(src/schedule/lower/rangeify.cpp [=[
joins_groups(f.of.node) ?]=] [=[
joins_groups(f.of.node) && !FAULT(GroupAsBlock) ?]=])

# -- src/codegen/emit/reduction_body.cpp
edit(src/codegen/emit/reduction_body.cpp [=[
  return emit_.constant(dtype, ir::reduction_identity(combine, dtype, static_cast<int>(accumulator)));]=] [=[
  const bool second = !registers_.empty() && registers_.begin()->first.first != statement;
  if ((combine == Combine::Max && FAULT(MaxFromZero)) || (combine == Combine::Min && FAULT(MinFromZero)) ||
      (combine == Combine::Mul && FAULT(ProductFromZero)))
    return emit_.constant(dtype, ir::Scalar::of(dtype, 0));
  if (second && FAULT(SecondInitLost)) return emit_.constant(dtype, ir::Scalar::of(dtype, 1));
@@]=])
edit(src/codegen/emit/reduction_body.cpp [=[
  // Chains are halved, as ReductionTree says: first whole vectors, then those of the threads, then the lanes of one.]=] [=[
  if (c.width > 1 && statements_.list.size() > 2 && FAULT(CombineInOrder)) {
    const auto chain = [&](int i) {
      return ir::mapped<ChainState>(parts[i / c.width], [&](Id x) { return emit_.part(x, i % c.width, 1); });
    };
    ChainState result = chain(0);
    for (int i = 1; i < c.count; ++i) result = emit_combine(merge, 1, result, chain(i));
    return values_.set_result(s.node, result[0]);
  }
@@]=])

# -- src/codegen/render/c_spelling.cpp
edit(src/codegen/render/c_spelling.cpp [=[
const char* helper_text(std::string_view name) {]=] [=[
/// Helpers as faults would have them.
struct WrongHelper {
  fuzz::Mutant fault;
  Helper helper;
};
constexpr WrongHelper kWrongHelpers[] = {
    {fuzz::Mutant::DivisionTruncates,
     {"idiv", "($S x, $S y) { return y == 0 ? 0 : y == -1 ? ($T)(0 - ($U)x) : x / y; }"}},
    {fuzz::Mutant::RemainderTruncates, {"mod", "($S x, $S y) { return y == 0 || y == -1 ? 0 : x % y; }"}},
    {fuzz::Mutant::NanLost, {"max", "($S x, $S y) { return x >= y ? x : y; }"}},
    {fuzz::Mutant::NanLost,
     {"vmax", "($S x, $S y) {\n  const $I m = ($I)(x >= y);\n  return ($T)((($I)x & m) | (($I)y & ~m));\n}"}},
    {fuzz::Mutant::CastToLowest, {"saturate", "($S x) { return x != x ? 0 : x <= $lo || x >= $hi ? $min : ($T)x; }"}},
    {fuzz::Mutant::CastToLowest,
     {"vsaturate",
      "($S x) {\n  const $I out = ($I)(x <= $lo) | ($I)(x >= $hi), fits = ~(out | ($I)(x != x));\n"
      "  const $T v = __builtin_convertvector(($S)(($I)x & fits), $T);\n"
      "  const $J l = __builtin_convertvector(out, $J);\n"
      "  return ($T)((($J)v & ~l) | (l & ($J)(($T){0} + $min)));\n}"}},
    {fuzz::Mutant::TruthTruncates,
     {"truth", "($S x) { return __builtin_convertvector(($I)(x >= 1) | ($I)(x <= -1), $T) & 1; }"}},
    {fuzz::Mutant::UnsignedCompare,
     {"lt", "($S x, $S y) { return __builtin_convertvector(($I)(($U)x < ($U)y), $T) & 1; }"}},
};

const char* helper_text(std::string_view name, DType on) {
  for (const WrongHelper& w : kWrongHelpers)
    if (fuzz::mutant == w.fault && name == w.helper.name && on != DType::Index &&
        (!is_float(on) || w.fault != fuzz::Mutant::UnsignedCompare))
      return w.helper.text;]=])
edit(src/codegen/render/c_spelling.cpp [=[
helper_text(name)]=] [=[
helper_text(name, source.dtype)]=])
edit(src/codegen/render/c_spelling.cpp [=[
helper_text("splat")]=] [=[
helper_text("splat", t.dtype)]=])
edit(src/codegen/render/c_spelling.cpp [=[
  if (is_bool(result.dtype)) return vector ? "@truth" : "$0 != 0";]=] [=[
  if (is_float(source.dtype) && is_bool(result.dtype) && !vector && FAULT(TruthTruncates))
    return "$0 >= 1 || $0 <= -1";
@@]=])
edit(src/codegen/render/c_spelling.cpp [=[
  text = is_float(on) || plain ? row->floats]=] [=[
  if (op == Op::Lt && is_integer(on) && on != DType::Index && FAULT(UnsignedCompare)) return "($U)$0 < ($U)$1";
@@]=])

# -- src/codegen/emit/values.cpp
edit(src/codegen/emit/values.cpp [=[
  return emit_.alu(n->op, type, std::move(src));]=] [=[
  if (n->op == Op::Sub && n->dtype != DType::Index && FAULT(SubSwapped)) std::swap(src[0], src[1]);
  if (n->op == Op::Add && is_float(n->dtype) && n->src[0]->op == Op::Mul && FAULT(FmaTooMany)) {
    const Id x = use(n->src[0]->src[0], lane), y = use(n->src[0]->src[1], lane);
    if (x == kNone || y == kNone) return kNone;
    return emit_.alu(Op::Fma, type, {emit_.splat(x, type.lanes), emit_.splat(y, type.lanes), src[1]});
  }
@@]=])

# -- src/codegen/emit/stores.cpp
edit(src/codegen/emit/stores.cpp [=[
joins = in_order && mode != ir::ScatterMode::Set;]=] [=[
joins = in_order && mode != ir::ScatterMode::Set && !FAULT(ScatterAssigns);]=])
edit(src/codegen/emit/stores.cpp [=[
const Op op = ir::op_of(mode);]=] [=[
const Op op = FAULT(ScatterModeLost) ? Op::Add : ir::op_of(mode);]=])

# -- src/codegen/emit/emit.cpp
edit(src/codegen/emit/emit.cpp [=[
    if (axis.size && rest == 0) return;]=] [=[
    if (axis.size && (rest == 0 || (FAULT(LostTail) && --rest == 0))) return;]=])

# -- src/tensor/eval/in_flight.cpp
edit(src/tensor/eval/in_flight.cpp [=[
memory.back()->error = text;]=] [=[
if (!(FAULT(PoisonOnlyCurrent) && home < 0)) memory.back()->error = text;]=])

# -- src/plan/plan_lookup.cpp and interpreted_plan.cpp
edit(src/plan/plan_lookup.cpp [=[
entry->spare_stores = spare_stores;]=] [=[
entry->spare_stores = spare_stores && !FAULT(NoSecondTry);]=])
edit(src/plan/interpreted_plan.cpp [=[
if (step.mode == EvalStep::InPlace) memory.read]=] [=[
if (step.mode == EvalStep::InPlace && !FAULT(NotPutBack)) memory.read]=])

# -- src/rewrite/movement_index.cpp
edit(src/rewrite/movement_index.cpp [=[
extent_of(g, result_dims[j])]=] [=[
extent_of(g, result_dims[FAULT(ReshapeExtent) && j > group.to ? j - 1 : j])]=])
edit(src/rewrite/movement_index.cpp [=[
index[source[i]] = flat;]=] [=[
index[source[i]] = FAULT(ReshapeExtent) ? m.mod(flat, size) : flat;]=])
edit(src/rewrite/movement_index.cpp [=[
  switch (movement->op) {]=] [=[
  // Faulty indices stay inside of the value: what they do is seen in numbers.
  auto inside = [&](UOp i, size_t axis) { return minimum(i, m.sub(extent_of(g, from[axis]), m.constant(1))); };
@@]=])
edit(src/rewrite/movement_index.cpp [=[
result.index[movement->ints()[i]] = at.index[i];]=] [=[
@@
      for (size_t i = 0; i < to.rank() && FAULT(PermuteInverse); ++i)
        result.index[i] = inside(at.index[movement->ints()[i]], i);]=])
edit(src/rewrite/movement_index.cpp [=[
        result.index[i] = m.sub(m.sub(extent_of(g, to[i]), m.constant(1)), at.index[i]);]=] [=[
@@
        if (FAULT(FlipOffByOne)) result.index[i] = inside(m.add(result.index[i], m.constant(1)), i);]=])
edit(src/rewrite/movement_index.cpp [=[
        if (movement->src.size() == 1 && e.begin == 0 && e.end == to[i]) continue;]=] [=[
@@
        if (FAULT(PadOffByOne)) result.index[i] = m.sub(result.index[i], m.constant(1));]=])
edit(src/rewrite/movement_index.cpp [=[
m.constant(step)]=] [=[
m.constant(FAULT(WindowClose) ? (step < 0 ? -1 : 1) : step)]=])

# -- src/ir/tensor_graph.cpp
edit(src/ir/tensor_graph.cpp [=[
const bool interned = !has(spec.op, kUnique) && !requires_grad;]=] [=[
const bool fresh = has(spec.op, kUnique) && !(spec.op == Op::After && FAULT(VersionsMerged));
  const bool interned = !fresh && (!requires_grad || FAULT(GradInterned));]=])
edit(src/ir/tensor_graph.cpp [=[
if (!n->has_history()) drop_history(n);]=] [=[
if (!n->has_history() || FAULT(HistoryLetGo)) drop_history(n);]=])

edit(src/ir/tensor_graph.cpp [=[
if (interned && private_interning_id &&]=] [=[
@@ !FAULT(NotApart) &&]=])

# -- src/schedule/simplify/fused_reductions.cpp
edit(src/schedule/simplify/fused_reductions.cpp [=[
n->src[1]->ints() != reduce->reduction().axes) return {};]=] [=[
(!FAULT(OtherMaximum) && n->src[1]->ints() != reduce->reduction().axes)) return {};]=])
edit(src/schedule/simplify/fused_reductions.cpp [=[
*count == static_cast<double>(*length)]=] [=[
(@@ || FAULT(AnyCentre))]=])
edit(src/schedule/simplify/fused_reductions.cpp [=[
!same_rows(n, out.maximum, x)]=] [=[
(@@ && !(FAULT(OtherMaximum) && out.maximum->src[0] == x))]=])

# -- src/ir/sort_runs.cpp
edit(src/ir/sort_runs.cpp [=[
Ints{positions->ints()[0], positions->ints()[1], 1}]=] [=[
Ints{positions->ints()[0], FAULT(SortTurned) ? int64_t{0} : positions->ints()[1], 1}]=])

# -- src/codegen/opaque
edit(src/codegen/opaque/sort_text.cpp [=[
hex((sign - 1) >> mantissa << mantissa)]=] [=[
hex(FAULT(NanByBits) ? sign - 1 : (sign - 1) >> mantissa << mantissa)]=])
edit(src/codegen/opaque/sort_vectors.cpp [=[
{"$NANS_AT", descending ?]=] [=[
{"$NANS_AT", descending != FAULT(NansFirst) ?]=])
edit(src/codegen/opaque/sort_vectors.cpp [=[
{"$NUMBERS_AT", descending ?]=] [=[
{"$NUMBERS_AT", descending != FAULT(NansFirst) ?]=])
edit(src/codegen/opaque/opaque_source.cpp [=[
call[0], call[1],]=] [=[
call[0], FAULT(TriangleLost) && call[0] == static_cast<int64_t>(ir::LapackRoutine::TriangularSolve) ? 0 : call[1],]=])

# -- src/schedule/lower/lapack_step.cpp
edit(src/schedule/lower/lapack_step.cpp [=[
out.writes = {node.to};]=] [=[
if (!FAULT(CallUndeclared)) out.writes = {node.to};]=])

# -- src/tensor/ops/index.cpp
edit(src/tensor/ops/index.cpp [=[
start + count, start);]=] [=[
FAULT(NarrowFromEnd) ? start + count + ir::like(start, -1.0) : start + count, FAULT(NarrowAtStart) ? zero : start);]=])

# -- src/ir/combine.cpp
edit(src/ir/combine.cpp [=[
off * (off * (a[0] * share));]=] [=[
off * (off * (a[0] * (FAULT(MomentsOfOne) ? like(share, 1.0) / maximum(count, like(count, 1.0)) : share)));]=])
edit(src/ir/combine.cpp [=[
exp(-alu(Op::Abs, {a[0] - b[0]}));]=] [=[
FAULT(ExpSumGrows) ? exp(alu(Op::Abs, {a[0] - b[0]})) : @@]=])
edit(src/ir/combine.cpp [=[
UOp take = beyond | (same & lt(b[1], a[1]));]=] [=[
UOp take = FAULT(TieToLater) ? beyond : beyond | (same & lt(b[1], a[1]));]=])

# -- src/schedule/simplify/sum_blocks.cpp
edit(src/schedule/simplify/sum_blocks.cpp [=[
if (all <= kLongestChain) return tree;]=] [=[
if (all <= kLongestChain || FAULT(ChainUnbroken)) return tree;]=])
edit(src/schedule/simplify/sum_blocks.cpp [=[
else if (blocks > ir::ReductionTree::kFanIn)]=] [=[
else if (blocks > ir::ReductionTree::kFanIn && !FAULT(NoGroups))]=])

# -- src/schedule/simplify/scan_blocks.cpp
edit(src/schedule/simplify/scan_blocks.cpp [=[
if (length <= kLongestScan) return {};]=] [=[
if (length <= kLongestScan || FAULT(ScanUnbroken)) return {};]=])
edit(src/schedule/simplify/scan_blocks.cpp [=[
const UOp before = ir::lt(]=] [=[
const UOp before = (FAULT(OwnBlockTwice) ? ir::le : ir::lt)(]=])

# -- src/schedule/simplify/scatter_blocks.cpp
edit(src/schedule/simplify/scatter_blocks.cpp [=[
if (done == all) return made;]=] [=[
if (done == all || FAULT(UpdatesDropped)) return made;]=])
edit(src/schedule/simplify/scatter_blocks.cpp [=[
ir::reduction_identity(combine, updates->dtype)]=] [=[
(FAULT(TablesFromZero) ? ir::reduction_identity(ir::Combine::Add, updates->dtype) : @@)]=])

# -- src/schedule/fusion/split_reductions.cpp
edit(src/schedule/fusion/split_reductions.cpp [=[
Dim(k.blocks.count(space.bound(axis)))]=] [=[
Dim(FAULT(LastBlockDropped) ? space.bound(axis) / k.blocks.size : k.blocks.count(space.bound(axis)))]=])
edit(src/schedule/fusion/split_reductions.cpp [=[
std::ranges::binary_search(found, src.node);]=] [=[
(!FAULT(LateUnmarked) && std::ranges::binary_search(found, src.node));]=])
edit(src/schedule/fusion/split_reductions.cpp [=[
blocks.size = fixed ? sizes[0] :]=] [=[
blocks.size = fixed ? (FAULT(BlocksTooLong) ? 2 : 1) * sizes[0] :]=])

# -- src/schedule/fusion/merge_kernels.cpp
edit(src/schedule/fusion/merge_kernels.cpp [=[
if (k1.level != k2.level &&]=] [=[
@@ !FAULT(MergeAcrossLevels) &&]=])
edit(src/schedule/fusion/merge_kernels.cpp [=[
  if (form.swapped) k1.outer]=] [=[
  if (form.swapped && !FAULT(MergeKeepsRanges)) k1.outer]=])

# -- src/tensor/jit/invariant_cache.cpp and replay.cpp
edit(src/tensor/jit/invariant_cache.cpp [=[
now[s] == versions_[s]]=] [=[
(FAULT(KeptForever) || @@)]=])
edit(src/tensor/jit/replay.cpp [=[
push_back(source.steady());]=] [=[
push_back(FAULT(KeptOfChanging) || source.steady());]=])
edit(src/tensor/jit/replay.cpp [=[
const bool known = source.steady()]=] [=[
const bool known = (!source.input && (FAULT(KeptOfChanging) || source.steady()))]=])
edit(src/tensor/jit/replay.cpp [=[
if (arg >= 0) steady]=] [=[
if (arg >= 0 && !FAULT(KeptRandom)) steady]=])

# -- src/tensor/jit/jit.cpp
edit(src/tensor/jit/jit.cpp [=[
(by_size || !varied[i])) return false;]=] [=[
(by_size || !varied[i])) return FAULT(SizesUnproven);]=])

# -- src/tensor/eval/read.cpp
edit(src/tensor/eval/read.cpp [=[
observer->on_read({&n, 1});]=] [=[
observer->on_read(FAULT(ReadsUnseen) && n->storage() ? std::span<const ir::UOp>() : std::span<const ir::UOp>(&n, 1));]=])

# -- src/runtime/exec/invariant_steps.cpp
edit(src/runtime/exec/invariant_steps.cpp [=[
return first;]=] [=[
for (size_t s = 0; FAULT(KeptApart) && s < first.size(); ++s) first[s] = s;
  @@]=])
