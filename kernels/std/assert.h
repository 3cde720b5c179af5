#pragma once
#include <cuda/std/cassert>

#include "std/names.h"
