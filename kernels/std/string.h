#pragma once
#include <cuda/std/cstring>

#include "std/names.h"
