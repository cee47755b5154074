"""Google's Gemini, through its SDK."""
