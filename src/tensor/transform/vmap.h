// What stands for one element of a batch while a function runs, and rules of gradients for a batch.
#pragma once

#include <memory>
#include <vector>

#include "ir/user_rule.h"
#include "tensor/core/nested_observer.h"

namespace sinter::tensor {

/// Refuses what a function of stand-ins must not do.
class BatchObserver final : public NestedObserver {
 public:
  explicit BatchObserver(std::vector<Tensor> elements) : elements_(std::move(elements)) {}

  void on_assign(const std::shared_ptr<Cell>& cell) override;
  void on_step(std::shared_ptr<HostStep> step, std::span<const UOp> numbers) override;
  void on_draw(Generator& generator, const Shape& shape, uint64_t each, UOp seed, UOp first) override;
  void on_read(std::span<const UOp> asked) override;
  std::string_view one_program() const override {
    return outer() ? outer()->one_program() : "vmap is one program for all elements of the batch";
  }
  bool of_one_element() const override { return true; }

 private:
  const std::vector<Tensor> elements_;  ///< that the function cannot write to
};

/// The rule of a batch of `count` values that `rule` is of: `rule` for one element, in a program for all.
std::shared_ptr<const ir::UserRule> batched_rule(std::shared_ptr<const ir::UserRule> rule, ir::UOp node,
                                                 const Dim& count);

}  // namespace sinter::tensor
