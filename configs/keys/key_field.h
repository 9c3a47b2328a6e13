// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The fifth column of a key's row (key_table.h): the field that keeps the value, named by pointers to
// members.
//
//     field<&DimensionConfig::latency>                     of an entry of `topology.dimensions`
//     field<&Config::npu, &NpuConfig::roofline>            of the configuration, by a section
//     field_if_set<&FidelityRule::from>                    printed unless it has the value of a new object
//     custom_field<set_reduction, reduction_of>            what two functions say
//
// Private to this folder.

#ifndef WEFT_CONFIGS_KEYS_KEY_FIELD_H
#define WEFT_CONFIGS_KEYS_KEY_FIELD_H

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "configs/keys.h"

namespace weft {

/// What a field can hold.
enum class FieldKind : uint8_t { none, custom, whole, real, flag, text, rate, enumeration, texts, numbers };

struct Field {
  KeyField access{};
  FieldKind kind = FieldKind::none;
};

/// Whether a field of a kind can keep the values of a type.
constexpr bool fits(ValueType type, FieldKind kind) {
  switch (kind) {
    case FieldKind::none:
    case FieldKind::custom:
      return true;
    case FieldKind::whole:
      return type == ValueType::integer || type == ValueType::size || type == ValueType::time;
    case FieldKind::real:
      return type == ValueType::number || type == ValueType::bandwidth_value || type == ValueType::compute;
    case FieldKind::flag:
      return type == ValueType::boolean;
    case FieldKind::text:
      return type == ValueType::text || type == ValueType::path || type == ValueType::choice ||
             type == ValueType::notation || type == ValueType::implementation;
    case FieldKind::rate:
      return type == ValueType::bandwidth;
    case FieldKind::enumeration:
      return type == ValueType::choice;
    case FieldKind::texts:
      return type == ValueType::algorithms || type == ValueType::paths || type == ValueType::switches;
    case FieldKind::numbers:
      return type == ValueType::dimensions;
  }
  return false;
}

/// How many enumerators an enumeration has, from 0 without a gap; to_string() names them.
template <typename Enum>
constexpr int kEnumerators = 0;
template <>
inline constexpr int kEnumerators<CollectiveOp> = kCollectiveOps;
template <>
inline constexpr int kEnumerators<CollectiveOrder> = kCollectiveOrders;
template <>
inline constexpr int kEnumerators<CollectiveScheduling> = 3;
template <>
inline constexpr int kEnumerators<SchedulingScope> = 2;
template <>
inline constexpr int kEnumerators<RingDirection> = 2;
template <>
inline constexpr int kEnumerators<PhaseQueues> = 2;
template <>
inline constexpr int kEnumerators<DimensionScheduling> = 4;
template <>
inline constexpr int kEnumerators<LibraryKind> = 3;
template <>
inline constexpr int kEnumerators<HostCpu> = 3;
template <>
inline constexpr int kEnumerators<NetworkKind> = 2;
template <>
inline constexpr int kEnumerators<NodeLinks> = 6;
template <>
inline constexpr int kEnumerators<Fidelity> = 3;
template <>
inline constexpr int kEnumerators<Switching> = 2;
template <>
inline constexpr int kEnumerators<FlowControl> = 3;
template <>
inline constexpr int kEnumerators<FlitSwitchingKind> = 2;
template <>
inline constexpr int kEnumerators<PacketForwarding> = 2;
template <>
inline constexpr int kEnumerators<PacketInjection> = 2;
template <>
inline constexpr int kEnumerators<PoolDesign> = kPoolDesigns;
template <>
inline constexpr int kEnumerators<PoolSplit> = kPoolSplits;
template <>
inline constexpr int kEnumerators<PoolPlacement> = kPoolPlacements;

namespace key_field {

template <typename T>
struct Kept {  ///< a field of type T
  using Inner = T;
};
template <typename T>
struct Kept<std::optional<T>> {
  using Inner = T;
};

template <typename T>
constexpr FieldKind kind_of() {
  using Inner = typename Kept<T>::Inner;
  if constexpr (std::is_same_v<Inner, bool>) return FieldKind::flag;
  if constexpr (std::is_enum_v<Inner>) return FieldKind::enumeration;
  if constexpr (std::is_integral_v<Inner>) return FieldKind::whole;
  if constexpr (std::is_floating_point_v<Inner>) return FieldKind::real;
  if constexpr (std::is_same_v<Inner, Rate>) return FieldKind::rate;
  if constexpr (std::is_same_v<Inner, std::string>) return FieldKind::text;
  if constexpr (std::is_same_v<Inner, std::vector<std::string>>) return FieldKind::texts;
  if constexpr (std::is_same_v<Inner, std::vector<uint32_t>>) return FieldKind::numbers;
  return FieldKind::none;
}

/// The enumerator of a choice.
template <typename Enum>
Enum named(const std::string& name) {
  static_assert(kEnumerators<Enum> != 0, "say above how many enumerators it has");
  for (int i = 0; i < kEnumerators<Enum>; ++i)
    if (name == to_string(static_cast<Enum>(i))) return static_cast<Enum>(i);
  throw UserError(ExitCode::usage, fmt::format("unknown name '{}'", name));
}

template <typename T>
void assign(T& field, const Value& value) {
  constexpr FieldKind kind = kind_of<T>();
  if constexpr (kind == FieldKind::whole) {
    field = static_cast<typename Kept<T>::Inner>(std::get<uint64_t>(value));
  } else if constexpr (kind == FieldKind::enumeration) {
    field = named<typename Kept<T>::Inner>(std::get<std::string>(value));
  } else if constexpr (kind == FieldKind::numbers) {
    field.clear();
    for (const std::string& number : std::get<std::vector<std::string>>(value))
      field.push_back(static_cast<uint32_t>(std::stoul(number)));
  } else {
    field = std::get<typename Kept<T>::Inner>(value);
  }
}

template <typename T>
Value value_of(const T& field) {
  constexpr FieldKind kind = kind_of<T>();
  if constexpr (!std::is_same_v<T, typename Kept<T>::Inner>) {
    if (!field) return std::monostate{};
    return value_of(*field);
  } else if constexpr (kind == FieldKind::whole) {
    return static_cast<uint64_t>(field);
  } else if constexpr (kind == FieldKind::enumeration) {
    return std::string(to_string(field));
  } else if constexpr (kind == FieldKind::numbers) {
    std::vector<std::string> numbers;
    for (const uint32_t number : field) numbers.push_back(std::to_string(number));
    return numbers;
  } else {
    return field;
  }
}

template <typename Pointer>
struct Member;
template <typename Object_, typename T>
struct Member<T Object_::*> {
  using Object = Object_;
};

template <typename T>
T& present(T& section) {
  return section;
}
template <typename T>
T& present(std::optional<T>& section) {
  return *section;
}
template <typename T>
const T& present(const std::optional<T>& section) {
  return *section;
}

/// What pointers to members lead to: object.*First.*Second.
template <auto First, auto... Rest, typename Object>
auto& follow(Object& object) {
  if constexpr (sizeof...(Rest) == 0)
    return object.*First;
  else
    return follow<Rest...>(present(object.*First));
}

template <auto First, auto... Rest>
struct Access {
  using Object = typename Member<decltype(First)>::Object;
  using T = std::remove_reference_t<decltype(follow<First, Rest...>(std::declval<Object&>()))>;

