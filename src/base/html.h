// Text inside HTML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace solstice {

// With `&`, `<` and `>` as entities: for text between tags, not for attributes.
std::string html_escaped(std::string_view text);

}  // namespace solstice
