"""A cluster of Spark of two executors, each a process of this machine, on loopback only."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


def missing() -> str | None:
    """What keeps Spark from running here; None if nothing does."""
    try:
        import pyspark
    except ImportError:
        return "PySpark is not installed: `make test-distributed` installs it"
    del pyspark
    home = os.environ.get("JAVA_HOME")
    found = (Path(home) / "bin/java").exists() if home else shutil.which("java") is not None
    return None if found else "Spark needs Java 17 or later, which is not installed"


def environment(folder: Path) -> dict[str, str]:
    """Variables for the processes of Spark."""
    return {
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(folder),
        "PYSPARK_PYTHON": sys.executable,
    }


def settings(folder: Path) -> dict[str, str]:
    """What Spark writes stays in a folder, and no other machine and no other user reaches it."""
    return {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.broadcast.UDFCompressionThreshold": "200000",
        "spark.authenticate": "true",
        "spark.authenticate.secret": secrets.token_hex(32),
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={folder}",
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }


@contextmanager
def cluster(folder: Path) -> Iterator[Any]:
    """The session of a cluster, which is ended at the end."""
    import pyspark
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment(folder).items():
            patch.setenv(name, value)
        builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("toksmith")
        for name, value in settings(folder).items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        gateway = session.sparkContext._gateway
        logs = Path(pyspark.__file__).parent / "work" / session.sparkContext.applicationId
        try:
            yield session
        finally:
            session.stop()
            gateway.shutdown()
            gateway.proc.stdin.close()  # the Java process ends with its input
            gateway.proc.wait(60)
            pyspark.SparkContext._gateway = pyspark.SparkContext._jvm = None
            shutil.rmtree(logs, ignore_errors=True)
