"""Where a server is reached: by this machine, by people, and by people on other machines."""

from __future__ import annotations

from tictactoe_server.transport.certificate import Certificate
from tictactoe_server.transport.listen import addresses_at, is_for_others, url_of


class Links:
    """Those of a server that listens on a host, or on all addresses where it `is_open`; people see its page, if any."""

    def __init__(self, host: str | None, port: int, certificate: Certificate | None, *, has_page: bool) -> None:
        self.is_open = host in (None, "0.0.0.0", "::")
        self._host, self._port, self._certificate, self._has_page = host, port, certificate, has_page

    @property
    def url(self) -> str:
        """Where this machine reaches the server: with TLS by a name that the certificate is for."""
        host = None if self.is_open else self._host
        names = () if self._certificate is None else self._certificate.names
        if names and (host or "localhost") not in names:
            host = names[0]
        return url_of(host, self._port, secure=self._certificate is not None)

    @property
    def for_people(self) -> str:
        """The same for people: with the scheme of browsers where they are shown the page."""
        return self._link_of(self.url)

    def for_others(self) -> list[str]:
        """Return how people on other machines reach a server that listens on all addresses, the best way first.

        That is by the machine's own addresses, with TLS by a name of the certificate.
        """
        host, certificate = self._host, self._certificate
        if not self.is_open:
            return []
        hosts = addresses_at(host)
        if certificate is not None:
            hosts = [name for name in certificate.names if is_for_others(name)][:1]
        return [self._link_of(url_of(name, self._port, secure=certificate is not None)) for name in hosts]

    def _link_of(self, url: str) -> str:
        return f"http{url.removeprefix('ws')}" if self._has_page else url
