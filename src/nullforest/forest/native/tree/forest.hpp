// A forest: trees grown by threads and added strictly in tree order.
#pragma once
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <string>

#include "tree/grower.hpp"

namespace nullforest {

// An array of zeros whose pages cost nothing until they are written; most features win no node.
template <class T>
class Zeros {
public:
    Zeros() = default;
    explicit Zeros(std::size_t size) : data_(static_cast<T*>(std::calloc(size, sizeof(T)))) {
        if (!data_ && size) throw std::bad_alloc();
    }
    T& operator[](std::size_t i) { return data_.get()[i]; }
    T* data() { return data_.get(); }
    T* release() { return data_.release(); }  // to be freed with std::free
    explicit operator bool() const { return data_ != nullptr; }

private:
    struct Free {
        void operator()(T* p) const { std::free(p); }
    };
    std::unique_ptr<T, Free> data_;
};

struct ForestResult {
    std::uint32_t n_trees = 0;  // trees 0..n_trees-1 of those requested are inside
    bool stopped_early = false;
    Zeros<std::int64_t> counts;              // F
    Zeros<std::int32_t> couplings;           // F x bins
    std::vector<std::int64_t> nodes_per_tree;
    Zeros<double> importance;                // F: sum over trees of the shares of the decrease
    std::vector<double> oob_sum;             // S x n_values
    std::vector<std::int64_t> oob_trees;     // S: trees that did not see the sample
    std::vector<std::int64_t> probe_wins;       // P
    std::vector<std::int64_t> probe_couplings;  // strata x bins
    FlatTree trees;                          // one after the other; children count from the root
    std::vector<std::int64_t> offsets;       // where each tree begins; n_trees + 1 of them
    Listing listing;                         // in place of the sums, where requested
};

// `poll(done)` is called on the calling thread with the number of trees so far (see parallel.hpp).
// `max_seconds` <= 0: no limit. At least one tree is always finished.
void grow_forest(const RankTable& table, const Outcome& outcome, const Settings& settings,
                 const ProbeSet* probes, const std::vector<double>& coupling_edges,
                 std::size_t n_threads, double max_seconds,
                 const std::function<void(std::uint32_t)>& poll, ForestResult& forest);

}  // namespace nullforest
