#pragma once
#include <cuda/std/climits>

#include "std/names.h"
