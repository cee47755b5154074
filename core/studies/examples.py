"""Questions that a person meets first, one of each kind that a model can stand to."""

from typing import Final

EXAMPLES: Final = {
    "Known": "What is the capital of France?",
    "Half known": "What is the capital of New Zealand?",
    "Unknown": "What is the capital of Zorvania?",
    "Many answers": "Name a yellow fruit.",
}
