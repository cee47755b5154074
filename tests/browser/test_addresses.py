"""Addresses with numbers that are none, in a real browser."""

import re

from playwright.sync_api import expect


def test_an_infinite_number_gives_way_and_leaves_the_address(address, open_page):
    page = open_page(f"{address}/inspection?k=inf&seed=1e999")
    expect(page.get_by_text("The address gives k = inf")).to_be_visible()
    expect(page.get_by_text("The address gives seed = 1e999")).to_be_visible()
    expect(page.get_by_text("cannot convert")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("inf|1e999"))
