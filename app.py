"""Believe: can I believe what this language model just told me?"""

from core.ui import frame

frame.draw().run()
