#pragma once
// What is registered by name while others look it up: users of Python register passes, tables of patterns and
// code generators at any time, also while another thread builds.
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace baton {

/// A table of values. Thread safe; no function calls back while it holds the lock, except `may_replace` of
/// set_if. Values are handed out counted: one that was found stays whole when it is replaced or removed
/// meanwhile.
template <class T, class Key = std::string>
class Registry {
 public:
  using Value = std::shared_ptr<const T>;

  /// Adds a value. False when there is one under that key, which stays.
  bool add(const Key& key, T value) {
    return set_if(key, std::move(value), [](const T&) { return false; });
  }

  /// Adds a value, or puts it in the place of the one that is there.
  void set(const Key& key, T value) {
    set_if(key, std::move(value), [](const T&) { return true; });
  }

  /// Adds a value; in the place of another one only where `may_replace(other)`. Whether it did.
  template <class MayReplace>
  bool set_if(const Key& key, T value, MayReplace&& may_replace) {
    Value made = std::make_shared<const T>(std::move(value));  // ends without the lock: it may be Python's
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

  /// Null when there is none.
  template <class K>
  Value find(const K& key) const {
    const std::lock_guard lock(mutex_);
    const auto at = values_.find(key);
    return at == values_.end() ? nullptr : at->second;
  }

  /// In order.
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
