// The passes in order; each file opens with its rule and why it holds.
#pragma once

#include "ir/normal/form.h"

namespace solstice::ir::normal {

void expand(Form& form);
void hoist(Form& form);
void split_radix(Form& form);
void solve(Form& form);
void absorb(Form& form);
void pieces(Form& form);
void algebra(Form& form);
void name(Form& form);

}  // namespace solstice::ir::normal
