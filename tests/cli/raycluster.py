"""A Ray cluster of two machines of a core each, both of them here, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

__all__ = ["two_nodes"]

CLUSTER = """
import socket, sys
from ray.cluster_utils import Cluster

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
cluster = Cluster()
cluster.add_node(num_cpus=1, include_dashboard=False, object_store_memory=10**8, ray_client_server_port=port)
cluster.add_node(num_cpus=1, object_store_memory=10**8)
print(f"ray://127.0.0.1:{port}", flush=True)
sys.stdin.read()
cluster.shutdown()
"""


@contextmanager
def two_nodes() -> Iterator[str]:
    """Gives the address, once both are there."""
    process = subprocess.Popen(
        [sys.executable, "-c", CLUSTER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0"},
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("ray://"):
                yield line.strip()
                break
        else:
            pytest.fail("the cluster did not start")
    finally:
        process.communicate("")
