"""A certificate authority for tests, and the certificate and key files of a server."""

import ssl
from datetime import datetime
from pathlib import Path
from typing import Final

import trustme

LOCAL_NAMES: Final = ("localhost", "127.0.0.1")


class Authority:
    """Writes pairs of certificate and key into a folder; clients trust the file `ca`."""

    def __init__(self, folder: Path) -> None:
        self._root = trustme.CA()
        self.ca = folder / "ca.pem"
        self.cert = folder / "cert.pem"
        self.key = folder / "key.pem"
        self._root.cert_pem.write_to_path(str(self.ca))

    def issue(self, *names: str, until: datetime | None = None) -> None:
        """Replace the pair with a new one for these names (default: this machine)."""
        issued = self._root.issue_cert(*(names or LOCAL_NAMES), not_after=until)
        # A server may look between the two writes; it keeps the old pair then and looks again.
        issued.private_key_pem.write_to_path(str(self.key))
        for number, blob in enumerate(issued.cert_chain_pems):
            blob.write_to_path(str(self.cert), append=number > 0)

    def trusting(self) -> ssl.SSLContext:
        """Return a client context that trusts only this authority."""
        return ssl.create_default_context(cafile=str(self.ca))
