"""Language models behind one interface (`base.py`); each back end is one file or folder."""
