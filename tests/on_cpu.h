// Tests that are of the CPU, whatever the default device.
#pragma once

#include "sinter/device.h"

/// Tensors are made on the CPU.
struct OnCpu {
  OnCpu() { sinter::set_default_device(sinter::Device::cpu()); }
  ~OnCpu() { sinter::set_default_device(before); }
  OnCpu(const OnCpu&) = delete;
  OnCpu& operator=(const OnCpu&) = delete;
  const sinter::Device before = sinter::default_device();
};
