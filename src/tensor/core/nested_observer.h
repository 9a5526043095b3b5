// Watching a function inside of what another observer watches.
#pragma once

#include <memory>
#include <unordered_set>

#include "tensor/core/cell.h"

namespace sinter::tensor {

/// Tells the observer around it all it sees, and knows which tensors were made since it began.
class NestedObserver : public Observer {
 public:
  NestedObserver() : outer_(current_) { current_ = this; }
  ~NestedObserver() override { current_ = outer_; }
  NestedObserver(const NestedObserver&) = delete;
  NestedObserver& operator=(const NestedObserver&) = delete;

  void on_make(const std::shared_ptr<Cell>& cell) override {
    made_.insert(cell.get());
    if (outer_) outer_->on_make(cell);
  }
  void on_use(const std::shared_ptr<Cell>& cell) override {
    if (outer_) outer_->on_use(cell);
  }
  void on_assign(const std::shared_ptr<Cell>& cell) override {
    if (outer_) outer_->on_assign(cell);
  }
  void on_gradient(const std::shared_ptr<Cell>& cell) override {
    if (outer_) outer_->on_gradient(cell);
  }
  void on_change(const std::shared_ptr<Cell>& cell, std::string_view what) override {
    if (outer_) outer_->on_change(cell, what);
  }
  void on_gradient_change(const std::shared_ptr<Cell>& cell, std::string_view what) override {
    if (outer_) outer_->on_gradient_change(cell, what);
  }
  void on_step(std::shared_ptr<HostStep> step, std::span<const UOp> numbers) override {
    if (outer_) outer_->on_step(std::move(step), numbers);
  }
  void on_rule(UOp node) override {
    if (outer_) outer_->on_rule(node);
  }
  void on_draw(Generator& generator, const Shape& shape, uint64_t each, UOp seed, UOp first) override {
    if (outer_) outer_->on_draw(generator, shape, each, seed, first);
  }
  void on_seed() override {
    if (outer_) outer_->on_seed();
  }
  void on_read(std::span<const UOp> asked) override {
    if (outer_) outer_->on_read(asked);
  }
  bool of_one_element() const override { return outer_ && outer_->of_one_element(); }
  std::string_view one_program() const override { return outer_ ? outer_->one_program() : std::string_view(); }
  void on_plan(const plan::PlanInstance& instance, bool whole) override {
    if (outer_) outer_->on_plan(instance, whole);
  }

 protected:
  /// Whether the cell was there before. A cell that is gone since may have had the address of one that was made later.
  bool is_foreign(const std::shared_ptr<Cell>& cell) const { return !made_.contains(cell.get()); }
  Observer* outer() const { return outer_; }

 private:
  Observer* const outer_;
  std::unordered_set<const Cell*> made_;
};

}  // namespace sinter::tensor
