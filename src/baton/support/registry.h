#pragma once
// Thread-safe registries: Python users register passes, pattern tables and code generators at any time, also
// while another thread builds.
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace baton {

/// A map from keys to values. Thread safe; no callbacks run under the lock, except `may_replace` of set_if.
/// Values are returned reference counted: one in use survives replacement or removal.
template <class T, class Key = std::string>
class Registry {
 public:
  using Value = std::shared_ptr<const T>;

  /// Adds a value. False, without effect, when the key exists.
  bool add(const Key& key, T value) {
    return set_if(key, std::move(value), [](const T&) { return false; });
  }

  /// Adds or replaces a value.
  void set(const Key& key, T value) {
    set_if(key, std::move(value), [](const T&) { return true; });
  }

  /// Adds a value; replaces an existing one only if `may_replace(existing)`. Returns whether it was set.
  template <class MayReplace>
  bool set_if(const Key& key, T value, MayReplace&& may_replace) {
    Value made = std::make_shared<const T>(
        std::move(value));  // destroyed after the lock is released: it may be a Python object
    const std::lock_guard lock(mutex_);
    const auto at = values_.find(key);
    if (at == values_.end()) {
      values_.emplace(key, std::move(made));
      return true;
    }
    if (!may_replace(*at->second)) return false;
    at->second.swap(made);
    return true;
  }

  void remove(const Key& key) {
    Value old;
    const std::lock_guard lock(mutex_);
    const auto at = values_.find(key);
    if (at == values_.end()) return;
    old.swap(at->second);
    values_.erase(at);
  }

  /// Null when absent.
  template <class K>
  Value find(const K& key) const {
    const std::lock_guard lock(mutex_);
    const auto at = values_.find(key);
    return at == values_.end() ? nullptr : at->second;
  }

  /// All keys, sorted.
  std::vector<Key> keys() const {
    std::vector<Key> keys;
    const std::lock_guard lock(mutex_);
    for (const auto& [key, value] : values_) keys.push_back(key);
    return keys;
  }

  bool empty() const {
    const std::lock_guard lock(mutex_);
    return values_.empty();
  }

 private:
  mutable std::mutex mutex_;
  std::map<Key, Value, std::less<>> values_;
};

}  // namespace baton
