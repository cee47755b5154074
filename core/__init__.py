"""Believe's core: everything but the screens, importable without Streamlit.

Floors from top to bottom: ``ui | cli``, ``charts``, ``studies``, ``language_models``,
``data``, then ``prompts | uncertainty``. A floor imports only from below.
"""
