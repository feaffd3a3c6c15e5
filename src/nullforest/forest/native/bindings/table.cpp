// Bindings of rank tables and of the matrices that they rank.
#include "bindings/door.hpp"

namespace nullforest {

HeldMatrix::HeldMatrix(const nb::object& given, std::size_t n_samples) {
    matrix.n_samples = n_samples;
    if (given.is_none()) return;
    nb::dlpack::dtype dtype;
    if (nb::isinstance<nb::tuple>(given) && nb::len(given) == 3) {
        const nb::object stored = given[0];
        require(nb::try_cast(stored, values, false), "The stored values of X must be contiguous.");
        samples = take<std::int32_t>(given[1], "The samples of the stored values", {values.size()});
        starts = take<std::int64_t>(given[2], "The starts of the columns", {kAny});
        dtype = values.dtype();
        matrix.data = static_cast<const char*>(values.data());
        matrix.n_features = starts.size() - 1;
        matrix.stored_sample = samples.data();
        matrix.column_start = starts.data();
        const std::int64_t* start = starts.data();
        const auto size = static_cast<std::int64_t>(values.size());
        bool sorted = starts.size() > 0 && start[0] == 0;
        for (std::size_t f = 0; sorted && f < matrix.n_features; ++f) {
            sorted = start[f] <= start[f + 1] && start[f + 1] <= size;
            for (std::int64_t i = start[f], last = -1; sorted && i < start[f + 1]; ++i) {
                const std::int64_t s = samples.data()[i];
                sorted = s > last && s < static_cast<std::int64_t>(n_samples);
                last = s;
            }
        }
        require(sorted, "The samples of each sparse column of X must ascend within its samples.");
    } else {
        require(nb::try_cast(given, x, false), "X must be a matrix of float32 or float64.");
        dtype = x.dtype();
        const std::ptrdiff_t size = dtype.bits / 8;
        matrix.data = static_cast<const char*>(x.data());
        matrix.row_stride = x.stride(0) * size;
        matrix.column_stride = x.stride(1) * size;
        matrix.n_samples = x.shape(0);
        matrix.n_features = x.shape(1);
    }
    matrix.is_double = dtype == nb::dtype<double>();
    require(matrix.is_double || dtype == nb::dtype<float>(), "X must hold float32 or float64.");
    require(reinterpret_cast<std::uintptr_t>(matrix.data) % (dtype.bits / 8) == 0,
            "The values of X must be aligned to their size.");
}

// Up to 2^22 samples exact arithmetic fits its integers; features are numbered in 31 bits.
static void require_size(std::size_t n_samples, std::size_t n_features) {
    require(n_samples >= 2 && n_samples <= (1u << 22) && n_features >= 1 && n_features < (1u << 31),
            "A rank table takes 2 to 4194304 samples and up to 2147483647 features.");
}

static void rank(PyRankTable* self, const nb::object& array, std::size_t n_threads,
                 std::size_t first_feature, std::uint32_t bins) {
    require(bins == 0 || (bins >= 2 && bins <= RankTable::kCodes), "bins must be 2 to 256, or 0.");
    HeldMatrix x(array, 0);
    require(x.matrix.data && !x.matrix.column_start, "X must be a matrix of float32 or float64.");
    require_size(x.matrix.n_samples, x.matrix.n_features);
    require(bins == 0 || x.matrix.n_samples > RankLayout::kFewSamples,
            "Only tables of more than 512 samples have bins.");
    auto table = unlocked([&] {
        return std::make_unique<RankTable>(x.matrix, n_threads, check_signals, first_feature,
                                           bins);
    });
    new (self) PyRankTable{std::move(x), {}, {}, {}, {}, std::move(table)};
}

// A finished table whose arrays lie in a file or in memory that others share; see `arrays`. Those
// in memory are verified at once, mapped files by `verify`.
static void attach(PyRankTable* self, const nb::object& values, std::size_t n_samples,
                   const Input<std::uint8_t>& block, const Input<std::uint64_t>& differs,
                   const Input<std::uint32_t>& n_known, const Input<std::uint8_t>& flags,
                   std::uint64_t fingerprint, std::size_t most_resident, std::size_t value_bytes) {
    HeldMatrix x(values, n_samples);
    const std::size_t F = n_known.size();
    require_size(n_samples, F);
    if (!x.matrix.given()) x.matrix.n_features = F;
    require(x.matrix.n_samples == n_samples && x.matrix.n_features == F,
            "the values of X are not those of a rank table of this shape");
    require(value_bytes == 0 || (x.x.is_valid() && value_bytes <= x.x.nbytes()),
            "the values of X are shorter than their file");
    const RankLayout layout(n_samples);
    require(block.size() == F * layout.stride + RankLayout::kSlack &&
                differs.size() == F * layout.n_words && flags.size() == F,
            "the arrays are not those of a rank table of this shape");
    require(reinterpret_cast<std::uintptr_t>(block.data()) % 8 == 0,
            "the ranks must be aligned to 8 bytes");
    for (std::size_t f = 0; f < F; ++f) {
        const bool missing = n_known.data()[f] < n_samples;
        if (n_known.data()[f] > n_samples || flags.data()[f] > 3 ||
            bool(flags.data()[f] & RankTable::kMissing) != missing)
            throw InputError("the missing values of column " + std::to_string(f) +
                             " do not agree with its flags");
    }
    const RankArrays arrays{block.data(), differs.data(), n_known.data(), flags.data(),
                            fingerprint,  most_resident,  value_bytes};
    auto table = std::make_unique<RankTable>(x.matrix, arrays);
    if (most_resident == 0) table->verify(check_signals);
    new (self) PyRankTable{std::move(x), block, flags, differs, n_known, std::move(table)};
}

// The table with permuted copies of its columns; `plain` and what it reads must outlive it.
static PyRankTable shadowed(const PyRankTable& plain, const Input<std::uint32_t>& rows,
                            std::size_t n_threads) {
    const RankTable& table = *plain.table;
    const std::size_t S = table.n_samples();
    require_shape(rows, "rows", {kAny, S});
    require_size(S, table.n_features() * (rows.shape(0) + 1));
    std::vector<std::uint8_t> seen;
    for (std::size_t j = 0; j < rows.shape(0); ++j) {
        seen.assign(S, 0);
        for (std::size_t i = 0; i < S; ++i) {
            const std::uint32_t row = rows.data()[j * S + i];
            require(row < S && !seen[row], "The rows of a copy must be a permutation.");
            seen[row] = 1;
        }
    }
    std::vector<std::uint32_t> all(rows.data(), rows.data() + rows.size());
    auto made = unlocked([&] {
        return std::make_unique<RankTable>(table, std::move(all), n_threads, check_signals);
    });
    return PyRankTable{plain.x, {}, {}, {}, {}, std::move(made)};
}

Column column(const RankTable& table, std::size_t number) {
    if (number >= table.n_features()) throw nb::index_error("no such column");
    const std::size_t S = table.n_samples();
    std::vector<std::uint32_t> order(S);
    table.read_order(number, order.data());
    std::vector<std::uint8_t> differs(S);
    for (std::size_t i = 0; i < S; ++i) differs[i] = table.differs(number)[i / 64] >> i % 64 & 1;
    return {to_numpy(std::move(order)), to_numpy(std::move(differs)), table.n_known(number)};
}

static auto arrays(nb::handle self) {
    const RankTable& t = *nb::cast<const PyRankTable&>(self).table;
    const std::size_t F = t.n_features();
    const auto part = [&](auto* data, std::size_t size) {
        return Array<std::remove_pointer_t<decltype(data)>>(data, {size}, self);
    };
    return std::make_tuple(part(t.order(0), F * t.stride() + RankLayout::kSlack),
                           part(t.differs(0), F * t.n_words()), part(t.known(), F),
                           part(t.flags(), F));
}

static Array<bool> varies(const PyRankTable& ranked) {
    const RankTable& t = *ranked.table;
    const std::size_t F = t.n_features();
    Zeros<bool> mask(F);
    for (std::size_t f = 0; f < F; ++f) mask[f] = t.varies(f);
    return to_numpy(std::move(mask), {F});
}

void bind_table(nb::module_& m) {
    nb::class_<PyRankTable>(m, "RankTable", "The order of the samples in every feature.")
        .def("__init__", &rank, "x"_a, "n_threads"_a, "first_feature"_a = 0,
             "bins"_a = 0)
        .def("__init__", &attach, "x"_a.none(), "n_samples"_a, "block"_a.noconvert(),
             "differs"_a.noconvert(), "n_known"_a.noconvert(), "flags"_a.noconvert(),
             "fingerprint"_a, "most_resident"_a, "value_bytes"_a)
        .def("arrays", &arrays,
             "The parts of the table, not copied: block (and 64 bytes), differs, n_known, flags.")
        .def(
            "verify",
            [](const PyRankTable& t) { unlocked([&] { t.table->verify(check_signals); }); },
            "Read every column; raise InputError where one is damaged.")
        .def("shadowed", &shadowed, "rows"_a.noconvert(), "n_threads"_a,
             "The table with copies of its columns, the rows of each permuted as a whole.")
        .def("column", [](const PyRankTable& t, std::size_t i) { return column(*t.table, i); },
             "number"_a, "Samples in order, whether each differs from the next, number known.")
        .def_prop_ro("n_samples", [](const PyRankTable& t) { return t.table->n_samples(); })
        .def_prop_ro("n_features", [](const PyRankTable& t) { return t.table->n_features(); })
        .def_prop_ro("n_varying", [](const PyRankTable& t) { return t.table->n_varying(); },
                     "Columns of more than one value (missing is one): those that can be split.")
        .def("varies", &varies, "Whether each column varies.")
        .def_prop_ro("bytes", [](const PyRankTable& t) { return t.table->bytes(); })
        .def_prop_ro("has_missing", [](const PyRankTable& t) { return t.table->has_missing(); })
        .def_prop_ro("fingerprint", [](const PyRankTable& t) { return t.table->fingerprint(); })
        .def_prop_ro("infinite_feature",
                     [](const PyRankTable& t) { return t.table->infinite_feature(); },
                     "The first feature that holds an infinite value, or -1.");
}

}  // namespace nullforest
