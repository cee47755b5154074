"""What every session runs, again and again: the frame, and in it the page of its address.

It stands apart from ``app.py`` because Streamlit takes a folder ``pages`` beside the script of a
session for its own, older kind of navigation, and on a fresh server runs those pages without the
frame.
"""

from core import settings
from core.ui import frame, session, upload_places

page = frame.draw()  # and no further where a setting cannot be read
settings.share(session.has_strangers())
upload_places.turn_to(page.url_path)
page.run()
