// A vector that needs no heap memory while it is short.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

namespace sinter::inline v0 {

/// Like std::vector, which it converts from and to, for trivially copyable elements. Up to N of them are stored in the
/// object itself. Sizes, axes and sources are few, and a program makes many lists of them.
template <class T, uint32_t N>
class InlineVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  using value_type = T;             ///< as std::vector's
  using iterator = T*;              ///< the same
  using const_iterator = const T*;  ///< the same

  InlineVector() = default;                                                                ///< no elements
  InlineVector(std::initializer_list<T> list) : InlineVector(list.begin(), list.end()) {}  ///< these
  explicit InlineVector(size_t count) { resize(count); }                                   ///< T(), `count` times
  InlineVector(size_t count, T value) { std::fill_n(grow(count), count, value); }          ///< `value`, `count` times
  InlineVector(const std::vector<T>& list) : InlineVector(list.begin(), list.end()) {}  ///< the same elements  NOLINT
  /// A range of values that convert to T.
  template <std::input_iterator It>
  InlineVector(It first, It last) : InlineVector() {
    if constexpr (std::forward_iterator<It>) {
      for (T* to = grow(static_cast<size_t>(std::distance(first, last))); first != last; ++first, ++to)
        *to = static_cast<T>(*first);
    } else {
      insert(end(), first, last);
    }
  }

  InlineVector(const InlineVector& other) { copy(other); }      ///< the same elements
  InlineVector(InlineVector&& other) noexcept { take(other); }  ///< leaves none in `other`
  InlineVector& operator=(const InlineVector& other) {          ///< the same elements
    if (this != &other) *this = InlineVector(other);
    return *this;
  }
  InlineVector& operator=(InlineVector&& other) noexcept {  ///< leaves none in `other`
    if (this == &other) return *this;
    drop();
    take(other);
    return *this;
  }
  ~InlineVector() { drop(); }

  operator std::vector<T>() const { return {begin(), end()}; }  ///< the same elements  NOLINT

  size_t size() const { return size_; }                     ///< number of elements
  bool empty() const { return size_ == 0; }                 ///< whether there are none
  T* data() { return data_; }                               ///< the first
  const T* data() const { return data_; }                   ///< the same
  T* begin() { return data_; }                              ///< the first
  const T* begin() const { return data_; }                  ///< the same
  T* end() { return data_ + size_; }                        ///< after the last
  const T* end() const { return data_ + size_; }            ///< the same
  T& operator[](size_t i) { return data_[i]; }              ///< element i
  const T& operator[](size_t i) const { return data_[i]; }  ///< the same
  T& front() { return data_[0]; }                           ///< the first
  const T& front() const { return data_[0]; }               ///< the same
  T& back() { return data_[size_ - 1]; }                    ///< the last
  const T& back() const { return data_[size_ - 1]; }        ///< the same

  void push_back(T value) { *grow(1) = value; }  ///< one more
  void pop_back() { --size_; }                   ///< without the last
  void clear() { size_ = 0; }                    ///< none
  void reserve(size_t count) {
    if (count > capacity_) move_to(count);
  }  ///< reserves capacity
  /// Sets the size; new elements are T().
  void resize(size_t count)
    requires std::default_initializable<T>
  {
    if (const size_t before = size_; count > before) std::fill_n(grow(count - before), count - before, T());
    size_ = static_cast<uint32_t>(count);
  }
  /// Inserts an element before `at`; returns its position.
  T* insert(const T* at, T value) { return insert(at, &value, &value + 1); }
  /// Inserts a range, which is not part of this, before `at`; returns the position of its first element.
  template <std::input_iterator It>
  T* insert(const T* at, It first, It last) {
    const auto place = at - begin();
    if constexpr (std::forward_iterator<It>) {
      const auto count = std::distance(first, last);
      T* const old_end = grow(static_cast<size_t>(count));
      std::move_backward(begin() + place, old_end, end());
      for (T* to = begin() + place; first != last; ++first, ++to) *to = static_cast<T>(*first);
    } else {
      for (T* to = begin() + place; first != last; ++first) to = insert(to, static_cast<T>(*first)) + 1;
    }
    return begin() + place;
  }
  /// Erases one element; returns the position of the next one.
  T* erase(const T* at) { return erase(at, at + 1); }
  /// Erases a range; returns the position of the next element.
  T* erase(const T* first, const T* last) {
    T* const to = begin() + (first - begin());
    size_ = static_cast<uint32_t>(std::move(begin() + (last - begin()), end(), to) - begin());
    return to;
  }

  /// Whether all elements are equal.
  friend bool operator==(const InlineVector& a, const InlineVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  /// The same.
  friend bool operator==(const InlineVector& a, const std::vector<T>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  T* own() { return reinterpret_cast<T*>(bytes_); }
  bool inside() const { return data_ == reinterpret_cast<const T*>(bytes_); }
  void drop() {
    if (!inside()) ::operator delete(static_cast<void*>(data_), std::align_val_t(alignof(T)));
  }
  /// For a vector that has no elements yet.
  void copy(const InlineVector& other) {
    reserve(other.size_);
    size_ = other.size_;
    if (other.inside())
      std::memcpy(bytes_, other.bytes_, sizeof bytes_);  // all of it: a constant size compiles better
    else
      std::ranges::copy(other, data_);
  }
  void take(InlineVector& other) {
    size_ = other.size_;
    if (other.inside()) {
      data_ = own();
      capacity_ = N;
      std::memcpy(bytes_, other.bytes_, sizeof bytes_);
    } else {
      data_ = other.data_;
      capacity_ = other.capacity_;
      other.data_ = other.own();
      other.capacity_ = N;
    }
    other.size_ = 0;
  }
  /// Appends `count` uninitialized elements, which the caller writes; returns the first of them.
  T* grow(size_t count) {
    if (size_ + count > capacity_) move_to(std::max<size_t>(size_ + count, 2 * size_t{capacity_}));
    T* const first = data_ + size_;
    size_ += static_cast<uint32_t>(count);
    return first;
  }
  void move_to(size_t capacity) {
    T* const memory = static_cast<T*>(::operator new(capacity * sizeof(T), std::align_val_t(alignof(T))));
    std::copy(begin(), end(), memory);
    drop();
    data_ = memory;
    capacity_ = static_cast<uint32_t>(capacity);
  }

  T* data_ = own();
  uint32_t size_ = 0, capacity_ = N;
  alignas(T) std::byte bytes_[N * sizeof(T)];
};

}  // namespace sinter::inline v0
