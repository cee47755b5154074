"""What every session runs, again and again: the frame, and in it the page of its address.

It stands apart from ``app.py`` because Streamlit takes a folder ``pages`` beside the script of a
session for its own, older kind of navigation, and on a fresh server runs those pages without the
frame.
"""

from core.ui import frame, uploaders

page = frame.draw()
uploaders.turn_to(page.url_path)
page.run()
