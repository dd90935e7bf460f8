"""Grading on the machines of a Dask cluster: plain data goes out, plain data comes back, nothing stays there.

    driver ── submission, as bytes ──▶ worker ── socket ──▶ desk        a grading server beside each worker
      │                                                   ├─ Warm       as on one machine, started once
      └─ alone writes records, notebooks and marks        └─ fork ─▶ judge, one for each submission

The homework is sent to every worker, file by file, and removed when the desk ends. When a worker crashes, its
desk, judges and sandboxes end too, and Dask gives its submissions to another worker.
"""
