// What stands for one element of a batch while a function runs, and rules of gradients for a batch.
#pragma once

#include <memory>
#include <vector>

#include "ir/user_rule.h"
#include "tensor/core/cell.h"

namespace sinter::tensor {

/// Refuses what a function of stand-ins must not do, and tells the rest to who watches already.
class BatchObserver : public Observer {
 public:
  explicit BatchObserver(std::vector<Tensor> elements) : elements_(std::move(elements)), outer_(current_) {
    current_ = this;
  }
  ~BatchObserver() override { current_ = outer_; }
  BatchObserver(const BatchObserver&) = delete;
  BatchObserver& operator=(const BatchObserver&) = delete;

  void on_make(const std::shared_ptr<Cell>& cell) override {
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
  void on_step(std::shared_ptr<HostStep> step, std::span<const ir::UOp> numbers) override;
  void on_rule(ir::UOp node) override {
    if (outer_) outer_->on_rule(node);
  }
  void on_draw(Generator& generator, const Shape& shape, uint64_t each, ir::UOp seed, ir::UOp first) override;
  void on_seed() override {
    if (outer_) outer_->on_seed();
  }
  void on_read(std::span<const ir::UOp> asked) override;
  std::string_view one_program() const override {
    return outer_ ? outer_->one_program() : "vmap is one program for all elements of the batch";
  }
  bool of_one_element() const override { return true; }
  void on_plan(const plan::PlanInstance& instance, bool whole) override {
    if (outer_) outer_->on_plan(instance, whole);
  }

 private:
  const std::vector<Tensor> elements_;
  Observer* const outer_;
};

/// The rule of a batch of `count` values that `rule` is of: `rule` for one element, in a program for all.
std::shared_ptr<const ir::UserRule> batched_rule(std::shared_ptr<const ir::UserRule> rule, ir::UOp node,
                                                 const Dim& count);

}  // namespace sinter::tensor
