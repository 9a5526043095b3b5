// Functions of tensors, all of them. Operators and methods are in tensor.h.
#pragma once

#include "sinter/activations.h"
#include "sinter/conv.h"
#include "sinter/dropout.h"
#include "sinter/elementwise.h"
#include "sinter/indexing.h"
#include "sinter/losses.h"
#include "sinter/movement.h"
#include "sinter/normalization.h"
#include "sinter/norms.h"
#include "sinter/padding.h"
#include "sinter/pooling.h"
#include "sinter/products.h"
#include "sinter/reductions.h"
#include "sinter/resampling.h"
#include "sinter/scans.h"
#include "sinter/sorting.h"
