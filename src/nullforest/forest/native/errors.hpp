// The refusal of an input; Python sees it as nullforest.InputError.
#pragma once
#include <stdexcept>
#include <string>

namespace nullforest {

struct InputError : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

inline void require(bool holds, const std::string& otherwise) {
    if (!holds) throw InputError(otherwise);
}

}  // namespace nullforest
