"""Who can take part in a cluster's connections: Dask unpickles whatever it receives, from anyone.

Only two things keep strangers out: TLS in which both sides show a certificate from the same authority, or an
address that no other machine can reach.
"""

from __future__ import annotations

from ipaddress import ip_address

import dask.config
from distributed import Security
from distributed.comm import get_address_host, parse_address

ENCRYPTED = frozenset({"tls", "wss"})
WITHIN_A_PROCESS = "inproc"
LOADER = "distributed.client.security-loader"
MAY_BE_OPEN = "distributed.comm.require-encryption"  # None if it is not set


def obstacle(address: str) -> str:
    """Why this address must not be connected to, in a sentence; "" if it may be.

    Raises ValueError for an invalid address, and OSError for a certificate that cannot be read.
    """
    scheme, _ = parse_address(address)
    if scheme in ENCRYPTED:
        return (
            ""
            if has_certificate()
            else (
                f"{address} asks for certificates, and there are none: put the files of the authority, the "
                "certificate and its key into Dask's settings distributed.comm.tls.ca-file, .client.cert and "
                ".client.key."
            )
        )
    if scheme == WITHIN_A_PROCESS or is_here(get_address_host(address)):
        return ""
    if dask.config.get(MAY_BE_OPEN, None) is False:
        return ""
    return (
        f"What is sent to {address} is not encrypted, and anyone who can reach a Dask port can run programs "
        "there and here. Start the cluster with certificates and name it tls://…; or, in a network that "
        "nobody else can reach, set DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION=False."
    )


def is_here(host: str) -> bool:
    """Whether this host is certainly this machine; any name but localhost may lead elsewhere."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def has_certificate() -> bool:
    """Whether Dask's settings contain a certificate for us, or name a function that provides one."""
    if dask.config.get(LOADER, None):
        return True
    return Security().get_connection_args("client")["ssl_context"] is not None
