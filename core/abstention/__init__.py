"""When to answer: thresholds on a doubt, what they promise, and what they cost.

Everything here takes arrays: a doubt for every query, larger meaning "doubt more", and
whether the answer that the score would serve is right. A missing doubt (NaN) means
abstain, never 0.
"""
