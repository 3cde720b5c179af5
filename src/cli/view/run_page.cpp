#include "cli/view/run_page.h"

#include "cli/view/page.h"

namespace solstice::cli {

namespace assets {
extern const PageAssets run_page;
}  // namespace assets

std::string page_of(const RunView& view) {
  return filled_page(assets::run_page, view.run.problem + ", run " + view.run.id, json_of(view, true));
}

}  // namespace solstice::cli
