#pragma once
#include <cuda/std/cmath>

#include "std/names.h"
