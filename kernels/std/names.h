// CCCL's part of the standard library, by the names that host code uses. Given code (`by cuda`) may include
// <cstdint>, <cmath>, <limits> and so on, which the compiler of device code lacks: the files beside this one stand for
// them.
#pragma once

namespace cuda::std {}
namespace std {
using namespace cuda::std;
}
