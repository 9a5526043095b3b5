// The working state of the partition, shared by its three parts: the visit (partition.cpp), the prices of joining
// (absorb.cpp) and the union of kernels (merge.cpp). Nothing else includes it.
#pragma once

#include <vector>

#include "schedule/partition.h"

namespace sinter::schedule {

/// What it costs to evaluate a stage inside a kernel, and in which form.
struct Absorb {
  double ns;
  const char* how;
};

class Partitioner {
 public:
  Partitioner(StageGraph graph, const Prices& prices, Policy policy);
  Partition run();

 private:
  struct Options {
    double inline_price, join_price, split_price;
    int host = -1;               // the kernel of the join
    std::vector<Absorb> absorb;  // per needing kernel
  };

  // partition.cpp
  std::vector<int> visiting_order() const;
  void visit(int s);
  Options price(int s, const std::vector<int>& kernels, const std::vector<int>& hazards, bool forced);
  void do_inline(int s, const std::vector<int>& kernels, const std::vector<int>& hazards, const Options& options);
  void do_join(int s, const std::vector<int>& kernels, const std::vector<int>& hazards, const Options& options);
  void do_split(int s, const std::vector<int>& kernels, const std::vector<int>& hazards, const Options& options);
  void evaluate(int kernel, int s, std::vector<IndexId> at, double ns);
  void push(int kernel, int s, IndexId at);
  void want(int kernel, const Source& source, IndexId at);
  void record(int s, int kernel, IndexId at, Choice choice, const Options& options, const char* reason);
  std::vector<int> roots(const std::vector<int>& kernels) const;
  void normalise(std::vector<IndexId>& indices);
  Partition finish();

  // levels
  bool level_fits(int kernel, const std::vector<int>& users, const std::vector<int>& hazards) const;
  bool levels_fit(const std::vector<int>& kernels, const std::vector<int>& hazards) const;
  void lift(int kernel, const std::vector<int>& users, const std::vector<int>& hazards);
  bool exact_where_stored(int kernel, int s, const std::vector<IndexId>& at);

  // absorb.cpp
  Absorb absorb(int kernel, int s, const std::vector<IndexId>& at);
  bool fits(const Kernel& k, int s, bool stores) const;
  bool aligned(const Kernel& k, const Stage& s, IndexId at);
  double reads_of(const Stage& s, const Kernel* k) const;

  // merge.cpp
  struct Pairing {
    std::vector<std::pair<int, int>> axes;  // of the first kernel, of the second
  };
  void merge_users(int s, std::vector<int>& kernels);
  void merge_readers();
  bool can_merge(int a, int b, int s, Pairing& pairing);
  void merge(int a, int b, const Pairing& pairing);

  int find(int kernel) const;
  Kernel& at(int kernel) { return kernels_[static_cast<size_t>(kernel)]; }
  const Kernel& at(int kernel) const { return kernels_[static_cast<size_t>(kernel)]; }
  Stage& stage(int s) { return graph_.stages[static_cast<size_t>(s)]; }
  const Stage& stage(int s) const { return graph_.stages[static_cast<size_t>(s)]; }
  std::vector<IndexId>& uses(int kernel, int s);
  int64_t points(const std::vector<int>& axes) const;

  StageGraph graph_;
  const Prices& prices_;
  Policy policy_;
  IndexSpace space_;
  mutable std::vector<Kernel> kernels_;  // find() shortens paths
  std::vector<std::vector<int>> users_;  // per stage: kernels that need it, once each but for merges
  std::vector<int> stored_by_;           // per stage
  std::vector<Decision> decisions_;
};

}  // namespace sinter::schedule
