"""Connections as they are opened."""

import socket
import time

from codecap.exchange.transport import Transport


def test_the_system_probes_a_connection_that_is_silent(server):
    transport = Transport()
    with transport.open(f"{server.base_url()}/chat/completions", {}, b"{}", 5, time.monotonic() + 5) as opened:
        connection = opened._response.extensions["network_stream"].get_extra_info("socket")
        assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 60
    transport.close()
