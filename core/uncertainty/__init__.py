"""The mathematics of "To Believe or Not to Believe Your LLM" (arXiv 2406.02543).

Pure NumPy and SciPy: nothing here asks a model, opens a file or draws. All logarithms are
natural, all entropies and informations in nats. From the bottom up:

``validation``          bad input becomes one sentence that says how to mend it
``logarithms``          sums, normalising and entropy without leaving the logarithm
``same_answer``         whether two texts give the same answer: by rules, without a model
``similarity``          how alike two answers are: the same, token F1, or a RapidFuzz ratio
``clustering``          answers alike enough share a cluster; likelihoods add up within it
``prefixes``            likelihoods of texts without their end, made such that they add up
``tuples``              sampled tuples of answers, and which of them are distinct
``joint``               the mutual information of a joint distribution, and all it is made of
``certified_bound``     a lower bound of the information that holds for every sample
``confidence_limit``    a lower limit of it from independent first answers, at a confidence
``missing_mass``        the probability that no draw showed, and the paper's lower bound by it
``chance``              what counts, and sampled pairs, would seem to tell by chance alone
``mutual_information``  the paper's estimators (Algorithms 1 to 3), and one from counts
``evidence``            all that was recorded about one query
``sampled_evidence``    the same of a model that scores no given text
``scores``              eight scores of that evidence, each with the answer it would serve
``related``             what related work computes beside these, answer by answer
``chains``              the information of more than two answers, and what each adds
"""
