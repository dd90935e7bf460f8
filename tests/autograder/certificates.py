"""Authorities of this test's own, and what they certify."""

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Certificate:
    """The files that one side of a cluster shows, and by whom it wants the other to be certified."""

    authority: Path
    certificate: Path
    key: Path

    @property
    def settings(self):
        """Dask's settings that name these files, for every side."""
        sides = ("client", "scheduler", "worker")
        files = {
            f"distributed.comm.tls.{side}.{name}": str(path)
            for side in sides
            for name, path in (("cert", self.certificate), ("key", self.key))
        }
        return {"distributed.comm.tls.ca-file": str(self.authority), **files}


def openssl(*words):
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


def new_key(path, name):
    return ["-newkey", "rsa:2048", "-nodes", "-keyout", path, "-subj", f"/CN={name}"]


def certificate_in(folder):
    """A new authority and one certificate of its own, in a folder to be made."""
    folder.mkdir()
    authority, authoritys_key = folder / "authority.pem", folder / "authority.key"
    made = Certificate(authority, folder / "certificate.pem", folder / "key.pem")
    openssl("req", "-x509", *new_key(authoritys_key, "authority"), "-days", 2, "-out", authority)
    openssl("req", *new_key(made.key, "cluster"), "-out", folder / "request.pem")
    signing = ["-CA", authority, "-CAkey", authoritys_key, "-CAcreateserial", "-days", 2]
    openssl("x509", "-req", "-in", folder / "request.pem", *signing, "-out", made.certificate)
    return made
