#include "toolchain/pool.h"

namespace solstice::toolchain {

Pool::Pool(int threads, const std::function<std::unique_ptr<Engine>()>& make_engine) {
  for (int i = 0; i < threads; ++i) engines_.push_back(make_engine());
  for (const std::unique_ptr<Engine>& engine : engines_) {
    threads_.emplace_back([this, owned = engine.get()] { serve(*owned); });
  }
}

Pool::~Pool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    queue_.clear();
  }
  for (const std::unique_ptr<Engine>& engine : engines_) engine->stop();
  wake_.notify_all();
  threads_.clear();  // joins
}

void Pool::post(Task task) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(task));
  }
  wake_.notify_one();
}

void Pool::serve(Engine& engine) {
  for (;;) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      task = std::move(queue_.front());
      queue_.pop_front();
    }
    task(engine);
  }
}

}  // namespace solstice::toolchain
