// Paths of modules in the traced model: "layers.0.norm".
#pragma once

#include <optional>
#include <string>

namespace solstice::importer {

// "layers.0" of "model.layers.0" in "model"; nothing where it lies elsewhere or is the same.
std::optional<std::string> relative_path(const std::string& path, const std::string& to);

}  // namespace solstice::importer
