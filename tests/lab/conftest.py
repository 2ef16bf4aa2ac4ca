"""The commands of the client in this process, for those that the lab adds."""

from tests.client.conftest import program as program
