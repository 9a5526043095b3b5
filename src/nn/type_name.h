// Names of C++ types, for people.
#pragma once

#include <string>
#include <typeinfo>

namespace sinter::inline v0::nn {

/// As it is written in C++, with namespaces: "sinter::v0::nn::Linear".
std::string full_name(const std::type_info& type);
/// Without namespaces and arguments: "Linear".
std::string short_name(const std::type_info& type);

}  // namespace sinter::inline v0::nn
