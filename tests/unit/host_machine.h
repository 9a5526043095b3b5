// Another machine in place of the host.
#pragma once

#include <utility>

#include "runtime/program/host_target.h"

/// Plans and kernels inside this scope are for `target`, which the host must be able to run.
class HostMachine {
 public:
  explicit HostMachine(sinter::runtime::Target target) : target_(std::move(target)) {
    sinter::runtime::set_host_target(&target_);
  }
  ~HostMachine() { sinter::runtime::set_host_target(nullptr); }
  HostMachine(const HostMachine&) = delete;
  HostMachine& operator=(const HostMachine&) = delete;

 private:
  sinter::runtime::Target target_;
};
