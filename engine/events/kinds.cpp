#include "events/kinds.h"

#include <utility>

namespace tidemark::events {

Kinds Kinds::named(std::string_view name) noexcept {
  Kinds kinds;
  [&]<size_t... I>(std::index_sequence<I...>) {
    ((std::variant_alternative_t<I, Payload>::kName == name ? kinds.add(I) : void()), ...);
  }(std::make_index_sequence<kKindCount>());
  return kinds;
}

}  // namespace tidemark::events
