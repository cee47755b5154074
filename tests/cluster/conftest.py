"""A cluster of several nodes on this machine."""

import contextlib
import os

import pytest

os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_AUTO_CONNECT": "0"}
KEY = "sk-cluster-c0ffee"  # of no service
# Ray's nodes hand their environment on to the workers, as those of a real cluster do theirs.
os.environ["OPENAI_API_KEY"] = KEY


SMALL = {"object_store_memory": 80 * 2**20, "include_dashboard": False}


@pytest.fixture(scope="session")
def nodes():
    """A node without room for workers, where runs are begun, and two with room for one each."""
    import ray.data
    from ray.cluster_utils import Cluster as Nodes

    # Ray ends what it sees no progress in; runs have more patience than it has by default.
    ray.data.DataContext.get_current().execution_no_progress_timeout_s = 1
    cluster = Nodes(initialize_head=True, head_node_args={"num_cpus": 0, **SMALL})
    for _ in range(2):
        cluster.add_node(num_cpus=1, **SMALL)
    yield cluster
    with contextlib.suppress(Exception):
        cluster.shutdown()
