#include "baton/ir/origin.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>

#include "baton/support/error.h"
#include "baton/support/node_list.h"

namespace baton {

namespace {

std::atomic<uint64_t> next_serial{1};

using Origins = std::vector<Ref<const Origin>>;

void sort_unique(Origins& origins) {
  std::sort(origins.begin(), origins.end(),
            [](const auto& a, const auto& b) { return a->serial() < b->serial(); });
  origins.erase(std::unique(origins.begin(), origins.end()), origins.end());
}

void append(Origins& to, std::span<const Origin* const> from) {
  for (const Origin* origin : from) to.emplace_back(Ref<const Origin>(origin));
}

// Programs have few distinct operators and many calls, so names are interned and never freed.
const std::string* kept_name(const std::string& name) {
  static std::mutex mutex;
  static std::set<std::string> names;
  thread_local const std::string* last = nullptr;
  if (last && *last == name) return last;
  const std::lock_guard lock(mutex);
  return last = &*names.insert(name).first;
}

}  // namespace

Ref<const OriginPlace> PlaceTable::place(std::string_view module, SourceLine line) {
  if (module.empty() && !line) return {};
  Ref<const OriginPlace>& known = known_[{std::string(module), line}];
  if (!known) known = make_ref<const OriginPlace>(std::string(module), std::move(line));
  return known;
}

std::string joined_path(std::string_view outer, std::string_view inner) {
  std::string path(outer);
  if (!outer.empty() && !inner.empty()) path += '/';
  return path.append(inner);
}

Origin::Origin(const std::string& op, Attrs attrs, Span span, std::string source_name,
               Ref<const OriginPlace> place)
    : OriginRep(false),
      op_(kept_name(op)),
      source_name_(source_name.empty() ? nullptr
                                       : std::make_unique<const std::string>(std::move(source_name))),
      attrs_(std::move(attrs)),
      span_(std::move(span)),
      serial_(next_serial++),
      place_(std::move(place)) {}

Ref<const Origin> Origin::create(std::string op, Attrs attrs, Span span, std::string source_name,
                                 Ref<const OriginPlace> place) {
  return make_ref<const Origin>(op, std::move(attrs), std::move(span), std::move(source_name),
                                std::move(place));
}

const std::string& Origin::source_name() const {
  static const std::string none;
  return source_name_ ? *source_name_ : none;
}

// A representation for more than one origin, or for causes; holds a reference to each.
struct OriginSet::Many final : OriginRep {
  struct Reasons {
    std::vector<std::string> each;
    std::string text;
  };
  Many(const Origins& origins, const Origins& causes) : OriginRep(true), count(origins.size()) {
    std::vector<const Origin*> all;
    all.reserve(origins.size() + causes.size());
    for (const Origins* part : {&origins, &causes})
      for (const auto& origin : *part) all.push_back(Ref<const Origin>(origin).detach());
    list = std::move(all);
  }
  ~Many() override {
    for (const Origin* origin : list) origin->release();
  }
  std::span<const Origin* const> origins() const { return {list.data(), count}; }
  std::span<const Origin* const> causes() const { return {list.data() + count, list.size() - count}; }

  NodeList<const Origin*> list;  // origins, then causes
  size_t count;                  // of origins
  std::unique_ptr<const Reasons> reasons;
};

const OriginSet::Many* OriginSet::many() const {
  return rep_ && rep_->many_ ? static_cast<const Many*>(rep_.get()) : nullptr;
}

OriginSet OriginSet::of(const Ref<const Origin>& origin) {
  BATON_CHECK(origin, "an origin set of no origin");
  return OriginSet(Ref<const OriginRep>(origin));
}

OriginSet OriginSet::build(Origins origins, Origins causes, std::vector<std::string> reasons) {
  sort_unique(origins);
  sort_unique(causes);
  std::erase_if(causes, [&](const auto& cause) {
    return std::binary_search(origins.begin(), origins.end(), cause,
                              [](const auto& a, const auto& b) { return a->serial() < b->serial(); });
  });
  std::sort(reasons.begin(), reasons.end());
  reasons.erase(std::unique(reasons.begin(), reasons.end()), reasons.end());
  if (origins.empty() && causes.empty() && reasons.empty()) return none();
  if (origins.size() == 1 && causes.empty() && reasons.empty()) return of(origins[0]);
  auto many = make_ref<Many>(origins, causes);
  if (!reasons.empty()) {
    auto joined = std::make_unique<Many::Reasons>();
    for (const auto& reason : reasons) joined->text += (joined->text.empty() ? "" : "; ") + reason;
    joined->each = std::move(reasons);
    many->reasons = std::move(joined);
  }
  return OriginSet(Ref<const OriginRep>(many));
}

OriginSet OriginSet::made_for(const OriginSet& causes, std::string_view reason) {
  BATON_CHECK(!reason.empty(), "made_for without a reason");
  BATON_CHECK(!causes.empty(), "made_for without a cause: " + std::string(reason));
  Origins list;
  append(list, causes.origins());
  append(list, causes.causes());
  return build({}, std::move(list), {std::string(reason)});
}

OriginSet OriginSet::merge(const OriginSet& other) const {
  if (other.empty() || rep_ == other.rep_) return *this;
  if (empty()) return other;
  const OriginSet both[] = {*this, other};
  return merge_all(both);
}

OriginSet OriginSet::merge_all(std::span<const OriginSet> sets) {
  if (sets.size() == 1) return sets[0];
  Origins all, because;
  std::vector<std::string> reasons;
  for (const OriginSet& set : sets) {
    append(all, set.origins());
    append(because, set.causes());
    const Many* many = set.many();
    if (many && many->reasons)
      reasons.insert(reasons.end(), many->reasons->each.begin(), many->reasons->each.end());
  }
  return build(std::move(all), std::move(because), std::move(reasons));
}

std::span<const Origin* const> OriginSet::origins() const {
  if (!rep_) return {};
  if (const Many* set = many()) return set->origins();
  return {&static_cast<const Origin*>(rep_.get())->self_, 1};
}

std::span<const Origin* const> OriginSet::causes() const {
  if (const Many* set = many()) return set->causes();
  return {};
}

std::string_view OriginSet::reason() const {
  const Many* set = many();
  return set && set->reasons ? std::string_view(set->reasons->text) : std::string_view();
}

bool operator==(const OriginSet& a, const OriginSet& b) {
  return a.rep_ == b.rep_ || (std::ranges::equal(a.origins(), b.origins()) &&
                              std::ranges::equal(a.causes(), b.causes()) && a.reason() == b.reason());
}

}  // namespace baton