  static T& in(void* object) { return follow<First, Rest...>(*static_cast<Object*>(object)); }
  static const T& in(const void* object) {
    return follow<First, Rest...>(*static_cast<const Object*>(object));
  }
  static void set(void* object, std::size_t, const Value& value) { assign(in(object), value); }
  static Value get(const void* object, std::size_t) { return value_of(in(object)); }
  static Value get_if_set(const void* object, std::size_t) {
    const Object fresh{};
    return in(object) == in(&fresh) ? Value{} : value_of(in(object));
  }
  static void set_element(void* object, std::size_t index, const Value& value) {
    assign(in(object)[index], value);
  }
  static Value get_element(const void* object, std::size_t index) { return value_of(in(object)[index]); }
};

template <typename Function>
struct Getter;
template <typename Object_>
struct Getter<Value (*)(const Object_&)> {
  using Object = Object_;
};

template <auto Set, auto Get>
struct Custom {
  using Object = typename Getter<decltype(Get)>::Object;
  static void set(void* object, std::size_t, const Value& value) {
    Set(*static_cast<Object*>(object), value);
  }
  static Value get(const void* object, std::size_t) { return Get(*static_cast<const Object*>(object)); }
};

template <typename Access>
constexpr Field make_field() {
  constexpr FieldKind kind = kind_of<typename Access::T>();
  static_assert(kind != FieldKind::none, "a field of this type needs custom_field");
  return {{&typeid(typename Access::Object), Access::set, Access::get}, kind};
}

}  // namespace key_field

template <auto... Members>
inline constexpr Field field = key_field::make_field<key_field::Access<Members...>>();

/// As `field`, but not printed while it has the value that it has in a new object.
template <auto... Members>
inline constexpr Field field_if_set = {
    {&typeid(typename key_field::Access<Members...>::Object), key_field::Access<Members...>::set,
     key_field::Access<Members...>::get_if_set},
    field<Members...>.kind};

/// As `field`, but never printed with the others.
template <auto... Members>
inline constexpr Field unprinted_field = {
    {field<Members...>.access.object, field<Members...>.access.set, nullptr}, field<Members...>.kind};

/// The element of an array that the key's index names.
template <auto... Members>
inline constexpr Field element = {
    {&typeid(typename key_field::Access<Members...>::Object), key_field::Access<Members...>::set_element,
     key_field::Access<Members...>::get_element},
    key_field::kind_of<typename key_field::Access<Members...>::T::value_type>()};

/// Two functions: void set(Object&, const Value&) and Value get(const Object&).
template <auto Set, auto Get>
inline constexpr Field custom_field = {{&typeid(typename key_field::Custom<Set, Get>::Object),
                                        key_field::Custom<Set, Get>::set, key_field::Custom<Set, Get>::get},
                                       FieldKind::custom};

/// The loader itself resolves the key.
inline constexpr Field no_field{};

}  // namespace weft

#endif
