// Names of the last axes of windows' results, outermost first; of fewer than three the last ones.
#pragma once

namespace solstice::importer {

inline constexpr const char* kOut[] = {"o", "p", "q"};
inline constexpr const char* kOutDims[] = {"O", "P", "Q"};

}  // namespace solstice::importer
