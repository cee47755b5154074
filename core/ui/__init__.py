"""Everything that knows Streamlit: the frame, running studies, messages, figures."""
