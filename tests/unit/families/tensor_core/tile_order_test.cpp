// Orders of tiles that device code walks: every tile is some block's, once.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "scheduler/paired.h"
#include "scheduler/stream_k.h"
#include "scheduler/triangular.h"

namespace solstice::scheduler {
namespace {

TEST(TileOrder, PairsCoverEveryTileOnce) {
  for (int rows = 0; rows <= 10; ++rows) {
    for (int columns = 1; columns <= 7; ++columns) {
      for (const int group : {1, 3, 8}) {
        for (const bool low : {false, true}) {
          const PairedOrder order{rows, columns, group, low};
          std::set<std::pair<int, int>> found;
          for (int t = 0; t < order.count(); ++t) {
            const PairedTile tile = order(t);
            EXPECT_TRUE(found.insert({tile.m, tile.n}).second);
            EXPECT_EQ(tile.along_n, tile.m == rows);
            const bool two = tile.along_n && tile.n + 1 < columns;
            EXPECT_TRUE(!two || found.insert({tile.m, tile.n + 1}).second);
          }
          EXPECT_EQ(static_cast<int>(found.size()), (rows + low) * columns);
          EXPECT_TRUE(std::all_of(found.begin(), found.end(),
                                  [&](const auto& t) { return t.first < rows + low && t.second < columns; }));
        }
      }
    }
  }
}

TEST(TileOrder, TilesOfAHalfPlaneComeFirstAndAllComeOnce) {
  for (const auto& [m, n, base] : {std::tuple{1, -1, 0},
                                   {-1, 1, 5},
                                   {0, 3, -100},
                                   {2, 1, -70},
                                   {-3, -1, 90},
                                   {-1, 0, 33},
                                   {1, 1, 0},
                                   {0, 1, -999}}) {
    const HalfPlane plane{m, n, base};
    constexpr int kRows = 16, kColumns = 8;  // of a tile
    for (const auto& [rows, columns, group, step] :
         {std::tuple{7, 11, 3, 4}, {1, 1, 8, 3}, {10, 6, 4, 1}, {5, 9, 8, 70}}) {
      const RasterOrder order{rows, columns, group};
      std::vector<std::pair<TileIndex, bool>> found(static_cast<size_t>(2 * rows * columns));
      std::set<std::tuple<int, int, int>> tiles;
      const int turns = step;  // a lambda cannot capture a binding
      for (int first = 0; first < turns; ++first) {
        int at = first;
        const Worker worker{order, kRows, kColumns, 2, 1, first, static_cast<u32>(turns)};
        const Triangular tiles_of{worker, plane.in_tiles(kRows, kColumns)};
        tiles_of.for_each([&](const WorkTile& t) {
          EXPECT_TRUE(tiles.insert({t.batch, t.m, t.n}).second);
          ASSERT_LT(at, static_cast<int>(found.size()));
          found[static_cast<size_t>(at)] = {{t.batch, t.m, t.n}, t.last > 0};
          at += turns;
        });
      }
      EXPECT_EQ(static_cast<int>(tiles.size()), 2 * rows * columns);
      for (size_t i = 0; i < found.size(); ++i) {
        const auto& [t, has] = found[i];
        bool any = false;
        for (int r = 0; r < kRows * kColumns; ++r)
          any |= m * (t.m * kRows + r / kColumns) + n * (t.n * kColumns + r % kColumns) + base >= 0;
        EXPECT_EQ(has, any) << t.m << "," << t.n;
        EXPECT_TRUE(i == 0 || has <= found[i - 1].second);
        EXPECT_TRUE(t.m < rows && t.n < columns);
      }
    }
  }
}

// All that the workers do, in order.
std::vector<std::vector<StreamKShare>> walked(const StreamKTiles& shared, int stages, int step) {
  std::vector<std::vector<StreamKShare>> out(static_cast<size_t>(step));
  for (int worker = 0; worker < step; ++worker) {
    StreamKWalk walk(shared, stages, worker, step);
    for (StreamKShare share; walk.next(share);) out[static_cast<size_t>(worker)].push_back(share);
  }
  return out;
}

void expect_right(const StreamKTiles& shared, int stages, int step) {
  const auto work = walked(shared, stages, step);
  std::map<int, std::vector<std::pair<int, int>>> pieces;  // of a tile
  std::vector<int> hands(static_cast<size_t>(step), -1);   // the tile that a worker hands on
  for (int w = 0; w < step; ++w) {
    bool finished_shared = false;
    for (const StreamKShare& share : work[static_cast<size_t>(w)]) {
      EXPECT_LT(share.first, share.last);
      pieces[share.tile].emplace_back(share.first, share.last);
      if (share.partial) {
        EXPECT_EQ(hands[static_cast<size_t>(w)], -1);  // one place a worker
        EXPECT_FALSE(finished_shared);                 // before it waits for others
        hands[static_cast<size_t>(w)] = share.tile;
      }
      finished_shared |= share.tile >= shared.whole && !share.partial;
    }
  }
  ASSERT_EQ(static_cast<int>(pieces.size()), shared.whole + shared.tiles);
  for (auto& [tile, of] : pieces) {
    std::sort(of.begin(), of.end());
    EXPECT_EQ(of.front().first, 0);
    EXPECT_EQ(of.back().second, stages);
    for (size_t i = 1; i < of.size(); ++i) EXPECT_EQ(of[i].first, of[i - 1].second);
  }
  for (int w = 0; w < step; ++w) {
    for (const StreamKShare& share : work[static_cast<size_t>(w)]) {
      if (share.partial) continue;
      EXPECT_EQ(static_cast<int>(pieces[share.tile].size()), w - share.from + 1);
      for (int c = share.from; c < w; ++c) EXPECT_EQ(hands[static_cast<size_t>(c)], share.tile);
    }
  }
}

TEST(StreamK, EveryStageIsOneWorkersAndWaitsLeadDownwards) {
  for (const int stages : {5, 8, 16, 65, 179}) {
    for (const int step : {1, 3, 16, 66}) {
      for (const int tiles : {1, 2, step - 1, step, step + 1, 2 * step - 1}) {
        if (tiles < 1) continue;
        const int most = std::min(step, tiles * stages);
        for (const int workers : {1, most / 2, most}) {
          if (workers < 1) continue;
          for (const int rounds : {0, 1, 3}) expect_right({rounds * step, tiles, workers}, stages, step);
        }
      }
    }
  }
}

// As grouped products have them: no whole tiles, and chunks of k for stages.
TEST(StreamK, FewTilesOfFewStagesAreSharedByAnyNumberOfWorkers) {
  for (int tiles = 1; tiles <= 20; ++tiles) {
    for (int chunks = 1; chunks <= 17; ++chunks) {
      for (int workers = tiles; workers <= std::min(33, tiles * chunks); ++workers)
        expect_right({0, tiles, workers}, chunks, workers);
    }
  }
}

}  // namespace
}  // namespace solstice::scheduler
