#include "base/process/process_tree.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "base/process/subprocess.h"

namespace solstice {
namespace {

TEST(ProcessTree, HasChildrenThatLeftTheGroup) {
  auto child = Subprocess::spawn({.argv = {"sh", "-c", "setsid sh -c 'sleep 60 & echo up; wait' & wait"}});
  ASSERT_TRUE(child.ok());
  ASSERT_TRUE(child->read_line(Deadline(Seconds(20))).ok());
  const std::vector<pid_t> found = descendants_of(child->pid());
  EXPECT_EQ(found.size(), 2u);
  for (const pid_t pid : found) EXPECT_NE(::getpgid(pid), child->pid());
  const std::vector<pid_t> ours = descendants_of(::getpid());
  for (const pid_t pid : found) EXPECT_EQ(std::count(ours.begin(), ours.end(), pid), 1);
  EXPECT_TRUE(descendants_of(found.back()).empty());
  for (const pid_t pid : found) ::kill(pid, SIGKILL);
}

}  // namespace
}  // namespace solstice
