"""How long a test waits for what comes when all is well, also on a machine with much else to do."""

LONG = 200.0  # seconds; less than `tests.wire.dripping` holds out, and than pytest lets a test take


def finished(job):
    assert job.wait(LONG)
    return job
