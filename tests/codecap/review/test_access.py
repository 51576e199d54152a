"""Where the server listens, and that nobody is let in who has not opened the printed address in this browser."""

import socket

import httpx2
import pytest
from under_review import Opened

from codecap.errors import UserError
from codecap.review.access import Gate
from codecap.review.serving import HOST, _listen


@pytest.fixture
def server(shared) -> Opened:
    return shared


@pytest.fixture
def stranger(server):
    """Another browser."""
    with httpx2.Client(base_url=f"http://{server.host}", timeout=30) as client:
        yield client


def origin(server) -> dict[str, str]:
    return {"Origin": f"http://{server.host}"}


def test_a_token_lets_one_browser_in_and_its_address_is_cleaned(server, stranger):
    page = stranger.get(server.addresses[-1])
    assert 'http-equiv="refresh" content="0;url=/"' in page.text and page.headers["cache-control"] == "no-store"
    cookie = page.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie and "path=/" in cookie
    assert stranger.get("/api/queue").status_code == 200
    assert stranger.get(server.addresses[0].replace("?", "?clip=A%20b/c&")).text.count("url=/clip/A%20b%2Fc") == 1


def test_a_used_token_is_worth_nothing_and_a_new_one_is_announced(server, stranger):
    used, before = server.addresses[0], len(server.addresses)
    refused = stranger.get(used)
    assert refused.status_code == 403 and "set-cookie" not in refused.headers and "shows a new one" in refused.json()["why"]
    assert server.get(used).status_code == 200  # who is in already stays in
    assert len(server.addresses) == before
    assert stranger.get(server.addresses[-1]).status_code == 200 and len(server.addresses) == before + 1


@pytest.mark.parametrize("path", ["/", "/clip/A_001", "/assets/boxes.js", "/video/A_001.mp4", "/frames/A_001/0.jpg", "/api/queue"])
def test_nothing_is_served_without_the_cookie(server, stranger, path):
    answer = stranger.get(path, headers={"Accept": "text/html"})
    assert answer.status_code == 403 and answer.text.startswith("CodeCap: open the address")
    assert stranger.get(path, headers={"Cookie": f"{server.ready.gate.cookie}=guess"}).status_code == 403


def test_servers_on_two_machines_behind_tunnels_do_not_share_a_cookie(server, monkeypatch):
    port = int(server.host.split(":")[1])
    assert Gate(port, lambda _: None).cookie == server.ready.gate.cookie
    monkeypatch.setattr("codecap.review.access.socket.gethostname", lambda: "another")
    assert Gate(port, lambda _: None).cookie != server.ready.gate.cookie != Gate(port + 1, lambda _: None).cookie


@pytest.mark.parametrize("host", ["localhost:9999", "LOCALHOST", "127.0.0.1", "[::1]:8400"])
def test_an_ssh_tunnel_may_have_another_port(server, host):
    assert server.get("/api/queue", headers={"Host": host, "Origin": f"http://{host}"}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "evil.example#localhost", "0.0.0.0"]
)
def test_a_foreign_name_for_this_machine_is_refused(server, host):
    before = len(server.addresses)
    for path in ("/api/queue", server.addresses[-1].partition(server.host)[2]):
        answer = server.get(path, headers={"Host": host, "Origin": f"http://{host}"})
        assert answer.status_code == 403 and "no other name" in answer.text
    assert len(server.addresses) == before  # the token was not spent


@pytest.mark.parametrize("given", ["http://evil.example", "http://127.0.0.1:1", "https://{host}", "null"])
def test_a_page_of_another_origin_is_refused(server, given):
    headers = {"Origin": given.format(host=server.host)}
    assert server.get("/api/queue", headers=headers).status_code == 403
    posted = server.client.post("/api/clips/A_001/hold", json={"tab": "one"}, headers=headers)
    assert posted.status_code == 403 and "another origin" in posted.json()["why"]


def test_a_post_must_say_where_it_comes_from(server, stranger):
    stranger.get(server.addresses[-1])
    assert stranger.post("/api/clips/A_001/hold", json={"tab": "one"}).status_code == 403
    assert stranger.post("/api/clips/A_001/hold", json={"tab": "one"}, headers=origin(server)).status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_site_cannot_embed_anything(server, site):
    assert server.get("/frames/A_001/0.jpg", headers={"Sec-Fetch-Site": site}).status_code == 403
    assert server.get("/frames/A_001/0.jpg", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200


def test_every_answer_forbids_what_the_page_does_not_need(server, stranger):
    for answer in (server.get("/"), server.get("/api/queue"), server.get("/nothing"), stranger.get("/")):
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff" and answer.headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in answer.headers and "server" not in answer.headers


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../../config/config.yaml",
        "/assets/..%2f..%2fconfig%2fconfig.yaml",
        "/assets/%2e%2e/cli.py",
        "/assets//etc/passwd",
        "/assets/%2fetc%2fpasswd",
        "/video/..%2f..%2fclips.mp4",
        "/frames/..%2fA_001/0.jpg",
        "/frames/A_001/-1.jpg",
        "/frames/A_001/120.jpg",
        "/frames/A_001/1e3.jpg",
        f"/frames/A_001/{'9' * 5000}.jpg",
        "/api/clips/..%2fA_001",
        "/api/clips/.hold",
        "/clips",
    ],
)
def test_no_path_of_a_file_can_be_asked_for(server, path):
    answer = server.get(path)
    assert answer.status_code == 404 and answer.json()["why"]


def test_a_port_that_is_taken_is_told():
    with socket.socket() as other:
        other.bind((HOST, 0))
        other.listen()
        with pytest.raises(UserError, match="cannot be used .Address already in use.; choose another one"):
            _listen(other.getsockname()[1])
