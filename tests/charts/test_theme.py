"""Colours that have to be told apart, or read."""

import numpy as np
import pytest

from core.charts.theme import DARK, LIGHT


def channels(colour):
    return np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])


def luminance(colour):
    """Relative luminance by WCAG 2.2."""
    linear = np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_the_fields_of_a_decision_are_seen_and_what_stands_on_them_is_read(palette):
    ground = channels(palette.background)
    once = [
        palette.zone * channels(c) + (1 - palette.zone) * ground
        for c in (palette.primary, palette.epistemic)
    ]
    believed = palette.zone * channels(palette.primary) + (1 - palette.zone) * once[0]
    for field in (*once, believed):
        assert contrast(channels(palette.text), field) > 4.5
        assert contrast(channels(palette.quiet), field) > 4.4
        assert contrast(field, ground) > 1.15


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("scale", ["sequential", "below 0", "above 0", "takes", "adds"])
def test_a_number_on_a_cell_has_the_colour_that_can_be_read_there(palette, scale):
    """As far as two colours of text allow: where they meet, neither has a contrast of 4."""
    low, middle, high = palette.diverging
    takes, zero, adds = palette.contributions
    assert {low, high}.isdisjoint({takes, adds}), "orange is what is wrong or withheld, no sign"
    stops, limit = {
        "sequential": (palette.sequential, palette.high[False]),
        "below 0": ((middle, low), palette.high[True]),
        "above 0": ((middle, high), palette.high[True]),
        "takes": ((zero, takes), palette.high_contributions[0]),
        "adds": ((zero, adds), palette.high_contributions[1]),
    }[scale]
    colours = np.array([channels(stop) for stop in stops])
    for share in np.linspace(0, 1, 41):
        ground = [np.interp(share * (len(stops) - 1), range(len(stops)), c) for c in colours.T]
        text = palette.on_high if share > limit else palette.text
        assert contrast(channels(text), np.array(ground)) > 3.5, share
