// The module `nullforest._native`.
#include "bindings/door.hpp"
#include "kernels/searches.hpp"
#include "random/keyed_random.hpp"

namespace nullforest {

static std::vector<std::uint32_t> shuffle(std::uint32_t n, std::uint64_t key, std::uint32_t count) {
    require(count <= n, "A permutation has no more values than its size.");
    const ShuffleShape shape(n);
    std::vector<std::uint32_t> out(count);
    Shuffle(shape, key).next(count, out.data());
    return out;
}

NB_MODULE(_native, m) {
    nb::set_leak_warnings(false);  // static type objects outlive the interpreter in subinterpreters
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const InputError& error) {
            const nb::object type =
                nb::module_::import_("nullforest._util.errors").attr("InputError");
            PyErr_SetString(type.ptr(), error.what());
        }
    });
    bind_table(m);
    bind_probes(m);
    bind_forest(m);
    m.def("shuffle", &shuffle, "n"_a, "key"_a, "count"_a,
          "First values of the keyed permutation of 0..n-1 (see keyed_random.hpp).");
    m.def("tree_key", &tree_key, "seed"_a, "tree"_a, "Key of a tree's random numbers.");
    m.def("isa", [] { return isa_name(chosen_isa()); }, "Instruction set that forests use now.");
}

}  // namespace nullforest
