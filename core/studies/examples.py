"""Questions that a person meets first, one of each kind that a model can stand to."""

from typing import Final

EXAMPLES: Final = {
    "Known": "What is the capital of France?",
    "Half known": "What is the capital of New Zealand?",
    "Unknown": "What is the capital of Zorvania?",
    "Many answers": "Name a yellow fruit.",
}
#: What they are called where they are offered: what comes of them is not said before it is seen.
IN_SHORT: Final = {
    "Known": "France",
    "Half known": "New Zealand",
    "Unknown": "Zorvania",
    "Many answers": "A yellow fruit",
}
