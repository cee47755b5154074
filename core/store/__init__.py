"""The database: what was asked of models and what came out of it, kept beyond one session.

SQLite in the folder that this system gives a program's data, or any database that
``BELIEVE_DATABASE_URL`` names (PostgreSQL included). This floor keeps text and knows nothing
of what it means: payloads are JSON that floors above write and read.
"""
