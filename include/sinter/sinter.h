// The whole public API but for the readers of data sets (sinter/data.h).
#pragma once

#include "sinter/call.h"
#include "sinter/conv.h"
#include "sinter/create.h"
#include "sinter/debug.h"
#include "sinter/gradient.h"
#include "sinter/memory.h"
#include "sinter/nn/init.h"
#include "sinter/nn/layers.h"
#include "sinter/nn/module.h"
#include "sinter/nn/optim.h"
#include "sinter/nn/state.h"
#include "sinter/ops.h"
#include "sinter/random.h"
#include "sinter/tensor.h"
#include "sinter/version.h"
