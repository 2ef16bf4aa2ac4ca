"""The client's commands in this process, including the lab's."""

from tests.client.conftest import program as program
