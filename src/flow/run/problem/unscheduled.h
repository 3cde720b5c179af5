// The equations of a scheduled program by themselves.
#pragma once

#include "lang/tree.h"

namespace solstice::flow {

// Without kernels and the device code that they take: their equations, views and declarations stand loose, in their
// order, also in definitions. A local ends with its kernel; one whose name is taken in the program gets the kernel's in
// front, `layer2_z`.
lang::Program unscheduled(lang::Program program);

}  // namespace solstice::flow
