"""Believe's core: everything but the screens, importable without Streamlit."""
