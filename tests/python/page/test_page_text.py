"""The file itself, without a browser: self-contained, small, refused where the input is no profile."""
import json
import re

import pytest

import page_profiles
from baton._load import core

DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.S)


def page_of(profile, after=None):
    return core.profile_page(json.dumps(profile), after and json.dumps(after))


def test_it_asks_for_nothing_outside():
    text = page_of(page_profiles.small())
    code = DATA.sub("", text)
    assert not re.search(r'\b(?:src|href)\s*=|@import|url\(|import\s*\(|fetch\(|XMLHttpRequest', code)
    assert re.findall(r"https?://[^\"' )]+", code) == ["http://www.w3.org/2000/svg"]


def test_data_comes_back_as_it_was_given_but_for_what_says_nothing():
    profile = page_profiles.small()
    profile["operators"][0]["attrs"] = {"out_layout": "", "pads": [], "scale": 0.123456789}
    [held] = json.loads(DATA.search(page_of(profile)).group(1))
    assert [each["op"] for each in held["operators"]] == [each["op"] for each in profile["operators"]]
    assert held["operators"][0]["attrs"] == profile["operators"][0]["attrs"]  # there "" and [] are values
    assert "source" not in held["operators"][0] and "retired" not in held["operators"][0]
    assert held["kernels"][0]["median_us"] == pytest.approx(profile["kernels"][0]["median_us"], rel=1e-4)
    assert len(held["kernels"][0]["samples"]) == 30


def test_many_samples_are_thinned_out():
    profile = page_profiles.small()
    profile["kernels"][0]["samples"] = [float(i) for i in range(100_000)]
    [held] = json.loads(DATA.search(page_of(profile)).group(1))
    samples = held["kernels"][0]["samples"]
    assert len(samples) == 64 and samples[0] == 0 and samples[-1] == pytest.approx(99999, rel=1e-4) and samples == sorted(samples)


def test_three_thousand_operators_stay_below_ten_megabytes():
    text = page_of(page_profiles.net(3000))
    assert len(text.encode()) < 10_000_000
    after = page_of(page_profiles.net(3000), page_profiles.changed(page_profiles.net(3000)))
    assert len(after.encode()) < 10_000_000


def test_a_difference_holds_both():
    before = page_profiles.small()
    text = page_of(before, page_profiles.changed(before))
    assert len(json.loads(DATA.search(text).group(1))) == 2
    assert "<title>small: difference of two Baton profiles</title>" in text


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"schema": 9, "operators": [], "kernels": []}'])
def test_what_is_no_profile_is_refused(text):
    with pytest.raises(Exception, match="profile"):
        core.profile_page(text)
    with pytest.raises(Exception, match="the second profile"):
        core.profile_page(json.dumps(page_profiles.small()), text)
