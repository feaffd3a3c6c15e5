// Creation, supervision and joining of threads.
#include "threads/parallel.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace nullforest {

namespace {

struct Joined : std::vector<std::thread> {
    ~Joined() {
        for (std::thread& thread : *this) thread.join();
    }
};

// More threads than this gain nothing and cost memory: 4 for each core, or 16.
std::size_t most_threads() { return std::max(16u, 4 * std::thread::hardware_concurrency()); }

}  // namespace

void parallel_for(std::size_t n_tasks, std::size_t n_threads, const Poll& poll,
                  const std::function<void(Tasks&)>& work) {
    Tasks::Shared shared{n_tasks};
    std::mutex mutex;
    std::condition_variable ended;
    std::exception_ptr failure;
    std::size_t running = 0;
    const auto fail = [&] {  // with the mutex held
        shared.stop = true;
        if (!failure) failure = std::current_exception();
    };
    const auto run = [&](Pulse* pulse) {
        Tasks tasks(shared, pulse);
        try {
            work(tasks);
        } catch (...) {
            const std::lock_guard<std::mutex> lock(mutex);
            fail();
        }
        const std::lock_guard<std::mutex> lock(mutex);
        --running;
        ended.notify_all();
    };

    {
        Joined threads;
        const std::size_t count =
            std::min({std::max<std::size_t>(1, n_threads), n_tasks, most_threads()});
        threads.reserve(count);
        std::unique_lock<std::mutex> lock(mutex);  // threads that end wait until all have begun
        try {
            for (; count > 1 && running < count; ++running) threads.emplace_back(run, nullptr);
        } catch (const std::exception&) {
            // No more threads can be created (a limit of processes or of memory): fewer will do.
        }
        if (running == 0) {
            running = 1;
            lock.unlock();
            Pulse pulse(poll);
            run(&pulse);
            lock.lock();
        }
        while (!ended.wait_for(lock, kPollPeriod, [&] { return running == 0; })) {
            if (failure) continue;
            lock.unlock();
            try {
                poll();
                lock.lock();
            } catch (...) {
                lock.lock();
                fail();
            }
        }
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace nullforest
