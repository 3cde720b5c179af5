// `solstice list providers` and `list models`.
#pragma once

#include "base/result.h"

namespace solstice::cli {

void list_controllers(bool json);
void list_providers(bool json);
Status list_models(bool json);

}  // namespace solstice::cli
