"""Believe: can I believe what this language model just told me?"""

import streamlit as st

from core.ui import frame, serving

if __name__ == "__main__":  # a session runs this file again and again
    frame.draw().run()
else:  # the server imports it once
    app = st.App(__file__, middleware=serving.MIDDLEWARE, lifespan=serving.lifespan)
