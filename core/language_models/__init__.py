"""Language models behind one interface (`language_model`); each back end is a folder."""
