"""The database: what was asked of models and what came out of it, kept beyond one session.

SQLite in the folder that this system gives a program's data, or any database that
``BELIEVE_DATABASE_URL`` names (PostgreSQL included). This floor keeps text and knows nothing
of what it means: payloads are JSON that floors above write and read. From the bottom up:

``errors``            what can go wrong, each in one sentence
``text``              what a database cannot hold, and what a search compares
``schema``            the tables as they are now
``migrations``        how every older database becomes that
``sqlite_file``       the SQLite file: made, examined, set aside when it is damaged
``locks``             who asks for what, of the threads and of the processes that share it
``database``          opening, and the two ways in: `Database.read` and `Database.write`
``fallback_database`` one in memory, while the one that is wanted cannot be opened
``calls``             the call cache: every successful call to a model, kept before it is used
``labelled_files``    labelled files, found again by the hash of their content
``labels``            what people said of answers, and looks at labels, which later looks pay for
``results``           finished inspections, amplifications and policies: saved, found, opened
"""
