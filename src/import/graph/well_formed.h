// Well-formedness of a graph that another process wrote: everything that the importer relies on.
#pragma once

#include "base/result.h"
#include "record/graph.h"

namespace solstice::importer {

// Error bad_record where a tensor has other strides than extents, a negative extent, or more elements than 2^62.
Status well_formed(const Graph& graph);

}  // namespace solstice::importer
