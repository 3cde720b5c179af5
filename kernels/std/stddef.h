#pragma once
#include <cuda/std/cstddef>

#include "std/names.h"
