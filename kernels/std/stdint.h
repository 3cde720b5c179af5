#pragma once
#include <cuda/std/cstdint>

#include "std/names.h"
