"""Believe: can I believe what this language model just told me?"""

import streamlit as st

from core.ui import frame, serving

if __name__ == "__main__":  # run as a plain script, as `AppTest` does
    frame.draw().run()
else:  # the server imports it, and runs `serving.SCRIPT` in every session
    app = st.App(serving.SCRIPT, middleware=serving.MIDDLEWARE, lifespan=serving.lifespan)
